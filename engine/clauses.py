"""Splits a request into clauses by code, so that no model can drop or invent a requirement."""

from __future__ import annotations

import re

from engine.protocol.ledger import Clause

_VERB = (
    r"add|aggregate|append|attach|average|build|calculate|call|change|chart|check|clean|combine|compare|compile"
    r"|compute|convert|copy|count|create|cut|delete|describe|draft|draw|drop|edit|ensure|explain|export|extract"
    r"|fill|filter|find|fix|format|generate|give|group|highlight|identify|include|insert|keep|label|leave|limit"
    r"|list|make|mark|mention|merge|move|name|note|number|order|organise|organize|outline|output|plot|prepare"
    r"|present|produce|provide|put|read|remove|rename|replace|report|rewrite|round|save|send|set|show|sort|split"
    r"|start|state|strip|sum|summarise|summarize|swap|tell|tidy|title|total|translate|turn|update|use|work|write"
)
"""Verbs that give an order when they begin a clause."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'“(]?[A-Z0-9À-Þ\u4e00-\u9fff])|[。！？；]|\n+|;\s+")
_NEW_VERB = re.compile(
    rf"(?:,\s*(?:and\s+)?(?:then\s+|also\s+)?|\s+and\s+(?:then\s+|also\s+)?|\s+then\s+|,?\s+but\s+)"
    rf"(?=(?:please\s+)?(?:do\s+not\b|don['’]t\b|never\b|(?:{_VERB})\b(?!\s+(?:of|is|was|are)\b)))",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"\b(?:do\s+not|don['’]t|never|without|no\s+other|nothing\s+else|must\s+not|should\s+not|shouldn['’]t|untouched"
    r"|unchanged|as\s+(?:it\s+is|they\s+are|is)|avoid|except)\b|不要|请勿|不得|nicht\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    rf"^(?:[-*•]\s*|\d+[.)]\s*)?(?:(?:please|kindly|also|then|and|finally|first|next|now|just|once\s+done|afterwards)[,\s]+)*"
    rf"(?:{_VERB})\b"
    r"|\b(?:please|must|should|shall|has\s+to|have\s+to|needs?\s+to|make\s+sure|ensure|do\s+not|don['’]t|never|only|without)\b"
    r"|\b(?:can|could|would|will)\s+you\b|\b(?:i|we)\s+(?:\w+\s+)?(?:want|need|would\s+like|'d\s+like)\b|\bi['’]d\s+(?:like|love|need)\b"
    r"|\?\s*$|[请把将做写算计生成改]",
    re.IGNORECASE,
)
_ONLY_CONTEXT = re.compile(
    r"^(?:thanks|thank\s+you|many\s+thanks|cheers|hi|hello|dear|attached\s+(?:is|are)|here\s+(?:is|are|'s)|this\s+is"
    r"|(?:i|we)\s+(?:just\s+)?(?:need|want)\s+(?:it|this|them)\s+(?:for|by|before|today|soon|tomorrow))\b",
    re.IGNORECASE,
)


def split_clauses(text: str) -> tuple[Clause, ...]:
    """Split a request at sentence ends, semicolons, line breaks, and before a new verb that gives an order.

    Args:
        text: the person's words.

    Returns:
        Clauses in order; every word of the request that carries meaning is in one of them.
    """
    pieces: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        pieces += _NEW_VERB.split(sentence or "")
    words = [piece.strip(" \t,;") for piece in pieces]
    return tuple(
        Clause(index=index, text=piece, negative=bool(_NEGATIVE.search(piece)), asks=_asks(piece))
        for index, piece in enumerate(piece for piece in words if re.search(r"\w", piece))
    )


def _asks(piece: str) -> bool:
    if _ONLY_CONTEXT.search(piece) and not re.search(rf",\s*(?:please\s+)?(?:{_VERB})\b", piece, re.IGNORECASE):
        return False
    return bool(_ASKS.search(piece)) or bool(_NEGATIVE.search(piece))
