"""Word documents from Markdown, with real styles for headings, lists and tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from tools.readers.columns import parse_number
from tools.readers.text import count_words
from tools.writers.registry import Written

_CJK_FONT = "Microsoft YaHei"
_WORDS_PER_PAGE = 420
_LISTS = {"bullet_list_open": "List Bullet", "ordered_list_open": "List Number"}


def write(content: str, target: Path, title: str, encoding: str) -> Written:
    """Write a document; the title stands on top unless the content begins with it."""
    del encoding
    import docx
    from markdown_it import MarkdownIt

    document = docx.Document()
    _set_fonts(document)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(content)
    if title:
        document.core_properties.title = title
        first = tokens[1].content if tokens and tokens[0].type == "heading_open" else ""
        if first.strip().casefold() != title.strip().casefold():
            document.add_heading(title, level=0)
    builder = _Builder(document)
    builder.build(tokens)
    document.save(str(target))
    words = count_words(content)
    return Written(words=words, pages=max(1, math.ceil(words / _WORDS_PER_PAGE)), notes=tuple(builder.notes))


def _set_fonts(document: Any) -> None:
    """A common font, with one that has Chinese and Japanese characters beside it."""
    from docx.oxml.ns import qn
    from docx.shared import Pt

    style = document.styles["Normal"]
    style.font.name, style.font.size = "Calibri", Pt(11)
    for name in ("Normal", "Title", *(f"Heading {level}" for level in range(1, 7))):
        fonts = document.styles[name].element.get_or_add_rPr().get_or_add_rFonts()
        # a theme font would win over the named one
        fonts.attrib.pop(qn("w:eastAsiaTheme"), None)
        fonts.set(qn("w:eastAsia"), _CJK_FONT)


class _Builder:
    """Walks through Markdown tokens and adds to a document."""

    def __init__(self, document: Any) -> None:
        self.document = document
        self.notes: list[str] = []
        self._lists: list[str] = []
        self._quote = 0
        self._fresh_item = False
        self._numbering: list[Any] = []

    def build(self, tokens: list[Any]) -> None:
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.type == "table_open":
                end = next(i for i in range(index, len(tokens)) if tokens[i].type == "table_close")
                self._table(tokens[index:end])
                index = end
            elif token.type == "heading_open":
                paragraph = self.document.add_heading(level=int(token.tag[1]))
                self._runs(paragraph, tokens[index + 1])
                index += 2
            elif token.type == "inline":
                self._runs(self._paragraph(), token)
            else:
                self._block(token)
            index += 1

    def _block(self, token: Any) -> None:
        if token.type in _LISTS:
            self._lists.append(_LISTS[token.type])
            self._numbering.append(self._new_numbering() if token.type == "ordered_list_open" else None)
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self._lists.pop()
            self._numbering.pop()
        elif token.type == "list_item_open":
            self._fresh_item = True
        elif token.type in ("blockquote_open", "blockquote_close"):
            self._quote += 1 if token.type == "blockquote_open" else -1
        elif token.type in ("fence", "code_block"):
            run = self.document.add_paragraph(style="No Spacing").add_run(token.content.rstrip("\n"))
            run.font.name = "Consolas"
        elif token.type == "html_block":
            self.document.add_paragraph(token.content.strip())

    def _paragraph(self) -> Any:
        if not self._lists:
            return self.document.add_paragraph(style="Quote" if self._quote else None)
        depth = min(len(self._lists), 3)
        suffix = f" {depth}" if depth > 1 else ""
        if not self._fresh_item:
            return self.document.add_paragraph(style=f"List Continue{suffix}")
        self._fresh_item = False
        paragraph = self.document.add_paragraph(style=f"{self._lists[-1]}{suffix}")
        if self._numbering[-1] is not None:
            properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
            properties.get_or_add_ilvl().val = 0
            properties.get_or_add_numId().val = self._numbering[-1]
        return paragraph

    def _new_numbering(self) -> int | None:
        """A numbering of its own for each list, or the second list would go on where the first ended."""
        depth = min(len(self._lists), 3)
        style = self.document.styles["List Number" + (f" {depth}" if depth > 1 else "")].element
        if style.pPr is None or style.pPr.numPr is None or style.pPr.numPr.numId is None:
            return None
        numbering = self.document.part.numbering_part.element
        abstract = numbering.num_having_numId(style.pPr.numPr.numId.val).abstractNumId.val
        number = numbering.add_num(abstract)
        number.add_lvlOverride(ilvl=0).add_startOverride(1)
        return int(number.numId)

    def _table(self, tokens: list[Any]) -> None:
        rows: list[list[Any]] = []
        for index, token in enumerate(tokens):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                rows[-1].append(tokens[index + 1])
        table = self.document.add_table(rows=len(rows), cols=max(len(row) for row in rows), style="Table Grid")
        for r, row in enumerate(rows):
            for c, inline in enumerate(row):
                paragraph = table.cell(r, c).paragraphs[0]
                self._runs(paragraph, inline, bold=r == 0)
                if r and parse_number(inline.content) is not None:
                    paragraph.alignment = 2
        self._repeat_header(table)
        self.document.add_paragraph()

    def _repeat_header(self, table: Any) -> None:
        from docx.oxml import OxmlElement

        table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))

    def _runs(self, paragraph: Any, inline: Any, *, bold: bool = False) -> None:
        """Add the text of an inline token, run by run."""
        strong, emphasis, struck = int(bold), 0, 0
        for child in inline.children or []:
            if child.type in ("strong_open", "strong_close"):
                strong += child.nesting
            elif child.type in ("em_open", "em_close"):
                emphasis += child.nesting
            elif child.type in ("s_open", "s_close"):
                struck += child.nesting
            elif child.type in ("softbreak", "hardbreak"):
                paragraph.add_run(" ") if child.type == "softbreak" else paragraph.add_run().add_break()
            elif child.type == "link_close":
                continue
            elif child.type == "image":
                self.notes.append(f"The picture {child.attrs.get('src', '')!r} was not put into the document.")
                paragraph.add_run(f"[{child.content}]").italic = True
            elif child.content:
                run = paragraph.add_run(child.content)
                run.bold, run.italic = bool(strong) or None, bool(emphasis) or None
                run.font.strike = bool(struck) or None
                if child.type == "code_inline":
                    run.font.name = "Consolas"
