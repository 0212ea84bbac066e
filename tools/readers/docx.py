"""Word documents as Markdown: headings, lists, tables, footnotes."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.protocol.documents import FileProfile, Reading, ReadOptions
from tools.readers.columns import TableFacts, unique_headers
from tools.readers.kinds import ReadProblem
from tools.readers.packages import check_package
from tools.readers.text import count_words
from tools.readers.windows import markdown_table, present

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def read(path: Path, options: ReadOptions) -> Reading:
    """The text as Markdown, in the order of the body."""
    document = _open(path)
    blocks = list(_blocks(document))
    return present(path.name, "docx", "\n\n".join([*blocks, *_footnotes(document)]), options)


def profile(path: Path) -> FileProfile:
    """Words, headings, tables, and the pages its program noted."""
    document = _open(path)
    blocks = list(_blocks(document))
    tables = []
    for table in document.tables:
        rows = _rows(table._tbl)
        if len(rows) > 1:
            tables.append(TableFacts(unique_headers(rows[0])).add_all(rows[1:]).table())
    return FileProfile(
        name=path.name,
        kind="docx",
        size_bytes=path.stat().st_size,
        pages=_noted_pages(path),
        words=count_words("\n".join(re.sub(r"[|#*]|---", " ", block) for block in blocks)),
        headings=tuple(block.lstrip("# ") for block in blocks if re.match(r"#{1,6} ", block))[:50],
        tables=tuple(tables[:20]),
    )


def _open(path: Path) -> Any:
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    parts = check_package(path)
    if "word/document.xml" not in parts and not any(name.startswith("word/") for name in parts):
        raise ReadProblem("corrupt", "The file is a package, but not a Word document.")
    try:
        return docx.Document(str(path))
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise ReadProblem("corrupt", f"The Word document is damaged: {error}") from error


def _blocks(document: Any) -> Iterator[str]:
    """Paragraphs and tables as Markdown; content controls are entered."""
    levels = _heading_levels(document)
    for element in _block_elements(document.element.body):
        if element.tag == f"{_W}tbl":
            rows = _rows(element)
            if rows:
                yield markdown_table(rows)
            continue
        text = _text(element)
        if not text.strip():
            continue
        level = levels.get(_style(element), 0)
        listed = element.find(f"{_W}pPr/{_W}numPr")
        if level:
            yield f"{'#' * level} {text.strip()}"
        elif listed is not None:
            depth = listed.find(f"{_W}ilvl")
            yield "  " * int(depth.get(f"{_W}val", "0") if depth is not None else 0) + f"- {text.strip()}"
        else:
            yield f"- {text.strip()}" if _style(element).startswith("List") else text


def _block_elements(parent: Any) -> Iterator[Any]:
    for element in parent:
        if element.tag in (f"{_W}p", f"{_W}tbl"):
            yield element
        elif element.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}smartTag", f"{_W}ins"):
            yield from _block_elements(element)


def _heading_levels(document: Any) -> dict[str, int]:
    """Heading level by style id; the ids are translated in localised files, the names and outline levels are not."""
    levels: dict[str, int] = {}
    for style in document.styles.element.iter(f"{_W}style"):
        named, outline = style.find(f"{_W}name"), style.find(f"{_W}pPr/{_W}outlineLvl")
        name = (named.get(f"{_W}val") or "").lower() if named is not None else ""
        match = re.fullmatch(r"heading (\d)", name)
        level = int(match[1]) if match else 1 if name == "title" else 0
        if not level and outline is not None:
            level = int(outline.get(f"{_W}val") or 9) + 1
        if 1 <= level <= 6:
            levels[style.get(f"{_W}styleId") or ""] = level
    return levels


def _style(paragraph: Any) -> str:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    return str(style.get(f"{_W}val")) if style is not None else ""


def _text(paragraph: Any) -> str:
    """Text of a paragraph without deleted text; footnote marks as ``[^n]``."""
    parts: list[str] = []
    for node in paragraph.iter(f"{_W}t", f"{_W}tab", f"{_W}br", f"{_W}footnoteReference"):
        if node.tag == f"{_W}t":
            parts.append(node.text or "")
        elif node.tag == f"{_W}footnoteReference":
            parts.append(f"[^{node.get(f'{_W}id')}]")
        elif node.getparent().tag == f"{_W}r":
            parts.append("\t" if node.tag == f"{_W}tab" else "\n")
    return "".join(parts)


def _rows(table: Any) -> list[list[str]]:
    rows = []
    for row in table.findall(f"{_W}tr"):
        cells = []
        for cell in row.iter(f"{_W}tc"):
            if next(cell.iterancestors(f"{_W}tr")) is row:
                cells.append(" ".join(_text(paragraph) for paragraph in cell.iter(f"{_W}p")).strip())
        rows.append(cells)
    return [row for row in rows if any(row)]


def _footnotes(document: Any) -> list[str]:
    from lxml import etree

    notes = []
    for relation in document.part.rels.values():
        if relation.is_external or not relation.reltype.endswith("/footnotes"):
            continue
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        tree = etree.fromstring(relation.target_part.blob, parser)
        for note in tree.iter(f"{_W}footnote"):
            text = " ".join(_text(paragraph) for paragraph in note.iter(f"{_W}p")).strip()
            if text:
                notes.append(f"[^{note.get(f'{_W}id')}]: {text}")
    return notes


def _noted_pages(path: Path) -> int:
    with zipfile.ZipFile(path) as package:
        if "docProps/app.xml" not in package.namelist():
            return 0
        match = re.search(rb"<Pages>(\d+)</Pages>", package.read("docProps/app.xml"))
    return int(match[1]) if match else 0
