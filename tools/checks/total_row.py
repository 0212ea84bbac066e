"""A total row under the table: there, right, and made of formulas over exactly the data rows."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from engine.protocol.documents import CheckFiles
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult, Defect, Evidence
from tools.checks.base import Offer, defect, failed, passed, pick, unknown
from tools.checks.figures import Group, Unclear, close, label
from tools.checks.group_tables import TOTAL_LABEL, figure_column, group_columns
from tools.checks.group_totals import expected
from tools.checks.reading import readings
from tools.checks.request import Request
from tools.inspectors.formulas import summed_rows
from tools.inspectors.grids import Grid, is_blank, read_grids
from tools.inspectors.numbers import number, plain

NAME = "total_row_formulas"


def propose(request: Request) -> list[Offer]:
    """Offered where a total row is asked for; formulas are required where the request says so anywhere."""
    rows = request.having("total_row")
    formulas = request.having("formulas")
    if not rows:
        return []
    found = [r for r in readings(request) if not r.ambiguous]
    if len(found) > 1:
        return []
    params: dict[str, Any] = {"formulas": bool(formulas)} | (found[0].params() if found else {})
    covers: dict[int, set[str]] = {}
    for part in rows:
        covers.setdefault(part.index, set()).add("total_row")
        if "aggregate" in part.demands and not found:
            covers[part.index].add("aggregate")
    for part in formulas:
        covers.setdefault(part.index, set()).add("formulas")
        if "aggregate" in part.demands and not any(part.index in r.clauses for r in found):
            covers[part.index].add("aggregate")
    says = "A total row stands under the table" + (
        ", made of formulas over exactly the data rows." if formulas else " and is right."
    )
    check = Check(name=NAME, params=params, says=says)
    return [Offer(check=check, covers={index: frozenset(demands) for index, demands in covers.items()})]


def run(params: dict[str, Any], files: CheckFiles) -> CheckResult:
    """Find the total row in the result and check each of its cells.

    Args:
        params: ``formulas``: whether values will not do; with ``source``, ``groups``, ``values``, ``ops`` the
            figures under which it stands (else the last table with a total row is taken).
        files: the files.
    """
    try:
        wanted = expected(params, files) if params.get("groups") else {}
    except Unclear as reason:
        return unknown(str(reason))
    kinds = ("xlsx",) if params["formulas"] else ("xlsx", "csv", "markdown", "docx")
    places = pick(files, kinds)
    if not places:
        return failed(defect("file.missing", says="A workbook is needed for formulas.", wanted="xlsx"))
    worst: list[Defect] = []
    for name, path in places:
        for grid in read_grids(path):
            if wanted and group_columns(grid, wanted, params["groups"]) is None:
                continue
            defects, says = _judge(grid, wanted, params, name)
            if not defects:
                return passed(Evidence(file=name, where=grid.name, says=says))
            worst = worst if worst and len(worst) <= len(defects) else defects
    if not worst:
        return failed(defect("total.row_missing", places[0][0], "", "There is no table with a total row."))
    return failed(*worst[:4])


def total_place(grid: Grid) -> int | None:
    """Index of the total row: by its label, else a last row without a label that holds formulas."""
    for index in range(len(grid.rows) - 1, 0, -1):
        texts = [label(cell) for cell in grid.rows[index] if isinstance(cell, str)]
        if any(TOTAL_LABEL.fullmatch(text.strip(" :*")) for text in texts):
            return index
    last = len(grid.rows) - 1
    if last > 0 and is_blank(grid.rows[last][0]) and any(grid.formula(last, c) for c in range(len(grid.header))):
        return last
    return None


def _judge(
    grid: Grid, wanted: dict[Group, dict[str, Decimal]], params: dict[str, Any], name: str
) -> tuple[list[Defect], str]:
    total = total_place(grid)
    if total is None:
        return [defect("total.row_missing", name, grid.name, "There is no total row under the table.")], ""
    data = [i for i in range(total) if not all(is_blank(cell) for cell in grid.rows[i])]
    columns = _columns(grid, wanted, params, data)
    if not columns:
        return [defect("total.row_missing", name, grid.name, "No column of figures stands over the total row.")], ""
    defects: list[Defect] = []
    for column, need in columns.items():
        defects.extend(_cell(grid, total, data, column, need, params, name))
    return defects, f"Row {grid.top + total}: the totals of {len(data)} data rows are right."


def _columns(
    grid: Grid, wanted: dict[Group, dict[str, Decimal]], params: dict[str, Any], data: list[int]
) -> dict[int, list[Decimal]]:
    """Columns that need a total, with the values that would be right."""
    found: dict[int, list[Decimal]] = {}
    if wanted:
        places = group_columns(grid, wanted, params["groups"]) or []
        folded = {tuple(label(grid.rows[i][p]) for p in places): i for i in data}
        rows = {group: folded[group] for group in wanted if group in folded}
        free = [i for i in range(len(grid.header)) if i not in places]
        for figure in next(iter(wanted.values())):
            index, _ = figure_column(grid, rows, figure, wanted, free, None)
            if index is not None:
                figures = [made[figure] for made in wanted.values()]
                found[index] = _right_totals(figure.partition(":")[0], figures)
        return found
    for index in range(len(grid.header)):
        numbers = [number(grid.rows[i][index]) for i in data]
        kept = [value for value in numbers if value is not None]
        if kept and len(kept) * 2 > len(numbers) and not is_blank(grid.rows[total_place(grid) or 0][index]):
            found[index] = [sum(kept, Decimal(0))]
    return found


def _right_totals(op: str, figures: list[Decimal]) -> list[Decimal]:
    total = sum(figures, Decimal(0))
    if op in ("sum", "count"):
        return [total]
    return [total, total / len(figures), max(figures), min(figures)]


def _cell(
    grid: Grid, total: int, data: list[int], column: int, need: list[Decimal], params: dict[str, Any], name: str
) -> list[Defect]:
    where = f"{grid.name} row {grid.top + total}, column {grid.header[column] or column + 1}"
    formula = grid.formula(total, column)
    found = number(grid.rows[total][column])
    if params["formulas"] and not formula:
        says = "The total is a typed-in value." if found is not None else "The total is missing."
        return [defect("total.not_formula", name, where, says, column=grid.header[column])]
    if params["formulas"] and not re.search(r"[A-Za-z]{1,3}\$?\d|[A-Za-z]\w*\[", formula):
        says = f"{formula} is a number, it does not refer to the rows."
        return [defect("total.not_formula", name, where, says, column=grid.header[column])]
    defects: list[Defect] = []
    rows = summed_rows(formula, grid.left + column) if formula else None
    wanted_rows = {grid.top + i for i in data}
    if rows is not None and rows - {grid.top - 1} != wanted_rows and rows:
        first, last = min(wanted_rows), max(wanted_rows)
        says = f"{formula} does not cover exactly rows {first} to {last}."
        defects.append(defect("total.range_wrong", name, where, says, formula=formula, first=first, last=last))
    if found is None or not any(close(found, value) for value in need):
        shown = plain(found) if found is not None else str(grid.rows[total][column])
        says = f"Found {shown}, should be {plain(need[0])}."
        defects.append(defect("total.value_wrong", name, where, says, found=shown))
    return defects
