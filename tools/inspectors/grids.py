"""Tables of CSV, TSV, XLSX, Markdown and DOCX files, read for inspection: nothing guessed, nothing repaired."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import msgspec

from tools.inspectors.texts import decode

_MAX_CELLS = 4_000_000


class Sheet(msgspec.Struct, kw_only=True):
    """A sheet as it stands: values row by row (formulas computed), and formulas by (row, column), both from 1."""

    name: str
    cells: list[list[Any]]
    formulas: dict[tuple[int, int], str] = {}
    computed: bool = True

    def value(self, row: int, column: int) -> Any:
        """Value at a place counted from 1; None beyond the used area."""
        if 0 < row <= len(self.cells) and 0 < column <= len(self.cells[row - 1]):
            return self.cells[row - 1][column - 1]
        return None


class Grid(msgspec.Struct, kw_only=True):
    """A table: header texts and data rows of equal length; `top` and `left` are the sheet place (from 1) of the
    first data cell."""

    name: str = ""
    header: list[str] = []
    rows: list[list[Any]] = []
    top: int = 2
    left: int = 1
    sheet: Sheet | None = None

    def column(self, index: int) -> list[Any]:
        """Values of a column, top to bottom."""
        return [row[index] for row in self.rows]

    def formula(self, row: int, column: int) -> str:
        """Formula at a data place counted from 0; empty where the cell holds a value."""
        if self.sheet is None:
            return ""
        return self.sheet.formulas.get((self.top + row, self.left + column), "")


def is_blank(value: Any) -> bool:
    """Nothing in the cell: None, white space, or not-a-number."""
    return value is None or (isinstance(value, str) and not value.strip()) or value != value


def read_rows(path: Path) -> tuple[list[list[str]], str]:
    """Rows of a delimited text file as they are, and the delimiter."""
    text = decode(path.read_bytes())
    delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter(text)
    csv.field_size_limit(10_000_000)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)), delimiter


def _delimiter(text: str) -> str:
    lines = [line for line in text.splitlines()[:50] if line.strip()]
    best, best_score = ",", 0.0
    for mark in ",;\t|":
        counts = [len(next(csv.reader([line], delimiter=mark), [])) for line in lines]
        if counts and counts[0] > 1:
            score = sum(count == counts[0] for count in counts) / len(counts) * (1 + counts[0] / 1000)
            if score > best_score:
                best, best_score = mark, score
    return best


def read_sheets(path: Path) -> list[Sheet]:
    """Every worksheet of a workbook, formulas computed where they can be.

    Raises:
        OSError, ValueError, KeyError, zipfile.BadZipFile: it cannot be opened (see `CANNOT_OPEN`).
    """
    import openpyxl

    book = openpyxl.load_workbook(path)
    sheets: list[Sheet] = []
    for page in book.worksheets:
        if page.max_row * page.max_column > _MAX_CELLS:
            raise ValueError(f"sheet {page.title} is too large to check")
        cells = [[cell.value for cell in row] for row in page.iter_rows()]
        sheet = Sheet(name=page.title, cells=[[_plain_value(value) for value in row] for row in cells])
        for r, row in enumerate(page.iter_rows(), 1):
            for c, cell in enumerate(row, 1):
                if cell.data_type == "f":
                    sheet.formulas[(r, c)] = str(getattr(cell.value, "text", cell.value) or "")
        sheets.append(sheet)
    book.close()
    if any(sheet.formulas for sheet in sheets):
        _compute(path, sheets)
    return sheets


def _plain_value(value: Any) -> Any:
    return getattr(value, "text", value) if type(value).__name__ in ("ArrayFormula", "DataTableFormula") else value


def _compute(path: Path, sheets: list[Sheet]) -> None:
    """Put computed values in the place of formulas; cached values where the calculator cannot load the file."""
    import ironcalc

    try:
        model = ironcalc.load_from_xlsx(str(path), "en", "UTC", "en")
        model.evaluate()
        places = {entry["name"]: index for index, entry in enumerate(model.get_worksheets_properties())}
    except ironcalc.WorkbookError:
        _use_cached(path, sheets)
        return
    for sheet in sheets:
        for (row, column), _ in sheet.formulas.items():
            if sheet.name in places:
                sheet.cells[row - 1][column - 1] = model.get_cell_value(places[sheet.name], row, column)
            else:
                sheet.cells[row - 1][column - 1] = None


def _use_cached(path: Path, sheets: list[Sheet]) -> None:
    import openpyxl

    book = openpyxl.load_workbook(path, data_only=True)
    for sheet in sheets:
        sheet.computed = False
        for row, column in sheet.formulas:
            sheet.cells[row - 1][column - 1] = book[sheet.name].cell(row, column).value
    book.close()


def to_grid(sheet: Sheet) -> Grid | None:
    """The main table of a sheet: the header is the first row as wide as the table (titles above it are passed over)."""
    used = [(index, [i for i, value in enumerate(row) if not is_blank(value)]) for index, row in enumerate(sheet.cells)]
    filled = [(index, places) for index, places in used if places]
    if not filled:
        return None
    widest = max(len(places) for _, places in filled)
    need = max(1, (widest * 3 + 4) // 5) if widest > 1 else 1
    start = next(index for index, places in filled if len(places) >= need)
    left = min(min(places) for index, places in filled if index >= start)
    right = max(max(places) for index, places in filled if index >= start)
    pad = [None] * (right + 1)
    header = (sheet.cells[start] + pad)[left : right + 1]
    rows = [(sheet.cells[index] + pad)[left : right + 1] for index in range(start + 1, filled[-1][0] + 1)]
    names = ["" if is_blank(value) else str(value).strip() for value in header]
    return Grid(name=sheet.name, header=names, rows=rows, top=start + 2, left=left + 1, sheet=sheet)


def _markdown_tables(text: str) -> list[Grid]:
    grids: list[Grid] = []
    lines = text.splitlines()
    rule = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*\Z")
    for index in range(1, len(lines)):
        if "|" in lines[index - 1] and "-" in lines[index] and rule.match(lines[index]):
            header = _split_row(lines[index - 1])
            rows: list[list[Any]] = []
            for line in lines[index + 1 :]:
                if "|" not in line:
                    break
                rows.append((_split_row(line) + [""] * len(header))[: len(header)])
            grids.append(Grid(header=header, rows=rows))
    return grids


def _split_row(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return [cell.strip().strip("*`").replace("\\|", "|").strip() for cell in cells]


def _docx_tables(path: Path) -> list[Grid]:
    import docx

    grids: list[Grid] = []
    for table in docx.Document(str(path)).tables:
        rows = [[cell.text.strip() for cell in row.cells] for row in table.rows]
        if len(rows) > 1:
            width = len(rows[0])
            grids.append(Grid(header=rows[0], rows=[(row + [""] * width)[:width] for row in rows[1:]]))
    return grids


def read_grids(path: Path) -> list[Grid]:
    """The tables of a file.

    Args:
        path: a CSV, TSV, XLSX, Markdown, text or DOCX file; other kinds have none.

    Raises:
        whatever `CANNOT_OPEN` lists, where the file is damaged.
    """
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        rows, _ = read_rows(path)
        grid = to_grid(Sheet(name="", cells=[list(row) for row in rows]))
        return [] if grid is None else [msgspec.structs.replace(grid, sheet=None)]
    if suffix in (".xlsx", ".xlsm"):
        return [grid for sheet in read_sheets(path) if (grid := to_grid(sheet)) is not None]
    if suffix in (".md", ".markdown", ".txt"):
        return _markdown_tables(decode(path.read_bytes()))
    if suffix == ".docx":
        return _docx_tables(path)
    return []
