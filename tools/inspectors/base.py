"""What every inspector is made of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from engine.protocol.verdicts import Defect, Evidence

Facts = dict[str, Any]
Found = tuple[Facts, list[Defect]]

_PLACEHOLDER = re.compile(
    r"[Ll]orem [Ii]psum|\bTBD\b|\bTO ?BE (?:DONE|DETERMINED|ADDED)\b|\bTK TK\b|\b[Ii]nsert (?:\w+ )?here\b|\[(?:[Ii]nsert|[Yy]our|[Nn]ame|[Dd]ate|[Cc]ompany|[Aa]dd|[Tt]itle|[Aa]mount|[Aa]uthor|[Rr]ecipient)(?: [\w ]{0,30})?\]"  # noqa: E501
    r"|\b[Yy]our (?:text|name|title|content|company name) (?:here|goes here)\b|\bYour [Tt]ext\b|<(?:insert|your)[\w -]*>|\{\{\s*\w+\s*\}\}|\bplaceholder(?: text)?\b|\bXX+\.XX+\b|\bClick to (?:add|edit)\b|_{3}FILL",  # noqa: E501
)
_END = re.compile(r"[.!?:;…。！？\"'”’)\]}>*_`|%]\s*\Z")


def fault(code: str, file: str, where: str = "", says: str = "", fatal: bool = True, **params: Any) -> Defect:
    """A defect; `file` is also a field of its hint."""
    return Defect(
        code=code,
        evidence=Evidence(file=file, where=where, says=says),
        fatal=fatal,
        params={"file": file, "says": says, **params},
    )


def text_defects(path: Path, text: str) -> list[Defect]:
    """Placeholders and a cut end in running text.

    Args:
        path: the file, for its name.
        text: its text.
    """
    found: list[Defect] = []
    match = _PLACEHOLDER.search(text)
    if match:
        line = text.count("\n", 0, match.start()) + 1
        found.append(
            fault(
                "text.placeholder",
                path.name,
                f"line {line}",
                match.group(),
                match.group().isupper()
                or "[" in match.group()
                or "ipsum" in match.group().lower()
                or "here" in match.group().lower(),
                text=match.group(),
            )
        )
    last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
    if _cut(last):
        found.append(fault("text.cut", path.name, "end", f"It ends with “…{last[-60:]}”.", False, end=last[-40:]))
    return found


def _cut(last: str) -> bool:
    """A long last line of prose that stops at a comma or a joining word."""
    if len(last.split()) < 6 or _END.search(last) or "|" in last:
        return False
    return (
        last.endswith((",", "-", "–"))
        or re.search(r"\b(?:and|or|the|a|an|of|to|in|with|for|that|which|by|is|are|was|und|der|die|das|mit)\Z", last)
        is not None
    )
