"""A table edited as asked (columns renamed or dropped, duplicates removed, sorted), and nothing else changed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from engine.protocol.documents import CheckFiles
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult, Defect, Evidence
from tools.checks.base import Offer, defect, failed, passed, pick, unknown
from tools.checks.figures import Unclear, source_grid
from tools.checks.other_sheets import norm, other_sheets
from tools.checks.renames import Rename, dropped, renames, spots
from tools.checks.request import Part, Request, Source
from tools.checks.words import QUOTED
from tools.inspectors.grids import Grid, is_blank, read_grids
from tools.inspectors.texts import kind_of

NAME = "table_edit"
_DEMANDS = ("rename", "dedupe", "dropcol", "keep", "sort")
_SUBSET = re.compile(
    r"\b(?:based on|by|with (?:the same|identical|equal)|same|per|judged by|in terms of)\b(?P<rest>[^.;\n]*)",
    re.IGNORECASE,
)


def propose(request: Request) -> list[Offer]:
    """Offered where columns are renamed or dropped, or duplicate rows removed; see `renames.py` for the wordings."""
    parts = [part for part in request.parts if part.demands & {"rename", "dedupe", "dropcol"}]
    if not parts or request.having("aggregate") or request.having("chart"):
        return []
    best = max(
        (_offer(source, parts, request) for source in request.sources), key=lambda item: item[0], default=(0, None, 0)
    )
    ties = [item for source in request.sources if (item := _offer(source, parts, request))[0] == best[0]]
    if best[1] is None or best[0] == 0 or len(ties) > 1:
        return []
    return [best[1]]


def _offer(source: Source, parts: list[Part], request: Request) -> tuple[float, Offer | None, int]:
    pairs: list[Rename] = []
    drop: list[str] = []
    covers: dict[int, set[str]] = {}
    dedupe: list[str] | None = None
    score = 0.0
    for part in parts:
        new, used = renames(part.bare, source.columns)
        gone = dropped(part.bare, source.columns) if "dropcol" in part.demands else []
        keys: list[str] | None = None
        if "dedupe" in part.demands:
            keys = _subset(part, source, used)
            dedupe = keys if keys is not None else dedupe
        pairs.extend(pair for pair in new if pair not in pairs)
        drop.extend(gone)
        score += 2 * len(new) + len(gone)
        if _understood(part, source, used, gone, keys, bool(new)):
            covers.setdefault(part.index, set()).update(part.demands & set(_DEMANDS) - {"sort"})
    everything = " ".join(part.text for part in request.parts)
    score += 0.5 * bool(dedupe is not None and source.table.duplicate_rows)
    score += 1.0 * bool(source.table.name and re.search(rf"(?<!\w){re.escape(source.table.name)}(?!\w)", everything))
    stated = re.search(r"\b(?:two|2|both) (?:of the )?(?:columns?|headers?)|\brename two\b", everything, re.IGNORECASE)
    if (stated and len(pairs) != 2) or len({pair.old for pair in pairs}) != len(pairs):
        covers = {index: demands - {"rename"} for index, demands in covers.items()}
    if not (pairs or drop or dedupe is not None):
        return 0.0, None, 0
    for part in request.having("keep"):
        covers.setdefault(part.index, set()).add("keep")
    order = _order(request, source, covers)
    params: dict[str, Any] = {
        "source": source.file.name,
        "sheet": source.table.name,
        "rename": [[pair.old, pair.new] for pair in pairs],
        "drop": drop,
        "dedupe": dedupe,
    } | order
    says = _says(pairs, drop, dedupe)
    offer = Offer(check=Check(name=NAME, params=params, says=says), covers={i: frozenset(d) for i, d in covers.items()})
    return score + 0.1, offer, len(pairs)


def _says(pairs: list[Rename], drop: list[str], dedupe: list[str] | None) -> str:
    done = [f'"{pair.old}" is now called "{pair.new}"' for pair in pairs] + [f'"{name}" is gone' for name in drop]
    if dedupe is not None:
        done.append("no row stands there twice")
    said = ", ".join(done)
    return f"{said[:1].upper()}{said[1:]}; everything else is as it was."


def _understood(
    part: Part, source: Source, used: list[tuple[int, int]], gone: list[str], keys: list[str] | None, any_pairs: bool
) -> bool:
    """Whether every column and every quoted name in the clause has its role."""
    rest = part.bare
    for start, end in used:
        first = start - 1 if start and rest[start - 1] in "\"'`“‘" else start
        rest = rest[:first] + " " * (end - first) + rest[end:]
    for name in (source.table.name, source.file.name):
        rest = rest.replace(name, " " * len(name)) if name else rest
    left = [
        spot.column
        for spot in spots(rest, source.columns)
        if spot.column not in gone and spot.column not in (keys or [])
    ]
    if left and part.demands & {"rename", "dropcol"}:
        return False
    if "rename" in part.demands and not any_pairs:
        return len(part.bare.split()) <= 8 and not QUOTED.search(rest)
    if "dropcol" in part.demands and not gone:
        return False
    if "dedupe" in part.demands and keys is None:
        return False
    return "rename" not in part.demands or not QUOTED.search(rest)


def _subset(part: Part, source: Source, used: list[tuple[int, int]]) -> list[str] | None:
    """Columns that make two rows duplicates; empty for all of them; None where the clause is not understood."""
    rest = part.bare
    for start, end in used:
        rest = rest[:start] + " " * (end - start) + rest[end:]
    match = _SUBSET.search(rest)
    if not match:
        return (
            None
            if re.search(r"\bkeep\w* (?:only )?the (?:last|latest|newest|most recent)\b", rest, re.IGNORECASE)
            else []
        )
    named = [spot.column for spot in spots(match.group("rest"), source.columns)]
    if named:
        return list(dict.fromkeys(named))
    return [] if re.search(r"every|all|each|whole|entire|exact", match.group("rest"), re.IGNORECASE) else None


def _order(request: Request, source: Source, covers: dict[int, set[str]]) -> dict[str, Any]:
    for part in request.having("sort"):
        named = [spot.column for spot in spots(part.sort, source.columns)]
        if len(named) == 1:
            down = re.search(r"descend|largest|highest|newest|latest|biggest|降序", part.sort, re.IGNORECASE)
            covers.setdefault(part.index, set()).add("sort")
            return {"order": {"column": named[0], "way": "down" if down else "up"}}
    return {}


def run(params: dict[str, Any], files: CheckFiles) -> CheckResult:
    """Apply the edit to the pristine source and compare.

    Args:
        params: ``source``, ``sheet``, ``rename`` pairs, ``drop``, ``dedupe`` (None: no; empty: whole rows), ``order``.
        files: the files.
    """
    try:
        grid = source_grid(files, params["source"], params["sheet"])
        wanted = _edited(grid, params)
    except Unclear as reason:
        return unknown(str(reason))
    source = Path(files.sources[params["source"]])
    places = pick(files, (kind_of(source.name), "xlsx", "csv"))
    worst: list[Defect] = []
    for name, path in places:
        loose = "csv" in (kind_of(source.name), kind_of(name))
        defects = _judge(wanted, path, name, params, loose)
        if kind_of(source.name) == kind_of(name) == "xlsx" and (not defects or defects[0].code != "table.missing"):
            defects.extend(other_sheets(source, path, {grid.name}, name))
        if not defects:
            return passed(
                Evidence(
                    file=name, where=grid.name, says=f"{len(wanted.rows)} rows as they should be; nothing else changed."
                )
            )
        if not worst or len(defects) < len(worst):
            worst = defects
    return failed(*(worst or [defect("table.missing", says="No result file holds the table.")])[:5])


def _edited(grid: Grid, params: dict[str, Any]) -> Grid:
    names = dict(params["rename"])
    for name in [*names, *params["drop"]]:
        if name not in grid.header:
            raise Unclear(f"The column {name} is not in the source.")
    rows = [row for row in grid.rows if not all(is_blank(cell) for cell in row)]
    if params["dedupe"] is not None:
        keys = [grid.header.index(name) for name in params["dedupe"]] or list(range(len(grid.header)))
        first: dict[tuple[Any, ...], list[Any]] = {}
        for row in rows:
            first.setdefault(tuple(norm(row[i], False) for i in keys), row)
        rows = list(first.values())
    kept = [i for i, name in enumerate(grid.header) if name not in params["drop"]]
    header = [names.get(grid.header[i], grid.header[i]) for i in kept]
    return Grid(name=grid.name, header=header, rows=[[row[i] for i in kept] for row in rows])


def _judge(wanted: Grid, path: Path, name: str, params: dict[str, Any], loose: bool) -> list[Defect]:
    grids = read_grids(path)
    named = (
        [grid for grid in grids if grid.name == wanted.name]
        or [g for g in grids if set(wanted.header) <= set(g.header)]
        or grids
    )
    if not named:
        return [defect("table.missing", name, says="The file holds no table.")]
    grid = named[0]
    missing = [column for column in wanted.header if column not in grid.header]
    if missing:
        renamed = {new: old for old, new in params["rename"]}
        code = "table.column_not_renamed" if missing[0] in renamed else "table.columns_lost"
        says = f"There is no column called {missing[0]}."
        return [defect(code, name, grid.name, says, column=missing[0], old=renamed.get(missing[0], missing[0]))]
    extra = [column for column in grid.header if column not in wanted.header]
    if extra:
        shown = extra[0] or "(no name)"
        code = "table.index_column" if not extra[0] or extra[0].startswith("Unnamed") else "table.column_extra"
        return [defect(code, name, grid.name, f"The column {shown} was not asked for.", column=shown)]
    order = [grid.header.index(column) for column in wanted.header]
    rows = [tuple(norm(row[i], loose) for i in order) for row in grid.rows if not all(is_blank(cell) for cell in row)]
    return _row_defects(
        [tuple(norm(cell, loose) for cell in row) for row in wanted.rows], rows, wanted.header, params, name
    )


def _row_defects(
    wanted: list[tuple[Any, ...]], rows: list[tuple[Any, ...]], header: list[str], params: dict[str, Any], name: str
) -> list[Defect]:
    need, have = Counter(wanted), Counter(rows)
    lost, more = need - have, have - need
    if not lost and not more:
        return _order_defects(wanted, rows, header, params, name)
    if lost and more and len(rows) == len(wanted):
        changed = next((i for i, pair in enumerate(zip(wanted, rows, strict=True)) if pair[0] != pair[1]), 0)
        column = next((h for h, a, b in zip(header, wanted[changed], rows[changed], strict=True) if a != b), "")
        return [
            defect(
                "table.values_changed",
                name,
                f"row {changed + 1}, {column}",
                "A value differs from the source.",
                column=column,
            )
        ]
    if more and all(row in need for row in more):
        says = f"{sum(more.values())} duplicate rows are still there."
        return [defect("table.duplicates_left", name, "", says, count=sum(more.values()))]
    if lost:
        says = f"{sum(lost.values())} rows of the source are missing or changed."
        return [defect("table.rows_lost", name, "", says, count=sum(lost.values()))]
    return [
        defect(
            "table.rows_invented",
            name,
            "",
            f"{sum(more.values())} rows are not in the source.",
            count=sum(more.values()),
        )
    ]


def _order_defects(
    wanted: list[tuple[Any, ...]], rows: list[tuple[Any, ...]], header: list[str], params: dict[str, Any], name: str
) -> list[Defect]:
    asked = params.get("order")
    if not asked:
        return (
            []
            if wanted == rows
            else [
                defect("table.order_wrong", name, "", "The rows changed their order.", by="the source", way="as it was")
            ]
        )
    column = dict(params["rename"]).get(asked["column"], asked["column"])
    keys = [row[header.index(column)] for row in rows]
    filled = [key for key in keys if key[0]]
    if len({key[0] for key in filled}) <= 1 and filled == sorted(
        filled, key=lambda k: k[1], reverse=asked["way"] == "down"
    ):
        return []
    return [
        defect(
            "table.order_wrong", name, column, "The rows are not in the order asked for.", by=column, way=asked["way"]
        )
    ]
