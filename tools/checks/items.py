"""The items that a request lists for a brief, and the sentence of the source that holds each."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from tools.checks.words import stem
from tools.inspectors.numbers import figures
from tools.inspectors.texts import sentences

_CUE = re.compile(
    r"(?:\b(?:includ(?:e|es|ing)|mention(?:s|ing)?|cover(?:s|ing)?|stat(?:e|es|ing)|contain(?:s|ing)?|list(?:s|ing)?|giv(?:es|ing)|nam(?:e|es|ing)"
    r"|highlight(?:s|ing)?|must (?:say|have|show)|wants? to (?:know|see|read)|needs? to (?:know|see)|interested in|with (?=the\b)|focus(?:es|ing)? on"
    r"|(?:do not|don['’]t|never) (?:forget|leave out|omit|miss|skip)|not (?:leave out|omit)|in particular|especially|make sure (?:to (?:mention|include)|that|of)?"
    r"|(?:points?|things?|facts?|items?|parts?|questions?|information)(?: \w+){0,4}? (?:are|is|include)|what (?:i|we|he|she|they) (?:\w+ )?needs? (?:to know )?(?:is|are)"
    r"|say(?:s|ing)?|tell(?:s|ing)? (?:me|us|him|her|them)?|answer(?:s|ing)?|that (?:has|shows)|what it (?:is|says) about,? (?:and|plus)|about)\b:?|(?<=\w):)"
    r"\s*(?P<list>[^.;:\n]+)",
    re.IGNORECASE,
)
_CUT = re.compile(
    r",\s*(?:and|or|as well as)?\s+|\s+(?:and|as well as|plus)\s+(?!(?:sons|co)\b)|\s*&\s*|;", re.IGNORECASE
)
_LEAD = re.compile(r"^(?:and|also|the|a|an|its|our|their|all|any|at least|to|of|on|about|me|us|both)\s+", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:what it (?:is|says)|everything|anything|most important|main (?:points|facts|ideas|content|findings)|key (?:points|facts|findings|messages)"
    r"|essentials?|nothing|word|docx|pdf|markdown|document|report|paper|file|page|pages|manager|board|boss|colleague|team|heading|title|figures|not in)\b|^it$",
    re.IGNORECASE,
)
_SMALL = frozenset(
    """
    the a an of for in on at to and or is are it
    its who what when where how much many which will be by with our their
    """.split()
)
_ALIKE: dict[str, frozenset[str]] = {
    "funding": frozenset(
        ["fund", "money", "finance", "financed", "funded", "paid", "grant", "sponsor", "foundation", "comes"]
    ),
    "budget": frozenset(["budget", "cost", "money", "approved", "sum"]),
    "cost": frozenset(["cost", "budget", "price", "expense"]),
    "deadline": frozenset(["deadline", "due", "finished", "completed", "latest", "end"]),
    "start": frozenset(["start", "begin", "began", "commence", "launch"]),
    "contractor": frozenset(["contractor", "firm", "company", "supplier"]),
    "responsible": frozenset(["responsible", "charge", "lead", "head", "manager", "contact"]),
    "reason": frozenset(["reason", "why", "because", "cause"]),
    "risk": frozenset(["risk", "danger", "threat"]),
    "source": frozenset(["source", "from", "origin"]),
    "next": frozenset(["next", "then", "afterwards", "follow"]),
    "location": frozenset(["location", "located", "address", "site", "seat"]),
}
_DATE = re.compile(r"\b\d{1,2}\.? [A-Z][a-z]+ \d{4}|\b[A-Z][a-z]+ \d{1,2},? \d{4}|\b\d{4}-\d\d-\d\d\b")
_NAME = re.compile(r"(?<![.!?] )(?<!\A)\b[A-ZÀ-Þ][\w’'-]+(?:(?: | & | of | and )(?:[A-ZÀ-Þ][\w’'-]+|\d{1,4}\b))+")
_PLACE = re.compile(r"\b(?:at|in|on) (?:the )?[A-ZÀ-Þ][\w’'-]+")
_TYPES = (
    (frozenset(["date", "day", "deadline", "when"]), _DATE),
    (frozenset(["figure", "number", "amount", "total", "budget", "cost", "sum"]), re.compile(r"\d")),
    (frozenset(["person", "who", "name", "contact", "manager"]), _NAME),
    (frozenset(["location", "address", "place", "where", "site"]), _PLACE),
)
_IS = re.compile(r"\b(?:is|are|was|were|will be|comes? from|at)\b|:", re.IGNORECASE)


class Fact(msgspec.Struct, frozen=True):
    """Where the source speaks of an item: the sentence, how well it fits (0 to 1 and a little more)."""

    sentence: str
    score: float


def asked_items(text: str) -> list[str]:
    """Items that a clause lists, in its own words and order: ``location of the office``."""
    found: list[str] = []
    for match in _CUE.finditer(text):
        found += [item for item in _listed(match) if item.lower() not in [other.lower() for other in found]]
    return found


def _listed(match: re.Match[str]) -> list[str]:
    cleaned = [_clean(piece or "") for piece in _CUT.split(match.group("list"))]
    return list(dict.fromkeys(item for item in cleaned if item))


def _clean(piece: str) -> str:
    item = piece.strip(" .!?()\"'“”*-\t")
    while (shorter := _LEAD.sub("", item)) != item:
        item = shorter
    words = item.split()
    if not words or len(words) > 6 or _VAGUE.search(item) or not any(word.lower() not in _SMALL for word in words):
        return ""
    return item


def without_lists(text: str) -> str:
    """A clause with its lists blanked: an item called ``next step`` asks for no next steps."""
    for match in _CUE.finditer(text):
        if _listed(match):
            start, end = match.span("list")
            text = text[:start] + " " * (end - start) + text[end:]
    return text


def terms(item: str) -> list[str]:
    """Stems of the words of an item that tell something."""
    return [stem(w.lower()) for w in re.findall(r"[^\W\d_][\w'-]*", item) if w.lower() not in _SMALL]


def stems(text: str) -> list[str]:
    """Stems of all words of a text."""
    return [stem(word.lower()) for word in re.findall(r"[^\W\d_][\w'-]+", text)]


def like(one: str, other: str) -> bool:
    """The same word, or one with another ending."""
    short, long = sorted((one, other), key=len)
    return one == other or (
        len(short) >= 4 and long.startswith(short[: max(4, len(short) - 2)]) and len(long) - len(short) <= 4
    )


def find_facts(item: str, source: str) -> list[Fact]:
    """Sentences of the source that speak of an item, best first; only those that are about equally good."""
    wanted = terms(item)
    found = [Fact(sentence, _fit(item, wanted, sentence)) for sentence in sentences(source)] if wanted else []
    best = max((fact.score for fact in found), default=0.0)
    return sorted((f for f in found if f.score >= max(0.5, best - 0.05)), key=lambda fact: -fact.score)


def _fit(item: str, wanted: Sequence[str], sentence: str) -> float:
    own = stems(sentence)
    score = sum(_word_fit(word, own, sentence) for word in wanted) / len(wanted)
    if score < 0.45:
        return score
    if len(wanted) > 1 and item.lower() in sentence.lower():
        score += 0.1
    places = [
        m.end() for m in re.finditer(r"\w+", sentence) if any(like(stem(m.group().lower()), word) for word in wanted)
    ]
    says = any(0 <= link.start() - end <= 45 for link in _IS.finditer(sentence) for end in places[-1:])
    return score + (0.15 if says else 0.0) - (0.1 if len(own) < 4 and not says else 0.0)


def _word_fit(word: str, own: Sequence[str], sentence: str) -> float:
    if word in own:
        return 1.0
    if any(like(word, other) for other in own):
        return 0.9
    if any(word in {stem(kind) for kind in kinds} and rule.search(sentence) for kinds, rule in _TYPES):
        return 0.8
    near = next((words for name, words in _ALIKE.items() if stem(name) == word), frozenset[str]())
    return 0.8 if any(stem(other) in own for other in near) else 0.0


def tells(sentence: str, item: str) -> tuple[list[str], list[str]]:
    """What a sentence tells about an item: names and figures as they are written, else its telling words."""
    main = sentence.split(";")[0]
    dates = [match.group() for match in _DATE.finditer(main)]
    rest = _DATE.sub(" ", main)
    names = [match.group() for match in _NAME.finditer(rest)]
    numbers = [figure.text for figure in figures(_NAME.sub(" ", rest)) if abs(figure.value) > 2]
    hard = [*dates, *numbers, *names]
    tail = main
    links = list(_IS.finditer(main))
    if links and len(main) - links[0].end() > 3:
        tail = main[links[0].end() :]
    known = terms(item)
    soft = [w for w in stems(tail) if w not in _SMALL and len(w) > 2 and not any(like(w, other) for other in known)]
    return hard, soft
