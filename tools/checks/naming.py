"""File names in a request: those of attachments, and those of files to be made. Names may hold spaces and brackets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePath

import msgspec

from tools.checks.words import QUOTED

_ENDING = r"\.(?:csv|tsv|xlsx|xlsm|docx|pptx|pdf|md|markdown|txt|json|html?|png|jpe?g|gif|bmp|webp|tiff?)(?![\w.]*[A-Za-z0-9])"  # noqa: E501
_QUOTES = "\"'“”‘’`«»「」"
_SINGLE = re.compile(rf"[^\s{_QUOTES},;:()<>|*?/\\]+{_ENDING}", re.IGNORECASE)
_AFTER_NAMING = re.compile(
    rf"\b(?:as|named|called|titled|entitled|name it|call it|file ?name)[ :]+(?P<name>(?:[^\s{_QUOTES},;:!?<>|*/\\]+ ){{0,5}}?"  # noqa: E501
    rf"[^\s{_QUOTES},;:!?<>|*/\\]*{_ENDING})",
    re.IGNORECASE,
)
_LINKS = frozenset(
    [
        "from",
        "of",
        "with",
        "in",
        "into",
        "per",
        "by",
        "for",
        "named",
        "called",
        "titled",
        "as",
        "that",
        "which",
        "showing",
        "holding",
        "containing",
        "to",
        "at",
        "using",
    ]
)
_FILLERS = frozenset(
    [
        "a",
        "an",
        "the",
        "one",
        "new",
        "single",
        "separate",
        "file",
        "files",
        "document",
        "csv",
        "excel",
        "xlsx",
        "word",
        "docx",
        "pdf",
        "png",
        "jpg",
        "image",
        "picture",
        "chart",
        "markdown",
        "md",
        "text",
        "plain",
        "spreadsheet",
        "workbook",
        "table",
        "it",
        "this",
        "my",
        "our",
        "bar",
    ]
)
_CHINESE = re.compile(r".*(?:保存为|存为|存成|命名为|名为|输出到|输出为|写入|叫做|叫|生成|到|为|从|把|将)(?=[^.])")


class NameSpot(msgspec.Struct, frozen=True):
    """A file name and the stretch of the text, with its quotes, where it stands."""

    name: str
    start: int
    end: int


def same_name(one: str, other: str) -> bool:
    """Whether two file names are one: case and the way accents are encoded do not matter."""
    return _folded(one) == _folded(other)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip().casefold()


def file_spots(text: str, given: Sequence[str]) -> list[NameSpot]:
    """File names in a text, in order.

    Args:
        text: a clause.
        given: names of the attachments; they are also found without their ending, where that cannot be a common word.
    """
    found: list[NameSpot] = []
    for name in sorted(given, key=len, reverse=True):
        _add(found, name, _where(text, name))
    for match in QUOTED.finditer(text):
        inside = next(group for group in match.groups() if group is not None).strip()
        if re.search(_ENDING + r"\Z", inside, re.IGNORECASE):
            _add(found, inside, [match.span()])
        for name in given:
            if same_name(inside, PurePath(name).stem):
                _add(found, name, [match.span()])
    for name in given:
        stem = PurePath(name).stem
        if re.search(r"[\d_()\u4e00-\u9fff]", stem) and len(stem) > 3:
            _add(found, name, _where(text, stem))
    for match in _AFTER_NAMING.finditer(text):
        name = _trimmed(match.group("name"))
        _add(found, name, [(match.end() - len(name), match.end())])
    for match in _SINGLE.finditer(text):
        name = _CHINESE.sub("", match.group()).lstrip("*_")
        _add(found, name, [(match.end() - len(name), match.end())])
    return sorted(found, key=lambda spot: spot.start)


def _where(text: str, name: str) -> list[tuple[int, int]]:
    rule = rf"(?<![A-Za-z0-9_])[{_QUOTES}]?{re.escape(name)}[{_QUOTES}]?(?![A-Za-z0-9_])"
    return [match.span() for match in re.finditer(rule, text, re.IGNORECASE)]


def _add(found: list[NameSpot], name: str, spans: Sequence[tuple[int, int]]) -> None:
    for start, end in spans:
        if PurePath(name).suffix and not any(start < other.end and other.start < end for other in found):
            found.append(NameSpot(name, start, end))


def _trimmed(name: str) -> str:
    """Without words that lead up to a name: ``an Excel file totals.xlsx`` is ``totals.xlsx``."""
    words = name.split(" ")
    links = [index for index, word in enumerate(words[:-1]) if word.lower() in _LINKS]
    words = words[links[-1] + 1 :] if links else words
    while len(words) > 1 and words[0].lower() in _FILLERS:
        words = words[1:]
    return " ".join(words)


def blanked(text: str, spots: Sequence[NameSpot]) -> str:
    """A text with names overwritten by blanks, so that places stay the same."""
    for spot in spots:
        text = text[: spot.start] + " " * (spot.end - spot.start) + text[spot.end :]
    return text
