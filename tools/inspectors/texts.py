"""Text of documents, read for inspection."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".docx": "docx",
    ".pptx": "pptx",
    ".pdf": "pdf",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".png": "image",
    ".jpg": "image",
    ".jpeg": "image",
    ".gif": "image",
    ".bmp": "image",
    ".webp": "image",
    ".tif": "image",
    ".tiff": "image",
}
"""Kind of a file by its extension, as in `FileProfile.kind`."""


def kind_of(name: str) -> str:
    """Kind of a file by its name; ``unknown`` where the extension says nothing."""
    return KINDS.get(Path(name).suffix.lower(), "unknown")


def cannot_open() -> tuple[type[Exception], ...]:
    """What the document libraries raise for a file that is damaged or not what its name says."""
    import docx.opc.exceptions
    import lxml.etree
    import pdfminer.pdfdocument
    import pdfminer.psexceptions
    import PIL
    import pptx.exc
    from openpyxl.utils.exceptions import InvalidFileException
    from pdfplumber.utils.exceptions import PdfminerException

    return (
        OSError,
        ValueError,
        KeyError,
        IndexError,
        TypeError,
        AttributeError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        SyntaxError,
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        lxml.etree.LxmlError,
        docx.opc.exceptions.OpcError,
        pptx.exc.PythonPptxError,
        InvalidFileException,
        PdfminerException,
        pdfminer.psexceptions.PSException,
        PIL.UnidentifiedImageError,
    )


def decode(data: bytes) -> str:
    """Bytes of a text file as text: by its mark, as UTF-8, or by guessing."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(data[:200_000]).best()
        return data.decode(best.encoding if best else "cp1252", errors="replace")


def read_text(path: Path) -> str:
    """The running text of a document, paragraphs on lines of their own.

    Args:
        path: a DOCX, PPTX, PDF, HTML or plain text file; other kinds give an empty text.

    Raises:
        whatever `cannot_open` lists, where the file is damaged.
    """
    kind = kind_of(path.name)
    if kind == "docx":
        return "\n".join(docx_blocks(path))
    if kind == "pptx":
        return "\n".join(text for slide in pptx_slides(path) for text in slide)
    if kind == "pdf":
        return "\n".join(pdf_pages(path))
    if kind == "html":
        return _html_text(path)
    if kind in ("csv", "markdown", "text", "json"):
        return decode(path.read_bytes())
    return ""


def docx_blocks(path: Path) -> list[str]:
    """Paragraphs and table rows of a Word file in reading order; cells of a row are joined by `` | ``."""
    import docx
    from docx.table import Table

    blocks: list[str] = []
    for block in docx.Document(str(path)).iter_inner_content():
        if isinstance(block, Table):
            blocks.extend(" | ".join(dict.fromkeys(cell.text.strip() for cell in row.cells)) for row in block.rows)
        else:
            blocks.append(block.text)
    return blocks


def pptx_slides(path: Path) -> list[list[str]]:
    """Texts of each slide: text frames and table rows; speaker notes are left out."""
    import pptx

    slides: list[list[str]] = []
    for slide in pptx.Presentation(str(path)).slides:
        texts: list[str] = []
        for shape in slide.shapes:
            if shape.has_text_frame and shape.text_frame.text.strip():
                texts.append(shape.text_frame.text)
            if getattr(shape, "has_table", False) and shape.has_table:
                texts.extend(" | ".join(cell.text for cell in row.cells) for row in shape.table.rows)
        slides.append(texts)
    return slides


def pdf_pages(path: Path) -> list[str]:
    """Text of each page of a PDF file."""
    import pdfplumber

    with pdfplumber.open(path) as document:
        return [page.extract_text() or "" for page in document.pages]


def _html_text(path: Path) -> str:
    import lxml.html

    root = lxml.html.document_fromstring(decode(path.read_bytes()))
    for node in list(root.iter("script", "style")):
        node.drop_tree()
    lines = (line.strip() for line in str(root.text_content()).splitlines())
    return "\n".join(line for line in lines if line)


def sentences(text: str) -> list[str]:
    """A text cut at sentence ends and line breaks; figures such as ``3.5`` and ``No. 4`` stay whole."""
    cut = re.split(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(*_])|(?<=[。！？])|\n+", text)
    return [piece.strip() for piece in cut if piece and piece.strip()]
