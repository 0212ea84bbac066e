"""Edits in a workbook: everything that is not edited stays as it is.

Cells move with their formats, links and notes; formulas, names, conditional formats, validations, filters and tables
of all sheets follow. Workbooks with parts that would be lost on the way are refused.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.protocol.errors import ModelError
from engine.system.loose import loose_find
from tools.readers.xlsx import Sheet, cell_name
from tools.table.grid import Grid, GridRow
from tools.table.losses import refuse_losses
from tools.table.references import Moves, fill_formula, is_formula, letters
from tools.table.relocation import follow_everywhere, move_dimensions, relocate
from tools.writers.xlsx import put


def edit_workbook(path: Path, target: Path, sheet: Sheet, grid: Grid, cells: Mapping[str, Any]) -> None:
    """Write an edited copy of a workbook.

    Args:
        path: the workbook.
        target: the copy.
        sheet: the sheet that is edited, as read.
        grid: its table after the operations.
        cells: values by address (``B2``), set last.

    Raises:
        ModelError: parts would be lost, merged cells are in the way, a bad address.
    """
    import openpyxl

    refuse_losses(path)
    book = openpyxl.load_workbook(path, rich_text=True)
    page = book[sheet.name]
    moves = find_moves(sheet, grid)
    if not _same_layout(moves, sheet):
        _refuse_merged(page, sheet.header_row)
        relocate(page, moves)
        move_dimensions(page, moves)
    if not _same_layout(moves, sheet) or moves.grown[0]:
        follow_everywhere(book, moves)
    _write_headers(page, sheet, grid)
    _write_new(page, sheet, grid)
    for address, value in cells.items():
        put(page[check_address(address)], value)
    book.save(target)


def find_moves(sheet: Sheet, grid: Grid) -> Moves:
    """Where the rows and columns of the table went."""
    first = sheet.header_row + 1
    old_last = len(sheet.rows)
    rows = {first + row.source: first + index for index, row in enumerate(grid.rows) if row.source >= 0}
    columns = {column.source + 1: index + 1 for index, column in enumerate(grid.columns) if column.source >= 0}
    had_footer = any(row.footer and row.source >= 0 for row in grid.rows)
    old_end = old_last - int(had_footer)
    body = grid.body()
    grown = (0, 0)
    if body and body[-1].source < 0:
        grown = (old_end, first + len(body) - 1)
    return Moves(
        sheet=sheet.name,
        rows=rows,
        columns=columns,
        first_row=first,
        last_row=old_last,
        last_column=len(sheet.headers),
        grown=grown,
    )


def check_address(address: str) -> str:
    """A cell address in capital letters.

    Raises:
        ModelError: it is none.
    """
    from openpyxl.utils.cell import coordinate_from_string
    from openpyxl.utils.exceptions import CellCoordinatesException

    try:
        column, row = coordinate_from_string(address.strip().upper())
    except CellCoordinatesException as error:
        raise ModelError(f"{address!r} is not a cell; write it like B2.", code="table.address") from error
    return f"{column}{row}"


def _same_layout(moves: Moves, sheet: Sheet) -> bool:
    return (
        all(old == new for old, new in moves.rows.items())
        and all(old == new for old, new in moves.columns.items())
        and len(moves.rows) == len(sheet.rows) - sheet.header_row
        and len(moves.columns) == len(sheet.headers)
    )


def _refuse_merged(page: Any, header_row: int) -> None:
    for area in page.merged_cells.ranges:
        if area.max_row >= header_row:
            raise ModelError(
                f"The cells {area.coord} of {page.title!r} are merged: rows and columns of this table cannot be "
                "moved. Write the table to a new file (output), or change single cells with set_cells.",
                code="table.merged",
            )


def _write_headers(page: Any, sheet: Sheet, grid: Grid) -> None:
    for index, column in enumerate(grid.columns, start=1):
        cell = page.cell(sheet.header_row, index)
        if column.source < 0:
            _take_style(cell, page.cell(sheet.header_row, max(index - 1, 1)))
        old = sheet.headers[column.source] if column.source >= 0 else None
        if column.name != old:
            put(cell, column.name, plain=True)
            _rename_in_tables(page, sheet.header_row, index, column.name)


def _write_new(page: Any, sheet: Sheet, grid: Grid) -> None:
    first = sheet.header_row + 1
    for r, row in enumerate(grid.rows, start=first):
        above = r - 1 if r > first else r
        for c, column in enumerate(grid.columns, start=1):
            if row.source >= 0 and column.source >= 0:
                continue
            cell = page.cell(r, c)
            if row.source < 0 and column.source >= 0:
                _take_style(cell, page.cell(above, c))
            elif column.source < 0 and c > 1:
                _take_style(cell, page.cell(r, c - 1))
                cell.number_format = "General"
            put(cell, new_value(grid, row, r, c, first))
            if row.sums:
                font = copy.copy(cell.font)
                font.b = True
                cell.font = font


def new_value(grid: Grid, row: GridRow, r: int, c: int, first: int) -> Any:
    """The value of a new cell: formulas with the row and the cells of columns filled in, sums as formulas.

    Args:
        grid: the table.
        row: the cell's row.
        r: its row number in the sheet.
        c: its column number.
        first: row number of the first data row.
    """
    if c - 1 in row.sums:
        return f"=SUM({letters(c)}{first}:{letters(c)}{first + len(grid.body()) - 1})"
    value = row.values[c - 1]
    if not is_formula(value):
        return value
    names = [column.name for column in grid.columns]

    def address(name: str) -> str | None:
        found = loose_find(name, names)
        return None if found is None else cell_name(r, names.index(found) + 1)

    return fill_formula(value, r, address)


def _take_style(cell: Any, like: Any) -> None:
    if like.has_style:
        cell._style = copy.copy(like._style)


def _rename_in_tables(page: Any, row: int, column: int, name: str) -> None:
    """Names of a table object's columns must be those of its header cells."""
    from openpyxl.utils.cell import range_boundaries

    for table in page.tables.values():
        left, top, right, _ = range_boundaries(table.ref)
        if top == row and left <= column <= right and column - left < len(table.tableColumns):
            table.tableColumns[column - left].name = name
