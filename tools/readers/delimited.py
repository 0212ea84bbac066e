"""CSV and TSV: encoding and delimiter found out, columns described, large files streamed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from engine.protocol.documents import FileProfile, Reading, ReadOptions
from tools.readers.columns import TableFacts, describe, kind_of_value, unique_headers
from tools.readers.encodings import detect_encoding
from tools.readers.kinds import ReadProblem
from tools.readers.windows import window

_WHOLE_BYTES = 24 << 20
"""Up to this size every row is looked at; of larger files the first part is, and lines are counted."""
_HEAD_ROWS = 20_000
_FIELD_CHARS = 10 << 20


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """How a delimited file is written.

    Attributes:
        encoding: Python name.
        delimiter: one character.
        header: whether the first row holds column names.
        newline: line end, for writing it again.
    """

    encoding: str
    delimiter: str
    header: bool = True
    newline: str = "\n"


def find_shape(path: Path) -> Shape:
    """Find out encoding, delimiter, header and line end.

    Raises:
        ReadProblem: it is not text.
    """
    encoding = detect_encoding(path)
    if encoding is None:
        raise ReadProblem("corrupt", "The file is named like a table of text, but its content is not text.")
    with path.open("r", encoding=encoding, errors="replace", newline="") as file:
        sample = file.read(64 << 10)
    newline = "\r\n" if "\r\n" in sample else "\r" if "\r" in sample and "\n" not in sample else "\n"
    delimiter = _find_delimiter(sample, "\t" if path.suffix.lower() in (".tsv", ".tab") else ",")
    first = next(_parse(io.StringIO(sample, newline=""), delimiter), [])
    kinds = [kind_of_value(cell) for cell in first]
    header = not kinds or any(kind in ("text", "bool") for kind in kinds)
    return Shape(encoding=encoding, delimiter=delimiter, header=header, newline=newline)


def iterate(path: Path, shape: Shape) -> Iterator[list[str]]:
    """All rows, the header too; empty lines are left out."""
    with path.open("r", encoding=shape.encoding, errors="replace", newline="") as file:
        for row in _parse(file, shape.delimiter):
            if row:
                yield row


def load(path: Path) -> tuple[list[str], list[list[str]], Shape]:
    """Column names, data rows (padded to the header's width) and how the file is written."""
    shape = find_shape(path)
    rows = list(iterate(path, shape))
    if not rows:
        raise ReadProblem("empty", "The file holds no rows.")
    width = max(len(row) for row in rows)
    headers = unique_headers(rows[0] + [""] * (width - len(rows[0]))) if shape.header else unique_headers([""] * width)
    data = rows[1:] if shape.header else rows
    return headers, [row + [""] * (width - len(row)) for row in data], shape


def read(path: Path, options: ReadOptions) -> Reading:
    """The columns and the first rows; or the rows asked for by `search`, `range` or `offset`."""
    shape = find_shape(path)
    if options.offset:
        return _raw(path, shape, options)
    if options.search or options.range:
        return _selection(path, shape, options)
    facts, head, exact = _survey(path, shape)
    text = _preview(path.name, facts, head, shape, exact)
    more = "Read rows with range (such as A2:F40) or search." if facts.rows > len(head) else ""
    shown, cut = window(text, 0, options.max_chars)
    return Reading(name=path.name, kind="csv", text=shown, truncated=cut or facts.rows > len(head), more=more)


def profile(path: Path) -> FileProfile:
    """Columns with their kinds, rows, duplicates."""
    facts, _, _ = _survey(path, find_shape(path))
    return FileProfile(name=path.name, kind="csv", size_bytes=path.stat().st_size, tables=(facts.table(),))


def _survey(path: Path, shape: Shape) -> tuple[TableFacts, list[list[str]], bool]:
    """Facts, the first three rows, and whether the facts cover all rows."""
    rows = iterate(path, shape)
    first = next(rows, None)
    if first is None:
        raise ReadProblem("empty", "The file holds no rows.")
    exact = path.stat().st_size <= _WHOLE_BYTES
    head: list[list[str]] = [] if shape.header else [first]
    facts = TableFacts(unique_headers(first if shape.header else [""] * len(first)))
    facts.add_all(head)
    for row in rows:
        if len(row) > len(facts.headers):
            row = row[: len(facts.headers)]
        facts.add(row)
        if len(head) < 3:
            head.append(row)
        if not exact and facts.rows >= _HEAD_ROWS:
            break
    if not exact:
        facts.rows = max(_count_lines(path) - int(shape.header), facts.rows)
    return facts, head, exact


def _preview(name: str, facts: TableFacts, head: list[list[str]], shape: Shape, exact: bool) -> str:
    rows = f"{facts.rows} rows" if exact else f"about {facts.rows} rows"
    notes = []
    if shape.encoding not in ("utf-8", "ascii"):
        notes.append(f"encoding {shape.encoding}")
    if shape.delimiter != ",":
        notes.append(f"delimiter {shape.delimiter!r}")
    if not shape.header:
        notes.append("no header row")
    if facts.duplicates:
        notes.append(f"{facts.duplicates} duplicate rows")
    if not exact:
        notes.append(f"columns described by the first {_HEAD_ROWS} rows")
    noted = f" ({'; '.join(notes)})" if notes else ""
    lines = [f"{name}: {rows}, {len(facts.headers)} columns{noted}", *describe(facts)]
    out = io.StringIO()
    csv.writer(out, delimiter=shape.delimiter, lineterminator="\n").writerows(
        [facts.headers, *([cell[:200] for cell in row] for row in head)]
    )
    return "\n".join([*lines, f"First {len(head)} rows:", out.getvalue()])


def _selection(path: Path, shape: Shape, options: ReadOptions) -> Reading:
    first_row, last_row, first_column, last_column = _area(options.range)
    needle = options.search.casefold()
    out = io.StringIO()
    writer = csv.writer(out, delimiter=shape.delimiter, lineterminator="\n")
    found = 0
    for number, row in enumerate(iterate(path, shape), start=1):
        is_header = number == 1 and shape.header
        if not is_header and (number < first_row or (needle and needle not in "\n".join(row).casefold())):
            continue
        if number > last_row or out.tell() > options.max_chars + 1000:
            break
        found += not is_header
        writer.writerow(row[first_column:last_column])
    what = f"{found} rows hold {options.search!r}" if needle else f"Rows of {options.range}"
    shown, cut = window(f"{what} (with the header):\n{out.getvalue()}", 0, options.max_chars)
    more = "This is not all; ask for a smaller range." if cut else ""
    return Reading(name=path.name, kind="csv", text=shown, truncated=cut, more=more)


def _raw(path: Path, shape: Shape, options: ReadOptions) -> Reading:
    with path.open("r", encoding=shape.encoding, errors="replace", newline="") as file:
        left = options.offset
        while left > 0 and (piece := file.read(min(left, 1 << 20))):
            left -= len(piece)
        text = file.read(options.max_chars + 1)
    shown, cut = window(text, 0, options.max_chars)
    more = f"This is not all. Read on with offset={options.offset + len(shown)}." if cut else ""
    return Reading(name=path.name, kind="csv", text=shown, truncated=cut, more=more)


def _area(cells: str) -> tuple[int, int, int, int | None]:
    """First and last row (from 1), first column (from 0) and the column after the last of ``A2:F40``."""
    match = re.fullmatch(r"\$?([A-Za-z]{1,3})\$?(\d+):\$?([A-Za-z]{1,3})\$?(\d+)", cells.strip())
    if match is None:
        return (1, 1 << 60, 0, None)
    return int(match[2]), int(match[4]), _column(match[1]) - 1, _column(match[3])


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def _parse(file: io.TextIOBase, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(_FIELD_CHARS)
    try:
        yield from csv.reader((line.replace("\0", "") for line in file), delimiter=delimiter)
    except csv.Error as error:
        raise ReadProblem("corrupt", f"The rows cannot be told apart: {error}.") from error


def _find_delimiter(sample: str, usual: str) -> str:
    """The delimiter that cuts the most lines into the same number of cells; `usual` where none does."""
    best, best_score = usual, 0.0
    for delimiter in (usual, *(mark for mark in ",;\t|" if mark != usual)):
        rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row][:100]
        # the last row of a sample may be cut
        widths = [len(row) for row in (rows[:-1] if len(rows) > 2 else rows)]
        if not widths or max(widths) < 2:
            continue
        common = max(set(widths), key=widths.count)
        score = (widths.count(common) / len(widths)) * (1 + min(common, 20) / 100) if common > 1 else 0.0
        if score > best_score + 0.001:
            best, best_score = delimiter, score
    return best


def _count_lines(path: Path) -> int:
    count, last = 0, b""
    with path.open("rb") as file:
        while chunk := file.read(4 << 20):
            count += chunk.count(b"\n")
            last = chunk
    return count + (not last.endswith(b"\n"))
