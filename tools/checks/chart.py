"""A bar chart: a picture with one bar for each group, their lengths in the proportions of the figures.

Words in a picture (titles, axis labels) cannot be read here; a clause that asks for them is not settled.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from engine.protocol.documents import CheckFiles
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult, Evidence
from tools.checks.base import Offer, defect, failed, passed, pick, unknown
from tools.checks.figures import Group, Unclear
from tools.checks.group_totals import expected, order_asked, stray_columns
from tools.checks.reading import Reading, readings
from tools.checks.request import Request
from tools.inspectors.bars import Bars, find_bars, ink_share, load, same_shape
from tools.inspectors.texts import kind_of

NAME = "chart"


def propose(request: Request) -> list[Offer]:
    """Offered for a bar chart whose groups and values are understood; else a partial look for blank pictures."""
    parts = request.having("chart")
    if not parts:
        return []
    name = next((n for n in request.outputs if kind_of(n) == "image"), "")
    chosen = _reading(request)
    if chosen is None:
        check = Check(name=NAME, params={"file": name}, says="The chart is there and not blank.")
        return [Offer(check=check, covers={part.index: frozenset({"drawn"}) for part in parts})]
    covers = {part.index: {"chart"} for part in parts if not stray_columns(part, request, chosen)}
    params: dict[str, Any] = chosen.params() | {"file": name}
    for part in request.having("sort"):
        order = order_asked(part, request, chosen)
        if order is not None and order["by"] == "value":
            params["order"] = order["way"]
            covers.setdefault(part.index, set()).add("sort")
    for part in request.having("aggregate"):
        if part.index in chosen.clauses:
            covers.setdefault(part.index, set()).add("aggregate")
    says = f"The chart has one bar for each {chosen.groups[0]}, as long as its figure."
    check = Check(name=NAME, params=params, says=says)
    return [Offer(check=check, covers={i: frozenset(d) for i, d in covers.items()})]


def _reading(request: Request) -> Reading | None:
    """The figures to be drawn: those of the chart's own clause, else the only ones of the request."""
    found = [r for r in readings(request) if len(r.groups) == 1 and len(r.ops) == 1 and len(r.values) <= 1]
    charts = {part.index for part in request.having("chart")}
    own = [r for r in found if charts & set(r.clauses)]
    chosen = own or found
    if len(chosen) != 1:
        return None
    sure = [r for r in found if r.groups == chosen[0].groups and r.values == chosen[0].values and not r.ambiguous]
    return sure[0] if chosen[0].ambiguous and len(sure) == 1 else chosen[0]


def run(params: dict[str, Any], files: CheckFiles) -> CheckResult:
    """Measure the bars in the picture.

    Args:
        params: the figures as in `group_totals`, ``file``, ``order`` of the bars; without figures only a blank
            picture fails.
        files: the files.
    """
    places = pick(files, ("image",), params.get("file", ""))
    if not places:
        return failed(defect("file.missing", params.get("file", ""), "", "There is no picture.", wanted="a chart"))
    try:
        wanted = expected(params, files) if params.get("groups") else {}
    except Unclear as reason:
        return unknown(str(reason), places[0][0])
    results: list[CheckResult] = []
    for name, path in places:
        pixels = load(path)
        bars = find_bars(pixels) if wanted else Bars()
        if ink_share(pixels) < (0.03 if wanted and not bars.lengths else 0.002):  # axes alone are no chart
            results.append(failed(defect("chart.blank", name, "", "The picture is blank.")))
        elif not wanted:
            results.append(unknown("The picture is not blank; what it shows cannot be compared.", name))
        else:
            results.append(_compare(bars, wanted, params, name))
        if results[-1].status == "pass":
            return results[-1]
    return next((r for r in results if r.status == "unknown"), results[0])


def _compare(bars: Bars, wanted: dict[Group, dict[str, Decimal]], params: dict[str, Any], name: str) -> CheckResult:
    values = [float(next(iter(made.values()))) for made in wanted.values()]
    if min(values) < 0 or max(values) <= 0:
        return unknown("Bars below zero cannot be measured.", name)
    if not bars.lengths:
        return unknown("No bars were found in the picture.", name)
    tall = max(bars.lengths)
    lengths = list(bars.lengths)
    hidden = [value for value in values if value / max(values) * tall < 3]  # too short to be seen
    missing = len(values) - len(lengths)
    shown = sorted(values)[missing:] if 0 < missing <= len(hidden) else values
    if len(lengths) != len(shown):
        says = f"{len(bars.lengths)} bars were found, {len(values)} groups are in the source."
        return failed(defect("chart.bar_count", name, "", says, found=len(bars.lengths), expected=len(values)))
    if not same_shape(lengths, shown):
        return _shape_fault(lengths, shown, name)
    if params.get("order") in ("up", "down") and not _ordered(bars, params["order"]):
        return failed(
            defect("chart.order_wrong", name, "", "The bars are not in the order asked for.", way=params["order"])
        )
    says = f"{len(lengths)} bars in the proportions of the figures; words in the picture were not read."
    return passed(Evidence(file=name, says=says))


def _ordered(bars: Bars, way: str) -> bool:
    """A standing chart reads from the left; a lying one may be read from the top or from the axis."""
    steps = list(zip(bars.lengths, bars.lengths[1:], strict=False))
    falls = all(a >= b - 1 for a, b in steps)
    rises = all(a <= b + 1 for a, b in steps)
    if not bars.vertical:
        return falls or rises
    return falls if way == "down" else rises


def _shape_fault(lengths: list[int], values: list[float], name: str) -> CheckResult:
    """Wrong figures, or an axis that does not start at zero: then nothing can be said."""
    low, high = min(values), max(values)
    short, tall = min(lengths), max(lengths)
    if high > low and tall > short and len(values) >= 4:
        fits = zip(sorted(lengths), sorted(values), strict=True)
        slope = (tall - short) / (high - low)
        if all(abs(length - short - (value - low) * slope) <= max(2.5, 0.02 * tall) for length, value in fits):
            return unknown("The bars follow the figures, but the axis does not start at zero.", name)
    says = "The lengths of the bars are not in the proportions of the figures."
    return failed(defect("chart.heights_wrong", name, "", says))
