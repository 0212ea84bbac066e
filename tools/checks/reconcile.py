"""For tabular work without a check of its own: columns and rows lost, totals that do not add up. Can only fail."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from engine.protocol.documents import CheckFiles
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult, Defect
from tools.checks.base import Offer, defect, failed, pick, unknown
from tools.checks.figures import close
from tools.checks.request import Request
from tools.checks.total_row import total_place
from tools.inspectors.grids import is_blank, read_grids
from tools.inspectors.numbers import number, plain

NAME = "reconcile"


def propose(request: Request) -> list[Offer]:
    """Offered for every request with a table; it settles nothing."""
    if not request.sources or not request.parts:
        return []
    params = {"sources": sorted({source.file.name for source in request.sources})}
    says = "Totals in the result add up and no table is empty."
    return [
        Offer(
            check=Check(name=NAME, params=params, says=says),
            covers={p.index: frozenset({"sound"}) for p in request.parts},
        )
    ]


def run(params: dict[str, Any], files: CheckFiles) -> CheckResult:
    """Look through every result table.

    Args:
        params: ``sources``.
        files: the files.
    """
    defects: list[Defect] = []
    for name, path in pick(files, ("csv", "xlsx")):
        if name in params["sources"]:
            continue
        grids = read_grids(path)
        if not any(grid.rows for grid in grids):
            defects.append(defect("table.no_rows", name, "", "The table has no rows."))
        for grid in grids:
            total = total_place(grid)
            if total is None or total < 2:
                continue
            for index, header in enumerate(grid.header):
                figures = [number(row[index]) for row in grid.rows[:total] if not is_blank(row[index])]
                found = number(grid.rows[total][index])
                if found is None or not figures or any(value is None for value in figures):
                    continue
                kept = [value for value in figures if value is not None]
                total_sum = sum(kept, Decimal(0))
                fits = (total_sum, total_sum / len(kept), max(kept), min(kept), Decimal(len(kept)))
                if not any(close(found, value, 1) for value in fits):
                    says = f"The total of {header} is {plain(found)}, the rows add up to {plain(total_sum)}."
                    defects.append(defect("total.value_wrong", name, header, says, found=plain(found)))
    return failed(*defects) if defects else unknown("Nothing that does not add up was found.")
