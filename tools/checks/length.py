"""Length asked for: pages, words, sentences, bullet points, paragraphs. Pages of Word files are an estimate."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from engine.protocol.documents import CheckFiles
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult, Defect, Evidence
from tools.checks.base import Offer, defect, failed, passed, pick, unknown
from tools.checks.request import Request
from tools.checks.wordings import LENGTH, NUMBER_WORDS
from tools.inspectors.pages import docx_pages
from tools.inspectors.texts import kind_of, pdf_pages, read_text, sentences

NAME = "length"
_UNITS = (
    ("page", "pages|seite|页"),
    ("word", "word|wört|wort|字"),
    ("sentence", "sentence|sätz|satz|句"),
    ("bullet", "bullet|point|stich"),
    ("paragraph", "para"),
)
_BULLET = re.compile(r"^\s*(?:[-*•–▪◦]|\d{1,2}[.)])\s+\S", re.MULTILINE)


def propose(request: Request) -> list[Offer]:
    """One offer for all lengths of the request."""
    limits: list[dict[str, Any]] = []
    clauses: list[int] = []
    for part in request.having("length"):
        found = [limit for match in LENGTH.finditer(part.bare) if (limit := _limit(match)) is not None]
        source = any(
            re.search(rf"{re.escape(m.group())}[\w -]{{0,20}}(?:pdf|document|report|file|attach)", part.bare)
            and _given(part.bare, m)
            for m in LENGTH.finditer(part.bare)
        )
        clauses.append(part.index)
        if not source:
            limits.extend(limit for limit in found if limit not in limits)
    if not clauses:
        return []
    names = [name for name in request.outputs if kind_of(name) in ("docx", "pdf", "markdown", "text")]
    params = {"limits": limits, "file": names[0] if len(names) == 1 else ""}
    says = (
        "Length: "
        + ", ".join(
            f"{x['low'] or 0:g} to {x['high']:g} {x['unit']}s" if x["high"] else f"at least {x['low']:g} {x['unit']}s"
            for x in limits
        )
        + "."
    )
    return [
        Offer(
            check=Check(name=NAME, params=params, says=says), covers={index: frozenset({"length"}) for index in clauses}
        )
    ]


def _given(text: str, match: re.Match[str]) -> bool:
    """The length describes the attachment: ``the attached three-page report``."""
    return bool(
        re.search(r"\b(?:attached|this|these|the|my|our|given)\s*(?:\w+\s)?\Z", text[: match.start()], re.IGNORECASE)
    )


def _limit(match: re.Match[str]) -> dict[str, Any] | None:
    word = (match.group("n") or match.group("cn") or "").lower()
    chinese = {"一": 1, "二": 2, "三": 3, "四": 4, "五": 5}
    n = float(word) if word.isdigit() else float(NUMBER_WORDS.get(word, chinese.get(word, 0)))
    text = (match.group("unit") or match.group()[-1]).lower()
    unit = next((name for name, rule in _UNITS if re.search(name + "|" + rule, text)), "")
    if not n or not unit:
        return None
    tail = (match.group("tail") or "").strip().lower()
    if match.group("least") or tail in ("or more", "at least"):
        return {"unit": unit, "low": n, "high": 0}
    if match.group("about"):
        return {"unit": unit, "low": n * 0.8, "high": n * 1.2}
    if match.group("most") or tail or unit in ("page", "word"):
        below = (match.group("most") or "").lower() in ("under", "below", "fewer than", "less than")
        return {"unit": unit, "low": 0, "high": n - 1 if below and unit != "page" else n}
    return {"unit": unit, "low": n, "high": n}


def run(params: dict[str, Any], files: CheckFiles) -> CheckResult:
    """Measure each text result.

    Args:
        params: ``limits``: ``unit``, ``low``, ``high`` (0: none); ``file``.
        files: the files.
    """
    if not params["limits"]:
        return passed(Evidence(says="The length is that of the attachment."))
    places = pick(files, ("docx", "pdf", "markdown", "text"), params.get("file", ""))
    texts: list[tuple[str, Path | None]] = [(name, path) for name, path in places] or [("", None)]
    if not places and not files.answer.strip():
        return unknown("There is no text to measure.")
    defects: list[Defect] = []
    evidence: list[Evidence] = []
    for name, path in texts:
        for limit in params["limits"]:
            count = _measure(path, files.answer, limit["unit"])
            says = f"{count:g} {limit['unit']}s" + (
                " (an estimate)" if limit["unit"] == "page" and kind_of(name) != "pdf" else ""
            )
            slack = 0.05 if limit["unit"] == "page" else 0
            if limit["high"] and count > limit["high"] + slack:
                defects.append(defect("text.too_long", name, "", says, limit=f"{limit['high']:g}", unit=limit["unit"]))
            elif count < limit["low"]:
                defects.append(defect("text.too_short", name, "", says, limit=f"{limit['low']:g}", unit=limit["unit"]))
            evidence.append(Evidence(file=name, says=says))
    return failed(*defects) if defects else passed(*evidence)


def _measure(path: Path | None, answer: str, unit: str) -> float:
    if unit == "page" and path is not None and kind_of(path.name) == "pdf":
        return float(len(pdf_pages(path)))
    if unit == "page" and path is not None and kind_of(path.name) == "docx":
        return docx_pages(path)
    text = answer if path is None else read_text(path)
    words = len(re.findall(r"[\u4e00-\u9fff]|[^\W_][\w'’-]*", text))
    if unit == "page":
        return round(words / 500, 1)
    if unit == "word":
        return float(words)
    if unit == "bullet":
        return float(_bullets(path, text))
    if unit == "paragraph":
        return float(len([p for p in re.split(r"\n\s*\n", text) if p.strip() and not p.lstrip().startswith("#")]))
    prose = [s for s in sentences(text) if len(s.split()) > 3 and not s.startswith("#")]
    return float(len(prose))


def _bullets(path: Path | None, text: str) -> int:
    if path is None or kind_of(path.name) != "docx":
        return len(_BULLET.findall(text))
    import docx

    paragraphs = docx.Document(str(path)).paragraphs
    listed = [
        p
        for p in paragraphs
        if p.text.strip()
        and ((p.style is not None and "List" in (p.style.name or "")) or p._p.xpath("./w:pPr/w:numPr"))
    ]
    return len(listed) or len(_BULLET.findall(text))
