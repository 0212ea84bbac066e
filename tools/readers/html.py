"""HTML pages: their text, headings and tables; nothing of a page is run or fetched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from engine.protocol.documents import FileProfile, Reading, ReadOptions
from tools.readers.columns import TableFacts, unique_headers
from tools.readers.encodings import detect_encoding
from tools.readers.kinds import ReadProblem
from tools.readers.text import count_words
from tools.readers.windows import markdown_table, present

_SKIPPED = {"script", "style", "noscript", "template", "head", "svg", "iframe", "object"}
_BLOCKS = {
    "p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol", "table", "blockquote",
    "pre", "form", "figure", "figcaption", "dl", "dt", "dd", "hr", "address", "fieldset", "body",
}  # fmt: skip


def read(path: Path, options: ReadOptions) -> Reading:
    """The page's text as Markdown."""
    return present(path.name, "html", to_text(_tree(path)), options)


def profile(path: Path) -> FileProfile:
    """Words, headings and tables."""
    tree = _tree(path)
    headings = [_inline(node) for node in tree.iter("h1", "h2", "h3", "h4", "h5", "h6")]
    tables = []
    for node in tree.iter("table"):
        rows = _rows(node)
        if len(rows) > 1:
            tables.append(TableFacts(unique_headers(rows[0])).add_all(rows[1:]).table())
    return FileProfile(
        name=path.name,
        kind="html",
        size_bytes=path.stat().st_size,
        words=count_words(to_text(tree)),
        headings=tuple(text for text in headings if text)[:50],
        tables=tuple(tables[:20]),
    )


def to_text(tree: Any) -> str:
    """Markdown of a parsed page."""
    parts: list[str] = []
    title = tree.findtext(".//title")
    if title and title.strip():
        parts.append(f"Title: {' '.join(title.split())}\n\n")
    _walk(tree, parts)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]*\n[ \t]*", "\n", "".join(parts))).strip() + "\n"


def _tree(path: Path) -> Any:
    import lxml.etree
    import lxml.html

    data = path.read_bytes()
    encoding = _declared(data) or detect_encoding(path) or "utf-8"
    parser = lxml.html.HTMLParser(encoding="utf-8", no_network=True)
    try:
        text = data.decode(encoding, errors="replace").replace("\0", "")
        return lxml.html.document_fromstring(text.encode("utf-8", errors="replace"), parser=parser)
    except lxml.etree.ParserError as error:
        raise ReadProblem("empty", "The page holds nothing.") from error


def _declared(data: bytes) -> str | None:
    """The encoding that a page declares, if Python knows it and nothing contradicts it."""
    match = re.search(rb"charset\s*=\s*[\"']?([\w-]+)", data[:2048], re.IGNORECASE)
    if match is None:
        return None
    try:
        data[:65536].decode(name := match[1].decode("ascii"), errors="ignore")
    except LookupError:
        return None
    return name


def _walk(node: Any, parts: list[str]) -> None:
    """Append the text of a node and its children. Iterates over siblings, descends only into children."""
    tag = node.tag if isinstance(node.tag, str) else ""
    if not tag or tag in _SKIPPED:
        return
    if tag == "table" and (rows := _rows(node)) and not node.findall(".//table"):
        parts.append("\n\n" + markdown_table(rows) + "\n\n")
        return
    if re.fullmatch("h[1-6]", tag):
        parts.append(f"\n\n{'#' * int(tag[1])} {_inline(node)}\n\n")
        return
    before, after = ("\n- ", "") if tag == "li" else ("\n", "") if tag in ("br", "tr") else ("", "")
    if tag in _BLOCKS:
        before, after = "\n\n", "\n\n"
    parts.append(before)
    parts.append(re.sub(r"\s+", " ", node.text or ""))
    for child in node:
        _walk(child, parts)
        parts.append(re.sub(r"\s+", " ", child.tail or ""))
    parts.append(after or (" " if tag in ("td", "th") else ""))


def _inline(node: Any) -> str:
    return " ".join("".join(node.itertext()).split())


def _rows(table: Any) -> list[list[str]]:
    rows = [[_inline(cell) for cell in row.iter("td", "th")] for row in table.iter("tr")]
    return [row for row in rows if any(row)]
