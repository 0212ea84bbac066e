"""Plain text, Markdown and source code."""

from __future__ import annotations

import re
from pathlib import Path

from engine.protocol.documents import FileProfile, Reading, ReadOptions
from tools.readers.encodings import detect_encoding
from tools.readers.kinds import MOST_BYTES, ReadProblem, kind_of
from tools.readers.windows import present, window

_WHOLE_BYTES = 16 << 20


def read(path: Path, options: ReadOptions) -> Reading:
    """The text itself, from `offset`; large files are streamed and not searched to their end."""
    encoding = _encoding(path)
    if path.stat().st_size <= _WHOLE_BYTES:
        text = path.read_bytes().decode(encoding, errors="replace").replace("\r\n", "\n")
        return present(path.name, kind_of(path), text, options)
    with path.open("r", encoding=encoding, errors="replace") as file:
        left = options.offset
        while left > 0 and (piece := file.read(min(left, 1 << 20))):
            left -= len(piece)
        text = file.read(options.max_chars + 1)
    shown, _ = window(text, 0, options.max_chars)
    more = f"This is a part of a large file. Read on with offset={options.offset + len(shown)}, or use a script."
    return Reading(name=path.name, kind=kind_of(path), text=shown, truncated=True, more=more)


def profile(path: Path) -> FileProfile:
    """Words and, for Markdown, headings; of large files those of the first 16 MB."""
    encoding = _encoding(path)
    with path.open("rb") as file:
        text = file.read(_WHOLE_BYTES).decode(encoding, errors="replace")
    kind = kind_of(path)
    headings = re.findall(r"^#{1,6}[ \t]+(.+?)[ \t#]*\r?$", text, re.MULTILINE) if kind == "markdown" else []
    return FileProfile(
        name=path.name,
        kind=kind,
        size_bytes=path.stat().st_size,
        words=count_words(text),
        headings=tuple(headings[:50]),
    )


def count_words(text: str) -> int:
    """Number of words; each Chinese or Japanese character counts as one, as word processors do."""
    return len(re.findall(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+(?:['’.,-]\w+)*", text))


def _encoding(path: Path) -> str:
    encoding = detect_encoding(path)
    if encoding is None:
        raise ReadProblem("unsupported", "The file is neither text nor a document that can be read.")
    if path.stat().st_size > MOST_BYTES * 1000:
        raise ReadProblem("too_large")
    return encoding
