"""Totals, averages, counts … for each group: every group there, none invented, every figure right, in order if asked."""  # noqa: E501

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from engine.protocol.documents import CheckFiles
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult, Defect, Evidence
from tools.checks.base import Offer, defect, failed, passed, pick, unknown
from tools.checks.figures import Group, Unclear, close, fold, grouped, label, rounded_to, source_grid
from tools.checks.reading import Reading, readings
from tools.checks.request import Part, Request
from tools.checks.words import key
from tools.inspectors.grids import Grid, is_blank, read_grids
from tools.inspectors.numbers import figures, number, plain, uses_decimal_comma
from tools.inspectors.texts import read_text

NAME = "group_totals"
TOTAL_LABEL = re.compile(
    r"(?:grand |overall |sub)?(?:totals?|sums?)\b.*|overall|all|altogether|gesamt\w*|summe\w*|insgesamt|合计|总计|总和|共计",  # noqa: E501
    re.IGNORECASE,
)
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
        extra = _headers(request, covers) | _order(request, reading, covers) | _rounding(request, covers) | _dedupe(request, covers)
        what = " and ".join(reading.ops) + " of " + (", ".join(reading.values) or "rows")
        says = f"The {what} for each {' and '.join(reading.groups)} is there and right, worked out afresh from {reading.file}."  # noqa: E501
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
    """What order a clause asks for: by ``value`` or ``group``, ``down``, ``up`` or ``either``; None if not understood."""  # noqa: E501
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
            ``order``, ``rounding``, ``drop_duplicates``.
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
    return set(seen) == set(wanted) and not _order_defects(list(dict.fromkeys(seen)), wanted, params, "")


def _holds(line: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", line.lower()) is not None


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
    for figure in next(iter(wanted.values())):
        defects.extend(_figure_defects(grid, rows, figure, wanted, free, params, name))
    order = [group for group, _ in sorted(rows.items(), key=lambda item: item[1])]
    defects.extend(_order_defects(order, wanted, params, name))
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
            says = f"{' / '.join(group)}: found {found if found is not None else 'nothing'}, should be {plain(need)}."
            return [defect(code, name, grid.header[index], says, group=" / ".join(group), expected=plain(need))]
        if rounding is not None and found is not None and not rounded_to(found, rounding):
            return [defect("table.not_rounded", name, grid.header[index], f"{found} is not rounded.", digits=rounding)]
    return []


def _order_defects(
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
