"""A table being edited: it remembers for each row and column where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from engine.protocol.errors import ModelError
from engine.system.loose import loose_find
from tools.readers.columns import kind_of_value, parse_number, show

TOTAL_WORDS = {"total", "totals", "grand total", "sum", "total:", "合计", "总计", "总和", "summe", "gesamt"}


class GridRow(msgspec.Struct, kw_only=True):
    """A data row.

    Attributes:
        source: its index among the data rows of the file, from 0; -1 for a new one.
        values: one for each column; texts that begin with ``=`` are formulas with ``{row}`` and ``{column name}``.
        footer: a total row: it stays last and is neither sorted nor compared.
        sums: columns that get the sum of those above.
    """

    source: int = -1
    values: list[Any]
    footer: bool = False
    sums: tuple[int, ...] = ()


class GridColumn(msgspec.Struct, kw_only=True):
    """A column: its name now, its index in the file (-1 for a new one)."""

    name: str
    source: int = -1


class Grid(msgspec.Struct, kw_only=True):
    """The table.

    Attributes:
        columns: in their order now.
        rows: in their order now.
    """

    columns: list[GridColumn]
    rows: list[GridRow]

    @classmethod
    def of(cls, headers: Sequence[str], rows: Sequence[Sequence[Any]], has_formula: Sequence[bool] = ()) -> Grid:
        """A grid of a table as it is in the file; a last row that looks like a total is taken as the footer."""
        grid = cls(
            columns=[GridColumn(name=name, source=index) for index, name in enumerate(headers)],
            rows=[GridRow(source=index, values=list(row)) for index, row in enumerate(rows)],
        )
        if grid.rows and len(grid.rows) > 1:
            last = grid.rows[-1]
            words = {show(value).strip().casefold() for value in last.values if isinstance(value, str)}
            last.footer = bool(words & TOTAL_WORDS) or (bool(has_formula) and _only_last(has_formula))
        return grid

    def column(self, name: str) -> int:
        """Index of a column by name; one that is only like it will do if there is no other such (`loose_find`).

        Raises:
            ModelError: there is none, or more than one that could be meant.
        """
        names = [column.name for column in self.columns]
        found = loose_find(name, names)
        if found is not None:
            return names.index(found)
        raise ModelError(f"There is no column {name!r}; the columns are: {', '.join(names)}.", code="table.no_column")

    def body(self) -> list[GridRow]:
        """The rows that are data: no footers."""
        return [row for row in self.rows if not row.footer]


def _only_last(has_formula: Sequence[bool]) -> bool:
    return has_formula[-1] and not any(has_formula[:-1])


def sort_key(value: Any) -> tuple[int, float, str]:
    """Key that puts numbers in numeric order before texts, and empty cells last."""
    if value is None or value == "":
        return (3, 0.0, "")
    if isinstance(value, bool):
        return (1, float(value), "")
    if isinstance(value, int | float):
        return (0, float(value), "")
    if isinstance(value, str):
        number = parse_number(value)
        return (0, number, "") if number is not None else (2, 0.0, value.casefold())
    # dates: their ISO form sorts as they do
    return (1, 0.0, show(value)) if kind_of_value(value) == "date" else (2, 0.0, show(value))


def to_number(value: Any) -> float | None:
    """A cell as a number; None if it is not one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    return parse_number(value) if isinstance(value, str) else None
