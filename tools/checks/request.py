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
from tools.checks.words import QUOTED, Mention, key, mentions

_N = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|single|ein|eine|einen|zwei|drei|half an?)"
NUMBER_WORDS = {
    "half a": 0.5, "half an": 0.5, "one": 1, "single": 1, "ein": 1, "eine": 1, "einen": 1, "two": 2, "zwei": 2, "three": 3, "drei": 3,
    "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20,
}  # fmt: skip
LENGTH = re.compile(
    rf"(?:(?P<most>at most|no more than|not more than|maximum(?: of)?|max\.?|up to|under|below|fewer than|less than"
    rf"|within|not exceed(?:ing)?|höchstens|maximal)|(?P<least>at least|no fewer than|minimum(?: of)?|mindestens)"
    rf"|(?P<about>about|around|roughly|approximately|approx\.?|some|etwa|ungefähr)|(?P<exact>exactly|genau))?\s*"
    rf"(?:a |an )?(?P<n>{_N})[\s-]*(?:(?:short|full|printed|key|A4|bullet|concise|brief|crisp)\s+)*"
    r"(?P<unit>pages?|pagers?|words?|sentences?|paragraphs?|bullets?(?: points?)?|points?|seiten?|wörtern?|worten?|sätzen?|sätze"
    r"|stichpunkten?)\b(?P<tail> (?:or less|or fewer|at most|max(?:imum)?|long at most|limit|or more|at least))?"
    r"|(?P<cn>[一二三四五]|\d+)\s?(?:页|字|句)",
    re.IGNORECASE,
)
_EXTREME = (
    r"(?:largest|biggest|highest|greatest|top|maximum|max|best|leading|strongest|smallest|lowest|least|minimum|min|worst"
    r"|weakest|most|winner|leader|größte\w*|höchste\w*|kleinste\w*|niedrigste\w*|最大|最高|最小|最低)"
)
TOTAL_ROW = re.compile(
    r"\b(?:grand[- ])?(?:totals?|sums?|summary)[- ](?:rows?|lines?)\b|\bgrand[- ]totals?\b"
    r"|\b(?:rows?|lines?) (?:of|with|for|holding|containing|showing|that (?:adds?|sums?|totals?|holds?|shows?)) (?:the |all |a |up |everything |grand |overall )*(?:totals?|sums?)\b"
    r"|\b(?:bottom|last|final|closing) (?:row|line)\b|\b(?:row|line) (?:at|on) the (?:bottom|end|foot)\b|\b(?:row|line) (?:below|underneath|under)\b"
    r"|\btotals? (?:\w+ ){0,3}?(?:at|on) the (?:bottom|end|foot)\b|\b(?:row|line) that (?:adds?|sums?|totals?)\b"
    r"|\boverall totals?\b|\b(?:summen|gesamt|ergebnis)zeile\b|合计行|总计行|汇总行",
    re.IGNORECASE,
)
_TABLE_SUMMARY = re.compile(
    r"\b(?:excel|xlsx|csv|spreadsheet|table|workbook)[ -]summary\b|\bsummary[ -](?:table|sheet|workbook|file|csv|spreadsheet)\b"
    r"|\bsummary (?:in|as|to|into) (?:an? )?(?:excel|csv|xlsx|spreadsheet|workbook|table)",
    re.IGNORECASE,
)
"""A summary that is a table of totals, no text."""
_ABOUT = r"\bwhat (?:it|this|the \w+) (?:is|says)(?: all)? about\b|\bpages? in (?:word|docx|pdf)\b|\bno time to read\b"
TOTAL_WORDS = re.compile(r"(?:grand |overall )?(?:totals?|sums?|all|gesamt\w*|summe)|合计|总计", re.IGNORECASE)
_FORMULAS = (
    r"\bformulas?\b|\bformulae\b|=\s?sum\b|\bsum\(|\blive (?:sum|total|formula)|\bexcel sum\b|\bsum functions?\b|\bformeln?\b|公式"
    r"|\bnot (?:a )?(?:hard-?coded|typed|pasted|fixed|static)|\brecalculat|\bupdates? (?:itself|automatically|by itself)"
)
_SORT = re.compile(
    r"\b(?:sort\w*|order(?:ed|ing)(?! (?:id|date|number|no))|order (?:it|them|the (?:rows|table|groups|result|output|list|lines))\b|order by|rank\w*"
    r"|arrang\w*|sortier\w*)\b[^.;,\n]*(?:,\s*(?:the )?(?:largest|biggest|highest|smallest|lowest|descending|ascending|alphabetical\w*|from)[^.;,\n]*)?"
    r"|\b(?:largest|biggest|highest|greatest|smallest|lowest|most|least|best|top)(?: \w+){0,3}? (?:first|on top|at the top|to (?:the )?(?:smallest|lowest|largest|highest))\b"
    r"|\b(?:in )?(?:descending|ascending|alphabetical|decreasing|increasing)(?: order)?\b(?: (?:of|by)[^.;,\n]*)?|\balphabetically\b|排序|降序|升序|从大到小|从小到大",
    re.IGNORECASE,
)
_ROUND = re.compile(
    r"\bround\w*(?: (?:up|down|off))?[^.;\n]*?(?:to )?(?:the nearest )?(?P<r>\d|one|two|three|zero|no|whole numbers?|integers?|nearest (?:integer|whole))\b[^.;,\n]*"
    r"|\b(?P<d>\d|one|two|three|zero|no) (?:decimals?|decimal places?|digits? after|nachkommastellen?)\b(?: places?)?|\bwhole numbers?\b|两位小数",
    re.IGNORECASE,
)
_RULES: tuple[tuple[str, str], ...] = (
    ("chart", r"\b(?:bar[- ]?(?:chart|graph|plot|diagram)\w*|column chart|charts?|graphs?|plot(?:s|ted)?|histogram|diagramm?s?|säulendiagramm|balkendiagramm|visuali[sz]\w*)\b|柱状图|条形图|图表"),
    ("linechart", r"\b(?:line|pie|scatter|area|donut|doughnut|box|stacked|grouped bar|clustered)[- ]?(?:chart|graph|plot|diagram|bars?)s?\b|\bhistogram\b|折线图|饼图"),
    ("rename", r"\brenam\w*|\bumbenenn\w*|\bbenenne\b|重命名|改名|改为|\b(?:call|name|label|title) (?:the )?[^.;]{1,60}?\b(?:instead|column|header)|\b(?:should|must|shall|to) (?:now )?be (?:named|called|titled|labelled|labeled)\b|\bchange (?:the )?(?:column )?(?:headers?|headings?|names?|titles?|columns?)\b|\b(?:becomes?|turns? into)\b|→|->|=>|\b(?:should|must|shall) (?:now )?read\b"),
    ("dedupe", r"\b(?:duplicat\w*|dedup\w*|de-dup\w*|repeated (?:rows?|lines?|records?|entries)|identical (?:rows?|lines?|records?|entries)|doppelte\w*|duplikate\w*|(?:rows?|lines?|records?|entries) (?:that|which) (?:occur|appear|are (?:repeated|listed)|repeat|show up)\w*)\b|\b(?:each|every)\b[^.;]*\bonce\b|\bonly one (?:of each|copy)\b|\bunique (?:rows?|lines?|records?)\b|去重|重复"),
    ("keep", r"\b(?:other|second|remaining|rest|another|else|everything else|all else)\b[^.;]*\b(?:untouched|alone|unchanged|intact|as (?:it|they) (?:is|are|was|were)|exactly|same|unmodified|unaltered|unverändert)\b|\b(?:do not|don't|don’t|must not|mustn't|should not|shouldn't|never|without|nicht) (?:be )?(?:touch\w*|chang\w*|alter\w*|modif\w*|edit\w*|affect\w*|ändern|anfassen)\b|\b(?:leave|keep)\b[^.;]*\b(?:as (?:it|they|is|they) (?:is|are)?|untouched|alone|unchanged|intact)\b|\b(?:stays?|remains?|(?:is|are) left)\b[^.;]*\b(?:untouched|alone|unchanged|intact|the same|as (?:it|they) (?:is|are|was|were))\b|\bno other changes?\b|\bnothing else\b|\b(?:must|should|has to|needs to|shall) (?:stay|remain|be left)\b|不要(?:改|动)|保持不变|\bunverändert\b"),
    ("onlycols", r"\b(?:only|just)\b[^.;,]*\bcolumns?\b|\b(?:ignor\w*|skip\w*|disregard\w*|leav\w* out|omit\w*|without|forget\w*|drop\w*|remove)\b (?:about )?(?:all )?(?:the |any |of the )?(?:other|rest|remaining)[^.;]*\bcolumns?\b|\bno (?:other|extra|further|more) columns?\b|\bcolumns?\b[^.;]*\bnothing (?:else|more)\b|\bthe other columns? (?:can|should|may|are) (?:be |go|not)"),
    ("only", r"\bonly\b|\bjust (?:the|those|these)\b|\bnur\b|只"),
    ("filter", r"\bwhere\b|\bwhose\b(?! (?:cells?|values?|entries|totals?|figures?|numbers?)\b)|\bexcept\b|\bexclud\w*|\bignor\w*|\bother than\b|\b(?:greater|less|more|fewer|larger|smaller|higher|lower|older|newer) than\b|\b(?:above|below|over|between) \d|\btop \d+|\b(?:first|last) \d+|\bleav\w* out\b|\bskip\w*|\bdisregard\w*|\bfilter\w*|\bnot counting\b|\b(?:since|until|before|after|during) (?:\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|last|this)|\bwithout (?:the )?(?:returns?|cancel\w*|refund\w*|tax|vat|those|rows)|\bif (?:it|the|they|a)\b|除了|不包括|排除"),
    ("derive", r"\b(?:percent\w*|shares?|proportion\w*|ratios?|growth|cumulative|running|moving|differences?|multipl\w*|times|minus|divided?|per month|per year|per quarter|per week|per day|monthly|weekly|yearly|quarterly|daily|year[- ]on[- ]year|standard deviation|variance|percentile\w*|margin|profit|net|gross|after tax|before tax|vat)\b|%|占比|比例|每月"),
    ("format", r"\b(?:bold|italic\w*|colou?r\w*|fonts?|highlight\w* (?:in|the (?:row|cell|column))|freeze|frozen|column widths?|currency format\w*|formatted (?:as|like|with)|number format\w*|right-align\w*|align\w*|conditional\w*|border\w*|date format\w*|iso dates?|password|logo|in (?:thousands|millions|euros?|dollars)|red|blue|green|orange|purple|pink|gr[ae]y|yellow)\b|加粗|颜色"),
    ("charttext", r"\b(?:titled?|axis|axes|legend|labels?|labell?ed|gridlines?|annotat\w*|data labels|value labels)\b"),
    ("summary", r"\b(?:brief\w*|summar(?:y|ies|ise\w*|ize\w*|ising|izing)|digest|overview|abstract|synopsis|condens\w*|boil\w* (?:[\w.]+ ){0,4}down|one[- ]page (?:word )?(?:document|text|note|paper)|short(?:er)? version|shorten\w*|key (?:points|facts|takeaways|findings|messages)|takeaways|main points|executive|recap|report (?:on|about)|zusammenfass\w*|kurzfassung|one[- ]pager|hand-?out|tl;?dr|management note|memo)\b|摘要|总结|概要|简报"),
    ("items", r"\b(?:includ\w*|mention\w*|cover(?:s|ing|ed)?|stat(?:e|es|ing)|contain\w*|list(?:s|ing)?|giv(?:e|es|ing)|nam(?:e|es|ing)|with|highlight\w*|must (?:say|have|show)|make sure|tell(?:s|ing)?|focus\w*|especially|in particular|sa(?:y|ys|ying))\b"),
    ("language", r"\b(?:in|into|auf) (?:german|french|spanish|chinese|italian|japanese|portuguese|dutch|english|deutsch|englisch)\b|\btranslat\w*|\bübersetz\w*|翻译|用英文|用中文"),
    ("other", r"\b(?:poem|e-?mails?|letter|explain\w*|why|recommend\w*|compar\w*|trends?|forecast\w*|predict\w*|merg\w*|join\w*|pivot\w*|convert\w*|encrypt\w*|zip|upload|send|tone|audience|interpret\w*|analy[sz]\w*|insights?|conclusions?|next steps?|anomal\w*|outliers?|correct\w*|fix\w*|typos?|spell\w*|clean\w*|missing values?|fill\w*|replac\w*|split\w*|trim\w*|uppercase|lowercase|capitali[sz]\w*|transpose\w*|slides?|presentation|agenda|quiz|invoice|schedule|timeline)\b"),
    ("addcol", r"\b(?:add|insert|append|create)\w* (?:a |an |another |one |new |extra )*(?:\w+ )?columns?\b|\bnew columns?\b|新增列|添加.{0,6}列"),
    ("dropcol", r"\b(?:drop|remove|delete|omit|discard|get rid of)\w* (?:the )?(?:[\w\"'“”]+ ){0,3}columns?\b|\bcolumns? [\"'“]?\w+[\"'”]? (?:can go|should be (?:dropped|removed|deleted))"),
    ("outcols", r"\bcolumns? (?:(?:named|called|headed|titled) )?[\"'“‘`]?\w+[\"'”’`]?(?:,? and |, |\Z|\.\Z)"),
    ("noinvent", r"\binvent\w*|\bmade[- ]up\b|\bmak\w+ (?:\w+ )?up\b|\bonly (?:use )?(?:the )?(?:facts|figures|information|numbers|data|what)\b|\bstick(?:s|ing)? to\b|\bfabricat\w*|\bnot in the (?:document|report|source|pdf|text)"),
    ("noindex", r"\b(?:no|without an?|not? an?) (?:row )?(?:index|row numbers?)\b|\bindex column\b"),
)  # fmt: skip
_OPS = {
    "sum": r"\btotal(?:s|led|ed|ling|ing)?\b|\bsum(?:s|med|ming)?\b|\bsum up\b|\badd(?:s|ed|ing)? (?:\w+ ){0,4}?(?:up|together)\b|\bsubtotals?\b|\bhow much\b|\bcomes? to\b|\bin total\b|\baltogether\b|\bcombined\b|\bsumme\w*\b|\bsummier\w*\b|\bgesamt\w*\b|总和|总额|合计|求和|总计|总",
    "mean": r"\baverages?\b|\bmean\b|\bavg\b|\bon average\b|\bdurchschnitt\w*\b|\bmittelwert\w*\b|平均",
    "median": r"\bmedian\b",
    "count": r"\bcount(?:s|ed|ing)?\b|\bnumber of\b|\bhow many\b|\btall(?:y|ies)\b|\bfrequenc\w+\b|\banzahl\b|\bwie viele\b|个数|数量|多少个",
    "max": r"\b(?:maximum|max)\b|\bhighest\b|\blargest\b|\bbiggest\b|\bgreatest\b|最大|最高",
    "min": r"\b(?:minimum|min)\b|\blowest\b|\bsmallest\b|\bleast\b|最小|最低",
}  # fmt: skip
_NAMING = re.compile(
    r"\b(?:nam(?:e|es|ing)|stat(?:e|es|ing)|mention\w*|says?|saying|tell(?:s|ing)?|identif\w*|which|what|who|call(?:s|ing)? out|point(?:s|ing)? out"
    r"|highlight\w*|report(?:s|ing)?|note|notes|noting|giv(?:e|es|ing)|writ(?:e|es|ing)|with the|show(?:s|ing)?|sentence|find|describ\w*|record\w*|nenn\w*|welche\w*|list)\b"
    r"|说明|写明|指出|哪",
    re.IGNORECASE,
)


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
    for part in parts:
        _resolve_conflicts(part, request)
    return request


