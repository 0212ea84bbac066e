"""Markdown, plain text, JSON and HTML files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from engine.protocol.verdicts import Defect
from tools.inspectors.base import Found, fault, text_defects
from tools.inspectors.texts import decode, read_text


def inspect_text(path: Path) -> Found:
    """Markdown and plain text. Facts: ``words``, ``headings``."""
    text = decode(path.read_bytes())
    headings = [line.lstrip("# ").strip() for line in text.splitlines() if re.match(r"#{1,6}\s", line)]
    facts = {"words": len(text.split()), "headings": headings[:50]}
    if not text.strip():
        return facts, [fault("file.empty", path.name, "", "It holds no text.")]
    defects = text_defects(path, text)
    if path.suffix.lower() != ".txt":
        defects.extend(_missing(path, re.findall(r"!\[[^\]]*\]\(<?([^)>\s]+)", text)))
        if text.count("\n```") % 2 + text.startswith("```") == 1 and text.count("```") % 2:
            defects.append(fault("text.cut", path.name, "end", "A code block is not closed.", False, end="```"))
    return facts, defects


def inspect_json(path: Path) -> Found:
    """JSON. Facts: ``type``, ``length``."""
    try:
        value = json.loads(decode(path.read_bytes()))
    except json.JSONDecodeError as error:
        return {}, [fault("json.invalid", path.name, f"line {error.lineno}", error.msg, line=error.lineno)]
    size = len(value) if isinstance(value, dict | list) else 1
    facts = {"type": type(value).__name__, "length": size}
    empty = value is None or (isinstance(value, dict | list | str) and not value)
    return facts, [fault("file.empty", path.name, "", "It holds no data.")] if empty else []


def inspect_html(path: Path) -> Found:
    """HTML. Facts: ``title``, ``words``."""
    import lxml.html

    source = decode(path.read_bytes())
    root = lxml.html.document_fromstring(source)
    text = read_text(path)
    facts = {"title": (root.findtext(".//title") or "").strip(), "words": len(text.split())}
    links = [str(v) for v in root.xpath("//img/@src | //script/@src | //link[@rel='stylesheet']/@href")]
    defects = _missing(path, links)
    if not text.strip() and not root.xpath(
        "//img | //svg | //canvas | //script | //form | //frame | //iframe | //video"
    ):
        defects.append(fault("document.no_text", path.name, "", "The page shows nothing."))
    if re.search(r"<html\b", source, re.IGNORECASE) and not re.search(
        r"</(?:html|body|frameset)\s*>", source, re.IGNORECASE
    ):
        defects.append(fault("text.cut", path.name, "end", "The page is not closed.", False, end=source.strip()[-40:]))
    return facts, defects + [defect for defect in text_defects(path, text) if defect.code != "text.cut"]


def _missing(path: Path, links: list[str]) -> list[Defect]:
    """Files a page refers to that do not lie beside it; addresses on the web are not looked up."""
    found: list[Defect] = []
    for link in dict.fromkeys(links):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/") or "{" in link:
            continue
        if not (path.parent / unquote(parts.path)).exists():
            found.append(
                fault(
                    "page.resource_missing",
                    path.name,
                    link,
                    "The file it refers to is not there.",
                    False,
                    resource=link,
                )
            )
    return found
