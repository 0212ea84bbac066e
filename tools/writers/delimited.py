"""CSV and TSV from CSV or a Markdown table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.writers.registry import Written, encode
from tools.writers.tables import find_tables


def write(content: str, target: Path, title: str, encoding: str) -> Written:
    """Write the first table of the content."""
    del title
    tables = find_tables(content)
    delimiter = "\t" if target.suffix.lower() == ".tsv" else ","
    target.write_bytes(encode(to_text(tables[0].rows, delimiter), encoding))
    notes = ("Only the first table was written; a CSV file holds one.",) if len(tables) > 1 else ()
    return Written(rows=len(tables[0].rows) - 1, notes=notes)


def to_text(rows: Iterable[Sequence[str]], delimiter: str = ",", newline: str = "\n") -> str:
    """Rows as delimited text."""
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=newline).writerows(rows)
    return out.getvalue()
