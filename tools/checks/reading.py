"""Which figures a request asks for: an operation on value columns for each group. Nothing is guessed."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from tools.checks.request import Part, Request, Source
from tools.checks.words import Mention, looks_like_id

_PER = re.compile(
    r"\b(?:per|by|for (?:each|every|all|the (?:different|various|individual|single))|(?:in|of|at|from|within) (?:each|every)|each|every"
    r"|grouped? by|broken down by|split by|across|against|versus|vs\.?|over|pro|je|nach|für jede[nrs]?|according to|one (?:row|line|bar) (?:per|for each)|各|每个?|按)(?=\W|[\u4e00-\u9fff]|\Z)[\s-]*(?:(?:the|of|single|individual|different|distinct)\s+)*",
    re.IGNORECASE,
)
_SORTED_BY = re.compile(
    r"\b(?:sort\w*|order(?:ed|ing)?|rank\w*|arrang\w*|sortier\w*)\b[^.;\n]*?\b(?:by|nach)\b[^.;,\n]*", re.IGNORECASE
)
_WISE = re.compile(r"([\w-]+?)[- ](?:wise|level)\b", re.IGNORECASE)


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Figures asked for.

    Attributes:
        file: attachment.
        sheet: sheet; empty for CSV.
        groups: columns whose values make the groups.
        values: value columns; empty for counts of rows.
        ops: ``sum``, ``mean``, ``median``, ``count``, ``max``, ``min``.
        clauses: clauses that say so.
        ambiguous: the operation was not said (a chart "of sales by region").
    """

    file: str
    sheet: str
    groups: tuple[str, ...]
    values: tuple[str, ...]
    ops: tuple[str, ...]
    clauses: tuple[int, ...]
    ambiguous: bool = False

    def params(self) -> dict[str, Any]:
        """As parameters of a check."""
        return {
            "source": self.file,
            "sheet": self.sheet,
            "groups": list(self.groups),
            "values": list(self.values),
            "ops": list(self.ops),
        }

    @property
    def columns(self) -> set[str]:
        return {*self.groups, *self.values}


def readings(request: Request) -> list[Reading]:
    """The figures asked for, each once; a clause that several tables answer is left out unless it names one."""
    found: list[Reading] = []
    summed = bool(request.having("total_row"))  # what ends in a total is a table of sums
    for part in request.parts:
        if part.demands & {"rename", "dedupe"} or not (part.ops or summed or part.demands & {"chart", "extreme"}):
            continue
        here = [reading for source in _candidates(part, request) if (reading := _read(part, request, source))]
        if len(here) == 1 and here[0] not in found:
            found.append(here[0])
    made = _merged(found) or _across(request)
    if summed and len(made) == 1 and not request.having("chart"):
        return [msgspec.structs.replace(made[0], ambiguous=False)]
    return made


def adopt(request: Request) -> None:
    """Clauses that only help to say which figures are meant ask for these figures: ``one row per region is fine``."""
    found = readings(request)
    for part in request.parts:
        own = [reading for reading in found if part.index in reading.clauses and not reading.ambiguous]
        if (own and not part.demands - {"total_row", "formulas"}) or (
            not part.demands and len(found) == 1 and _repeats(part, request, found[0])
        ):
            part.demands.add("aggregate")


def _repeats(part: Part, request: Request, reading: Reading) -> bool:
    """Whether a clause says no more than what the groups and values are."""
    for source in request.sources:
        if (source.file.name, source.table.name) == (reading.file, reading.sheet):
            places = request.mentions(part, source)
            groups = _groups(part.bare, places, source)
            return set(groups) == set(reading.groups) and {m.column for m in places} <= reading.columns
    return False


def _across(request: Request) -> list[Reading]:
    """Figures that take two clauses to say: ``Group the orders by region and`` | ``sum the revenue``."""
    parts = [p for p in request.parts if not p.demands & {"rename", "dedupe"}]
    for first, second in zip(parts, parts[1:], strict=False):  # noqa: RUF007
        if not (first.ops or second.ops) or "extreme" in first.demands | second.demands:
            continue
        both = msgspec.structs.replace(
            first,
            text=f"{first.text} {second.text}",
            bare=f"{first.bare} {second.bare}",
            demands=first.demands | second.demands,
            ops=tuple(dict.fromkeys((*first.ops, *second.ops))),
            names=(*first.names, *second.names),
        )
        here = [reading for source in _candidates(both, request) if (reading := _read(both, request, source))]
        if len(here) == 1:
            return [msgspec.structs.replace(here[0], clauses=(first.index, second.index))]
    return []


def _candidates(part: Part, request: Request) -> list[Source]:
    named = [source for source in request.sources if source.file.name.lower() in {n.lower() for n in part.names}]
    sheets = [
        s
        for s in request.sources
        if s.table.name and re.search(rf"\b{re.escape(s.table.name)}\b", part.text, re.IGNORECASE)
    ]
    return sheets or named or request.sources


def _merged(found: list[Reading]) -> list[Reading]:
    """Readings of the same figures, from several clauses, as one."""
    kept: list[Reading] = []
    for reading in found:
        for index, other in enumerate(kept):
            same = (reading.file, reading.sheet, reading.groups, reading.values) == (
                other.file,
                other.sheet,
                other.groups,
                other.values,
            )
            if same and (reading.ops == other.ops or reading.ambiguous or other.ambiguous):
                sure = other if not other.ambiguous else reading
                clauses = tuple(sorted({*reading.clauses, *other.clauses}))
                kept[index] = msgspec.structs.replace(sure, clauses=clauses)
                break
        else:
            kept.append(reading)
    return kept


def _read(part: Part, request: Request, source: Source) -> Reading | None:
    text = _SORTED_BY.sub(lambda match: " " * len(match.group()), part.bare)
    plain = msgspec.structs.replace(part, bare=text)
    places = request.mentions(plain, source)
    groups = _groups(text, places, source)
    ops = _ops(part)
    if not groups and (ops or part.demands & {"chart", "extreme"}):
        groups = _lone_group(places, source)
    if not groups:
        return None
    values = _values(part, places, groups, source)
    implied = not ops
    if values is None or (implied and not values):
        return None
    if ops == ("count",) or (ops and "count" in ops and not values):
        values = ()
    if not values and ops != ("count",):
        return None
    return Reading(
        file=source.file.name,
        sheet=source.table.name,
        groups=groups,
        values=values,
        ops=ops or ("sum",),
        clauses=(part.index,),
        ambiguous=implied,
    )


def _ops(part: Part) -> tuple[str, ...]:
    """Operations said. Next to a naming of the extreme or a sum, "largest" is no operation."""
    plain = tuple(op for op in part.ops if op not in ("max", "min"))
    if plain or "extreme" in part.demands:
        return plain
    return part.ops


def _groups(text: str, places: list[Mention], source: Source) -> tuple[str, ...]:
    numeric = {column.name for column in source.columns if column.kind == "number"}
    groups: list[str] = []
    for per in _PER.finditer(text):
        near = [m for m in places if per.end() <= m.start <= per.end() + 1 or (m.start < per.end() <= m.end)]
        for mention in near[:1]:
            if mention.column not in groups and not (mention.column in numeric and not mention.exact):
                groups.append(mention.column)
                groups.extend(_joined(text, mention, places, groups))
    for wise in _WISE.finditer(text):
        groups.extend(m.column for m in places if m.start == wise.start(1) and m.column not in groups)
    return tuple(groups)


def _joined(text: str, first: Mention, places: list[Mention], groups: list[str]) -> list[str]:
    """Further group columns after "and": ``by region and month``."""
    more: list[str] = []
    end = first.end
    for mention in places:
        if mention.start > end and re.fullmatch(
            r"\s*(?:and|und|,|&|/|x|×)\s*(?:by |per |each |every )?", text[end : mention.start]
        ):
            if mention.column not in groups:
                more.append(mention.column)
            end = mention.end
    return more


def _lone_group(places: list[Mention], source: Source) -> tuple[str, ...]:
    """The one text column that the clause names, where no word such as "per" marks it."""
    texts = {column.name for column in source.columns if column.kind in ("text", "mixed")}
    named = {mention.column for mention in places if mention.column in texts}
    return tuple(named) if len(named) == 1 else ()


def _values(part: Part, places: list[Mention], groups: tuple[str, ...], source: Source) -> tuple[str, ...] | None:
    """Value columns named; else the one that could be meant; None where several could."""
    kinds = {column.name: column.kind for column in source.columns}
    numbers = {c.name for c in source.columns if c.kind in ("number", "mixed") and c.name not in groups}
    weak = {c.name for c in source.columns if looks_like_id(c)}  # "the orders" do not mean the column order_id
    named = list(dict.fromkeys(m.column for m in places if m.column in numbers and (m.exact or m.column not in weak)))
    exact = list(dict.fromkeys(m.column for m in places if m.exact and m.column in named))
    if named:
        return tuple(exact or named) if len(exact or named) <= 4 else None
    if part.ops == ("count",):
        return ()
    likely = [
        column.name
        for column in source.columns
        if column.kind == "number" and column.name not in groups and not looks_like_id(column)
    ]
    if len(likely) == 1:
        return (likely[0],)
    texts = [m.column for m in places if m.exact and m.column not in groups and kinds[m.column] == "text"]
    return tuple(texts) if len(texts) == 1 and not likely else None
