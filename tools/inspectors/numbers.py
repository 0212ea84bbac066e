"""Reading numbers as people write them."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any

_MONEY = re.compile(r"(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|RMB)\b|kr\b)", re.IGNORECASE)
_PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?\Z")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[,'\u00a0\u202f\u2009 ]\d{3})+(?:\.\d+)?\Z")
_GERMAN = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?\Z")
_IN_TEXT = re.compile(r"(?<![\w.,])[-−+]?\d[\d,.'\u00a0\u202f\u2009]*(?: \d{3}(?!\d))*(?:\.\d+)?")
_SCALES = {
    "k": 3,
    "thousand": 3,
    "tausend": 3,
    "m": 6,
    "mn": 6,
    "mio": 6,
    "million": 6,
    "millions": 6,
    "millionen": 6,
    "bn": 9,
    "billion": 9,
}


def number(value: Any, *, decimal_comma: bool = False) -> Decimal | None:
    """A cell's value as a number.

    Args:
        value: a cell of any type; text may hold currency signs, thousands separators, a percent sign, brackets.
        decimal_comma: read ``1.234,50`` as one thousand and so on.

    Returns:
        None where it is no finite number. A percent sign divides by 100.
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int | Decimal):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value)) if value == value and abs(value) != float("inf") else None
    if not isinstance(value, str):
        return None
    return _from_text(value, decimal_comma)


def _from_text(raw: str, decimal_comma: bool) -> Decimal | None:
    text = _MONEY.sub("", raw.replace("−", "-")).strip().strip("*_ ")
    negative = text.startswith("(") and text.endswith(")")
    if negative:
        text = text[1:-1].strip()
    percent = text.endswith("%")
    text = text.rstrip("% \u00a0")
    if decimal_comma:
        if not _GERMAN.match(text):
            return None
        text = text.replace(".", "").replace(",", ".")
    elif _GROUPED.match(text):
        text = re.sub(r"[,'\u00a0\u202f\u2009 ]", "", text)
    if not _PLAIN.match(text):
        return None
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    found = found / 100 if percent else found
    return -found if negative else found


def uses_decimal_comma(cells: list[Any]) -> bool:
    """Whether a column of text cells writes ``1,5`` for one and a half: every number in it says so, and one proves it."""  # noqa: E501
    texts = [_MONEY.sub("", cell).strip() for cell in cells if isinstance(cell, str) and cell.strip()]
    proof = [text for text in texts if re.search(r",\d{1,2}\Z", text)]
    return bool(proof) and all(_GERMAN.match(text) for text in texts)


class Figure:
    """A number in running text: its value, the place value of its last digit, and where it stands."""

    __slots__ = ("end", "percent", "start", "text", "unit", "value")

    def __init__(self, text: str, value: Decimal, unit: Decimal, start: int, end: int, percent: bool) -> None:
        self.text = text
        self.value = value
        self.unit = unit
        self.start = start
        self.end = end
        self.percent = percent

    def means(self, wanted: Decimal) -> bool:
        """Whether it is `wanted`, rounded to no more than one part in a hundred."""
        off = abs(abs(self.value) - abs(wanted))
        if off <= Decimal("0.005") and self.unit <= 1:
            return off <= self.unit / 2 or off == 0
        return off <= self.unit / 2 and off <= abs(wanted) / 100


def figures(text: str) -> list[Figure]:
    """Every number in a text, with scale words (``1.2 million``, ``35k``) applied."""
    found: list[Figure] = []
    for match in _IN_TEXT.finditer(text):
        raw = match.group().rstrip(".,'\u00a0\u202f\u2009 ")
        end = match.start() + len(raw)
        if text[end : end + 1].isalpha() and not re.match(r"[kKmM]\b|[a-zA-Z]{1,3}\b", text[end:]):
            continue
        for value in _values(raw):
            found.append(_figure(text, raw, value, match.start(), end))
    return found


def _values(raw: str) -> list[Decimal]:
    """The readings of a number's digits: ``1.234`` may be English or German."""
    clean = raw.replace("−", "-")
    first = _from_text(clean, False)
    readings = [] if first is None else [first]
    if "," in clean or clean.count(".") > 1:
        second = _from_text(clean, True)
        if second is not None and second not in readings:
            readings.append(second)
    if not readings and "," in clean:
        second = _from_text(clean.replace(",", ""), False)  # Indian and Chinese grouping: 12,34,567
        readings.extend([] if second is None else [second])
    return readings


def _figure(text: str, raw: str, value: Decimal, start: int, end: int) -> Figure:
    exponent = value.as_tuple().exponent
    unit = Decimal(10) ** (exponent if isinstance(exponent, int) else 0)
    tail = re.match(r"[ \u00a0-]?([A-Za-z]+)\b", text[end:])
    scale = _SCALES.get(tail.group(1).lower(), 0) if tail else 0
    if scale and tail and (len(tail.group(1)) > 1 or not tail.group(0).startswith(" ")):
        value, unit, end = value.scaleb(scale), unit.scaleb(scale), end + tail.end()
    percent = bool(re.match(r"\s?(?:%|percent\b|per cent\b|Prozent\b)", text[end:]))
    return Figure(raw, value, unit, start, end, percent)


def plain(value: Decimal | float | int) -> str:
    """A number for people: at most two decimals, no exponent, no needless zeros."""
    shown = f"{Decimal(str(value)):.2f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown
