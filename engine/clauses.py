"""Splits a request into clauses by code, so that no model can drop or invent a requirement."""

from __future__ import annotations

import re

from engine.protocol.ledger import Clause

_VERB = (
    r"add|aggregate|append|attach|average|build|calculate|call|change|chart|check|clean|combine|compare|compile"
    r"|compute|convert|copy|count|cover|create|cut|delete|describe|discard|draft|draw|drop|edit|ensure|explain|export|extract"
    r"|fill|filter|find|fix|format|generate|give|group|highlight|identify|ignore|include|insert|keep|label|leave|limit"
    r"|list|make|mark|mention|merge|move|name|note|number|omit|order|organise|organize|outline|output|plot|prepare"
    r"|present|produce|provide|put|read|remove|rename|replace|report|rewrite|round|save|send|set|show|sort|split"
    r"|start|state|store|strip|sum|summarise|summarize|swap|take|tell|tidy|title|total|translate|turn|update|use|work|write"
)
"""Verbs that give an order when they begin a clause."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'“(]?[A-Z0-9À-Þ\u4e00-\u9fff])|[。！？；]|\n+|;\s+")
_NEW_VERB = re.compile(
    rf"(?:,\s*(?:and\s+)?(?:then\s+|also\s+)?|\s+and\s+(?:then\s+|also\s+)?|\s+then\s+|,?\s+but\s+)"
    rf"(?=(?:please\s+)?(?:do\s+not\b|don['’]t\b|never\b|(?:{_VERB})\b(?!\s+(?:of|is|was|are)\b|-|,)))",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"\n]+\"|“[^”\n]+”|‘[^’\n]+’|`[^`\n]+`|(?<!\w)'[^'\n]+'(?!\w)|«[^»\n]+»|「[^」\n]+」")
_NEGATIVE = re.compile(
    r"\b(?:do\s+not|don['’]t|never|without|no\s+other|nothing\s+else|must\s+not|should\s+not|shouldn['’]t|untouched"
    r"|unchanged|as\s+(?:it\s+is|they\s+are|is)|avoid|except)\b|不要|请勿|不得|nicht\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    rf"^(?:[-*•]\s*|\d+[.)]\s*)?(?:(?:please|kindly|also|then|and|finally|first|next|now|just|once\s+done|afterwards)[,\s]+)*"
    rf"(?:{_VERB})\b"
    r"|\b(?:please|must|should|shall|has\s+to|have\s+to|needs?\s+to|make\s+sure|ensure|do\s+not|don['’]t|never|only|without)\b"
    r"|\b(?:can|could|would|will)\s+you\b|\b(?:i|we|he|she|they)\s+(?:\w+\s+)?(?:want|wants|need|needs|would\s+like|'d\s+like)\b"
    r"|\bi['’]d\s+(?:like|love|need)\b|\b(?:is|are)\s+to\s+\w+|\?\s*$|[请把将做写算计生成改]",
    re.IGNORECASE,
)
_ONLY_CONTEXT = re.compile(
    r"^(?:thanks|thank\s+you|many\s+thanks|cheers|hi|hello|dear|good\s+(?:morning|afternoon|evening)|attached\s+(?:is|are)"
    r"|here\s+(?:is|are|'s|’s)|this\s+is|these\s+are"
    r"|(?:i|we)\s+(?:just\s+)?(?:need|want)\s+(?:it|this|them)\s+(?:for|by|before|today|soon|tomorrow))\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"^(?:source|data|file|input)s?\s*(?:file)?\s*:\s*\S.{0,60}$"
    r"|^(?!the\s+(?:result|output|chart|picture|note|brief|summary|title|header|first|second|last|final|new|answer)\b)"
    r"(?:(?:the|our|my|this|these|those|that|it|they|there|all|every|each|some|many|i|we|he|she|you|someone)\b(?:[^,:]|,\s(?!and\b)){0,80}?\s"
    r"|X\s+|\S+\.\w{2,5}\s+|[A-Z][\w’']+\s+)"
    r"(?:is|are|was|were|am|has|have|had|holds?|lists?|contains?|comes?|came|shows?|got|keeps?|kept|includes?|covers?|records?|sits?|lives?"
    r"|lies|lie|goes|went|uses?|made|makes|gave|sent|exported|collected|belongs?|will (?:read|see|use|get|look|show|present|discuss|meet))\b"  # noqa: E501
    r"(?!\s+to\s+(?:be|have|show|hold|stay)\b)",
    re.IGNORECASE,
)
"""A statement: it says how things are and asks for nothing."""


def split_clauses(text: str) -> tuple[Clause, ...]:
    """Split a request at sentence ends, semicolons, line breaks, and before a new verb that gives an order.

    Args:
        text: the person's words.

    Returns:
        Clauses in order; every word of the request that carries meaning is in one of them. What stands in quotation
        marks is never split.
    """
    veiled = _QUOTED.sub(lambda match: "X" * len(match.group()), text)
    pieces: list[str] = []
    for start, end in _stretches(_SENTENCE_END, veiled, 0, len(text)):
        pieces += [text[a:b] for a, b in _stretches(_NEW_VERB, veiled, start, end)]
    words = [piece.strip(" \t,;") for piece in pieces]
    return tuple(
        Clause(index=index, text=piece, negative=bool(_NEGATIVE.search(piece)), asks=_asks(piece))
        for index, piece in enumerate(piece for piece in words if re.search(r"\w", piece))
    )


def _stretches(rule: re.Pattern[str], text: str, start: int, end: int) -> list[tuple[int, int]]:
    """What lies between the matches of a rule, as places in the text."""
    found: list[tuple[int, int]] = []
    for match in rule.finditer(text, start, end):
        found.append((start, match.start()))
        start = match.end()
    return [*found, (start, end)]


def _asks(piece: str) -> bool:
    """Whether a clause wants something. What is no statement does: ``Totals per region as xlsx`` has no verb at all."""
    veiled = _QUOTED.sub("X", piece)
    if _ONLY_CONTEXT.search(veiled) and not re.search(rf",\s*(?:please\s+)?(?:{_VERB})\b", veiled, re.IGNORECASE):
        return False
    if _ASKS.search(veiled) or _NEGATIVE.search(veiled):
        return True
    return _STATES.search(veiled) is None and len(re.findall(r"\w+", veiled)) > 1
