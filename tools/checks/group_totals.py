"""Totals, averages, counts … for each group: every group there, none invented, every figure right, in order if asked."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import msgspec

from engine.protocol.documents import CheckFiles
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult, Defect, Evidence
from tools.checks.base import Offer, defect, failed, passed, pick, unknown
from tools.checks.figures import Group, Unclear, grouped, label, source_grid
from tools.checks.group_tables import judge, order_defects
from tools.checks.reading import Reading, readings
from tools.checks.request import Part, Request
from tools.inspectors.grids import Grid, read_grids
from tools.inspectors.numbers import figures
from tools.inspectors.texts import read_text

NAME = "group_totals"
_TABLES = ("csv", "xlsx", "markdown", "docx", "text")


def propose(request: Request) -> list[Offer]:
    """One offer for each reading of an aggregate; see `reading.py` for the wordings."""
    found = [r for r in readings(request) if _wants_table(r, request)]
    offers: list[Offer] = []
    for reading in found:
        covers = _covers(reading, found, request)
        if not covers:
            continue
        params = reading.params() | _output(request)
        extra = (
            _headers(request, covers)
            | _order(request, reading, covers)
            | _rounding(request, covers)
            | _dedupe(request, covers)
            | _only(request, covers)
        )
        what = " and ".join(reading.ops) + " of " + (", ".join(reading.values) or "rows")
        says = f"The {what} for each {' and '.join(reading.groups)} is there and right, worked out afresh from {reading.file}."
        offers.append(
            Offer(
                check=Check(name=NAME, params=params | extra, says=says),
                covers={index: frozenset(demands) for index, demands in covers.items()},
            )
        )
    return offers


_HEADERS = re.compile(r"\bcolumns? (?:named |called |headed |titled )?(?P<list>[^.;:\n]+)", re.IGNORECASE)


def _headers(request: Request, covers: dict[int, set[str]]) -> dict[str, Any]:
    """Column names that the result is to have: ``with the columns region and total_units``."""
    for part in request.having("outcols"):
        known = {column.name for source in request.sources for column in source.columns}
        match = next((m for m in _HEADERS.finditer(part.bare)), None)
        names = [n.strip(" \"'“”‘’`.") for n in re.split(r",|\band\b", match.group("list"))] if match else []
        names = [name for name in names if name]
        if names and all(re.fullmatch(r"[\w-]+", name) for name in names):
            covers.setdefault(part.index, set()).add("outcols")
            return {"header": names}
        if "aggregate" in part.demands and any(column.lower() in part.bare.lower() for column in known):
            covers.setdefault(part.index, set()).add("outcols")
    return {}


def _wants_table(reading: Reading, request: Request) -> bool:
    if request.having("chart") and not _output(request):
        return False  # the figures are wanted as a picture
    return any("aggregate" in p.demands for p in request.parts if p.index in reading.clauses) and not reading.ambiguous


def _covers(reading: Reading, others: list[Reading], request: Request) -> dict[int, set[str]]:
    covers: dict[int, set[str]] = {}
    for part in request.parts:
        own = part.index in reading.clauses
        elsewhere = any(part.index in other.clauses for other in others)
        if not own and elsewhere:
            continue
        if own or ("aggregate" in part.demands and set(part.ops) <= {*reading.ops, "sum"}):
            if stray_columns(part, request, reading):
                continue
            covers.setdefault(part.index, set()).add("aggregate")
        if "noindex" in part.demands:
            covers.setdefault(part.index, set()).add("noindex")
    return covers


def stray_columns(part: Part, request: Request, reading: Reading) -> bool:
    """Whether a clause names a column that the reading does not know: something else is asked of it."""
    for source in request.sources:
        if source.file.name == reading.file and source.table.name == reading.sheet:
            return any(m.exact and m.column not in reading.columns for m in request.mentions(part, source))
    return False


def _output(request: Request) -> dict[str, Any]:
    from tools.checks.deliverables import wanted

    needs = [need for need in wanted(request) if set(need["kinds"]) & {"csv", "xlsx"}]
    if len(needs) == 1:
        return {"kinds": needs[0]["kinds"], "file": needs[0]["name"]}
    return {"kinds": sorted({kind for need in needs for kind in need["kinds"]}), "file": ""} if needs else {}


def _order(request: Request, reading: Reading, covers: dict[int, set[str]]) -> dict[str, Any]:
    for part in request.having("sort"):
        found = order_asked(part, request, reading)
        if found is not None:
            covers.setdefault(part.index, set()).add("sort")
            return {"order": found}
    return {}


def order_asked(part: Part, request: Request, reading: Reading) -> dict[str, str] | None:
    """What order a clause asks for: by ``value`` or ``group``, ``down``, ``up`` or ``either``; None if not understood."""
    text = part.sort.lower()
    down = re.search(
        r"descend|decreas|high\w* (?:to|first)|\b(?:largest|biggest|highest|greatest|most|best)\b|降序|从大到小", text
    )
    up = re.search(r"(?<!de)scending|increas|\b(?:smallest|lowest|least)\b|升序|从小到大", text)
    if down and up:
        down_first = down.start() < up.start()
        down, up = (down, None) if down_first else (None, up)
    way = "down" if down else "up" if (up and "ascend" in text) or up else "either"
    if re.search(r"alphabet|a to z|a-z", text):
        return {"by": "group", "way": "up"}
    for source in request.sources:
        if source.file.name == reading.file and source.table.name == reading.sheet:
            named = [m.column for m in request.mentions(msgspec.structs.replace(part, bare=part.sort), source)]
            if any(column not in reading.columns for column in named):
                return None
            if any(column in reading.groups for column in named) and not any(c in reading.values for c in named):
                return {"by": "group", "way": "up" if way == "either" else way}
    if len(reading.values) > 1 or len(reading.ops) > 1:
        return None
    return {"by": "value", "way": way}


def _rounding(request: Request, covers: dict[int, set[str]]) -> dict[str, Any]:
    for part in request.having("round"):
        if part.rounding is not None:
            covers.setdefault(part.index, set()).add("round")
            return {"rounding": part.rounding}
    return {}


def _dedupe(request: Request, covers: dict[int, set[str]]) -> dict[str, Any]:
    parts = [p for p in request.having("dedupe") if not request.having("rename")]
    for part in parts:
        if not re.search(r"\b(?:by|based on|same)\b", part.bare):
            covers.setdefault(part.index, set()).add("dedupe")
            return {"drop_duplicates": True}
    return {}


def _only(request: Request, covers: dict[int, set[str]]) -> dict[str, Any]:
    for part in request.having("onlycols"):
        covers.setdefault(part.index, set()).add("onlycols")
    return {"only_columns": True} if request.having("onlycols") else {}


def expected(params: dict[str, Any], files: CheckFiles) -> dict[Group, dict[str, Decimal]]:
    """The right figures of a check's parameters.

    Raises:
        Unclear: the source leaves them open.
    """
    grid = source_grid(files, params["source"], params.get("sheet", ""))
    if params.get("drop_duplicates"):
        seen: dict[tuple[str, ...], list[Any]] = {}
        for row in grid.rows:
            seen.setdefault(tuple(label(cell) for cell in row), row)
        grid = Grid(name=grid.name, header=grid.header, rows=list(seen.values()))
    made = grouped(grid, params["groups"], params["values"], params["ops"])
    if not made:
        raise Unclear("The source has no groups.")
    return made


def run(params: dict[str, Any], files: CheckFiles) -> CheckResult:
    """Compare result tables with figures worked out from the pristine source.

    Args:
        params: ``source``, ``sheet``, ``groups``, ``values``, ``ops``; ``kinds`` and ``file`` of the result;
            ``order``, ``rounding``, ``drop_duplicates``, ``only_columns`` (no others beside groups and figures).
        files: the files.
    """
    try:
        wanted = expected(params, files)
    except Unclear as reason:
        return unknown(str(reason))
    kinds = tuple(params.get("kinds") or _TABLES)
    places = pick(files, kinds, params.get("file", ""))
    worst: list[Defect] = []
    for name, path in places:
        for grid in read_grids(path):
            defects = judge(grid, wanted, params, name, path)
            if not defects:
                return passed(Evidence(file=name, where=grid.name, says=_summary(wanted)))
            if not worst or len(defects) < len(worst) or worst[0].code == "table.group_column_missing":
                worst = defects
    if not params.get("kinds"):
        texts = [(name, read_text(path)) for name, path in places if path.suffix in (".md", ".txt", ".docx")]
        for name, text in [*texts, ("", files.answer)]:
            if text and _in_prose(text, wanted, params):
                return passed(Evidence(file=name, says=_summary(wanted)))
    if not worst:
        return failed(defect("table.missing", says="No result file holds a table with these figures."))
    return failed(*worst[:5])


def _summary(wanted: dict[Group, dict[str, Decimal]]) -> str:
    return f"{len(wanted)} groups, every figure equals the one worked out from the source."


def _in_prose(text: str, wanted: dict[Group, dict[str, Decimal]], params: dict[str, Any]) -> bool:
    """Whether each group stands in one line with its figures, and in the order asked for."""
    lines = text.splitlines()
    seen: list[Group] = []
    names = {part for group in wanted for part in group}
    for line in lines:
        here = [group for group in wanted if all(_holds(line, part) for part in group)]
        here = [
            g
            for g in here
            if not any(len(o) > len(p) and p.lower() in o.lower() and _holds(line, o) for p in g for o in names)
        ]
        if len(here) == 1 and all(any(f.means(v) for f in figures(line)) for v in wanted[here[0]].values()):
            seen.append(here[0])
    return set(seen) == set(wanted) and not order_defects(list(dict.fromkeys(seen)), wanted, params, "")


def _holds(line: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", line.lower()) is not None
