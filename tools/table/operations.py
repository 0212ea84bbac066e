"""The operations of ``edit_table`` on a `Grid`, in their fixed order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from engine.protocol.errors import ModelError
from tools.readers.columns import show
from tools.table.grid import Grid, GridColumn, GridRow, sort_key

Cell = str | int | float | bool | None


class Operations(msgspec.Struct, frozen=True, kw_only=True):
    """What to do with a table; see `tools.table.edit_table.EditTableArguments`."""

    rename: dict[str, str] = {}
    drop_columns: list[str] = []
    keep_columns: list[str] = []
    drop_duplicates: bool | list[str] = False
    add_columns: dict[str, Cell] = {}
    add_rows: list[list[Cell]] = []
    total_row: dict[str, list[str]] = {}
    sort_by: list[str] = []
    set_cells: dict[str, Cell] = {}


def apply(grid: Grid, operations: Operations) -> list[str]:
    """Change the grid; `set_cells` is left to the caller, as it is about the finished sheet.

    Returns:
        one sentence for each operation, with its numbers.

    Raises:
        ModelError: a column that is not there, or nothing to do.
    """
    said: list[str] = []
    if operations.rename:
        said.append(_rename(grid, operations.rename))
    if operations.drop_columns:
        said.append(_keep(grid, [i for i in range(len(grid.columns)) if i not in _all(grid, operations.drop_columns)]))
    if operations.keep_columns:
        said.append(_keep(grid, _all(grid, operations.keep_columns)))
    if operations.drop_duplicates:
        said.append(_drop_duplicates(grid, operations.drop_duplicates))
    if operations.add_columns:
        said.append(_add_columns(grid, operations.add_columns))
    if operations.add_rows:
        said.append(_add_rows(grid, operations.add_rows, operations.add_columns))
    if operations.total_row:
        said.append(_total_row(grid, operations.total_row))
    if operations.sort_by:
        said.append(_sort(grid, operations.sort_by))
    if not said and not operations.set_cells:
        raise ModelError("No operation was given; nothing was changed.", code="table.nothing")
    return said


def _all(grid: Grid, names: Sequence[str]) -> list[int]:
    return [grid.column(name) for name in names]


def _rename(grid: Grid, names: Mapping[str, str]) -> str:
    # all are looked up first, so that two columns can change names
    found = [(grid.column(old), new.strip()) for old, new in names.items()]
    for index, new in found:
        grid.columns[index].name = new
    now = [column.name for column in grid.columns]
    doubled = sorted({name for name in now if now.count(name) > 1})
    if doubled or "" in now:
        raise ModelError(f"Two columns would be called {', '.join(doubled) or 'nothing'}.", code="table.same_name")
    return f"renamed {len(found)} columns"


def _keep(grid: Grid, indices: list[int]) -> str:
    if not indices:
        raise ModelError("No column would be left.", code="table.nothing_left")
    dropped = [column.name for index, column in enumerate(grid.columns) if index not in indices]
    grid.columns = [grid.columns[index] for index in indices]
    for row in grid.rows:
        row.values = [row.values[index] for index in indices]
    return f"dropped {len(dropped)} columns" + (f" ({', '.join(dropped)})" if dropped else "")


def _drop_duplicates(grid: Grid, keys: bool | list[str]) -> str:
    indices = _all(grid, keys) if isinstance(keys, list) else list(range(len(grid.columns)))
    seen: set[tuple[str, ...]] = set()
    kept = []
    for row in grid.rows:
        key = tuple(show(row.values[index]) for index in indices)
        if row.footer or not any(key) or key not in seen:
            kept.append(row)
        seen.add(key)
    dropped, grid.rows = len(grid.rows) - len(kept), kept
    return f"dropped {dropped} duplicate rows"


def _add_columns(grid: Grid, columns: Mapping[str, Cell]) -> str:
    taken = {column.name.casefold() for column in grid.columns}
    for name, value in columns.items():
        if name.casefold() in taken:
            raise ModelError(f"There is a column {name!r} already.", code="table.same_name")
        grid.columns.append(GridColumn(name=name))
        for row in grid.rows:
            row.values.append(None if row.footer or not any(v not in (None, "") for v in row.values) else value)
    return f"added {len(columns)} columns"


def _add_rows(grid: Grid, rows: Sequence[Sequence[Cell]], added: Mapping[str, Cell]) -> str:
    width = len(grid.columns)
    place = next((i for i, row in enumerate(grid.rows) if row.footer), len(grid.rows))
    for offset, values in enumerate(rows):
        if len(values) > width:
            raise ModelError(f"A new row has {len(values)} cells; the table has {width} columns.", code="table.ragged")
        # a row that says nothing of the new columns gets what they have in every row
        padded = [*values, *(added.get(column.name) for column in grid.columns[len(values) :])]
        grid.rows.insert(place + offset, GridRow(values=padded))
    return f"added {len(rows)} rows"


def _total_row(grid: Grid, total: Mapping[str, list[str]]) -> str:
    if len(total) != 1:
        raise ModelError(
            'total_row takes one label with the columns to sum: {"Total": ["amount"]}.', code="table.total"
        )
    (label, names), *_ = total.items()
    sums = tuple(_all(grid, names))
    values: list[Any] = [None] * len(grid.columns)
    place = next((index for index in range(len(values)) if index not in sums), None)
    if place is not None:
        values[place] = label
    if any(row.footer for row in grid.rows):
        raise ModelError("The table has a total row already; change it with set_cells.", code="table.total")
    grid.rows.append(GridRow(values=values, footer=True, sums=sums))
    return f"added a total row over {', '.join(grid.columns[index].name for index in sums)}"


def _sort(grid: Grid, names: Sequence[str]) -> str:
    body = grid.body()
    for name in reversed(names):
        index, descending = _sort_column(grid, name)
        # two passes keep empty cells last in both directions
        filled = [row for row in body if row.values[index] not in (None, "")]
        empty = [row for row in body if row.values[index] in (None, "")]
        if any(isinstance(row.values[index], str) and row.values[index].startswith("=") for row in filled):
            raise ModelError(
                f"The column {name!r} is new and holds formulas: sort in a second call.", code="table.sort_new"
            )
        body = sorted(filled, key=lambda row: sort_key(row.values[index]), reverse=descending) + empty
    grid.rows = body + [row for row in grid.rows if row.footer]
    return f"sorted by {', '.join(names)}"


def _sort_column(grid: Grid, name: str) -> tuple[int, bool]:
    """Column and direction of ``amount``, ``-amount`` or ``amount desc``."""
    if any(column.name == name for column in grid.columns):
        return grid.column(name), False
    if name.startswith("-"):
        return grid.column(name[1:]), True
    plain, _, direction = name.rpartition(" ")
    if direction.lower() in ("desc", "descending", "asc", "ascending"):
        return grid.column(plain), direction.lower().startswith("d")
    return grid.column(name), False
