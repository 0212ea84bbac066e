"""Workbooks: every sheet with shape, header, first rows, formulas and values.

Values are those stored in the file; where a formula has none (files written by scripts), they are computed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from engine.protocol.documents import FileProfile, Reading, ReadOptions
from engine.protocol.errors import ModelError
from engine.system.loose import loose_find
from tools.readers.columns import TableFacts, describe, kind_of_value, show, unique_headers
from tools.readers.kinds import ReadProblem
from tools.readers.packages import check_package
from tools.readers.windows import passages, window

_MOST_CELLS = 3_000_000
_COMPUTED_BYTES = 30 << 20

Row = list[Any]


class Sheet(msgspec.Struct, kw_only=True):
    """A worksheet.

    Attributes:
        name: its name.
        rows: values, row by row from row 1, without empty rows and columns at the end.
        formulas: formula by (row, column), both from 1.
        header_row: row of the column names, from 1; 0 where the sheet is empty.
        computed: some values were computed, as the file stores none.
        hidden: the sheet is hidden.
    """

    name: str
    rows: list[Row] = []
    formulas: dict[tuple[int, int], str] = {}
    header_row: int = 0
    computed: bool = False
    hidden: bool = False

    @property
    def headers(self) -> list[str]:
        return unique_headers(self.rows[self.header_row - 1]) if self.header_row else []

    @property
    def data(self) -> list[Row]:
        """Rows below the header; empty ones between are left out."""
        return [row for row in self.rows[self.header_row :] if any(value not in (None, "") for value in row)]


def load_sheets(path: Path) -> list[Sheet]:
    """All worksheets with values and formulas.

    Raises:
        ReadProblem: encrypted, damaged, too many cells.
    """
    parts = check_package(path)
    sheets: list[Sheet] = []
    for (name, hidden, formula_rows), (_, _, value_rows) in zip(_pass(path, False), _pass(path, True), strict=True):
        formulas = {
            (r, c): text
            for r, row in enumerate(formula_rows, start=1)
            for c, cell in enumerate(row, start=1)
            if (text := _formula(cell))
        }
        sheets.append(Sheet(name=name, rows=_trim(value_rows, formulas), formulas=formulas, hidden=hidden))
    if not sheets and any(name.startswith("xl/worksheets/") for name in parts):
        # the library finds no sheets under the names of this variant: silence would call the file empty
        raise ReadProblem("unsupported", "The workbook is in the strict variant of its format; save it as plain .xlsx.")
    _compute_missing(path, sheets)
    for sheet in sheets:
        sheet.header_row = _find_header(sheet.rows)
    return sheets


def find_sheet(sheets: list[Sheet], name: str) -> Sheet:
    """A sheet by name (one only like it will do, see `loose_find`); the first one with data for an empty name.

    Raises:
        ModelError: there is none of that name, or more than one that could be meant.
    """
    found = loose_find(name, [sheet.name for sheet in sheets])
    for sheet in sheets:
        if sheet.name == found or (not name and sheet.rows):
            return sheet
    known = ", ".join(repr(sheet.name) for sheet in sheets)
    raise ModelError(f"There is no sheet {name!r} with data; the sheets are {known}.", code="table.no_sheet")


def read(path: Path, options: ReadOptions) -> Reading:
    """Previews of all sheets, or one sheet, or the cells asked for."""
    sheets = load_sheets(path)
    if options.range or options.search:
        chosen = [find_sheet(sheets, options.sheet)] if options.sheet or options.range else sheets
        text = "\n".join(_cells(sheet, options) for sheet in chosen)
    elif options.sheet:
        text = _preview(find_sheet(sheets, options.sheet), rows=50)
    else:
        text = "\n".join([f"{path.name}: {len(sheets)} sheets", *(_preview(sheet, rows=3) for sheet in sheets)])
    shown, cut = window(text, options.offset, options.max_chars)
    rest = cut or (not options.range and any(len(sheet.data) > 3 for sheet in sheets))
    more = "Read cells with sheet and range (such as A1:F40), or search." if rest else ""
    return Reading(name=path.name, kind="xlsx", text=shown, total_chars=0, truncated=rest, more=more)


def profile(path: Path) -> FileProfile:
    """A table for each sheet."""
    tables = tuple(_facts(sheet).table() for sheet in load_sheets(path))
    return FileProfile(name=path.name, kind="xlsx", size_bytes=path.stat().st_size, tables=tables)


def _pass(path: Path, values: bool) -> Iterator[tuple[str, bool, list[Row]]]:
    """Name, hidden, rows of each worksheet; `values` takes stored values, else formulas."""
    import warnings
    import zipfile

    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with warnings.catch_warnings():
            # what openpyxl cannot keep matters for writing only
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(path, read_only=True, data_only=values)
            for sheet in book.worksheets:
                yield sheet.title, sheet.sheet_state != "visible", _rows(sheet)
            book.close()
    except (InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError) as error:
        raise ReadProblem("corrupt", f"The workbook is damaged: {error}") from error


def _rows(sheet: Any) -> list[Row]:
    # the stored size may be wrong in both directions
    sheet.reset_dimensions()
    rows: list[Row] = []
    cells = 0
    for row in sheet.iter_rows(values_only=True):
        values = list(row)
        while values and values[-1] is None:
            values.pop()
        rows.append(values)
        cells += len(values) + 1
        if cells > _MOST_CELLS:
            raise ReadProblem("too_large", f"The sheet {sheet.title!r} has more than {_MOST_CELLS} cells.")
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _formula(cell: Any) -> str:
    text = getattr(cell, "text", cell)
    return text if isinstance(text, str) and text.startswith("=") and len(text) > 1 else ""


def _trim(rows: list[Row], formulas: dict[tuple[int, int], str]) -> list[Row]:
    """Rows of equal width, wide and long enough for all formulas too."""
    width = max([*(len(row) for row in rows), *(column for _, column in formulas)], default=0)
    length = max([len(rows), *(row for row, _ in formulas)], default=0)
    rows = rows + [[] for _ in range(length - len(rows))]
    return [row + [None] * (width - len(row)) for row in rows]


def _compute_missing(path: Path, sheets: list[Sheet]) -> None:
    missing = [(sheet, r, c) for sheet in sheets for r, c in sheet.formulas if sheet.rows[r - 1][c - 1] is None]
    if not missing or path.stat().st_size > _COMPUTED_BYTES:
        return
    values = _Computed.load(path)
    if values is None:
        return
    for sheet, r, c in missing:
        sheet.rows[r - 1][c - 1] = values.get(sheet.name, r, c)
        sheet.computed = True


class _Computed:
    """Values of all formulas of a workbook."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._index = {sheet["name"]: i for i, sheet in enumerate(model.get_worksheets_properties())}

    @classmethod
    def load(cls, path: Path) -> _Computed | None:
        """None where the calculation cannot take the workbook (then formulas are shown without values)."""
        import ironcalc

        try:
            model = ironcalc.load_from_xlsx(str(path), "en", "UTC", "en")
            model.evaluate()
        except ironcalc.WorkbookError:
            return None
        return cls(model)

    def get(self, sheet: str, row: int, column: int) -> Any:
        return self._model.get_cell_value(self._index[sheet], row, column) if sheet in self._index else None


