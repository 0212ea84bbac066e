"""One self-contained HTML file, from Markdown or from HTML."""

from __future__ import annotations

import html
import re
from pathlib import Path

from tools.readers.text import count_words
from tools.writers.registry import Written, encode

_STYLE = (
    "body{font:16px/1.6 system-ui,'Noto Sans CJK SC','Microsoft YaHei',sans-serif;max-width:48rem;margin:2rem auto;"
    "padding:0 1rem;color:#1d1d1f}table{border-collapse:collapse;margin:1rem 0}th,td{border:1px solid #c8c8cc;"
    "padding:.35rem .7rem;text-align:left}th{background:#f2f2f5}code,pre{background:#f5f5f7;border-radius:4px;"
    "padding:.1rem .3rem}pre{padding:.8rem;overflow:auto}blockquote{border-left:4px solid #c8c8cc;margin-left:0;"
    "padding-left:1rem;color:#555}img{max-width:100%}"
)


def write(content: str, target: Path, title: str, encoding: str) -> Written:
    """Write a page; Markdown and fragments are put into a whole document with a plain style."""
    if re.match(r"\s*(<!doctype|<html)", content, re.IGNORECASE):
        page = content
    else:
        body = content if re.match(r"\s*<[a-zA-Z]", content) else _from_markdown(content)
        if title and "<h1" not in body:
            body = f"<h1>{html.escape(title)}</h1>\n{body}"
        shown = html.escape(title or target.stem)
        page = (
            f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="{encoding}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{shown}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
        )
    target.write_bytes(encode(page, encoding))
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL | re.IGNORECASE)
    return Written(words=count_words(html.unescape(text)), notes=_outside(page))


def _from_markdown(content: str) -> str:
    from markdown_it import MarkdownIt

    return str(MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).render(content))


def _outside(page: str) -> tuple[str, ...]:
    """Things a page would load from elsewhere: it would not be whole without them."""
    loaded = re.findall(r"<(?:script|img|link|iframe)\b[^>]*?(?:src|href)\s*=\s*[\"']?([^\"'> ]+)", page, re.IGNORECASE)
    outside = [name for name in loaded if not name.lower().startswith(("data:", "#"))]
    return (f"The page needs things that are not in it: {', '.join(outside[:5])}.",) if outside else ()
