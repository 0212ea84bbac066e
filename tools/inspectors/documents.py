"""Word, PowerPoint and PDF files: text, headings, empty pages and slides, placeholders, left-over Markdown."""

from __future__ import annotations

import re
from pathlib import Path

from engine.protocol.verdicts import Defect
from tools.inspectors.base import Found, fault, text_defects
from tools.inspectors.pages import docx_pages
from tools.inspectors.texts import docx_blocks, pdf_pages, pptx_slides

_MARKDOWN = re.compile(r"(?m)^\s{0,3}#{1,6}\s+\S|\*\*[^*\n]{2,80}\*\*|^```|^\|(?:\s*:?-{3,}:?\s*\|)+\s*$")


def inspect_docx(path: Path) -> Found:
    """Facts: ``words``, ``headings``, ``tables``, ``pages_estimated``."""
    import docx

    document = docx.Document(str(path))
    blocks = docx_blocks(path)
    text = "\n".join(blocks)
    headings = [
        p.text
        for p in document.paragraphs
        if p.style is not None and (p.style.name or "").startswith(("Heading", "Title"))
    ]
    facts = {
        "words": len(text.split()),
        "headings": headings[:50],
        "tables": len(document.tables),
        "pages_estimated": docx_pages(path),
    }
    pictures = bool(document.element.body.xpath(".//w:drawing | .//w:pict"))
    if not text.strip() and not pictures and not document.element.body.xpath(".//w:t[normalize-space()] | .//w:sdt"):
        return facts, [fault("document.no_text", path.name, "", "Every paragraph is empty.")]
    defects = text_defects(path, text)
    match = _MARKDOWN.search(text)
    if match:
        defects.append(
            fault(
                "document.markdown_left",
                path.name,
                "",
                f"“{match.group().strip()}” is Markdown, not Word.",
                True,
                text=match.group().strip(),
            )
        )
    return facts, defects


def inspect_pptx(path: Path) -> Found:
    """Facts: ``slides``, ``titles``."""
    import pptx

    deck = pptx.Presentation(str(path))
    slides = pptx_slides(path)
    facts = {"slides": len(slides), "titles": [texts[0][:80] if texts else "" for texts in slides]}
    if not slides:
        return facts, [fault("deck.no_slides", path.name, "", "It has no slides.")]
    defects: list[Defect] = []
    for number, (slide, texts) in enumerate(zip(deck.slides, slides, strict=True), 1):
        drawn = [shape for shape in slide.shapes if not shape.is_placeholder]
        filled = [shape for shape in slide.placeholders if not shape.has_text_frame]
        if not texts and not drawn and not filled:
            fatal = len(slides) == 1
            defects.append(
                fault("deck.slide_empty", path.name, f"slide {number}", "Nothing is on it.", fatal, slide=number)
            )
        defects.extend(d for d in text_defects(path, "\n".join(texts)) if d.code != "text.cut")
    return facts, defects


def inspect_pdf(path: Path) -> Found:
    """Facts: ``pages``, ``words``."""
    import pdfplumber

    pages = pdf_pages(path)
    text = "\n".join(pages)
    facts = {"pages": len(pages), "words": len(text.split())}
    if not pages:
        return facts, [fault("document.no_pages", path.name, "", "It has no pages.")]
    if not text.strip():
        with pdfplumber.open(path) as document:
            drawn = any(
                page.images or page.curves or page.rects or page.lines or page.annots for page in document.pages[:5]
            )
        if not drawn:
            return facts, [fault("document.no_text", path.name, "", "Every page is empty.")]
    return facts, [defect for defect in text_defects(path, text) if defect.code != "text.cut"]
