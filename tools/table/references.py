"""Cell references in formulas, moved when rows and columns move."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

_CELLS = re.compile(r"(\$?)([A-Za-z]{1,3})(\$?)(\d+)(?::(\$?)([A-Za-z]{1,3})(\$?)(\d+))?")
_COLUMNS = re.compile(r"(\$?)([A-Za-z]{1,3}):(\$?)([A-Za-z]{1,3})")


class Moves(msgspec.Struct, frozen=True, kw_only=True):
    """Where rows and columns of a sheet went.

    Attributes:
        sheet: name of the sheet.
        rows: new row by old row, for the rows of the table; rows that are not in it were dropped.
        columns: new column by old column, likewise.
        first_row: first row of the table's data; rows above it stay.
        last_row: last row of the table before the change.
        last_column: last column of the table before the change.
        grown: a range that ended in the last data row (old number, first) ends in the new last one (second).
    """

    sheet: str
    rows: Mapping[int, int]
    columns: Mapping[int, int]
    first_row: int
    last_row: int
    last_column: int
    grown: tuple[int, int] = (0, 0)

    def row(self, row: int) -> int | None:
        """New place of a row; None if it was dropped."""
        return self.rows.get(row) if self.first_row <= row <= self.last_row else row

    def column(self, column: int) -> int | None:
        """New place of a column; None if it was dropped."""
        return self.columns.get(column) if column <= self.last_column else column

    def span(self, first: int, last: int, *, rows: bool) -> tuple[int, int] | None:
        """Smallest span that holds what is left of a span; None if nothing is."""
        place = self.row if rows else self.column
        # whole-column ranges go to the end of the sheet: only the table has moved
        low = self.first_row if rows else 1
        high = self.last_row if rows else self.last_column
        if last > high and first <= low:
            return first, last
        found = [new for old in range(first, min(last, high + 1) + 1) if (new := place(old)) is not None]
        if rows and self.grown[0] and last == self.grown[0] and first < last:
            found.append(self.grown[1])
        if not found:
            return None
        return min(found), max(max(found), last if last > high else 0)


def move_formula(formula: str, home: str, moves: Moves) -> str:
    """A formula with its references to the changed sheet moved; what was dropped becomes ``#REF!``.

    Args:
        formula: with its ``=``.
        home: sheet that the formula is on.
        moves: what happened to the changed sheet.
    """
    from openpyxl.formula import Tokenizer

    tokenizer = Tokenizer(formula)
    for token in tokenizer.items:
        if token.type == "OPERAND" and token.subtype == "RANGE":
            token.value = _move_token(token.value, home, moves)
    return "=" + "".join(token.value for token in tokenizer.items)


def move_area(area: str, moves: Moves) -> str:
    """A plain area such as ``A2:F40``; empty if nothing of it is left."""
    moved = _move_cells(area, moves)
    return "" if "#REF!" in moved else moved


def _move_token(token: str, home: str, moves: Moves) -> str:
    sheet, mark, cells = token.rpartition("!")
    name = sheet.strip("'").replace("''", "'") if mark else home
    if name.casefold() != moves.sheet.casefold():
        return token
    return f"{sheet}{mark}{_move_cells(cells, moves)}"


def _move_cells(cells: str, moves: Moves) -> str:
    if match := _CELLS.fullmatch(cells):
        return _move_match(match, moves)
    if match := _COLUMNS.fullmatch(cells):
        span = moves.span(number(match[2]), number(match[4]), rows=False)
        return f"{match[1]}{letters(span[0])}:{match[3]}{letters(span[1])}" if span else "#REF!"
    return cells


def _move_match(match: re.Match[str], moves: Moves) -> str:
    d1, c1, e1, r1, d2, c2, e2, r2 = match.groups()
    if c2 is None:
        column, row = moves.column(number(c1)), moves.row(int(r1))
        return "#REF!" if column is None or row is None else f"{d1}{letters(column)}{e1}{row}"
    columns = moves.span(number(c1), number(c2), rows=False)
    rows = moves.span(int(r1), int(r2), rows=True)
    if columns is None or rows is None:
        return "#REF!"
    return f"{d1}{letters(columns[0])}{e1}{rows[0]}:{d2}{letters(columns[1])}{e2}{rows[1]}"


def fill_formula(formula: str, row: int, address: Callable[[str], str | None]) -> str:
    """A formula with ``{row}`` and ``{column name}`` filled in.

    Args:
        formula: with its ``=``.
        row: row number in the sheet.
        address: cell of a column in this row; None if there is no such column.

    Returns:
        the formula; unknown names are left as they are.
    """

    def fill(match: re.Match[str]) -> str:
        name = match[1].strip()
        if name.casefold() in ("row", "r"):
            return str(row)
        return address(name) or match[0]

    return re.sub(r"\{([^{}]+)\}", fill, formula)


def number(column: str) -> int:
    """Number of a column by its letters, from 1."""
    value = 0
    for letter in column.upper():
        value = value * 26 + ord(letter) - 64
    return value


def letters(column: int) -> str:
    """Letters of a column number."""
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def is_formula(value: Any) -> bool:
    """Whether a value is written as a formula."""
    return isinstance(value, str) and value.startswith("=") and len(value) > 1
