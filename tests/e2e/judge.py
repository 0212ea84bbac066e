"""Opens what was produced and says right or wrong, with reasons; shares no code with the product's own checks."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import docx
import msgspec
import openpyxl
import pdfplumber

from tests.e2e.generator import Case
from tests.e2e.pixels import count_bars, is_blank, picture

_NUMBER = re.compile(r"\d+(?:[.,  ]\d{3})*(?:[.,]\d+)?")
_LARGEST = re.compile(r"larg|high|most|max|top|big|great", re.IGNORECASE)
_TOTAL = re.compile(r"total|sum|all|gesamt|总", re.IGNORECASE)


class Judgement(msgspec.Struct, frozen=True):
    """Right or wrong, why, and small faults that were let pass."""

    right: bool
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class WrongError(Exception):
    """The result is wrong; the text says why."""


def judge(case: Case, files: Sequence[Path]) -> Judgement:
    """Judge the files a run produced.

    Args:
        case: the request and what is expected.
        files: new or changed files, wherever they are; the originals are not among them.
    """
    notes: list[str] = []
    try:
        _JUDGES[case.kind](case, list(files), notes)
    except WrongError as wrong:
        return Judgement(False, (str(wrong),), tuple(notes))
    return Judgement(True, (), tuple(notes))


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise WrongError(reason)


def _pick(case: Case, files: list[Path], suffix: str) -> Path:
    """The one file of that kind, by the name that was asked for where there was one."""
    found = [path for path in files if path.suffix.lower() == suffix]
    _require(bool(found), f"there is no {suffix} file")
    wanted = case.names.get(suffix)
    if wanted is None:
        _require(len(found) == 1, f"several {suffix} files: {', '.join(sorted(path.name for path in found))}")
        return found[0]
    for path in found:
        if path.name == wanted:
            return path
    raise WrongError(f"no file named {wanted}, only {', '.join(sorted(path.name for path in found))}")


def _close(value: object, expected: float) -> bool:
    number = _as_number(value)
    return number is not None and abs(number - expected) <= 0.01 + 1e-9


def _as_number(value: object) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(str(value).strip().replace(",", ""))
    except ValueError:
        return None


# --- totals ----------------------------------------------------------------------------------------------------------


def _totals_csv(case: Case, files: list[Path], notes: list[str]) -> None:
    path = _pick(case, files, ".csv")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongError("the CSV is not UTF-8") from error
    rows: list[list[Any]] = [list(row) for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    _require(bool(rows), "the CSV is empty")
    last = _grid(case, rows, notes)[2]
    if last is not None:
        notes.append("a total row was added")


def _totals_xlsx(case: Case, files: list[Path], notes: list[str]) -> None:
    path = _pick(case, files, ".xlsx")
    book = _open_workbook(path)
    reasons = []
    for sheet in book.worksheets:
        shown = _evaluated(path, sheet)
        numbers = [index for index, row in enumerate(shown) if any(cell is not None for cell in row)]
        try:
            _require(bool(numbers), "the sheet is empty")
            _, measure, last = _grid(case, [shown[index] for index in numbers], notes)
            _require(last is not None, "there is no total row")
            assert last is not None
            formula = sheet.cell(numbers[last] + 1, measure + 1).value
            _require(isinstance(formula, str) and formula.startswith("="), f"the total is a typed value: {formula!r}")
            return
        except WrongError as wrong:
            reasons.append(f"sheet {sheet.title}: {wrong}")
    raise WrongError("; ".join(reasons))


def _grid(case: Case, rows: list[list[Any]], notes: list[str]) -> tuple[int, int, int | None]:
    """Find header, groups and totals; gives the group column, the measure column and the row of the grand total."""
    start = next(
        (index for index, row in enumerate(rows[:4]) if sum(bool(str(c or "").strip()) for c in row) >= 2), None
    )
    _require(start is not None, "there is no header")
    assert start is not None
    header, body = rows[start], rows[start + 1 :]
    _require(not any(str(cell).strip() in case.totals for cell in header), "there is no header: the first row is data")
    width = max((len(row) for row in rows), default=0)
    padded = [[*row, *[None] * (width - len(row))] for row in body]
    group = _group_column(case, padded)
    _require(bool(str([*header, *[None] * width][group] or "").strip()), "the group column has no header")
    labels = [str(row[group] if row[group] is not None else "").strip() for row in padded]
    data = [index for index, label in enumerate(labels) if label in case.totals]
    _require(len(data) == len(case.totals), "a group appears twice")
    rest = [index for index in range(len(padded)) if index not in data]
    last = _grand_total_row(labels, rest, data)
    measure = _measure_column(case, padded, labels, data)
    _require(bool(str([*header, *[None] * width][measure] or "").strip()), "the total column has no header")
    if last is not None:
        _require(
            _close(padded[last][measure], sum(case.totals.values())),
            f"the grand total is {padded[last][measure]!r}, not {sum(case.totals.values()):.3f}",
        )
        if not any(_TOTAL.search(str(cell)) for cell in padded[last] if isinstance(cell, str)):
            notes.append("the total row is not labelled")
    if not str(header[0] or "").strip():
        notes.append("an unnamed index column was left in")
    return group, measure, None if last is None else start + 1 + last


def _group_column(case: Case, rows: list[list[Any]]) -> int:
    best, missing = -1, set(case.totals)
    for column in range(len(rows[0]) if rows else 0):
        left = set(case.totals) - {str(row[column] if row[column] is not None else "").strip() for row in rows}
        if best < 0 or len(left) < len(missing):
            best, missing = column, left
    _require(bool(rows) and missing != set(case.totals), "the group names are missing")
    _require(not missing, f"groups are missing: {', '.join(sorted(missing))}")
    return best


def _grand_total_row(labels: list[str], rest: list[int], data: list[int]) -> int | None:
    if not rest:
        return None
    _require(len(rest) == 1, f"rows that are no group: {', '.join(labels[index] or '(no name)' for index in rest)}")
    _require(rest[0] > max(data), f"a row that is no group stands between: {labels[rest[0]] or '(no name)'}")
    _require(
        not labels[rest[0]] or bool(_TOTAL.search(labels[rest[0]])), f"{labels[rest[0]]!r} is not one of the groups"
    )
    return rest[0]


def _measure_column(case: Case, rows: list[list[Any]], labels: list[str], data: list[int]) -> int:
    fewest: list[str] | None = None
    for column in range(len(rows[0])):
        wrong = [labels[index] for index in data if not _close(rows[index][column], case.totals[labels[index]])]
        if not wrong:
            return column
        if fewest is None or len(wrong) < len(fewest):
            fewest = wrong
    raise WrongError(f"wrong totals for {', '.join(fewest or [])}")


# --- workbooks -------------------------------------------------------------------------------------------------------


def _open_workbook(path: Path) -> Any:
    try:
        return openpyxl.load_workbook(path)
    except Exception as error:
        raise WrongError(f"the workbook does not open: {error}") from error


def _evaluated(path: Path, sheet: Any) -> list[list[Any]]:
    """Values of a sheet with its formulas calculated."""
    import ironcalc

    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    if not any(isinstance(cell, str) and cell.startswith("=") for row in rows for cell in row):
        return rows
    model = ironcalc.load_from_xlsx(str(path), "en", "UTC", "en")
    model.evaluate()
    index = sheet.parent.worksheets.index(sheet)
    for row_number, row in enumerate(rows, 1):
        for column_number, cell in enumerate(row, 1):
            if isinstance(cell, str) and cell.startswith("="):
                row[column_number - 1] = model.get_formatted_cell_value(index, row_number, column_number)
    return rows


def _table_edit(case: Case, files: list[Path], notes: list[str]) -> None:
    path = _pick(case, files, ".xlsx")
    book, source = _open_workbook(path), _open_workbook(case.attachments[0])
    _require(case.sheet in book.sheetnames, f"the sheet {case.sheet} is gone; there are {', '.join(book.sheetnames)}")
    _require(case.other_sheet in book.sheetnames, f"the sheet {case.other_sheet} is gone")
    _same_sheet(source[case.other_sheet], book[case.other_sheet])
    rows = [list(row) for row in book[case.sheet].iter_rows(values_only=True)]
    while rows and all(cell is None for cell in rows[-1]):
        rows.pop()
    _require(bool(rows), "the edited sheet is empty")
    width = len(case.header)
    _require(all(cell is None for row in rows for cell in row[width:]), "there are columns that were not there")
    header = ["" if cell is None else str(cell) for cell in rows[0][:width]]
    _require(header == list(case.header), f"the header is {header}, not {list(case.header)}")
    body = [tuple(row[:width]) for row in rows[1:]]
    _require(len(body) == len(case.rows), f"there are {len(body)} rows, not {len(case.rows)}")
    for number, (row, expected) in enumerate(zip(body, case.rows, strict=True), 2):
        _require(_same_row(row, expected), f"row {number} is {row}, not {expected}")
    if book.sheetnames != source.sheetnames:
        notes.append("the sheets are in another order or more than before")


def _same_row(row: tuple[Any, ...], expected: tuple[Any, ...]) -> bool:
    return all(
        abs(a - b) < 1e-9 if isinstance(a, int | float) and isinstance(b, int | float) else a == b
        for a, b in zip(row, expected, strict=True)
    )


def _same_sheet(before: Any, after: Any) -> None:
    _require(before.dimensions == after.dimensions, f"the sheet {before.title} has changed in size")
    for row_before, row_after in zip(before.iter_rows(), after.iter_rows(), strict=True):
        for a, b in zip(row_before, row_after, strict=True):
            place = f"{before.title}!{a.coordinate}"
            _require(a.value == b.value, f"{place} was {a.value!r} and is {b.value!r}")
            looks = (a.number_format, a.font.b, a.fill.fgColor.rgb) == (b.number_format, b.font.b, b.fill.fgColor.rgb)
            _require(looks, f"{place} has lost its format")
    for letter, dimension in before.column_dimensions.items():
        _require(
            after.column_dimensions[letter].width == dimension.width, f"{before.title}: a column's width has changed"
        )


# --- brief -----------------------------------------------------------------------------------------------------------


def _brief(case: Case, files: list[Path], notes: list[str]) -> None:
    path = _pick(case, files, ".docx")
    try:
        document = docx.Document(str(path))
    except Exception as error:
        raise WrongError(f"the document does not open: {error}") from error
    paragraphs = [paragraph for paragraph in document.paragraphs if paragraph.text.strip()]
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    text = "\n".join([*(paragraph.text for paragraph in paragraphs), *cells])
    words = len(text.split())
    _require(60 <= words <= 550, f"it has {words} words")
    headed = any((paragraph.style.name or "").startswith(("Heading", "Title")) for paragraph in paragraphs)
    bold = bool(paragraphs) and bool(paragraphs[0].runs) and all(run.bold for run in paragraphs[0].runs)
    _require(headed or bold, "it has no heading")
    _require(not re.search(r"^\s*(#{1,4} |```)|\*\*", text, re.MULTILINE), "it has raw Markdown signs in it")
    with pdfplumber.open(case.attachments[0]) as pdf:
        source = "\n".join(page.extract_text() for page in pdf.pages)
    missing = [item.name for item in case.items if _flat(item.value) not in _flat(text)]
    _require(not missing, f"missing: {', '.join(missing)}")
    known = _numbers(source)
    invented = sorted(
        token for token in _numbers(text) if token not in known and not (token.isdigit() and int(token) <= 10)
    )
    _require(not invented, f"figures that are not in the source: {', '.join(invented)}")
    if re.search(r"\[[A-Za-z ]+\]|lorem ipsum|TODO|TBD", text):
        raise WrongError("it has a placeholder in it")


def _flat(text: str) -> str:
    """Text without case, spacing, quotes and thousands separators, for looking a value up."""
    text = re.sub(r"(?<=\d)[,  ](?=\d{3})", "", text.replace("’", "'"))
    return re.sub(r"\s+", " ", text).casefold()


def _numbers(text: str) -> set[str]:
    found = set()
    for token in _NUMBER.findall(text):
        plain = re.sub(r"[,  ](?=\d{3})", "", token).replace(",", ".")
        found.add(plain.lstrip("0") or "0")
    return found


# --- chart -----------------------------------------------------------------------------------------------------------


def _chart(case: Case, files: list[Path], notes: list[str]) -> None:
    path = _pick(case, files, ".png")
    pixels = picture(path)
    _require(pixels is not None, "the picture does not open")
    assert pixels is not None
    height, width = pixels.shape[:2]
    _require(height >= 200 and width >= 200, f"the picture is only {width} × {height}")
    _require(not is_blank(pixels), "the picture is blank")
    bars = count_bars(pixels)
    if bars is None:
        notes.append("bars could not be counted")
    else:
        _require(len(case.totals) in bars, f"there are {' or '.join(map(str, bars))} bars, not {len(case.totals)}")
    _note(case, _pick(case, files, ".md"))


def _note(case: Case, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    label = max(case.totals, key=lambda name: case.totals[name])
    value = case.totals[label]
    _require(_mentions(text, label), f"the note does not name {label}")
    tokens = [token.replace(",", "") for token in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]
    _require(any(_rounds_to(token, value) for token in tokens), f"the note does not give {value}")
    others = [name for name in case.totals if name != label and _mentions(text, name)]
    if not others:
        return
    claims = [
        line for line in re.split(r"\n|(?<=[.!?])\s", text) if _LARGEST.search(line) and any(map(str.isalnum, line))
    ]
    named = [line for line in claims if any(_mentions(line, name) for name in case.totals)]
    first = min((name for name in (label, *others)), key=lambda name: _place(text, name))
    if named:
        _require(all(_mentions(line, label) for line in named), "the note names another as the largest")
    else:
        _require(first == label, f"the note names {first} first")


def _mentions(text: str, name: str) -> bool:
    return _place(text, name) < len(text)


def _place(text: str, name: str) -> int:
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    return found.start() if found else len(text)


def _rounds_to(token: str, value: float) -> bool:
    number = _as_number(token.rstrip("."))
    if number is None:
        return False
    decimals = len(token.partition(".")[2])
    return abs(number - value) <= max(0.01, 0.5 * 10**-decimals) + 1e-9


_JUDGES: dict[str, Callable[[Case, list[Path], list[str]], None]] = {
    "totals_csv": _totals_csv,
    "totals_xlsx": _totals_xlsx,
    "brief": _brief,
    "table_edit": _table_edit,
    "chart": _chart,
}
