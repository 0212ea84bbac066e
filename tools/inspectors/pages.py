"""How many pages a Word file takes, estimated: nothing here lays out pages."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

_POINTS_PER_LINE = 1.22
_CHARACTER_WIDTH = 0.49


def docx_pages(path: Path) -> float:
    """Estimated pages of a Word file, to a tenth.

    Each paragraph takes its characters at about half the font size each, broken at the text width, times the line
    height, with its spacing; table rows take their tallest cell; pictures their height; page breaks a new page.

    Args:
        path: the file.
    """
    import docx
    from docx.table import Table

    document = docx.Document(str(path))
    section = document.sections[0]
    width = _points(section.page_width, 612) - _points(section.left_margin, 72) - _points(section.right_margin, 72)
    height = _points(section.page_height, 792) - _points(section.top_margin, 72) - _points(section.bottom_margin, 72)
    used, pages = 0.0, 0
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            used += sum(_row(row, width) for row in block.rows)
            continue
        used += _paragraph(block, width)
        if block._p.xpath(".//w:br[@w:type='page']"):
            pages += ceil(used / height)
            used = 0.0
    drawings = document.element.body.xpath(".//wp:inline/wp:extent/@cy")
    used += sum(int(value) / 12_700 for value in drawings)
    return round(pages + used / max(height, 100), 1)


def _points(length: Any, default: float) -> float:
    return float(length.pt) if length is not None else default


def _size(paragraph: Any) -> float:
    sizes = [run.font.size.pt for run in paragraph.runs if run.font.size is not None]
    style = paragraph.style
    while not sizes and style is not None:
        if style.font.size is not None:
            sizes.append(style.font.size.pt)
        style = style.base_style
    return float(max(sizes, default=11.0))


def _paragraph(paragraph: Any, width: float) -> float:
    size = _size(paragraph)
    per_line = max(10.0, width / (size * _CHARACTER_WIDTH))
    lines = sum(max(1, ceil(len(line) / per_line)) for line in (paragraph.text or " ").split("\n"))
    spacing = paragraph.paragraph_format.line_spacing
    factor = float(spacing) if isinstance(spacing, float | int) and 0 < spacing < 5 else 1.0
    after = paragraph.paragraph_format.space_after
    return lines * size * _POINTS_PER_LINE * factor + (float(after.pt) if after is not None else 6.0)


def _row(row: Any, width: float) -> float:
    cells = row.cells
    each = max(20.0, width / max(1, len(cells)) - 10)
    return (
        max((ceil(max(1, len(cell.text)) / max(2.0, each / (11 * _CHARACTER_WIDTH))) for cell in cells), default=1)
        * 14.0
    )
