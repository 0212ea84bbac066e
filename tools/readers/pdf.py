"""PDF: text by page in the order the file writes it, ruled tables as Markdown."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.protocol.documents import FileProfile, Reading, ReadOptions
from engine.protocol.errors import ModelError
from tools.readers.kinds import ReadProblem
from tools.readers.text import count_words
from tools.readers.windows import markdown_table, page_numbers, present

_MOST_PAGES = 300
"""Pages of which the text is taken where none were asked for."""
_TABLE_PAGES = 12


def read(path: Path, options: ReadOptions) -> Reading:
    """Text with a heading per page; tables follow their page's text."""
    with _document(path) as document:
        count = len(document)
        wanted = _wanted(options, count)
        texts = {number: page_text(document, number) for number in wanted}
    if not any(text.strip() for text in texts.values()):
        raise ReadProblem("no_text_layer", f"There is no text in this file ({count} pages); the pages may be pictures.")
    # finding tables is slow: only on the pages that will be seen
    tables = _tables(path, _first_pages(texts, options.max_chars)) if not options.search else {}
    parts = [f"{path.name}: PDF, {count} pages"]
    parts += [f"[page {number}]\n{texts[number].strip()}\n{tables.get(number, '')}" for number in wanted]
    total = None if len(wanted) == count else 0
    hint = f"The file has {count} pages: pages='3-5' reads some of them."
    return present(path.name, "pdf", "\n\n".join(parts), options, hint=hint, total_chars=total)


def profile(path: Path) -> FileProfile:
    """Pages and words; a file without text has the problem ``no_text_layer``."""
    with _document(path) as document:
        count = len(document)
        texts = [page_text(document, number) for number in range(1, min(count, _MOST_PAGES) + 1)]
        titles = [str(mark.get_title()) for mark in _outline(document)]
    words = sum(count_words(text) for text in texts)
    return FileProfile(
        name=path.name,
        kind="pdf",
        size_bytes=path.stat().st_size,
        pages=count,
        words=words,
        headings=tuple(titles[:50]),
        problem="" if any(text.strip() for text in texts) else "no_text_layer",
    )


def page_text(document: Any, number: int) -> str:
    """Text of a page (from 1); empty where a page is damaged."""
    import pypdfium2

    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        return ""
    try:
        text_page = page.get_textpage()
        text = str(text_page.get_text_bounded()).replace("\r\n", "\n").replace("\ufffe", "-")
        text_page.close()
    except pypdfium2.PdfiumError:
        return ""
    finally:
        page.close()
    return text


@contextlib.contextmanager
def _document(path: Path) -> Iterator[Any]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise ReadProblem("encrypted") from error
        raise ReadProblem("corrupt", f"The PDF cannot be opened: {error}") from error
    try:
        yield document
    finally:
        document.close()


def _outline(document: Any) -> list[Any]:
    import pypdfium2

    try:
        return list(document.get_toc(max_depth=3))
    except pypdfium2.PdfiumError:
        return []


def _wanted(options: ReadOptions, count: int) -> list[int]:
    if not options.pages:
        return list(range(1, min(count, _MOST_PAGES) + 1))
    try:
        wanted = page_numbers(options.pages, count)
    except ValueError as error:
        raise ModelError(f"pages={options.pages!r} is not a list of pages; write pages='2' or pages='3-5'.") from error
    if not wanted:
        raise ModelError(f"The file has {count} pages; there is no page {options.pages}.")
    return wanted


def _first_pages(texts: dict[int, str], max_chars: int) -> list[int]:
    seen: list[int] = []
    length = 0
    for number, text in texts.items():
        if length > max_chars or len(seen) >= _TABLE_PAGES:
            break
        seen.append(number)
        length += len(text)
    return seen


def _tables(path: Path, numbers: list[int]) -> dict[int, str]:
    """Ruled tables by page, as Markdown; none where the second parser does not get on with the file."""
    import pdfminer.pdfexceptions
    import pdfplumber
    from pdfplumber.utils.exceptions import PdfminerException

    found: dict[int, str] = {}
    try:
        with pdfplumber.open(path) as document:
            for number in numbers:
                page = document.pages[number - 1]
                # many drawn lines are a drawing, not a table, and take very long
                if 4 <= len(page.lines) + len(page.rects) <= 2000:
                    tables = [[[cell or "" for cell in row] for row in table] for table in page.extract_tables()]
                    found[number] = "\n\n".join(
                        "Table:\n" + markdown_table(table) for table in tables if len(table) > 1 and len(table[0]) > 1
                    )
                page.close()
    except (
        pdfminer.pdfexceptions.PDFException,
        PdfminerException,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
    ):
        # the text was read by the other parser already; tables are an addition
        return found
    return found
