"""The worker's job ``aggregate_table``: a group-by with exact decimal sums."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from engine.protocol.errors import ModelError
from tools.readers import delimited, xlsx
from tools.readers.columns import show
from tools.readers.kinds import ReadProblem, first_problem, kind_of
from tools.table.grid import Grid, sort_key, to_number
from tools.table.references import is_formula, letters
from tools.writers.delimited import to_text
from tools.writers.xlsx import PlainText, write_sheets

_TOTAL_FORMULAS = {"sum": "SUM", "count": "SUM", "min": "MIN", "max": "MAX"}


class Aggregation(msgspec.Struct, frozen=True, kw_only=True):
    """What to compute; see `tools.table.aggregate_table.AggregateTableArguments`."""

    path: str
    target: str
    group_by: list[str]
    values: list[str] = []
    how: str = "sum"
    sheet: str = ""
    total_row: str = "none"
    sort: str = ""
    names: list[str] = []


def aggregate_job(params: dict[str, Any]) -> dict[str, Any]:
    """Write the grouped table.

    Args:
        params: see `Aggregation`.

    Returns:
        ``groups``, ``rows`` (source rows), ``extremes`` (a sentence, for one value column), ``notes`` and a
        ``preview`` of the result.

    Raises:
        ModelError: the file is no table, a column is missing or holds no numbers.
    """
    wanted = msgspec.convert(params, Aggregation)
    path, target = Path(wanted.path), Path(wanted.target)
    grid = load_grid(path, wanted.sheet)
    notes: list[str] = []
    if any(row.footer for row in grid.rows):
        notes.append("The last row of the source is a total row and was not counted.")
    headers, table = grouped(grid, wanted, notes)
    if wanted.sort:
        table = _sorted(headers, table, wanted.sort)
    in_workbook = kind_of(target) == "xlsx"
    if wanted.total_row == "formula" and not in_workbook:
        notes.append("No total row was written: a CSV file holds no formulas.")
        wanted = msgspec.structs.replace(wanted, total_row="none")
    total = _total(grid, wanted, headers, table)
    rows: list[list[Any]] = [headers, *table, *([total] if total else [])]
    if in_workbook:
        write_sheets([("Summary", [[_safe(value, total is row) for value in row] for row in rows])], target)
    else:
        target.write_bytes(to_text([[show(cell) for cell in row] for row in rows]).encode("utf-8"))
    shown = [[show(cell) for cell in row] for row in (rows if len(rows) <= 13 else rows[:11])]
    return {
        "groups": len(table),
        "rows": len(grid.body()),
        "extremes": _extremes(table, len(wanted.group_by)),
        "notes": notes,
        "preview": to_text(shown),
    }


def _extremes(table: list[list[Any]], keys: int) -> str:
    if not table or len(table[0]) != keys + 1:
        return ""
    return extremes([" / ".join(show(cell) for cell in row[:keys]) for row in table], [row[keys] for row in table])


def load_grid(path: Path, sheet: str) -> Grid:
    """The table of a CSV, TSV or XLSX file.

    Args:
        path: the file.
        sheet: of a workbook; empty for the first with data.

    Raises:
        ModelError: it cannot be read.
    """
    problem = first_problem(path)
    if problem is not None:
        raise ModelError(f"{path.name}: {problem.detail}", code=f"read.{problem.problem}")
    try:
        if kind_of(path) == "xlsx":
            found = xlsx.find_sheet(xlsx.load_sheets(path), sheet)
            return Grid.of(found.headers, found.data)
        headers, rows, _ = delimited.load(path)
        return Grid.of(headers, rows)
    except ReadProblem as error:
        raise ModelError(f"{path.name}: {error.detail}", code=f"read.{error.problem}") from error


def grouped(grid: Grid, wanted: Aggregation, notes: list[str]) -> tuple[list[str], list[list[Any]]]:
    """Headers, and one row for each group in the order in which the groups first occur.

    Args:
        grid: the source.
        wanted: its groups, values and way of reducing; the rest is not looked at.
        notes: receives sentences on what was left out.

    Raises:
        ModelError: a column is missing or holds no numbers.
    """
    keys = [grid.column(name) for name in wanted.group_by]
    values = [grid.column(name) for name in wanted.values]
    if not values and wanted.how != "count":
        raise ModelError("values is empty: name the number columns, or take how=count.", code="table.values")
    groups: dict[tuple[str, ...], list[list[Any]]] = {}
    for row in grid.body():
        groups.setdefault(tuple(show(row.values[key]).strip() for key in keys), []).append(row.values)
    _note_texts(grid, values, wanted.how, notes)
    table = []
    for rows in groups.values():
        cells = [rows[0][key].strip() if isinstance(rows[0][key], str) else rows[0][key] for key in keys]
        if wanted.how == "count" and not values:
            cells.append(len(rows))
        cells += [reduce([row[value] for row in rows], wanted.how) for value in values]
        table.append(cells)
    return _headers(grid, keys, values, wanted), table


def _headers(grid: Grid, keys: Sequence[int], values: Sequence[int], wanted: Aggregation) -> list[str]:
    names = [grid.columns[value].name for value in values] or ["count"]
    if wanted.names and len(wanted.names) != len(names):
        raise ModelError(f"names must name {len(names)} columns.", code="table.names")
    made = [name if wanted.how == "sum" or not values else f"{wanted.how} of {name}" for name in names]
    return [grid.columns[key].name for key in keys] + (wanted.names or made)


def _note_texts(grid: Grid, values: Sequence[int], how: str, notes: list[str]) -> None:
    """Refuse columns without numbers; note cells that are none."""
    if how == "count":
        return
    for value in values:
        cells = [row.values[value] for row in grid.body()]
        texts = [cell for cell in cells if cell not in (None, "") and to_number(cell) is None]
        name = grid.columns[value].name
        if len(texts) == len([cell for cell in cells if cell not in (None, "")]):
            raise ModelError(f"The column {name!r} holds no numbers.", code="table.no_numbers")
        if texts:
            notes.append(f"{len(texts)} cells of {name} are not numbers and were left out, such as {show(texts[0])!r}.")


def reduce(cells: Sequence[Any], how: str) -> int | float | None:
    """One number for the cells of a group; None where it has no numbers.

    Args:
        cells: cells as read.
        how: ``sum``, ``mean``, ``count`` (filled cells), ``min``, ``max`` or ``median``.
    """
    if how == "count":
        return sum(cell not in (None, "") for cell in cells)
    # decimal arithmetic on the shortest form: 0.1 + 0.2 is 0.3, as in the file
    numbers = [Decimal(repr(number)) for cell in cells if (number := to_number(cell)) is not None]
    if not numbers:
        return 0 if how == "sum" else None
    if how == "sum":
        result = sum(numbers, Decimal(0))
    elif how == "mean":
        result = sum(numbers, Decimal(0)) / len(numbers)
    elif how == "median":
        result = statistics.median(numbers)
    else:
        result = min(numbers) if how == "min" else max(numbers)
    return int(result) if result == result.to_integral_value() else float(round(result, 10))


def extremes(labels: Sequence[str], values: Sequence[Any]) -> str:
    """A sentence on the largest and the smallest figure, with all labels that share it.

    Args:
        labels: one for each figure.
        values: numbers; None for a group without one.
    """
    figures = [(label, value) for label, value in zip(labels, values, strict=True) if value is not None]
    if not figures:
        return ""
    said = []
    for word, value in (("Largest", max(v for _, v in figures)), ("Smallest", min(v for _, v in figures))):
        names = [label for label, other in figures if other == value]
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        said.append(f"{word}: {shown} with {show(value)}.")
    return " ".join(said)


def _sorted(headers: list[str], table: list[list[Any]], sort: str) -> list[list[Any]]:
    name, descending = (sort, False) if sort in headers else (sort.removeprefix("-"), sort.startswith("-"))
    grid = Grid.of(headers, [])
    if name not in headers and name.rpartition(" ")[2].lower() in ("desc", "asc"):
        name, _, direction = name.rpartition(" ")
        descending = direction.lower() == "desc"
    index = grid.column(name)
    return sorted(table, key=lambda row: sort_key(row[index]), reverse=descending)


def _total(grid: Grid, wanted: Aggregation, headers: list[str], table: list[list[Any]]) -> list[Any] | None:
    if wanted.total_row == "none":
        return None
    row: list[Any] = ["Total", *([None] * (len(wanted.group_by) - 1))]
    if wanted.total_row == "value":
        values = [grid.column(name) for name in wanted.values]
        if not values:
            return [*row, len(grid.body())]
        return row + [reduce([line.values[value] for line in grid.body()], wanted.how) for value in values]
    if wanted.how not in _TOTAL_FORMULAS:
        raise ModelError(
            f"The overall {wanted.how} does not follow from those of the groups: take total_row=value.",
            code="table.total",
        )
    function = _TOTAL_FORMULAS[wanted.how]
    for column in range(len(row) + 1, len(headers) + 1):
        row.append(f"={function}({letters(column)}2:{letters(column)}{len(table) + 1})")
    return row


def _safe(value: Any, ours: bool) -> Any:
    """Texts of the source that look like formulas stay texts; our own formulas are formulas."""
    return PlainText(value) if is_formula(value) and not ours else value
