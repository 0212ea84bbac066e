"""Which writer writes which suffix; the worker's job ``write``."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any, Protocol, cast

import msgspec

from engine.protocol.errors import ModelError

WRITERS = {
    ".docx": "tools.writers.docx",
    ".xlsx": "tools.writers.xlsx",
    ".csv": "tools.writers.delimited",
    ".tsv": "tools.writers.delimited",
    ".json": "tools.writers.json_file",
    ".html": "tools.writers.html",
    ".htm": "tools.writers.html",
}
"""Suffix → module with ``write(content, target, title, encoding) -> Written``."""

TEXT_SUFFIXES = (
    ".md", ".markdown", ".txt", ".yaml", ".yml", ".xml", ".jsonl", ".srt", ".tex", ".py", ".js", ".css", ".sql", ".ini",
    ".toml", ".log", ".r", ".sh", ".svg", ".rst",
)  # fmt: skip
"""Written as they are."""


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What a writer wrote.

    Attributes:
        words: words of text.
        rows: data rows of tables.
        pages: pages, estimated; 0 where the notion does not apply.
        notes: what the model should know (a formula that gives an error, a picture that is not in the file).
    """

    words: int = 0
    rows: int = 0
    pages: int = 0
    notes: tuple[str, ...] = ()


class Writer(Protocol):
    """What a writer module offers."""

    def write(self, content: str, target: Path, title: str, encoding: str) -> Written: ...


def check_suffix(name: str) -> None:
    """Refuse a file name of a format that cannot be written.

    Raises:
        ModelError: no writer for its suffix.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in WRITERS and suffix not in TEXT_SUFFIXES:
        known = ", ".join(sorted((*WRITERS, ".md", ".txt")))
        raise ModelError(
            f"{name!r} cannot be written with this tool: it writes {known}. Use one of these, or a script.",
            code="write.format",
        )


def write_job(params: dict[str, Any]) -> Written:
    """Write a file.

    Args:
        params: ``content``, ``target`` (path in the scratch folder), ``title``, ``encoding``.
    """
    target = Path(params["target"])
    check_suffix(target.name)
    suffix = target.suffix.lower()
    content = params["content"] if suffix in (".md", ".markdown") else unfenced(params["content"])
    module = WRITERS.get(suffix, "tools.writers.text")
    writer = cast(Writer, importlib.import_module(module))
    return writer.write(content, target, params.get("title", ""), params.get("encoding") or "utf-8")


def unfenced(content: str) -> str:
    """Content without the Markdown code fence that models like to put around a whole file."""
    match = re.fullmatch(r"\s*```[\w+-]*[ \t]*\r?\n(.*?)\r?\n?```\s*", content, re.DOTALL)
    return match[1] + "\n" if match and "\n```" not in match[1] else content


def encode(text: str, encoding: str) -> bytes:
    """Bytes of a text.

    Raises:
        ModelError: no such encoding, or the text has characters that it lacks.
    """
    try:
        return text.encode(encoding)
    except LookupError as error:
        raise ModelError(f"There is no encoding {encoding!r}; use utf-8.", code="write.encoding") from error
    except UnicodeEncodeError as error:
        lacking = text[error.start : error.start + 5]
        raise ModelError(f"{encoding} has no {lacking!r}; use utf-8.", code="write.encoding") from error
