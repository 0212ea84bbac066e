"""Worksheets that were to stay as they were: values, formulas, and how they look."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

from engine.protocol.verdicts import Defect
from tools.checks.base import defect
from tools.checks.figures import label
from tools.inspectors.grids import Sheet, is_blank, read_sheets
from tools.inspectors.numbers import number


def norm(value: Any, loose: bool) -> tuple[str, Any]:
    """A cell for comparing.

    Args:
        value: the cell.
        loose: one side is a text table, so that ``5`` and ``5.0`` in text are numbers; ``007`` stays text.
    """
    if is_blank(value):
        return ("", "")
    if isinstance(value, bool):
        return ("t", str(value).lower())
    if (
        loose
        and isinstance(value, str)
        and (re.fullmatch(r"-?(?:0|[1-9]\d*)?(?:\.\d+)?(?:[eE][+-]?\d+)?", value.strip()) and value.strip())
    ):
        value = number(value) if number(value) is not None else value
    if isinstance(value, int | float | Decimal):
        return ("n", round(Decimal(str(value)), 9).normalize())
    if hasattr(value, "isoformat"):
        return ("t", label(value))
    text = str(value).replace("\r\n", "\n").removesuffix(" 00:00:00")
    return ("t", text.lower() if text.lower() in ("true", "false") else text)


def other_sheets(before: Path, after: Path, edited: set[str], name: str) -> list[Defect]:
    """What changed on the other sheets of a workbook.

    Args:
        before: the pristine workbook.
        after: the result.
        edited: sheets that were to change.
        name: what the result is called.
    """
    now = {sheet.name: sheet for sheet in read_sheets(after)}
    defects: list[Defect] = []
    for sheet in read_sheets(before):
        if sheet.name in edited:
            continue
        if sheet.name not in now:
            says = f"The sheet {sheet.name} is gone."
            defects.append(defect("workbook.sheet_lost", name, sheet.name, says, sheet=sheet.name))
            continue
        spot = _difference(sheet, now[sheet.name])
        if spot:
            says = f"{spot} of the sheet {sheet.name} changed."
            defects.append(defect("workbook.sheet_changed", name, f"{sheet.name}!{spot}", says, sheet=sheet.name))
    return defects or _looks(before, after, edited, name)


def _looks(before: Path, after: Path, edited: set[str], name: str) -> list[Defect]:
    """Cells that lost their format: number format, bold, fill; columns that lost their width."""
    import openpyxl

    old, new = openpyxl.load_workbook(before), openpyxl.load_workbook(after)
    for page in old.worksheets:
        if page.title in edited:
            continue
        twin = new[page.title]
        spot = next(
            (str(c.coordinate) for row in page.iter_rows() for c in row if _look(c) != _look(twin[c.coordinate])), ""
        )
        widths = {letter: size.width for letter, size in page.column_dimensions.items() if size.customWidth}
        lost = next((k for k, width in widths.items() if abs(twin.column_dimensions[k].width - width) > 0.1), "")
        if spot or lost:
            says = f"{spot or 'Column ' + lost} of the sheet {page.title} lost its format."
            where = f"{page.title}!{spot or lost}"
            return [defect("workbook.sheet_changed", name, where, says, sheet=page.title)]
    return []


def _look(cell: Any) -> tuple[Any, ...]:
    if not cell.has_style:
        return ("General", False, "00000000")
    return (cell.number_format, bool(cell.font.b), cell.fill.fgColor.rgb if cell.fill.fill_type else "00000000")


def _difference(before: Sheet, after: Sheet) -> str:
    from openpyxl.utils import get_column_letter

    height = max(len(before.cells), len(after.cells))
    width = max((len(row) for sheet in (before, after) for row in sheet.cells), default=0)
    for row in range(1, height + 1):
        for column in range(1, width + 1):
            place = (row, column)
            if before.formulas.get(place, "") != after.formulas.get(place, ""):
                return f"{get_column_letter(column)}{row}"
            if place not in before.formulas and norm(before.value(row, column), False) != norm(
                after.value(row, column), False
            ):
                return f"{get_column_letter(column)}{row}"
    return ""
