"""Comparing a result table with the right figures for each group."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

from engine.protocol.verdicts import Defect
from tools.checks.base import defect
from tools.checks.figures import Group, close, fold, label, rounded_to
from tools.checks.words import key
from tools.inspectors.grids import Grid, is_blank
from tools.inspectors.numbers import number, plain, uses_decimal_comma

TOTAL_LABEL = re.compile(
    r"(?:grand |overall |sub)?(?:totals?|sums?)\b.*|overall|all|altogether|gesamt\w*|summe\w*|insgesamt|合计|总计|总和|共计",
    re.IGNORECASE,
)


def judge(
    grid: Grid, wanted: dict[Group, dict[str, Decimal]], params: dict[str, Any], name: str, path: Path
) -> list[Defect]:
    """Everything wrong with a result table; nothing when it is right."""
    grid = _unpivot(grid, wanted)
    places = group_columns(grid, wanted, params["groups"])
    if places is None:
        column = " and ".join(params["groups"])
        return [
            defect(
                "table.group_column_missing", name, grid.name, f"No column holds the values of {column}.", column=column
            )
        ]
    rows, defects = _rows_by_group(grid, places, wanted, name)
    if path.suffix.lower() in (".csv", ".tsv") and (index := _index_column(grid, places)) is not None:
        shown = grid.header[index] or "(no name)"
        defects.append(defect("table.index_column", name, shown, "A column only numbers the rows.", column=shown))
    absent = [column for column in params.get("header", []) if key(column) not in {key(h) for h in grid.header}]
    defects.extend(
        defect("table.columns_lost", name, grid.name, f"There is no column called {column}.", column=column)
        for column in absent
    )
    free = [index for index in range(len(grid.header)) if index not in places]
    used = {*places}
    for figure in next(iter(wanted.values())):
        defects.extend(_figure_defects(grid, rows, figure, wanted, free, params, name))
        index = figure_column(grid, rows, figure, wanted, free, params.get("rounding"))[0]
        if index is not None:
            used.add(index)
            defects.extend(_total_defects(grid, places, index, figure, wanted, params, name))
    if params.get("only_columns"):
        defects.extend(_extra_columns(grid, used, name))
    order = [group for group, _ in sorted(rows.items(), key=lambda item: item[1])]
    defects.extend(order_defects(order, wanted, params, name))
    return defects


def _unpivot(grid: Grid, wanted: dict[Group, dict[str, Decimal]]) -> Grid:
    """A cross table (second group along the top) as a long one."""
    first = next(iter(wanted))
    if len(first) != 2 or len(wanted[first]) != 1:
        return grid
    second = {fold(group[1]) for group in wanted}
    across = [index for index, name in enumerate(grid.header) if fold(name) in second]
    if len(across) < len(second) or not across or across[0] == 0:
        return grid
    known = {(fold(a), fold(b)) for a, b in wanted}
    rows = [
        [row[0], grid.header[index], row[index]]
        for row in grid.rows
        for index in across
        if (fold(label(row[0])), fold(grid.header[index])) in known
        or not (is_blank(row[index]) or number(row[index]) == 0)
    ]
    return Grid(name=grid.name, header=[grid.header[0], "", "value"], rows=rows)


def group_columns(grid: Grid, wanted: dict[Group, dict[str, Decimal]], names: list[str]) -> list[int] | None:
    """The columns of a result that hold the groups; None where one is missing."""
    places: list[int] = []
    for position, name in enumerate(names):
        values = {fold(group[position]) for group in wanted}
        best, best_score = -1, 0.0
        for index, header in enumerate(grid.header):
            if index in places:
                continue
            cells = {fold(label(cell)) for cell in grid.column(index)}
            score = len(values & cells) / len(values) + (0.1 if key(header) == key(name) and values & cells else 0)
            if score > best_score:
                best, best_score = index, score
        if best_score < 0.5:
            return None
        places.append(best)
    return places


def _rows_by_group(
    grid: Grid, places: list[int], wanted: dict[Group, dict[str, Decimal]], name: str
) -> tuple[dict[Group, int], list[Defect]]:
    folded = {tuple(fold(part) for part in group): group for group in wanted}
    rows: dict[Group, int] = {}
    defects: list[Defect] = []
    for index, row in enumerate(grid.rows):
        labels = [label(row[place]) for place in places]
        group = folded.get(tuple(fold(text) for text in labels))
        if group is not None and group in rows:
            defects.append(
                defect(
                    "table.group_repeated",
                    name,
                    f"row {index + 1}",
                    "A group stands there twice.",
                    group=" / ".join(group),
                )
            )
        elif group is not None:
            rows[group] = index
        elif any(labels) and not any(TOTAL_LABEL.fullmatch(text) for text in labels) and not _prose(row, places):
            shown = " / ".join(labels)
            defects.append(
                defect(
                    "table.group_invented", name, f"row {index + 1}", f"{shown} is no group of the source.", group=shown
                )
            )
    missing = [group for group in wanted if group not in rows]
    defects.extend(
        defect("table.group_missing", name, "", f"{' / '.join(group)} is missing.", group=" / ".join(group))
        for group in missing[:3]
    )
    return rows, defects


def _prose(row: list[Any], places: list[int]) -> bool:
    """A remark under the table: nothing but text in it."""
    return not any(number(cell) is not None for index, cell in enumerate(row) if index not in places)


def _index_column(grid: Grid, places: list[int]) -> int | None:
    header = grid.header
    if (
        header
        and 0 not in places
        and (not header[0] or header[0].startswith("Unnamed") or header[0].lower() == "index")
    ):
        numbers = [number(cell) for cell in grid.column(0)]
        if numbers and all(value is not None and value == place for place, value in enumerate(numbers)):
            return 0
    return None


def figure_column(
    grid: Grid,
    rows: dict[Group, int],
    figure: str,
    wanted: dict[Group, dict[str, Decimal]],
    free: list[int],
    rounding: int | None,
) -> tuple[int | None, int]:
    """The column that holds a figure (by its values, then by its header), and how many groups it has right."""
    op, _, column = figure.partition(":")
    best: tuple[float, int | None, int] = (0.0, None, 0)
    for index in free:
        comma = uses_decimal_comma(grid.column(index))
        values = {group: number(grid.rows[row][index], decimal_comma=comma) for group, row in rows.items()}
        right = sum(v is not None and close(v, wanted[g][figure], rounding) for g, v in values.items())
        header = key(grid.header[index])
        hint = 0.5 * (bool(column) and key(column) in header) + 0.25 * (op in header)
        numeric = sum(v is not None for v in values.values())
        score = right + hint + 0.01 * numeric if numeric else 0.0
        if score > best[0]:
            best = (score, index, right)
    return best[1], best[2]


def _figure_defects(
    grid: Grid,
    rows: dict[Group, int],
    figure: str,
    wanted: dict[Group, dict[str, Decimal]],
    free: list[int],
    params: dict[str, Any],
    name: str,
) -> list[Defect]:
    rounding = params.get("rounding")
    op, _, column = figure.partition(":")
    index, right = figure_column(grid, rows, figure, wanted, free, rounding)
    if index is None:
        return [
            defect(
                "table.value_column_missing",
                name,
                "",
                f"No column holds the {op} of {column or 'rows'}.",
                column=column,
                op=op,
            )
        ]
    comma = uses_decimal_comma(grid.column(index))
    for group, row in rows.items():
        found = number(grid.rows[row][index], decimal_comma=comma)
        need = wanted[group][figure]
        if right < len(rows) and (found is None or not close(found, need, rounding)):
            code = "table.values_rounded" if found is not None and found == round(need) else "table.values_wrong"
            shown, column = plain(found) if found is not None else "no figure", grid.header[index]
            says = f"{' / '.join(group)}: found {shown}, should be {plain(need)}."
            return [defect(code, name, column, says, group=" / ".join(group), found=shown, column=column)]
        if rounding is not None and found is not None and not rounded_to(found, rounding):
            return [defect("table.not_rounded", name, grid.header[index], f"{found} is not rounded.", digits=rounding)]
    return []


def _total_defects(
    grid: Grid,
    places: list[int],
    index: int,
    figure: str,
    wanted: dict[Group, dict[str, Decimal]],
    params: dict[str, Any],
    name: str,
) -> list[Defect]:
    """A total row that nobody may have asked for must be right all the same."""
    if figure.partition(":")[0] not in ("sum", "count"):
        return []
    total = sum((made[figure] for made in wanted.values()), Decimal(0))
    slack = Decimal("0.005") * (len(wanted) + 1) if params.get("rounding") is None else Decimal(len(wanted))
    for row in grid.rows:
        if any(TOTAL_LABEL.fullmatch(label(row[place]).strip(" :*")) for place in places):
            found = number(row[index], decimal_comma=uses_decimal_comma(grid.column(index)))
            if found is not None and abs(found - total) > slack:
                says = f"The total of {grid.header[index]} is {plain(found)}, should be {plain(total)}."
                return [defect("total.value_wrong", name, grid.header[index], says, found=plain(found))]
    return []


def _extra_columns(grid: Grid, used: set[int], name: str) -> list[Defect]:
    more = [grid.header[i] or "(no name)" for i in range(len(grid.header)) if i not in used]
    says = "Only the columns asked for were wanted."
    return [defect("table.column_extra", name, column, says, column=column) for column in more[:2]]


def order_defects(
    order: list[Group], wanted: dict[Group, dict[str, Decimal]], params: dict[str, Any], name: str
) -> list[Defect]:
    asked = params.get("order")
    if not asked:
        return []
    if asked["by"] == "group":
        keys: list[Any] = [tuple((n is None, n or 0, fold(p)) for p in group for n in [number(p)]) for group in order]
    else:
        keys = [round(next(iter(wanted[group].values())), params.get("rounding") or 2) for group in order]
    ways = {"up": [sorted(keys)], "down": [sorted(keys, reverse=True)]}.get(
        asked["way"], [sorted(keys), sorted(keys, reverse=True)]
    )
    if keys in ways:
        return []
    return [
        defect(
            "table.order_wrong", name, "", "The rows are not in the order asked for.", by=asked["by"], way=asked["way"]
        )
    ]
