"""Tables in what a model writes: Markdown tables or CSV."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import msgspec

from engine.protocol.errors import ModelError


class TextTable(msgspec.Struct, frozen=True):
    """A table of texts; the first row is its header. `name` is the heading above it, if any."""

    name: str
    rows: list[list[str]]


def find_tables(content: str) -> list[TextTable]:
    """All Markdown tables of a text; if there are none, the text is taken as CSV.

    Raises:
        ModelError: neither, such as prose.
    """
    tables = _markdown_tables(content)
    if tables:
        return tables
    lines = content.strip().splitlines()
    if not lines:
        raise ModelError("The content is empty; give a table as CSV or Markdown.", code="write.empty")
    delimiter = max(",;\t|", key=lines[0].count)
    if not lines[0].count(delimiter):
        delimiter = ","
    rows = [row for row in csv.reader(io.StringIO(content.strip(), newline=""), delimiter=delimiter) if row]
    if _is_prose(rows):
        raise ModelError(
            "This is text, not a table: give a Markdown table or CSV, or put text into a .md or .docx file. "
            "For figures worked out from a file use aggregate_table, to change a table use edit_table.",
            code="write.no_table",
        )
    wide = [number for number, row in enumerate(rows, start=1) if len(row) > len(rows[0])]
    if wide:
        raise ModelError(
            f"Row {wide[0]} has {len(rows[wide[0] - 1])} cells, but the header has {len(rows[0])}. "
            'Put cells that hold the delimiter into "quotes".',
            code="write.ragged",
        )
    return [TextTable("", rows)]


def _is_prose(rows: list[list[str]]) -> bool:
    """Whether rows of comma-separated cells are in truth sentences or Markdown."""
    header = rows[0]
    if re.match(r"#{1,6} |[-*>] |```", header[0]) or any(_is_sentence(cell) for cell in header):
        return True
    if len(header) == 1:
        return len(rows) == 1 or any(_is_sentence(row[0]) for row in rows)
    return sum(len(row) < len(header) for row in rows[1:]) > len(rows) / 2


def _is_sentence(cell: str) -> bool:
    words = len(cell.split())
    return words > 12 or (words > 2 and cell.rstrip().endswith((".", "!", "?", ":"))) or cell.rstrip().endswith("。")


def _markdown_tables(content: str) -> list[TextTable]:
    from markdown_it import MarkdownIt

    tables: list[TextTable] = []
    heading, rows = "", list[list[str]]()
    tokens = MarkdownIt("commonmark").enable("table").parse(content)
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = tokens[index + 1].content
        elif token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            rows[-1].append(_plain(tokens[index + 1]))
        elif token.type == "table_close":
            tables.append(TextTable(heading, rows))
            heading = ""
    return tables


def _plain(inline: Any) -> str:
    """Text of a cell without its marks (``**bold**``)."""
    parts = []
    for child in inline.children or []:
        parts.append("\n" if child.type in ("softbreak", "hardbreak") else child.content)
    return "".join(parts).strip()
