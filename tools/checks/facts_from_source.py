"""A brief of a document: every figure in it stands in the source, and what the request names is covered."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from engine.protocol.documents import CheckFiles
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult, Defect, Evidence
from tools.checks.base import Offer, defect, failed, passed, pick, unknown
from tools.checks.items import asked_items, find_facts, like, stems, tells
from tools.checks.request import Request
from tools.checks.stopwords import UNTELLING
from tools.inspectors.numbers import Figure, figures
from tools.inspectors.texts import kind_of, read_text, sentences

NAME = "facts_from_source"
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_DATE = re.compile(
    rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?(?P<m>{'|'.join(m[:3] + '[a-z]*' for m in _MONTHS)})\.?,?(?:\s+(?P<y>\d{{4}}))?"
    rf"|\b(?P<m2>{'|'.join(m[:3] + '[a-z]*' for m in _MONTHS)})\.?\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<y2>\d{{4}}))?|\b(?P<y3>\d{{4}})-(?P<m3>\d\d)-(?P<d3>\d\d)\b",
    re.IGNORECASE,
)


class Facts(msgspec.Struct, frozen=True):
    """Dates (month, day) and other figures of a text."""

    dates: frozenset[tuple[int, int]]
    numbers: tuple[Figure, ...]


def propose(request: Request) -> list[Offer]:
    """Offered for briefs and summaries of attached documents; the items the request lists become terms to be covered."""
    parts = request.having("summary")
    sources = [
        f.name
        for f in request.view.files
        if f.kind in ("pdf", "docx", "markdown", "text", "html", "pptx") and not f.problem
    ]
    if not parts or not sources:
        return []
    items: list[str] = []
    covers: dict[int, set[str]] = {part.index: {"summary"} for part in parts}
    for part in request.parts:
        mine = asked_items(part.bare) if part.demands & {"items", "summary"} else []
        items.extend(item for item in mine if item not in items)
        if mine or part.index in covers:
            covers.setdefault(part.index, set()).add("items")
    for part in request.parts:
        if "noinvent" in part.demands:
            covers.setdefault(part.index, set()).add("noinvent")
    names = [name for name in request.outputs if kind_of(name) in ("docx", "markdown", "text", "pdf")]
    params = {"sources": sources, "asked": items, "file": names[0] if len(names) == 1 else ""}
    says = (
        "Every figure stands in "
        + ", ".join(sources)
        + (f"; covered: {', '.join(items)}." if items else "; its main points are covered.")
    )
    return [
        Offer(check=Check(name=NAME, params=params, says=says), covers={i: frozenset(d) for i, d in covers.items()})
    ]


def facts(text: str) -> Facts:
    """Dates and figures of a text; the parts of a date are not counted again as figures."""
    dates: set[tuple[int, int]] = set()
    rest = text
    for match in _DATE.finditer(text):
        month = match.group("m") or match.group("m2")
        number = [m[:3] for m in _MONTHS].index(month[:3].lower()) + 1 if month else int(match.group("m3"))
        dates.add((number, int(match.group("d") or match.group("d2") or match.group("d3"))))
        rest = rest[: match.start()] + " " * (match.end() - match.start()) + rest[match.end() :]
    rest = re.sub(r"(?m)^\s*(?:#+\s*)?\d{1,2}(?:\.\d{1,2})*[.)]?\s+(?=\S)", " ", rest)
    return Facts(frozenset(dates), tuple(figures(rest)))


def run(params: dict[str, Any], files: CheckFiles) -> CheckResult:
    """Compare the brief with the document.

    Args:
        params: ``sources``, ``asked`` (items in the words of the request), ``file``.
        files: the files.
    """
    source = "\n".join(read_text(Path(files.sources[name])) for name in params["sources"] if name in files.sources)
    source = _unwrapped(source)
    if len(source.split()) < 30:
        return unknown("The source has too little text to compare with.")
    places = pick(files, ("docx", "markdown", "text", "pdf", "html"), params.get("file", ""))
    texts = [(name, read_text(path)) for name, path in places] or ([("", files.answer)] if files.answer.strip() else [])
    if not texts:
        return failed(defect("file.missing", "", "", "There is no text.", wanted="a brief"))
    results = [_judge(text, source, params["asked"], name) for name, text in texts]
    return next((result for result in results if result.status != "pass"), results[0])


def _unwrapped(text: str) -> str:
    """Sentences that a page broke into lines, as one line each: a long line without an end goes on in the next."""
    lines: list[str] = []
    for line in text.splitlines():
        if lines and len(lines[-1]) > 55 and line.strip() and not re.search(r"[.!?:|]\s*\Z", lines[-1]):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return "\n".join(lines)


def _judge(text: str, source: str, items: list[str], name: str) -> CheckResult:
    words = len(text.split())
    if words < (45 if len(source.split()) > 250 else 25):
        return failed(defect("brief.too_little", name, "", f"Only {words} words.", words=words))
    defects = _invented(text, source, name)
    if words > 0.8 * len(source.split()) and words > 250:
        defects.append(defect("brief.copied", name, "", "It is about as long as the source.", words=words))
    defects.extend(fault for item in items if (fault := _item_fault(item, text, source, name)))
    defects.extend(_coverage(text, source, name))
    if defects:
        return failed(*defects[:6])
    untold = [item for item in items if not find_facts(item, source) and not find_facts(item, text)]
    if untold:
        return unknown(f"Neither the source nor the text uses these words: {', '.join(untold)}.", name)
    return passed(
        Evidence(
            file=name, says=f"{words} words; each figure stands in the source; {len(items)} named items are covered."
        )
    )


def _invented(text: str, source: str, name: str) -> list[Defect]:
    """Figures and dates that the source does not have. Counts up to ten may be the writer's own."""
    there, mine = facts(source), facts(text)
    known = [figure.value for figure in figures(source)]
    defects = [
        defect(
            "brief.figure_invented",
            name,
            f"{month}/{day}",
            f"The date {day}.{month}. is not in the source.",
            figure=f"{day} {_MONTHS[month - 1].title()}",
        )
        for month, day in sorted(mine.dates - there.dates)
    ]
    readings: dict[int, list[Figure]] = {}
    for figure in mine.numbers:
        readings.setdefault(figure.start, []).append(figure)
    for same in readings.values():
        small = all(f.value == int(f.value) and 0 <= f.value <= 10 and not f.percent for f in same)
        if small or any(_known(f, known) for f in same):
            continue
        defects.append(
            defect(
                "brief.figure_invented",
                name,
                "",
                f"The figure {same[0].text} is not in the source.",
                figure=same[0].text,
            )
        )
    return defects


