"""Moving the cells of a table inside a worksheet, and everything that refers to them."""

from __future__ import annotations

import contextlib
from typing import Any

from tools.table.references import Moves, letters, move_area, move_formula, number


def relocate(page: Any, moves: Moves) -> None:
    """Move cells with formats, links and notes; drop those whose row or column is gone."""
    first, header = moves.first_row, moves.first_row - 1
    taken = [page._cells.pop(key) for key in sorted(page._cells) if key[0] >= header]
    dropped_links = []
    for cell in taken:
        row, column = moves.row(cell.row), moves.column(cell.column)
        if cell.row < first:
            row = cell.row
        if row is None or column is None:
            dropped_links.append(cell._hyperlink)
            continue
        cell.row, cell.column = row, column
        if cell._hyperlink is not None:
            cell._hyperlink.ref = cell.coordinate
        page._cells[(row, column)] = cell
    page._hyperlinks = [link for link in page._hyperlinks if all(link is not gone for gone in dropped_links)]


def move_dimensions(page: Any, moves: Moves) -> None:
    """Column widths and row heights go where their columns and rows went."""
    # a stored dimension may stand for a group of columns
    for dimension in list(page.column_dimensions.values()):
        first, last = dimension.min or number(dimension.index), dimension.max or number(dimension.index)
        for column in range(first + 1, min(last, moves.last_column) + 1):
            page.column_dimensions[letters(column)].width = dimension.width
        if last > first:
            dimension.min = dimension.max = first
    widths = {c: page.column_dimensions[letters(c)] for c in range(1, moves.last_column + 1)}
    kept = {new: (widths[old].width, widths[old].hidden) for old, new in moves.columns.items()}
    for column in range(1, moves.last_column + 1):
        page.column_dimensions.pop(letters(column), None)
    for column, (width, hidden) in kept.items():
        page.column_dimensions[letters(column)].width = width
        page.column_dimensions[letters(column)].hidden = hidden
    rows = {old: page.row_dimensions.pop(old) for old in list(page.row_dimensions) if old >= moves.first_row}
    for old, dimension in rows.items():
        new = moves.row(old)
        if new is not None:
            dimension.index = new
            page.row_dimensions[new] = dimension


def follow_everywhere(book: Any, moves: Moves) -> None:
    """Let formulas of all sheets, names, formats, validations, filters and tables follow the moved cells."""
    for page in book.worksheets:
        for cell in page._cells.values():
            _follow_cell(cell, page.title, moves)
        for name in page.defined_names.values():
            _follow_name(name, moves)
        if page.title == moves.sheet:
            _follow_sheet(page, moves)
    for name in book.defined_names.values():
        _follow_name(name, moves)


def _follow_cell(cell: Any, home: str, moves: Moves) -> None:
    from openpyxl.worksheet.formula import ArrayFormula

    value = cell._value
    if cell.data_type == "f" and isinstance(value, str):
        cell._value = move_formula(value, home, moves)
    elif isinstance(value, ArrayFormula):
        value.text = move_formula(value.text, home, moves)
        if home == moves.sheet:
            # the cell itself has moved already
            value.ref = move_area(value.ref, moves) or cell.coordinate


def _follow_name(name: Any, moves: Moves) -> None:
    if name.value and not name.value.startswith(("{", '"')):
        name.value = move_formula(f"={name.value}", "", moves)[1:]


def _follow_sheet(page: Any, moves: Moves) -> None:
    if page.auto_filter.ref:
        page.auto_filter.ref = move_area(page.auto_filter.ref, moves) or None
    _follow_formats(page, moves)
    _follow_validations(page, moves)
    _follow_tables(page, moves)
    with contextlib.suppress(ValueError):
        # a title above the table that spans columns; areas that vanish are unmerged
        for area in list(page.merged_cells.ranges):
            moved = move_area(area.coord, moves)
            if moved != area.coord:
                page.merged_cells.remove(area)
                if moved and ":" in moved and moved.split(":")[0] != moved.split(":")[1]:
                    page.merged_cells.add(moved)


def _moved_areas(areas: Any, moves: Moves) -> str:
    return " ".join(filter(None, (move_area(str(area), moves) for area in str(areas).split())))


def _follow_formats(page: Any, moves: Moves) -> None:
    from openpyxl.formatting.formatting import ConditionalFormattingList

    old, page.conditional_formatting = page.conditional_formatting, ConditionalFormattingList()
    for group in old:
        areas = _moved_areas(group.sqref, moves)
        if not areas:
            continue
        for rule in group.rules:
            rule.formula = [move_formula(f"={text}", page.title, moves)[1:] for text in rule.formula]
            page.conditional_formatting.add(areas, rule)


def _follow_validations(page: Any, moves: Moves) -> None:
    from openpyxl.worksheet.cell_range import MultiCellRange

    kept = []
    for validation in page.data_validations.dataValidation:
        areas = _moved_areas(validation.sqref, moves)
        if areas:
            validation.sqref = MultiCellRange(areas)
            kept.append(validation)
        for part in ("formula1", "formula2"):
            text = getattr(validation, part)
            if text and not text.startswith('"'):
                setattr(validation, part, move_formula(f"={text}", page.title, moves)[1:])
    page.data_validations.dataValidation = kept


def _follow_tables(page: Any, moves: Moves) -> None:
    """Table objects: their area and their columns."""
    from openpyxl.utils.cell import range_boundaries

    for table in list(page.tables.values()):
        left, _, right, _ = range_boundaries(table.ref)
        moved = move_area(table.ref, moves)
        if not moved:
            del page.tables[table.name]
            continue
        by_place = {moves.column(column): table.tableColumns[column - left] for column in range(left, right + 1)}
        table.tableColumns = [by_place[place] for place in sorted(place for place in by_place if place is not None)]
        table.ref = moved
        if table.autoFilter is not None:
            table.autoFilter.ref = moved
