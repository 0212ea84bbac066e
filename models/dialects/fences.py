"""Fenced blocks of a reply."""

from __future__ import annotations

import re

import msgspec

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*?)[ \t]*$")
_PLAIN_DOCUMENT = ("file", "markdown", "md", "text", "txt", "csv", "json", "html")


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A fenced block.

    Attributes:
        info: what stands after the opening marks, such as ``python`` or ``file brief.docx``.
        body: the lines between the marks.
        closed: whether the closing marks are there.
    """

    info: str
    body: str
    closed: bool

    @property
    def language(self) -> str:
        return self.info.split(maxsplit=1)[0].lower() if self.info else ""

    @property
    def file_name(self) -> str:
        """The name in ``file NAME`` or ``markdown NAME``; empty where the block names no file."""
        words = self.info.split(maxsplit=1)
        if len(words) == 2 and words[0].lower() in _PLAIN_DOCUMENT:
            name = words[1].strip().strip("\"'`")
            name = re.sub(r"^(?:file)?name\s*=\s*[\"']?|[\"']$", "", name)
            return name if is_file_name(name) else ""
        return ""


def is_file_name(text: str) -> bool:
    """Whether a text looks like a plain file name with an ending."""
    return bool(re.fullmatch(r"[^/\\\n]{1,120}\.\w{1,5}", text))


def split(text: str) -> tuple[str, list[Block]]:
    """The text outside fences, and the fenced blocks in order.

    In a block that holds a document, inner fences with an info string are part of the document.

    Args:
        text: a reply.
    """
    prose: list[str] = []
    blocks: list[Block] = []
    marks, info, body, depth = "", "", [""], 0
    for line in text.split("\n"):
        fence = _FENCE.match(line.rstrip("\r"))
        if not marks:
            if fence:
                marks, info, body, depth = fence[1], fence[2], [], 0
            else:
                prose.append(line)
            continue
        if fence and fence[1][0] == marks[0] and len(fence[1]) >= len(marks):
            if fence[2] and Block(info=info, body="", closed=True).file_name:
                depth += 1
            elif not fence[2] and depth:
                depth -= 1
            elif not fence[2]:
                blocks.append(Block(info=info, body="\n".join(body), closed=True))
                marks = ""
                continue
        body.append(line)
    if marks:
        blocks.append(Block(info=info, body="\n".join(body), closed=False))
    return "\n".join(prose).strip(), blocks
