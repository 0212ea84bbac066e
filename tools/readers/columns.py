"""What the columns of a table hold: kinds, distinct values, samples, duplicate rows; and numbers written by people."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from engine.protocol.documents import Column, ColumnKind, Table

_NUMBER = re.compile(r"[-+]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?([eE][-+]?\d+)?%?|[-+]?\.\d+")
_COMMA_NUMBER = re.compile(r"[-+]?(\d+|\d{1,3}([.\u00a0 ’']\d{3})+),\d+%?")
_DATE = re.compile(
    r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[-+]\d{2}:?\d{2})?)?"
    r"|\d{1,2}[./-]\d{1,2}[./-]\d{4}( \d{1,2}:\d{2}(:\d{2})?)?|\d{4}-\d{2}"
)
_BOOLS = {"true", "false", "yes", "no"}
_MOST_DISTINCT = 100_000
_SAMPLES = 4


def kind_of_value(value: object) -> ColumnKind:
    """Kind of one cell; texts are looked at for numbers, dates and truth values."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        return "date"
    text = str(value).strip()
    if not text:
        return "empty"
    if parse_number(text) is not None:
        return "number"
    if _DATE.fullmatch(text):
        return "date"
    return "bool" if text.lower() in _BOOLS else "text"


def parse_number(text: str) -> float | None:
    """The number a text stands for, with a decimal point or a decimal comma; None if it is not one.

    Digits after a leading zero (``007``) are an identifier, not a number.
    """
    text = text.strip()
    if re.match(r"[-+]?0\d", text):
        return None
    if _NUMBER.fullmatch(text):
        plain = text.replace(",", "")
    elif _COMMA_NUMBER.fullmatch(text):
        plain = re.sub(r"[.\u00a0 ’']", "", text).replace(",", ".")
    else:
        return None
    return float(plain[:-1]) / 100 if plain.endswith("%") else float(plain)


def has_decimal_comma(text: str) -> bool:
    """Whether a text is a number with a decimal comma."""
    return _COMMA_NUMBER.fullmatch(text.strip()) is not None


def show(value: object) -> str:
    """A cell as text for people: whole floats without ``.0``, dates in ISO form."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(sep=" ")
    return str(value)


class TableFacts:
    """Collects the facts of a table row by row.

    Args:
        headers: column names.
        name: sheet name; empty for CSV.
    """

    def __init__(self, headers: Sequence[str], name: str = "") -> None:
        self.name = name
        self.headers = list(headers)
        self.rows = 0
        self.duplicates = 0
        self.decimal_comma: set[int] = set()
        self._seen: set[int] = set()
        self._kinds: list[Counter[ColumnKind]] = [Counter() for _ in headers]
        self._distinct: list[set[str]] = [set() for _ in headers]
        self._samples: list[list[str]] = [[] for _ in headers]

    def add(self, row: Sequence[object]) -> None:
        """Take in a data row."""
        self.rows += 1
        key = hash(tuple(show(value) for value in row))
        if key in self._seen:
            self.duplicates += 1
        self._seen.add(key)
        for index in range(len(self.headers)):
            self._add_cell(index, row[index] if index < len(row) else None)

    def add_all(self, rows: Iterable[Sequence[object]]) -> TableFacts:
        for row in rows:
            self.add(row)
        return self

    def _add_cell(self, index: int, value: object) -> None:
        kind = kind_of_value(value)
        self._kinds[index][kind] += 1
        if kind == "empty":
            return
        text = show(value).strip()
        distinct = self._distinct[index]
        if text not in distinct and len(distinct) < _MOST_DISTINCT:
            distinct.add(text)
            if len(self._samples[index]) < _SAMPLES:
                self._samples[index].append(text if len(text) <= 40 else text[:39] + "…")
        if kind == "number" and isinstance(value, str) and has_decimal_comma(text):
            self.decimal_comma.add(index)

    def table(self) -> Table:
        """The facts so far."""
        columns = tuple(
            Column(
                name=header,
                kind=_overall(self._kinds[index]),
                distinct=len(self._distinct[index]),
                empty=self._kinds[index]["empty"],
                samples=tuple(self._samples[index]),
            )
            for index, header in enumerate(self.headers)
        )
        return Table(name=self.name, columns=columns, rows=self.rows, duplicate_rows=self.duplicates)


def _overall(kinds: Counter[ColumnKind]) -> ColumnKind:
    filled = {kind: count for kind, count in kinds.items() if kind != "empty" and count}
    if not filled:
        return "empty"
    if len(filled) == 1:
        return next(iter(filled))
    # a few codes that happen to look like numbers do not make a column of texts mixed
    return "text" if filled.get("text", 0) >= 0.8 * sum(filled.values()) else "mixed"


def describe(facts: TableFacts) -> list[str]:
    """One short line for each column, for a model."""
    lines = []
    for index, column in enumerate(facts.table().columns):
        parts: list[str] = [column.kind]
        if index in facts.decimal_comma:
            parts[0] += " with decimal comma"
        if column.distinct:
            parts.append(f"{column.distinct} distinct")
        if column.empty:
            parts.append(f"{column.empty} empty")
        if column.samples:
            parts.append("e.g. " + "; ".join(" ".join(text.split()) for text in column.samples[:3]))
        lines.append(f"{column.name} ({', '.join(parts)})")
    return lines


def unique_headers(cells: Sequence[object]) -> list[str]:
    """Column names from a header row: empty ones are numbered, repeated ones made distinct."""
    names: list[str] = []
    for number, cell in enumerate(cells, start=1):
        name = base = " ".join(show(cell).split()) or f"column {number}"
        again = 2
        while name in names:
            name, again = f"{base} ({again})", again + 1
        names.append(name)
    return names
