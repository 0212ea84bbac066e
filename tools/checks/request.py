"""What a request demands, clause by clause, and which tables it talks about.

A *demand* is a kind of requirement found by its wording. Checks say which demands they test; a clause with a demand
that no check tests is never settled. So a wording that is not understood leads to "unknown", not to "verified".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from engine.protocol.documents import Column, FileProfile, RequestView, Table
from tools.checks.items import without_lists
from tools.checks.naming import blanked, file_spots, same_name
from tools.checks.wordings import (
    ABOUT,
    EXTREME,
    FORMULAS,
    LENGTH,
    NAMING,
    NOT_LEFT_OUT,
    OPS,
    ROUND,
    RULES,
    SORT,
    TABLE_SUMMARY,
    TOTAL_ROW,
    TOTAL_WORDS,
)
from tools.checks.words import QUOTED, Mention, key, mentions


class Part(msgspec.Struct, kw_only=True):
    """A clause as the checks see it: its words with file names taken out, and its demands."""

    index: int
    text: str
    bare: str
    demands: set[str]
    ops: tuple[str, ...]
    sort: str
    rounding: int | None
    names: tuple[str, ...]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A table of an attachment."""

    file: FileProfile
    table: Table

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.table.columns


class Request(msgspec.Struct, kw_only=True):
    """The whole request, read once for all checks."""

    view: RequestView
    parts: list[Part]
    sources: list[Source]

    def having(self, demand: str) -> list[Part]:
        """Clauses with that demand."""
        return [part for part in self.parts if demand in part.demands]

    @property
    def outputs(self) -> list[str]:
        """File names in the request that are not attachments."""
        given = [profile.name for profile in self.view.files]
        names = [name for part in self.parts for name in part.names]
        return list(dict.fromkeys(name for name in names if not any(same_name(name, other) for other in given)))

    def mentions(self, part: Part, source: Source) -> list[Mention]:
        """Columns of a table that a clause talks about; places refer to `Part.bare`."""
        return mentions(part.bare, source.columns)


def understand(view: RequestView) -> Request:
    """Read a request: demands of each asking clause, and the tables at hand."""
    parts = [_part(clause.index, clause.text, view.files) for clause in view.clauses if clause.asks or clause.negative]
    sources = [
        Source(file=profile, table=table)
        for profile in view.files
        if profile.kind in ("csv", "xlsx")
        for table in profile.tables
        if table.columns
    ]
    request = Request(view=view, parts=parts, sources=sources)
    if view.files and not sources and not request.having("summary"):
        for part in request.having("length") + request.having("items"):
            part.demands.add("summary")  # a text of a given length, or about given items, from documents
    for part in parts:
        _resolve_conflicts(part, request)
    return request


def _part(index: int, text: str, files: Sequence[FileProfile]) -> Part:
    spots = file_spots(text, [profile.name for profile in files])
    bare = _without_sheets(blanked(text, spots), files)
    said = QUOTED.sub(lambda match: " " * len(match.group()), bare)
    listed = said if any(profile.tables for profile in files) else without_lists(said)
    words = LENGTH.sub(lambda match: " " * len(match.group()), listed)
    demands = {name for name, rule in RULES if re.search(rule, words, re.IGNORECASE)}
    rest = said
    if TOTAL_ROW.search(said):
        demands.add("total_row")
        rest = TOTAL_ROW.sub(lambda match: " " * len(match.group()), said)
    if listed != said:
        demands.add("items")
    if re.search(ABOUT, said, re.IGNORECASE) and not any(profile.tables for profile in files):
        demands.add("summary")
    if re.search(FORMULAS, said, re.IGNORECASE):
        demands.add("formulas")
        rest = re.sub(FORMULAS, lambda match: " " * len(match.group()), rest, flags=re.IGNORECASE)
    sort = SORT.search(rest)
    if sort:
        demands.add("sort")
        rest = SORT.sub(lambda match: " " * len(match.group()), rest)
    rounding = ROUND.search(rest)
    if rounding:
        demands.add("round")
        rest = ROUND.sub(lambda match: " " * len(match.group()), rest)
    if LENGTH.search(rest):
        demands.add("length")
        rest = LENGTH.sub(lambda match: " " * len(match.group()), rest)
    ops = tuple(op for op, rule in OPS.items() if re.search(rule, rest, re.IGNORECASE))
    if re.search(r"\b" + EXTREME + r"\b|最大|最高|最小|最低", rest, re.IGNORECASE) and NAMING.search(rest):
        demands.add("extreme")
    return Part(
        index=index,
        text=text,
        bare=bare,
        demands=demands,
        ops=ops,
        sort=sort.group() if sort else "",
        rounding=_digits(rounding) if rounding else None,
        names=tuple(spot.name for spot in spots),
    )


def _without_sheets(text: str, files: Sequence[FileProfile]) -> str:
    """A clause with the names of worksheets blanked, so that a sheet called ``Notes`` asks for no note."""
    columns = {column.name for profile in files for table in profile.tables for column in table.columns}
    for name in {table.name for profile in files for table in profile.tables if table.name}:
        place = re.escape(name)
        rules = [rf"(?<=\bsheet )[\"'“‘]?{place}(?!\w)[\"'”’]?", rf"[\"'“‘]{place}[\"'”’]?(?= (?:work)?sheet\b| tab\b)"]
        if name not in columns:
            rules.append(rf"\"{place}\"|“{place}”|(?<!\w)'{place}'(?!\w)")
        for rule in rules:
            text = re.sub(rule, lambda match: " " * len(match.group()), text)
    return text


