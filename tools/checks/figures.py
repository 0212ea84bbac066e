"""The right figures, worked out afresh from the pristine sources in exact decimal arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any

from engine.protocol.documents import CheckFiles
from tools.inspectors.grids import Grid, is_blank, read_grids
from tools.inspectors.numbers import number, uses_decimal_comma

Group = tuple[str, ...]


class Unclear(Exception):
    """The source does not say clearly what the right figures are; the text says why."""


def label(value: Any) -> str:
    """A group's name as text: whole floats without their zero, dates as ISO, white space trimmed."""
    if is_blank(value):
        return ""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).removesuffix("T00:00:00").replace("T", " ")
    return " ".join(str(value).split())


def fold(text: str) -> str:
    """A label for comparing, without case; ``2024-01-05 00:00:00`` is the day, ``3.0`` is 3."""
    small = " ".join(text.split()).casefold().removesuffix(" 00:00:00")
    head, dot, tail = small.rpartition(".")
    return head if dot and tail.strip("0") == "" and head.lstrip("-").isdigit() else small


def source_grid(files: CheckFiles, source: str, sheet: str) -> Grid:
    """The table a check starts from.

    Raises:
        Unclear: it is not there.
    """
    path = files.sources.get(source)
    if path is None:
        raise Unclear(f"The source {source} is not at hand.")
    for grid in read_grids(Path(path)):
        if not sheet or grid.name == sheet:
            return grid
    raise Unclear(f"The source {source} has no table to compare with.")


def place(grid: Grid, column: str) -> int:
    """Index of a column by its header.

    Raises:
        Unclear: it is not there, or there twice.
    """
    hits = [index for index, name in enumerate(grid.header) if name.strip() == column.strip()]
    if len(hits) != 1:
        raise Unclear(f"The column {column} is not there once in the source.")
    return hits[0]


def grouped(
    grid: Grid, groups: Sequence[str], values: Sequence[str], ops: Sequence[str]
) -> dict[Group, dict[str, Decimal]]:
    """Figures by group.

    Args:
        grid: the source table.
        groups: group columns.
        values: value columns; may be empty for ``count``.
        ops: operations.

    Returns:
        Figures by group; a figure's name is ``op:column``. Rows without a group are left out.

    Raises:
        Unclear: groups differ only in case or spacing, or a value is no number.
    """
    keys = [place(grid, column) for column in groups]
    columns = {column: place(grid, column) for column in values}
    commas = {column: uses_decimal_comma(grid.column(index)) for column, index in columns.items()}
    rows: dict[Group, list[list[Any]]] = {}
    for row in grid.rows:
        group = tuple(label(row[index]) for index in keys)
        if all(group) and not all(is_blank(cell) for cell in row):
            rows.setdefault(group, []).append(row)
    if len({tuple(fold(part) for part in group) for group in rows}) < len(rows):
        raise Unclear("Some groups differ only in upper and lower case.")
    result: dict[Group, dict[str, Decimal]] = {}
    for group, members in rows.items():
        made: dict[str, Decimal] = {}
        for op in ops:
            if op == "count":
                made["count:"] = Decimal(len(members))
                continue
            for column, index in columns.items():
                made[f"{op}:{column}"] = _apply(op, _numbers([m[index] for m in members], column, commas[column]))
        result[group] = made
    return result


def _numbers(cells: list[Any], column: str, comma: bool) -> list[Decimal]:
    found: list[Decimal] = []
    for cell in cells:
        if is_blank(cell):
            continue
        value = number(cell, decimal_comma=comma)
        if value is None:
            raise Unclear(f"The column {column} holds “{str(cell)[:40]}”, which is no number.")
        found.append(value)
    return found


def _apply(op: str, numbers: list[Decimal]) -> Decimal:
    if not numbers:
        return Decimal(0)
    if op == "sum":
        return sum(numbers, Decimal(0))
    if op == "mean":
        return sum(numbers, Decimal(0)) / len(numbers)
    if op == "median":
        return Decimal(median(numbers))
    return max(numbers) if op == "max" else min(numbers)


def close(found: Decimal, wanted: Decimal, rounding: int | None = None) -> bool:
    """Equal within half a unit of the rounding asked for, or half a cent where none was asked for."""
    allowed = Decimal("0.5").scaleb(-rounding) if rounding is not None else Decimal("0.005")
    return abs(found - wanted) <= allowed + abs(wanted) * Decimal("1e-9") + Decimal("1e-9")


def rounded_to(value: Decimal, digits: int) -> bool:
    """Whether a figure really has no more than `digits` decimals (within the noise of floating point)."""
    return abs(value - round(value, digits)) <= Decimal("1e-6")
