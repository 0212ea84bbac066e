"""A note that names the largest or smallest: the right group with the right figure, and no other in its place."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from engine.protocol.documents import CheckFiles
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult, Evidence
from tools.checks.base import Offer, defect, failed, passed, pick, unknown
from tools.checks.figures import Unclear
from tools.checks.group_totals import expected, stray_columns
from tools.checks.reading import Reading, readings
from tools.checks.request import Part, Request
from tools.inspectors.numbers import figures, plain
from tools.inspectors.texts import kind_of, read_text, sentences

NAME = "names_extreme"
_HIGH = re.compile(
    r"\b(?:largest|biggest|highest|greatest|top|maximum|max|best|leading|leads?|leader|strongest|most|winner|tallest|größte\w*|höchste\w*|meisten|first place|number one)\b|最大|最高|最多",
    re.IGNORECASE,
)
_LOW = re.compile(
    r"\b(?:smallest|lowest|least|minimum|min|worst|weakest|fewest|shortest|kleinste\w*|niedrigste\w*)\b|最小|最低|最少",
    re.IGNORECASE,
)


def propose(request: Request) -> list[Offer]:
    """Offered where the figures are understood and a clause asks for the largest or smallest of them in words."""
    parts = request.having("extreme")
    found = [r for r in readings(request) if len(r.groups) == 1 and len(r.ops) == 1 and len(r.values) <= 1]
    groups = {(r.file, r.sheet, r.groups, r.values) for r in found}
    if not parts or len(groups) != 1:
        return []
    reading = next((r for r in found if not r.ambiguous), found[0])
    ends = sorted({end for part in parts for end in _ends(part)})
    params = reading.params() | {
        "ends": ends,
        "value": True,  # who is told which one is the largest wants to know how large
        "file": next((n for n in request.outputs if kind_of(n) in ("markdown", "text", "docx")), ""),
    }
    covers = {
        part.index: {"extreme", *_also(part, reading)} for part in parts if not stray_columns(part, request, reading)
    }
    says = f"The text names the {reading.groups[0]} with the {' and the '.join(ends)} figure" + (
        ", and the figure." if params["value"] else "."
    )
    return [
        Offer(check=Check(name=NAME, params=params, says=says), covers={i: frozenset(d) for i, d in covers.items()})
    ]


def _also(part: Part, reading: Reading) -> set[str]:
    """A sum named only to say whose largest is meant is tested with it."""
    return (
        {"aggregate"} if "aggregate" in part.demands and set(part.ops) <= {*reading.ops, "max", "min", "sum"} else set()
    )


def _ends(part: Part) -> list[str]:
    return [word for word, rule in (("largest", _HIGH), ("smallest", _LOW)) if rule.search(part.bare)] or ["largest"]


def run(params: dict[str, Any], files: CheckFiles) -> CheckResult:
    """Look for the right group and figure in the result's texts, or in the answer where no text file was delivered.

    Args:
        params: the figures as in `group_totals`; ``ends`` (``largest``, ``smallest``), ``value``: whether the figure
            must be there too; ``file``.
        files: the files.
    """
    try:
        wanted = {group[0]: next(iter(made.values())) for group, made in expected(params, files).items()}
    except Unclear as reason:
        return unknown(str(reason))
    places = pick(files, ("markdown", "text", "docx", "html"), params.get("file", ""))
    texts = [(name, read_text(path)) for name, path in places]
    if not texts:
        texts = [("", files.answer)] if files.answer.strip() and not params.get("file") else []
    if not texts:
        return failed(defect("file.missing", params.get("file", ""), "", "There is no note.", wanted="a note"))
    results = [_judge(text, wanted, params, name) for name, text in texts]
    return next((result for result in results if result.status == "pass"), results[0])


def _judge(text: str, wanted: dict[str, Decimal], params: dict[str, Any], name: str) -> CheckResult:
    evidence: list[Evidence] = []
    for end in params["ends"]:
        value = max(wanted.values()) if end == "largest" else min(wanted.values())
        right = [label for label, figure in wanted.items() if figure == value]
        fault = _fault(text, right, value, wanted, end, params["value"])
        if fault:
            says = f"{fault} The {end} is {right[0]} with {plain(value)}."
            code = "note.value_wrong" if fault.startswith("The figure") else "note.extreme_wrong"
            return failed(defect(code, name, "", says, group=right[0], value=plain(value), end=end))
        evidence.append(Evidence(file=name, says=f"It names {right[0]} with {plain(value)} as the {end}."))
    return passed(*evidence)


def _fault(text: str, right: list[str], value: Decimal, wanted: dict[str, Decimal], end: str, need_value: bool) -> str:
    rule, other = (_HIGH, _LOW) if end == "largest" else (_LOW, _HIGH)
    pieces = [p for s in sentences(text) if "|" not in s for p in _clauses(s, rule, other)]
    saying = [piece for piece in pieces if rule.search(piece)]
    if not any(_has(text, label) for label in right):
        return "The right one is not named."
    if saying and not any(_has(piece, label) for piece in saying for label in right):
        near = _near(text, saying, right)
        if not near or any(_has(piece, label) for piece in saying for label in wanted):
            return "Another one is named in its place."
    for piece in saying:
        named = [label for label in wanted if _has(piece, label) and not _inside(label, wanted, piece)]
        if named and not set(named) & set(right):
            return "Another one is named in its place."
        if len(named) > 1 and not rule.search(_first_part(piece, named, right)):
            return "Another one is named in its place."
    if not saying and len([label for label in wanted if _has(text, label)]) > len(right):
        return "It does not say which one it is."
    numbers = figures(text)
    if not any(figure.means(value) for figure in numbers) and (need_value or any(figures(p) for p in saying)):
        return "The figure is not there or not right."
    if saying and figures(" ".join(saying)):
        return _figure_fault(saying, value, wanted)
    return ""


def _figure_fault(saying: list[str], value: Decimal, wanted: dict[str, Decimal]) -> str:
    """The statement itself gives numbers: one must be the figure, and none that of another group alone."""
    joined = " ".join(saying)
    for label in wanted:
        joined = re.sub(rf"(?<!\w){re.escape(label)}(?!\w)", " ", joined, flags=re.IGNORECASE)
    numbers = [figure for figure in figures(joined) if abs(figure.value) > 12 and not 1990 <= figure.value <= 2100]
    if not numbers or any(figure.means(value) for figure in numbers):
        return ""
    return "The figure beside it is not right."


def _clauses(sentence: str, rule: re.Pattern[str], other: re.Pattern[str]) -> list[str]:
    """A sentence about both ends is cut between them."""
    if not (rule.search(sentence) and other.search(sentence)):
        return [sentence]
    return [
        piece
        for piece in re.split(r"[;,]\s+(?:and |while |whereas |but )?|\s+(?:while|whereas|but|and)\s+", sentence)
        if piece
    ]


def _first_part(piece: str, named: list[str], right: list[str]) -> str:
    """What is said up to the next other name: ``North leads with 5, ahead of South with 4``."""
    found = [(piece.lower().find(label.lower()), label) for label in named]
    first = min(found)
    if first[1] in right:
        return piece
    start = min(at for at, label in found if label in right)
    return piece[start:] if rule_free(piece[:start]) else ""


def rule_free(text: str) -> bool:
    """Whether nothing in a text says "largest" or "smallest" already."""
    return not (_HIGH.search(text) or _LOW.search(text))


def _near(text: str, saying: list[str], right: list[str]) -> bool:
    """A heading or label such as ``Largest region:`` with the name in the next line or two."""
    for piece in saying:
        at = text.find(piece)
        after = text[at + len(piece) : at + len(piece) + 120]
        before = text[max(0, at - 80) : at]
        if any(_has(after, label) or _has(before, label) for label in right):
            return True
    return False


def _inside(label: str, wanted: dict[str, Decimal], piece: str) -> bool:
    """The name is only part of a longer one that stands there: ``East`` in ``North East``."""
    longer = [o for o in wanted if o != label and label.lower() in o.lower() and _has(piece, o)]
    rest = piece
    for other in longer:
        rest = re.sub(re.escape(other), " ", rest, flags=re.IGNORECASE)
    return bool(longer) and not _has(rest, label)


def _has(text: str, label: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(label.lower())}(?!\w)", text.lower()) is not None
