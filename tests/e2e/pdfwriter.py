"""A very small PDF writer: headings, wrapped paragraphs and ruled tables, with a text layer in reading order."""

from __future__ import annotations

import textwrap
from pathlib import Path

import msgspec

_WIDTH, _HEIGHT, _MARGIN = 595, 842, 60
_LINE = 15


class Heading(msgspec.Struct, frozen=True):
    """A line in larger bold type."""

    text: str


class Paragraph(msgspec.Struct, frozen=True):
    """Running text, wrapped to the page."""

    text: str


class Table(msgspec.Struct, frozen=True):
    """Rows of cells with ruled lines; the first row is the header."""

    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | Table


def write_pdf(path: Path, pages: list[list[Block]]) -> None:
    """Write pages of blocks.

    Args:
        path: file to write.
        pages: blocks of each page, top to bottom; text in the characters of Windows-1252.

    Raises:
        ValueError: a page has more than fits on it.
    """
    objects: list[bytes] = [b"", b""]
    for font in ("Helvetica", "Helvetica-Bold"):
        objects.append(f"<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>".encode())
    kids = []
    for blocks in pages:
        content = _page(blocks)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {_WIDTH} {_HEIGHT}] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>".encode()
        )
        kids.append(f"{len(objects)} 0 R")
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    path.write_bytes(_assemble(objects))


def _assemble(objects: list[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)


def _page(blocks: list[Block]) -> bytes:
    parts: list[bytes] = []
    y = _HEIGHT - _MARGIN
    for block in blocks:
        if isinstance(block, Heading):
            y -= 22
            parts.append(_text(block.text, _MARGIN, y, "F2", 14))
            y -= 6
        elif isinstance(block, Paragraph):
            for line in textwrap.wrap(block.text, 92):
                y -= _LINE
                parts.append(_text(line, _MARGIN, y, "F1", 10))
            y -= 8
        else:
            y = _table(block, y, parts)
        if y < _MARGIN:
            raise ValueError("the page is too full")
    return b"\n".join(parts)


def _table(table: Table, y: float, parts: list[bytes]) -> float:
    width = (_WIDTH - 2 * _MARGIN) / len(table.rows[0])
    height = _LINE + 4
    for number, row in enumerate(table.rows):
        for column, cell in enumerate(row):
            x = _MARGIN + column * width
            parts.append(b"%.1f %.1f %.1f %.1f re S" % (x, y - height, width, height))
            parts.append(_text(cell, x + 4, y - height + 6, "F1" if number else "F2", 9))
        y -= height
    return y - 10


def _text(text: str, x: float, y: float, font: str, size: int) -> bytes:
    raw = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    return b"BT /%s %d Tf %.1f %.1f Td (%s) Tj ET" % (font.encode(), size, x, y, raw)
