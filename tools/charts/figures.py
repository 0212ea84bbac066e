"""The worker's job ``chart_figures``: labels and exact figures of a chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from engine.protocol.errors import ModelError
from tools.readers.columns import show
from tools.table.aggregating import Aggregation, extremes, grouped, load_grid
from tools.table.grid import Grid, sort_key, to_number

_MOST = {"bar": 120, "barh": 120, "pie": 24, "line": 20_000, "scatter": 20_000}
_EMPTY = "(empty)"


class ChartWish(msgspec.Struct, frozen=True, kw_only=True):
    """What to work out; see `tools.charts.draw_chart.DrawChartArguments`."""

    path: str
    x: str
    y: str = ""
    kind: str = "bar"
    how: str = "sum"
    sheet: str = ""
    sort: str = ""
    top: int = 0


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What a chart shows.

    Attributes:
        x: name of the column with the categories.
        y: name of the number column; empty for a count of rows.
        how: how rows became one figure.
        labels: of the bars, points or slices, in order.
        values: their figures.
        texts: the figures as texts, exact.
        places: positions along x of a scatter chart; empty for other kinds.
        of: how many there were before the largest were taken.
        extremes: a sentence on the largest and the smallest.
        notes: what was left out.
    """

    x: str
    y: str = ""
    how: str = "sum"
    labels: list[str] = []
    values: list[float] = []
    texts: list[str] = []
    places: list[float] = []
    of: int = 0
    extremes: str = ""
    notes: list[str] = []


def chart_figures_job(params: dict[str, Any]) -> dict[str, Any]:
    """Work out what a chart shows.

    Args:
        params: see `ChartWish`; further ones are ignored.

    Returns:
        The fields of `Figures`.

    Raises:
        ModelError: the file is no table, a column is missing or holds no numbers, too much for one chart.
    """
    wish = msgspec.convert(params, ChartWish)
    grid = load_grid(Path(wish.path), wish.sheet)
    if not wish.y and wish.how != "count":
        raise ModelError("y is empty: name the number column, or take how=count.", code="chart.y")
    notes: list[str] = []
    if any(row.footer for row in grid.rows):
        notes.append("The last row of the source is a total row and was not counted.")
    how = "none" if wish.kind == "scatter" else wish.how
    pairs = _rows(grid, wish, notes) if how == "none" else _groups(grid, wish, notes)
    if not pairs:
        raise ModelError("There are no figures to draw.", code="chart.nothing")
    of = len(pairs)
    pairs = _chosen(pairs, wish)
    if len(pairs) > _MOST[wish.kind]:
        raise ModelError(
            f"{len(pairs)} categories are too many for a {wish.kind} chart: take top=20, or another column for x.",
            code="chart.too_many",
        )
    if wish.kind == "pie" and any(value < 0 for _, value in pairs):
        raise ModelError("A pie cannot show negative figures: take kind=bar.", code="chart.negative")
    labels = [show(label).strip() or _EMPTY for label, _ in pairs]
    values = [value for _, value in pairs]
    made = Figures(
        x=grid.columns[grid.column(wish.x)].name,
        y=grid.columns[grid.column(wish.y)].name if wish.y else "",
        how=how,
        labels=labels,
        values=[float(value) for value in values],
        texts=[show(value) for value in values],
        places=_places(pairs) if wish.kind == "scatter" else [],
        of=of,
        extremes=extremes(labels, values),
        notes=notes,
    )
    plain: dict[str, Any] = msgspec.to_builtins(made)
    return plain


def _groups(grid: Grid, wish: ChartWish, notes: list[str]) -> list[tuple[Any, Any]]:
    wanted = Aggregation(
        path=wish.path, target="", group_by=[wish.x], values=[wish.y] if wish.y else [], how=wish.how, sheet=wish.sheet
    )
    _, table = grouped(grid, wanted, notes)
    return _with_figures([(row[0], row[1]) for row in table], notes)


def _rows(grid: Grid, wish: ChartWish, notes: list[str]) -> list[tuple[Any, Any]]:
    if not wish.y:
        raise ModelError("y is empty: name the number column.", code="chart.y")
    x, y = grid.column(wish.x), grid.column(wish.y)
    pairs = [(row.values[x], to_number(row.values[y])) for row in grid.body()]
    if pairs and all(value is None for _, value in pairs):
        raise ModelError(f"The column {grid.columns[y].name!r} holds no numbers.", code="table.no_numbers")
    if wish.kind == "scatter":
        numeric = [(place, value) for place, value in pairs if to_number(place) is not None]
        if not numeric:
            raise ModelError(
                f"The column {grid.columns[x].name!r} holds no numbers: a scatter chart needs two number columns.",
                code="table.no_numbers",
            )
        if len(numeric) < len(pairs):
            notes.append(f"{len(pairs) - len(numeric)} rows without a number for x were left out.")
        pairs = numeric
    return _with_figures(pairs, notes)


def _with_figures(pairs: list[tuple[Any, Any]], notes: list[str]) -> list[tuple[Any, Any]]:
    kept = [(label, value) for label, value in pairs if value is not None]
    if len(kept) < len(pairs):
        notes.append(f"{len(pairs) - len(kept)} without a figure were left out.")
    return kept


def _chosen(pairs: list[tuple[Any, Any]], wish: ChartWish) -> list[tuple[Any, Any]]:
    """The largest ones where only some are wanted, in the order asked for."""
    if 0 < wish.top < len(pairs):
        ranks = sorted(range(len(pairs)), key=lambda index: -pairs[index][1])[: wish.top]
        pairs = [pairs[index] for index in sorted(ranks)]
    if wish.sort == "label":
        return sorted(pairs, key=lambda pair: sort_key(pair[0]))
    if wish.sort:
        return sorted(pairs, key=lambda pair: pair[1], reverse=wish.sort == "-value")
    return pairs


def _places(pairs: list[tuple[Any, Any]]) -> list[float]:
    return [number for place, _ in pairs if (number := to_number(place)) is not None]
