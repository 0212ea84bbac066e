"""Workbooks from Markdown tables or CSV: typed cells, formulas, a bold header that stays in view."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.readers.columns import parse_number, show
from tools.writers.registry import Written
from tools.writers.tables import find_tables


class PlainText(str):
    """A text that stays a text in a workbook even if it is written like a formula."""

    __slots__ = ()


def write(content: str, target: Path, title: str, encoding: str) -> Written:
    """One sheet for each table, named after the heading above it."""
    del encoding
    tables = find_tables(content)
    names = [table.name or (title if len(tables) == 1 else "") for table in tables]
    write_sheets([(name, table.rows) for name, table in zip(names, tables, strict=True)], target)
    return Written(rows=sum(len(table.rows) - 1 for table in tables), notes=formula_notes(target))


def write_sheets(sheets: Sequence[tuple[str, Sequence[Sequence[Any]]]], target: Path) -> None:
    """Write a workbook.

    Args:
        sheets: (name, rows); the first row of each is the header. Texts become numbers, dates and formulas where they
            are written so; other values stay as they are.
        target: file to write.
    """
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(_sheet_name(name, book.sheetnames))
        for r, row in enumerate(rows, start=1):
            for c, value in enumerate(row, start=1):
                put(sheet.cell(r, c), value, plain=r == 1)
        style_table(sheet, len(rows))
    book.save(target)


def put(cell: Any, value: Any, *, plain: bool = False) -> None:
    """Set a cell; `plain` keeps a text a text."""
    if not isinstance(value, str) or plain or isinstance(value, PlainText):
        cell.value = str(value) if isinstance(value, str) else value
        if isinstance(value, str):
            cell.data_type = "s"
        return
    text = value.strip()
    number = parse_number(text)
    if text.startswith("=") and len(text) > 1:
        cell.value = text
    elif number is not None:
        whole = number.is_integer() and not re.search(r"[.,eE%]", text)
        cell.value = int(number) if whole else number
        if text.endswith("%"):
            cell.number_format = "0.0%" if "." in text else "0%"
    elif re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) and (date := _date(text)) is not None:
        cell.value = date
        cell.number_format = "yyyy-mm-dd"
    else:
        cell.value = value or None
        if value:
            cell.data_type = "s"


def style_table(sheet: Any, rows: int) -> None:
    """Bold header that stays in view, widths that fit the content."""
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    if not rows:
        return
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.freeze_panes = "A2"
    for number, column in enumerate(sheet.iter_cols(max_row=min(rows, 500)), start=1):
        longest = max((_display_width(cell.value) for cell in column), default=0)
        sheet.column_dimensions[get_column_letter(number)].width = min(max(longest + 2, 8), 60)


def formula_notes(path: Path) -> tuple[str, ...]:
    """Sentences about formulas of a workbook that give an error."""
    from tools.readers.xlsx import cell_name, load_sheets

    notes = []
    for sheet in load_sheets(path):
        for (r, c), text in sheet.formulas.items():
            value = sheet.rows[r - 1][c - 1]
            if isinstance(value, str) and re.fullmatch(r"#(N/A|[A-Z0-9/]+[!?])", value):
                notes.append(f"The formula {text[:100]} in {cell_name(r, c)} of {sheet.name!r} gives {value}.")
    return tuple(notes[:10])


def _sheet_name(name: str, taken: list[str]) -> str:
    base = re.sub(r"[\[\]:*?/\\]", " ", name).strip().strip("'")[:31] or f"Sheet{len(taken) + 1}"
    unique, number = base, 2
    while unique.casefold() in (other.casefold() for other in taken):
        unique, number = f"{base[:27]} ({number})"[:31], number + 1
    return unique


def _date(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def _display_width(value: Any) -> int:
    text = "" if isinstance(value, str) and value.startswith("=") else show(value)
    return max((sum(2 if ord(char) > 0x2E80 else 1 for char in line) for line in text.splitlines()), default=0)
