"""Cutting the text of a file to what a model may see, with a sentence on how to read on."""

from __future__ import annotations

from engine.protocol.documents import Reading, ReadOptions


def present(
    name: str, kind: str, text: str, options: ReadOptions, *, hint: str = "", total_chars: int | None = None
) -> Reading:
    """Make a bounded reading of a text.

    Args:
        name: basename of the file.
        kind: its kind.
        text: all the text that was asked for.
        options: `search`, `offset` and `max_chars` are applied here; the others are the reader's business.
        hint: a further sentence on how to get at the rest, added where the text is cut.
        total_chars: length of the whole text; None takes that of `text`, 0 says that it is unknown.
    """
    total = len(text) if total_chars is None else total_chars
    if options.search:
        text = passages(text, options.search)
    shown, cut = window(text, options.offset, options.max_chars)
    more = ""
    if cut:
        more = f"This is not all. Read on with offset={options.offset + len(shown)}, or use search."
        more = f"{more} {hint}".strip()
    return Reading(name=name, kind=kind, text=shown, total_chars=total, truncated=cut, more=more)


def window(text: str, offset: int, max_chars: int) -> tuple[str, bool]:
    """The piece of `text` from `offset`, at most `max_chars` long, ended at a line if one ends near; and whether
    anything follows."""
    piece = text[offset : offset + max_chars]
    if offset + len(piece) >= len(text):
        return piece, False
    end = piece.rfind("\n", int(len(piece) * 0.8))
    return (piece[: end + 1] if end > 0 else piece), True


def passages(text: str, wanted: str) -> str:
    """The lines that hold `wanted` (case-insensitive), each with the line before and after, numbered."""
    lines = text.splitlines()
    needle = wanted.casefold()
    hits = [index for index, line in enumerate(lines) if needle in line.casefold()]
    if not hits:
        return f"No line holds {wanted!r}."
    shown = sorted({near for hit in hits for near in (hit - 1, hit, hit + 1) if 0 <= near < len(lines)})
    parts = [f"{len(hits)} lines hold {wanted!r}:"]
    for position, index in enumerate(shown):
        if position and index != shown[position - 1] + 1:
            parts.append("…")
        parts.append(f"{index + 1}: {lines[index]}")
    return "\n".join(parts)


def page_numbers(pages: str, count: int) -> list[int]:
    """Page numbers (from 1) of a description such as ``"1,3-5"``; those beyond the end are left out.

    Raises:
        ValueError: it is not such a description.
    """
    wanted: list[int] = []
    for part in pages.replace(" ", "").replace("–", "-").split(","):
        first, dash, last = part.partition("-")
        start = int(first) if first else 1
        end = (int(last) if last else count) if dash else start
        wanted += range(max(start, 1), min(end, count) + 1)
    return list(dict.fromkeys(wanted))


def markdown_table(rows: list[list[str]]) -> str:
    """A Markdown table; the first row is its header. Line breaks and bars in cells are made harmless."""
    if not rows:
        return ""
    width = max(len(row) for row in rows)
    lines = ["| " + " | ".join(_cell(row[i] if i < len(row) else "") for i in range(width)) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
