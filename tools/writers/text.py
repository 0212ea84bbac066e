"""Markdown, plain text and other text formats, as given."""

from __future__ import annotations

from pathlib import Path

from tools.readers.text import count_words
from tools.writers.registry import Written, encode


def write(content: str, target: Path, title: str, encoding: str) -> Written:
    """Write the content; a title is put above Markdown that has no heading of the first level."""
    if title and target.suffix.lower() in (".md", ".markdown") and not content.lstrip().startswith("# "):
        content = f"# {title}\n\n{content}"
    target.write_bytes(encode(content if content.endswith("\n") else content + "\n", encoding))
    return Written(words=count_words(content))
