"""What a sum formula adds up."""

from __future__ import annotations

import re

_SUM = re.compile(
    r"=\s*(?:SUM\(|SUBTOTAL\(\s*(?:9|109)\s*,|AVERAGE\(|AGGREGATE\(\s*9\s*,\s*\d\s*,)([^()]*)\)\s*\Z", re.IGNORECASE
)
_PLUS = re.compile(r"=\s*\+?\s*\$?[A-Z]{1,3}\$?\d+(?:\s*\+\s*\$?[A-Z]{1,3}\$?\d+)+\s*\Z", re.IGNORECASE)
_REF = re.compile(r"\$?([A-Z]{1,3})\$?(\d+)(?:\s*:\s*\$?([A-Z]{1,3})\$?(\d+))?\Z", re.IGNORECASE)


def column_number(letters: str) -> int:
    """``A`` is 1, ``AA`` is 27."""
    total = 0
    for letter in letters.upper():
        total = total * 26 + ord(letter) - 64
    return total


def summed_rows(formula: str, column: int) -> set[int] | None:
    """Sheet rows of its own column that a sum covers.

    Args:
        formula: as it stands in the cell.
        column: number of the cell's column, from 1.

    Returns:
        None where the formula is no plain sum over its own column on its own sheet.
    """
    match = _SUM.match(formula.strip())
    if match:
        pieces = match.group(1).split(",")
    elif _PLUS.match(formula.strip()):
        pieces = formula.strip().lstrip("=").lstrip(" +").split("+")
    else:
        return None
    rows: set[int] = set()
    for piece in pieces:
        ref = _REF.match(piece.strip())
        if (
            ref is None
            or column_number(ref.group(1)) != column
            or (ref.group(3) and column_number(ref.group(3)) != column)
        ):
            return None
        first, last = int(ref.group(2)), int(ref.group(4) or ref.group(2))
        rows.update(range(min(first, last), max(first, last) + 1))
    return rows