def _known(figure: Figure, known: list[Decimal]) -> bool:
    """In the source as it is, or rounded with a scale word (``1.2 million`` for 1,204,500)."""
    if any(abs(figure.value) == abs(value) for value in known):
        return True
    return figure.unit >= 1000 and any(figure.means(value) for value in known)


def _item_fault(item: str, text: str, source: str, name: str) -> Defect | None:
    """What the source says of an item must be in the brief: one of its figures, dates and names, else its words."""
    found = find_facts(item, source)
    if not found or any(_holds(text, fact.sentence, item) for fact in found):
        return None
    sentence = found[0].sentence[:240]
    says = f"Nothing right about the {item}."
    return defect("brief.item_missing", name, "", says, item=item, sentence=sentence)


def _holds(text: str, sentence: str, item: str) -> bool:
    hard, soft = tells(sentence, item)
    if hard:
        told, flat = facts(text), _flat(text)
        return any(_stated(key, told, flat) for key in hard)
    if not soft:
        return bool(find_facts(item, text))
    return any(_share(soft, piece) >= 0.6 for piece in _pieces(text))


def _stated(key: str, told: Facts, flat: str) -> bool:
    if _flat(key) in flat:
        return True
    own = facts(key)
    numbers = any(f.value == g.value or f.means(g.value) for g in own.numbers for f in told.numbers)
    return bool(own.dates & told.dates) or (numbers and not own.dates and not re.search("[A-Za-z]", key))


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("’", "'").replace(" and ", " & ")).casefold()


def _pieces(text: str) -> list[str]:
    """Sentences, and each with the next: a heading with what stands below it."""
    found = sentences(text)
    return found + [f"{a} {b}" for a, b in zip(found, found[1:], strict=False)]  # noqa: RUF007


def _share(words: list[str], piece: str) -> float:
    own = stems(piece)
    return sum(any(_same(word, other) for other in own) for word in words) / len(words)


def _same(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= 5 and long.startswith(short) and len(long) - len(short) <= 2)


def _coverage(text: str, source: str, name: str) -> list[Defect]:
    """The source's commonest telling words must show up: a brief about something else does not have them."""
    counts = Counter(word for word in stems(source) if len(word) > 3 and word not in UNTELLING)
    terms = [word for word, count in counts.most_common(15) if count > 1]
    own = set(stems(text))
    hit = [word for word in terms if any(like(word, other) for other in own)]
    if terms and len(hit) < 0.34 * len(terms):
        missing = ", ".join(word for word in terms if word not in hit)
        return [
            defect(
                "brief.off_topic", name, "", f"Main words of the source that are missing: {missing}.", missing=missing
            )
        ]
    return []
