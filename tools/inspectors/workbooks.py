"""Excel workbooks: formulas recalculated, errors, empty sheets, numbers kept as text, sums over the wrong rows."""

from __future__ import annotations

from pathlib import Path

from engine.protocol.verdicts import Defect
from tools.inspectors.base import Found, fault
from tools.inspectors.formulas import summed_rows
from tools.inspectors.grids import Sheet, is_blank, read_sheets
from tools.inspectors.numbers import number

_ERRORS = ("#REF!", "#NAME?", "#DIV/0!", "#VALUE!", "#N/A", "#NUM!", "#NULL!", "#CIRC!")


def inspect(path: Path) -> Found:
    """Facts: ``sheets`` with name, rows, columns, formulas. Defects: see the module."""
    from openpyxl.utils import get_column_letter

    sheets = read_sheets(path)
    pages: list[dict[str, object]] = []
    facts = {"sheets": pages, "formulas": sum(len(sheet.formulas) for sheet in sheets)}
    defects: list[Defect] = []
    filled = 0
    for sheet in sheets:
        used = any(not is_blank(value) for row in sheet.cells for value in row)
        filled += used
        width = max((len(row) for row in sheet.cells), default=0)
        pages.append(
            {
                "name": sheet.name,
                "rows": len(sheet.cells) if used else 0,
                "columns": width,
                "formulas": len(sheet.formulas),
            }
        )
        if not used:
            defects.append(
                fault("workbook.sheet_empty", path.name, sheet.name, "The sheet is empty.", False, sheet=sheet.name)
            )
        for (row, column), formula in sheet.formulas.items():
            place = f"{sheet.name}!{get_column_letter(column)}{row}"
            defects.extend(_formula(sheet, row, column, formula, place, path.name))
        defects.extend(_text_numbers(sheet, path.name))
    if sheets and not filled:
        defects = [fault("file.empty", path.name, "", "Every sheet is empty.")]
    return facts, defects[:30]


def _formula(sheet: Sheet, row: int, column: int, formula: str, place: str, name: str) -> list[Defect]:
    value = sheet.value(row, column)
    rows = summed_rows(formula, column)
    if rows and row in rows:
        return [
            fault(
                "formula.includes_itself",
                name,
                place,
                f"{formula} adds up its own cell.",
                True,
                formula=formula,
                cell=place,
            )
        ]
    if isinstance(value, str) and value in _ERRORS:
        fatal = value in ("#REF!", "#NAME?", "#CIRC!") and sheet.computed
        return [
            fault(
                "formula.error",
                name,
                place,
                f"{formula} gives {value}.",
                fatal,
                error=value,
                formula=formula,
                cell=place,
            )
        ]
    if not rows or ":" not in formula or len(rows) < 2:
        return []
    before, after = min(rows) - 1, max(rows) + 1
    missed = [r for r in (before, after) if _is_data(sheet, r, column, row)]
    if missed and abs(row - max(rows)) <= 3:
        says = f"{formula} leaves out row {missed[0]}."
        return [fault("formula.range_misses", name, place, says, False, formula=formula, cell=place, row=missed[0])]
    return []


def _is_data(sheet: Sheet, row: int, column: int, own: int) -> bool:
    return (
        row != own
        and (row, column) not in sheet.formulas
        and isinstance(sheet.value(row, column), int | float)
        and not isinstance(sheet.value(row, column), bool)
    )


def _text_numbers(sheet: Sheet, name: str) -> list[Defect]:
    """Columns whose figures are kept as text, so that no formula can use them; codes such as ``007`` are none."""
    found: list[Defect] = []
    for column in range(1, max((len(row) for row in sheet.cells), default=0) + 1):
        cells = [sheet.value(row, column) for row in range(2, len(sheet.cells) + 1)]
        texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
        figures = [
            cell
            for cell in texts
            if number(cell) is not None
            and not cell.strip().lstrip("-").startswith("0")
            and ("." in cell or "," in cell)
        ]
        if len(figures) >= 3 and len(figures) == len(texts):
            header = str(sheet.value(1, column) or column)
            found.append(
                fault(
                    "table.text_numbers",
                    name,
                    f"{sheet.name}, {header}",
                    f"“{figures[0]}” is kept as text.",
                    False,
                    column=header,
                )
            )
    return found
