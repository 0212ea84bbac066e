"""The worker's job ``edit_table``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from engine.protocol.errors import ModelError
from tools.readers import delimited, xlsx
from tools.readers.columns import has_decimal_comma, show
from tools.readers.kinds import ReadProblem, first_problem, kind_of
from tools.table.grid import Grid, GridRow, to_number
from tools.table.operations import Operations, apply
from tools.table.references import is_formula, letters, number
from tools.table.workbook import check_address, edit_workbook, new_value
from tools.writers.delimited import to_text
from tools.writers.registry import encode
from tools.writers.xlsx import PlainText, formula_notes, write_sheets


def edit_table_job(params: dict[str, Any]) -> dict[str, Any]:
    """Write an edited copy of a table.

    Args:
        params: ``path``, ``target``, ``sheet``, ``operations`` (see `Operations`).

    Returns:
        ``said``: what was done; ``rows`` and ``columns`` afterwards; ``notes``.

    Raises:
        ModelError: the file is no table, or an operation does not fit it.
    """
    path, target = Path(params["path"]), Path(params["target"])
    operations = msgspec.convert(params["operations"], Operations)
    problem = first_problem(path)
    if problem is not None:
        raise ModelError(f"{path.name}: {problem.detail}", code=f"read.{problem.problem}")
    try:
        if kind_of(path) == "xlsx":
            return _edit_xlsx(path, target, params.get("sheet", ""), operations)
        return _edit_csv(path, target, operations)
    except ReadProblem as error:
        raise ModelError(f"{path.name}: {error.detail}", code=f"read.{error.problem}") from error


def _edit_csv(path: Path, target: Path, operations: Operations) -> dict[str, Any]:
    headers, rows, shape = delimited.load(path)
    if not shape.header:
        raise ModelError(f"{path.name} has no header row; use a script.", code="table.no_header")
    grid = Grid.of(headers, rows)
    said = apply(grid, operations)
    if kind_of(target) == "xlsx":
        return _as_workbook(grid, path.stem, target, operations, said)
    table = _values(grid, target)
    _set_cells(table, operations)
    target.write_bytes(encode(to_text(table, shape.delimiter, shape.newline), shape.encoding))
    return _result(grid, operations, said)


def _edit_xlsx(path: Path, target: Path, name: str, operations: Operations) -> dict[str, Any]:
    sheet = xlsx.find_sheet(xlsx.load_sheets(path), name)
    if not sheet.header_row:
        raise ModelError(f"The sheet {sheet.name!r} is empty.", code="table.empty")
    formula_rows = {row for row, _ in sheet.formulas}
    data = sheet.rows[sheet.header_row :]
    has_formula = [sheet.header_row + 1 + index in formula_rows for index in range(len(data))]
    grid = Grid.of(sheet.headers, data, has_formula)
    if operations.sort_by and any(all(value in (None, "") for value in row) for row in data):
        raise ModelError(f"The sheet {sheet.name!r} has empty rows in its table: sort with a script.", code="table.gap")
    said = apply(grid, operations)
    if kind_of(target) != "xlsx":
        table = _values(grid, target)
        _set_cells(table, operations)
        target.write_bytes(encode(to_text(table), "utf-8"))
        return _result(grid, operations, said)
    edit_workbook(path, target, sheet, grid, operations.set_cells)
    return _result(grid, operations, said, formula_notes(target))


def _as_workbook(grid: Grid, name: str, target: Path, operations: Operations, said: list[str]) -> dict[str, Any]:
    table = _with_formulas(grid)
    for address, value in operations.set_cells.items():
        _put(table, address, value)
    write_sheets([(name, table)], target)
    return _result(grid, operations, said, formula_notes(target))


def _with_formulas(grid: Grid) -> list[list[Any]]:
    """Header and rows for a new workbook; texts of the source that look like formulas stay texts."""
    table: list[list[Any]] = [[column.name for column in grid.columns]]
    for r, row in enumerate(grid.rows, start=2):
        cells: list[Any] = []
        for c, column in enumerate(grid.columns, start=1):
            value = row.values[c - 1]
            if row.source < 0 or column.source < 0:
                value = new_value(grid, row, r, c, 2)
            elif is_formula(value):
                value = PlainText(value)
            cells.append(value)
        table.append(cells)
    return table


def _values(grid: Grid, target: Path) -> list[list[str]]:
    """Header and rows as texts; formulas of new cells are computed."""
    table = [[show(cell) for cell in row] for row in _with_formulas(grid)]
    new = [
        (r, c)
        for r, row in enumerate(grid.rows, start=1)
        for c, column in enumerate(grid.columns)
        if (row.source < 0 or column.source < 0) and c not in row.sums and is_formula(row.values[c])
    ]
    if new:
        computed = _computed(grid, target)
        for r, c in new:
            table[r][c] = show(computed[r][c])
    for r, row in enumerate(grid.rows, start=1):
        for c in row.sums:
            table[r][c] = _sum(grid, c, table)
    return table


def _computed(grid: Grid, target: Path) -> list[list[Any]]:
    book = target.with_suffix(".computing.xlsx")
    try:
        write_sheets([("Table", _with_formulas(grid))], book)
        return xlsx.load_sheets(book)[0].rows
    finally:
        book.unlink(missing_ok=True)


def _sum(grid: Grid, column: int, table: list[list[str]]) -> str:
    """Exact sum of a column as text, written as its cells are."""
    from decimal import Decimal

    cells = [table[r][column] for r, row in enumerate(grid.rows, start=1) if not row.footer]
    numbers = [value for cell in cells if (value := to_number(cell)) is not None]
    total = format(sum((Decimal(repr(value)) for value in numbers), Decimal(0)).normalize(), "f")
    return total.replace(".", ",") if any(has_decimal_comma(cell) for cell in cells) else total


def _set_cells(table: list[list[str]], operations: Operations) -> None:
    for address, value in operations.set_cells.items():
        if is_formula(value):
            raise ModelError("A CSV file holds no formulas; give output the name of a .xlsx file.", code="table.csv")
        _put(table, address, show(value))


def _put(table: list[list[Any]], address: str, value: Any) -> None:
    address = check_address(address)
    column = number(address.rstrip("0123456789")) - 1
    row = int(address.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")) - 1
    if row >= len(table) or column >= len(table[0]):
        last = f"{letters(len(table[0]))}{len(table)}"
        raise ModelError(f"{address} is outside the table, which ends at {last}.", code="table.address")
    table[row][column] = value


def _result(grid: Grid, operations: Operations, said: list[str], notes: tuple[str, ...] = ()) -> dict[str, Any]:
    if operations.set_cells:
        said = [*said, f"set {', '.join(operations.set_cells)}"]
    rows: list[GridRow] = grid.body()
    return {"said": said, "rows": len(rows), "columns": [c.name for c in grid.columns], "notes": list(notes)}
