"""Tables in what a model writes: Markdown tables or CSV."""

from __future__ import annotations

import csv
import io
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
        ModelError: neither.
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
    wide = [number for number, row in enumerate(rows, start=1) if len(row) > len(rows[0])]
    if wide:
        raise ModelError(
            f"Row {wide[0]} has {len(rows[wide[0] - 1])} cells, but the header has {len(rows[0])}. "
            'Put cells that hold the delimiter into "quotes".',
            code="write.ragged",
        )
    return [TextTable("", rows)]


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