def _find_header(rows: list[Row]) -> int:
    """The first of the first 20 rows that is filled like a header (titles above a table are not); from 1."""
    filled = [sum(value not in (None, "") for value in row) for row in rows[:20]]
    if not any(filled):
        return 0
    enough = max(1.0, 0.6 * max(filled))
    for number, (count, row) in enumerate(zip(filled, rows[:20], strict=True), start=1):
        texts = sum(kind_of_value(value) in ("text", "date") for value in row)
        if count >= enough and texts * 2 >= count:
            return number
    return next(number for number, count in enumerate(filled, start=1) if count)


def _facts(sheet: Sheet) -> TableFacts:
    return TableFacts(sheet.headers, sheet.name).add_all(sheet.data)


def _preview(sheet: Sheet, rows: int) -> str:
    facts = _facts(sheet)
    notes = [f"header in row {sheet.header_row}"] if sheet.header_row > 1 else []
    if sheet.hidden:
        notes.append("hidden")
    if facts.duplicates:
        notes.append(f"{facts.duplicates} duplicate rows")
    if sheet.formulas:
        notes.append(f"{len(sheet.formulas)} formulas" + (", values computed" if sheet.computed else ""))
    noted = f" ({'; '.join(notes)})" if notes else ""
    lines = [f"Sheet {sheet.name!r}: {facts.rows} rows, {len(sheet.headers)} columns{noted}", *describe(facts)]
    if sheet.header_row:
        above = [row for row in sheet.rows[: sheet.header_row - 1] if any(value is not None for value in row)]
        lines += [f"Above the table: {_csv([row])}".rstrip() for row in above[:3]]
        shown = sheet.data[:rows]
        lines += [f"First {len(shown)} rows:", _csv([sheet.headers, *shown]).rstrip()]
    if sheet.formulas:
        some = list(sheet.formulas.items())[:3] + list(sheet.formulas.items())[3:][-2:]
        lines.append("Formulas: " + "; ".join(f"{cell_name(r, c)}: {text[:100]}" for (r, c), text in some))
    return "\n".join(lines) + "\n"


def _cells(sheet: Sheet, options: ReadOptions) -> str:
    """The cells of a range, or the rows that hold the search text; formulas beside their values."""
    r1, c1, r2, c2 = _bounds(options.range, sheet)
    lines = [f"Sheet {sheet.name!r}" + (f", cells {options.range}:" if options.range else ":")]
    table = []
    for r in range(r1, min(r2, len(sheet.rows)) + 1):
        cells = [_cell(sheet, r, c) for c in range(c1, min(c2, len(sheet.rows[r - 1])) + 1)]
        table.append(f"{r}: {_csv([cells]).rstrip()}")
    text = "\n".join(table)
    return "\n".join([*lines, passages(text, options.search) if options.search else text])


def _cell(sheet: Sheet, row: int, column: int) -> str:
    value, formula = show(sheet.rows[row - 1][column - 1]), sheet.formulas.get((row, column))
    return f"{value} [{formula}]" if formula else value


def _bounds(cells: str, sheet: Sheet) -> tuple[int, int, int, int]:
    from openpyxl.utils.cell import range_boundaries

    if not cells:
        return 1, 1, len(sheet.rows), len(sheet.rows[0]) if sheet.rows else 0
    try:
        c1, r1, c2, r2 = range_boundaries(cells.replace("$", ""))
    except (ValueError, TypeError) as error:
        raise ModelError(f"range={cells!r} is not a cell range; write it like A1:F40.") from error
    return r1 or 1, c1 or 1, r2 or len(sheet.rows), c2 or (len(sheet.rows[0]) if sheet.rows else 0)


def _csv(rows: list[Row]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[show(value)[:200] for value in row] for row in rows])
    return out.getvalue()


def cell_name(row: int, column: int) -> str:
    """``B2`` for row 2, column 2."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"