def _digits(match: re.Match[str]) -> int:
    word = (match.group("r") or match.group("d") or "").lower()
    if not word:
        return 2 if "两" in match.group() else 0
    places = {"one": 1, "two": 2, "three": 3}
    return int(word) if word.isdigit() else places.get(word, 0)


def _resolve_conflicts(part: Part, request: Request) -> None:
    """Words with two meanings: settle which one is meant, then look for what nobody accounts for."""
    found = part.demands
    if "outcols" in found and (
        found & {"rename", "dedupe", "dropcol", "keep"} or not any(p.ops for p in request.parts)
    ):
        found.discard("outcols")
    if request.sources and "summary" in found and not part.ops and re.search(r"summari[sz]", part.bare, re.IGNORECASE):
        part.ops = ("sum",)
    tabular = bool(request.sources) and bool(found & {"chart", "rename", "dedupe", "extreme"} or part.ops)
    if "other" in found and not _still_other(part):
        found.discard("other")
    if "items" in found and not request.sources and re.search(NOT_LEFT_OUT, part.bare, re.IGNORECASE):
        found.discard("filter")
    if "noinvent" in found:
        found.discard("only")
    for demand in ("derive", "format", "other", "filter") if request.sources else ():
        if demand in found and not re.search(dict(RULES)[demand], _without_columns(part.bare, request), re.IGNORECASE):
            found.discard(demand)
    if "chart" in found and "linechart" in found:
        found.discard("chart")
    if "chart" not in found and "charttext" in found and not any("chart" in other.demands for other in request.parts):
        found.discard("charttext")
    if "summary" in found and tabular and request.sources:
        found.discard("summary")
    if "items" in found and (tabular or "total_row" in found or request.sources):
        found.discard("items")
    if "only" in found and found & {"rename", "dedupe", "keep"}:
        found.discard("only")
        found.add("keep")
    if "onlycols" in found:
        found -= {"only", "filter", "dropcol", "outcols", "keep"}
    if "summary" in found and any(p.ops for p in request.parts) and TABLE_SUMMARY.search(part.bare):
        found.discard("summary")
    if "extreme" in found and "sort" in found and not re.search(r"\bwhich|\bnam(?:e|ing)", part.bare, re.IGNORECASE):
        found.discard("extreme")
    if part.ops and "extreme" not in found and not found & {"chart", "rename", "dedupe", "keep"} and request.sources:
        found.add("aggregate")
    if not request.sources:
        found -= {"extreme", "chart", "rename", "dedupe", "sort", "total_row", "formulas"} & found
    if "items" in found and "summary" not in found and not any("summary" in other.demands for other in request.parts):
        found.discard("items")
    if _stray_number(part, request) or _stray_quote(part, request):
        found.add("other")


def _without_columns(text: str, request: Request) -> str:
    """A clause with column names blanked: a column called ``net`` or ``profit margin`` asks for no computing."""
    for source in request.sources:
        for mention in mentions(text, source.columns):
            if mention.exact:
                text = text[: mention.start] + " " * (mention.end - mention.start) + text[mention.end :]
    return text


def _still_other(part: Part) -> bool:
    """Whether something unknown is asked for beside words that only introduce what follows (``clean up``, ``compare``)."""
    intro = r"\b(?:clean\w*|fix\w*|correct\w*|tidy)\b" if part.demands & {"rename", "dedupe"} else r"\bcompar\w*\b"
    if not part.demands & {"rename", "dedupe", "chart"}:
        return True
    rest = re.sub(intro, " ", part.bare, flags=re.IGNORECASE)
    return re.search(dict(RULES)["other"], rest, re.IGNORECASE) is not None


def _stray_quote(part: Part, request: Request) -> bool:
    """Something in quotation marks that is no column, file, sheet or label of a total: a value, a title, a phrase."""
    if part.demands & {"rename", "outcols", "charttext"}:
        return False
    columns = {key(column.name) for source in request.sources for column in source.columns}
    quotes = [next(group for group in match.groups() if group is not None) for match in QUOTED.finditer(part.bare)]
    labels = TOTAL_WORDS if "total_row" in part.demands else re.compile(r"(?!)")
    return any(key(text) not in columns and not labels.fullmatch(text.strip()) for text in quotes)


def _stray_number(part: Part, request: Request) -> bool:
    """A number or a quoted name in a clause that no rule explains."""
    rest = part.bare
    for rule in (
        LENGTH,
        ROUND,
        QUOTED,
        re.compile(
            r"\btop \d+|\b(?:2|3|4|5) (?:columns?|sheets?|files?|things|headers?)\b|\bA[34]\b|\bq[1-4]\b", re.IGNORECASE
        ),
    ):
        rest = rule.sub(" ", rest)
    for source in request.sources:
        for mention in mentions(rest, source.columns):
            if mention.exact:
                rest = rest[: mention.start] + " " * (mention.end - mention.start) + rest[mention.end :]
    return bool(re.search(r"\d", rest)) and "rename" not in part.demands
