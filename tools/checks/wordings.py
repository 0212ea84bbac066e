"""Wordings by which people ask for things: one rule for each demand, and the operations on figures."""

from __future__ import annotations

import re

N = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|single|ein|eine|einen|zwei|drei|half an?)"
NUMBER_WORDS = {
    "half a": 0.5, "half an": 0.5, "one": 1, "single": 1, "ein": 1, "eine": 1, "einen": 1, "two": 2, "zwei": 2, "three": 3, "drei": 3,
    "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20,
}  # fmt: skip
LENGTH = re.compile(
    rf"(?:(?P<most>at most|no more than|not more than|maximum(?: of)?|max\.?|up to|under|below|fewer than|less than"
    rf"|within|not exceed(?:ing)?|höchstens|maximal)|(?P<least>at least|no fewer than|minimum(?: of)?|mindestens)"
    rf"|(?P<about>about|around|roughly|approximately|approx\.?|some|etwa|ungefähr)|(?P<exact>exactly|genau))?\s*"
    rf"(?:a |an )?(?P<n>{N})[\s-]*(?:(?:short|full|printed|key|A4|bullet|concise|brief|crisp)\s+)*"
    r"(?P<unit>pages?|pagers?|words?|sentences?|paragraphs?|bullets?(?: points?)?|points?|seiten?|wörtern?|worten?|sätzen?|sätze"
    r"|stichpunkten?)\b(?P<tail> (?:or less|or fewer|at most|max(?:imum)?|long at most|limit|or more|at least))?"
    r"|(?P<cn>[一二三四五]|\d+)\s?(?:页|字|句)",
    re.IGNORECASE,
)
EXTREME = (
    r"(?:largest|biggest|highest|greatest|top|maximum|max|best|leading|strongest|smallest|lowest|least|minimum|min|worst"
    r"|weakest|most|winner|leader|größte\w*|höchste\w*|kleinste\w*|niedrigste\w*|最大|最高|最小|最低)"
)
TOTAL_ROW = re.compile(
    r"\b(?:grand[- ])?(?:totals?|sums?|summary)[- ](?:rows?|lines?)\b|\bgrand[- ]totals?\b"
    r"|\b(?:rows?|lines?) (?:of|with|for|holding|containing|showing|that (?:adds?|sums?|totals?|holds?|shows?)) (?:the |all |a |up |everything |grand |overall )*(?:totals?|sums?)\b"
    r"|\b(?:bottom|last|final|closing) (?:row|line)\b|\b(?:row|line) (?:at|on) the (?:bottom|end|foot)\b|\b(?:row|line) (?:below|underneath|under)\b"
    r"|\b(?:totals?|sums?) (?:\w+ ){0,3}?(?:at|on) the (?:bottom|end|foot)\b|\b(?:row|line) that (?:adds?|sums?|totals?)\b"
    r"|\boverall totals?\b|\b(?:summen|gesamt|ergebnis)zeile\b|合计行|总计行|汇总行",
    re.IGNORECASE,
)
TABLE_SUMMARY = re.compile(
    r"\b(?:excel|xlsx|csv|spreadsheet|table|workbook)[ -]summary\b|\bsummary[ -](?:table|sheet|workbook|file|csv|spreadsheet)\b"
    r"|\bsummary (?:in|as|to|into) (?:an? )?(?:excel|csv|xlsx|spreadsheet|workbook|table)",
    re.IGNORECASE,
)
"""A summary that is a table of totals, no text."""
ABOUT = r"\bwhat (?:it|this|the \w+) (?:is|says)(?: all)? about\b|\bpages? in (?:word|docx|pdf)\b|\bno time to read\b"
NOT_LEFT_OUT = r"\b(?:not|don['’]t|never) (?:leave out|skip|ignore|leave [^.;,]{1,40} out)\b"
TOTAL_WORDS = re.compile(r"(?:grand |overall )?(?:totals?|sums?|all|gesamt\w*|summe)|合计|总计", re.IGNORECASE)
FORMULAS = (
    r"\bformulas?\b|\bformulae\b|=\s?sum\b|\bsum\(|\blive (?:sum|total|formula)|\bexcel sum\b|\bsum functions?\b|\bformeln?\b|公式"
    r"|\bnot (?:a )?(?:hard-?coded|typed|pasted|fixed|static)|\brecalculat|\bupdates? (?:itself|automatically|by itself)"
)
SORT = re.compile(
    r"\b(?:sort\w*|order(?:ed|ing)(?! (?:id|date|number|no))|order (?:it|them|the (?:rows|table|groups|result|output|list|lines))\b|order by|rank\w*"
    r"|arrang\w*|sortier\w*)\b[^.;,\n]*(?:,\s*(?:the )?(?:largest|biggest|highest|smallest|lowest|descending|ascending|alphabetical\w*|from)[^.;,\n]*)?"
    r"|\b(?:largest|biggest|highest|greatest|smallest|lowest|most|least|best|top)(?: \w+){0,3}? (?:first|on top|at the top|to (?:the )?(?:smallest|lowest|largest|highest))\b"
    r"|\b(?:in )?(?:descending|ascending|alphabetical|decreasing|increasing)(?: order)?\b(?: (?:of|by)[^.;,\n]*)?|\balphabetically\b|排序|降序|升序|从大到小|从小到大",
    re.IGNORECASE,
)
ROUND = re.compile(
    r"\bround\w*(?: (?:up|down|off))?[^.;\n]*?(?:to )?(?:the nearest )?(?P<r>\d|one|two|three|zero|no|whole numbers?|integers?|nearest (?:integer|whole))\b[^.;,\n]*"
    r"|\b(?P<d>\d|one|two|three|zero|no) (?:decimals?|decimal places?|digits? after|nachkommastellen?)\b(?: places?)?|\bwhole numbers?\b|两位小数",
    re.IGNORECASE,
)
RULES: tuple[tuple[str, str], ...] = (
    ("chart", r"\b(?:bar[- ]?(?:chart|graph|plot|diagram)\w*|column chart|charts?|graphs?|plot(?:s|ted)?|histogram|diagramm?s?|säulendiagramm|balkendiagramm|visuali[sz]\w*)\b|柱状图|条形图|图表"),
    ("linechart", r"\b(?:line|pie|scatter|area|donut|doughnut|box|stacked|grouped bar|clustered)[- ]?(?:chart|graph|plot|diagram|bars?)s?\b|\bhistogram\b|折线图|饼图"),
    ("rename", r"\brenam\w*|\bumbenenn\w*|\bbenenne\b|重命名|改名|改为|\b(?:call|name|label|title) (?:the )?[^.;]{1,60}?\b(?:instead|column|header)|\b(?:should|must|shall|to) (?:now )?be (?:named|called|titled|labelled|labeled)\b|\bchange (?:the )?(?:column )?(?:headers?|headings?|names?|titles?|columns?)\b|\b(?:becomes?|turns? into)\b|→|->|=>|\b(?:should|must|shall) (?:now )?read\b"),
    ("dedupe", r"\b(?:duplicat\w*|dedup\w*|de-dup\w*|repeated (?:rows?|lines?|records?|entries)|identical (?:rows?|lines?|records?|entries)|doppelte\w*|duplikate\w*|(?:rows?|lines?|records?|entries) (?:that|which) (?:occur|appear|are (?:repeated|listed)|repeat|show up)\w*)\b|\b(?:each|every)\b[^.;]*\bonce\b|\bonly one (?:of each|copy)\b|\bunique (?:rows?|lines?|records?)\b|去重|重复"),
    ("keep", r"\b(?:other|second|remaining|rest|another|else|everything else|all else)\b[^.;]*\b(?:untouched|alone|unchanged|intact|as (?:it|they) (?:is|are|was|were)|exactly|same|unmodified|unaltered|unverändert)\b|\b(?:do not|don't|don’t|must not|mustn't|should not|shouldn't|never|without|nicht) (?:be )?(?:touch\w*|chang\w*|alter\w*|modif\w*|edit\w*|affect\w*|ändern|anfassen)\b|\b(?:leave|keep)\b[^.;]*\b(?:as (?:it|they|is|they) (?:is|are)?|untouched|alone|unchanged|intact)\b|\b(?:stays?|remains?|(?:is|are) left)\b[^.;]*\b(?:untouched|alone|unchanged|intact|the same|as (?:it|they) (?:is|are|was|were))\b|\bno other changes?\b|\bnothing else\b|\b(?:must|should|has to|needs to|shall) (?:stay|remain|be left)\b|不要(?:改|动)|保持不变|\bunverändert\b"),
    ("onlycols", r"\b(?:only|just)\b[^.;,]*\bcolumns?\b|\b(?:ignor\w*|skip\w*|disregard\w*|leav\w* out|omit\w*|without|forget\w*|drop\w*|remove)\b (?:about )?(?:all )?(?:the |any |of the )?(?:other|rest|remaining)[^.;]*\bcolumns?\b|\bno (?:other|extra|further|more) columns?\b|\bcolumns?\b[^.;]*\bnothing (?:else|more)\b|\bleav\w* (?:everything|anything|all) else out\b|\bthe other columns? (?:can|should|may|are) (?:be |go|not)"),
    ("only", r"\bonly\b|\bjust (?:the|those|these)\b|\bnur\b|只"),
    ("filter", r"\bwhere\b|\bwhose\b(?! (?:cells?|values?|entries|totals?|figures?|numbers?)\b)|\bexcept\b|\bexclud\w*|\bignor\w*|\bother than\b|\b(?:greater|less|more|fewer|larger|smaller|higher|lower|older|newer) than\b|\b(?:above|below|over|between) \d|\btop \d+|\b(?:first|last) (?:\d+|two|three|four|five|six|ten|few|half)\b|\bleav\w* out\b|\bskip\w*|\bdisregard\w*|\bfilter\w*|\bnot counting\b|\b(?:since|until|before|after|during) (?:\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|last|this)|\bwithout (?:the )?(?:returns?|cancel\w*|refund\w*|tax|vat|those|rows)|\bif (?:it|the|they|a)\b|除了|不包括|排除"),
    ("derive", r"\b(?:percent\w*|shares?|proportion\w*|ratios?|growth|cumulative|running|moving|differences?|multipl\w*|times|minus|divided?|per month|per year|per quarter|per week|per day|monthly|weekly|yearly|quarterly|daily|year[- ]on[- ]year|standard deviation|variance|percentile\w*|margin|profit|net|gross|after tax|before tax|vat)\b|%|占比|比例|每月"),
    ("format", r"\b(?:bold|italic\w*|colou?r\w*|fonts?|highlight\w* (?:in|the (?:row|cell|column))|freeze|frozen|column widths?|currency format\w*|formatted (?:as|like|with)|number format\w*|right-align\w*|align\w*|conditional\w*|border\w*|date format\w*|iso dates?|password|logo|in (?:thousands|millions|euros?|dollars)|red|blue|green|orange|purple|pink|gr[ae]y|yellow)\b|加粗|颜色"),
    ("charttext", r"\b(?:titled?|(?<!on one )axis|axes|legend|labels?|labell?ed|gridlines?|annotat\w*|data labels|value labels)\b"),
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
OPS = {
    "sum": r"\btotal(?:s|led|ed|ling|ing)?\b|\bsum(?:s|med|ming)?\b|\bsum up\b|\badd(?:s|ed|ing)? (?:\w+ ){0,4}?(?:up|together)\b|\bsubtotals?\b|\bhow much\b|\bcomes? to\b|\bin total\b|\baltogether\b|\bcombined\b|\bsumme\w*\b|\bsummier\w*\b|\bgesamt\w*\b|总和|总额|合计|求和|总计|总",
    "mean": r"\baverages?\b|\bmean\b|\bavg\b|\bon average\b|\bdurchschnitt\w*\b|\bmittelwert\w*\b|平均",
    "median": r"\bmedian\b",
    "count": r"\bcount(?:s|ed|ing)?\b|\bnumber of\b|\bhow many\b|\btall(?:y|ies)\b|\bfrequenc\w+\b|\banzahl\b|\bwie viele\b|个数|数量|多少个",
    "max": r"\b(?:maximum|max)\b|\bhighest\b|\blargest\b|\bbiggest\b|\bgreatest\b|最大|最高",
    "min": r"\b(?:minimum|min)\b|\blowest\b|\bsmallest\b|\bleast\b|最小|最低",
}  # fmt: skip
NAMING = re.compile(
    r"\b(?:nam(?:e|es|ing)|stat(?:e|es|ing)|mention\w*|says?|saying|tell(?:s|ing)?|identif\w*|which|what|who|call(?:s|ing)? out|point(?:s|ing)? out"
    r"|highlight\w*|report(?:s|ing)?|note|notes|noting|giv(?:e|es|ing)|writ(?:e|es|ing)|with the|show(?:s|ing)?|sentence|find|describ\w*|record\w*|nenn\w*|welche\w*|list)\b"
    r"|说明|写明|指出|哪",
    re.IGNORECASE,
)