def _part(index: int, text: str, files: Sequence[FileProfile]) -> Part:
    spots = file_spots(text, [profile.name for profile in files])
    bare = _without_sheets(blanked(text, spots), files)
    said = QUOTED.sub(lambda match: " " * len(match.group()), bare)
    listed = said if any(profile.tables for profile in files) else without_lists(said)
    words = LENGTH.sub(lambda match: " " * len(match.group()), listed)
    demands = {name for name, rule in _RULES if re.search(rule, words, re.IGNORECASE)}
    rest = said
    if TOTAL_ROW.search(said):
        demands.add("total_row")
        rest = TOTAL_ROW.sub(lambda match: " " * len(match.group()), said)
    if listed != said:
        demands.add("items")
    if re.search(_ABOUT, said, re.IGNORECASE) and not any(profile.tables for profile in files):
        demands.add("summary")
    if re.search(_FORMULAS, said, re.IGNORECASE):
        demands.add("formulas")
        rest = re.sub(_FORMULAS, lambda match: " " * len(match.group()), rest, flags=re.IGNORECASE)
    sort = _SORT.search(rest)
    if sort:
        demands.add("sort")
        rest = _SORT.sub(lambda match: " " * len(match.group()), rest)
    rounding = _ROUND.search(rest)
    if rounding:
        demands.add("round")
        rest = _ROUND.sub(lambda match: " " * len(match.group()), rest)
    if LENGTH.search(rest):
        demands.add("length")
        rest = LENGTH.sub(lambda match: " " * len(match.group()), rest)
    ops = tuple(op for op, rule in _OPS.items() if re.search(rule, rest, re.IGNORECASE))
    if re.search(r"\b" + _EXTREME + r"\b|最大|最高|最小|最低", rest, re.IGNORECASE) and _NAMING.search(rest):
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
    if "noinvent" in found:
        found.discard("only")
    for demand in ("derive", "format", "other", "filter") if request.sources else ():
        if demand in found and not re.search(dict(_RULES)[demand], _without_columns(part.bare, request), re.IGNORECASE):
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
    if "summary" in found and any(p.ops for p in request.parts) and _TABLE_SUMMARY.search(part.bare):
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
    return re.search(dict(_RULES)["other"], rest, re.IGNORECASE) is not None


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
        _ROUND,
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
