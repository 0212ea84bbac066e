"""The worker's job ``edit_text``: exact replacement that keeps encoding and line ends."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from engine.protocol.errors import ModelError
from tools.readers.encodings import read_text
from tools.readers.kinds import first_problem

_MOST_BYTES = 32 << 20
_MOST_COMPARED = 4000


def edit_text_job(params: dict[str, Any]) -> dict[str, int]:
    """Write an edited copy of a text file.

    Args:
        params: ``path``, ``target``, ``old``, ``new``, ``replace_all``.

    Returns:
        ``count`` of replacements and the first ``line``.

    Raises:
        ModelError: not text, too large, not found, ambiguous, no change, or characters the encoding lacks.
    """
    path, target = Path(params["path"]), Path(params["target"])
    text, encoding = _load(path)
    crlf = "\r\n" in text
    old, new = _line_ends(params["old"], crlf), _line_ends(params["new"], crlf)
    if old == new:
        raise ModelError("old_content and new_content are the same; nothing was changed.", code="edit.same")
    count = text.count(old)
    if count == 0:
        raise ModelError(_not_found(text, old, path.name), code="edit.not_found")
    if count > 1 and not params["replace_all"]:
        raise ModelError(
            f"old_content is {count} times in {path.name}. Give more of the text around the place, "
            "or set replace_all to true.",
            code="edit.ambiguous",
        )
    try:
        target.write_bytes(text.replace(old, new).encode(encoding))
    except UnicodeEncodeError as error:
        raise ModelError(
            f"{path.name} is written in {encoding}, which has no {new[error.start : error.start + 1]!r}.",
            code="edit.encoding",
        ) from error
    return {"count": count, "line": text[: text.index(old)].count("\n") + 1}


def _load(path: Path) -> tuple[str, str]:
    problem = first_problem(path)
    if problem is not None:
        raise ModelError(f"{path.name}: {problem.detail}", code=f"read.{problem.problem}")
    if path.stat().st_size > _MOST_BYTES:
        raise ModelError(f"{path.name} is too large for this tool; use a script.", code="read.too_large")
    try:
        text, encoding = read_text(path)
        exact = text.encode(encoding) == path.read_bytes()
    except (ValueError, UnicodeEncodeError) as error:
        raise ModelError(f"{path.name} is not a text file.", code="edit.not_text") from error
    if not exact:
        raise ModelError(
            f"{path.name} has bytes that are no {encoding} text; an edit would damage them.", code="edit.not_text"
        )
    return text, encoding


def _line_ends(text: str, crlf: bool) -> str:
    plain = text.replace("\r\n", "\n")
    return plain.replace("\n", "\r\n") if crlf else plain


def _not_found(text: str, old: str, name: str) -> str:
    """Say so, and show the lines that are most like what was looked for."""
    lines = text.splitlines()
    wanted = old.splitlines() or [old]
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2("\n".join(wanted))
    best, best_ratio = -1, 0.0
    for start in range(min(max(len(lines) - len(wanted) + 1, 1), _MOST_COMPARED)):
        matcher.set_seq1("\n".join(lines[start : start + len(wanted)]))
        if matcher.quick_ratio() > best_ratio and (ratio := matcher.ratio()) > best_ratio:
            best, best_ratio = start, ratio
    if best < 0 or best_ratio < 0.4:
        return f"old_content is not in {name}. Read the file and copy the text exactly."
    near = "\n".join(lines[best : best + len(wanted)])
    return f"old_content is not in {name}. The nearest is in line {best + 1}:\n{near}\nCopy it exactly."
