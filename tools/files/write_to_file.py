"""The tool ``write_to_file``: a new file from text, in the format of its suffix."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec

from engine.protocol.errors import ModelError
from engine.protocol.ports import ToolContext
from engine.protocol.tools import ToolResult, ToolSpec
from tools.files.placing import place, scratch_file
from tools.writers.registry import TEXT_SUFFIXES, Written, check_suffix

_HOLD_MORE = {
    ".xlsx": "Change it with edit_table",
    ".docx": "Change it in a script with python-docx",
}
"""Formats that hold more than the text of a model can say, and what to do instead."""


class WriteToFileArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `WriteToFile`."""

    filename: Annotated[str, msgspec.Meta(description="name with suffix: .md .txt .csv .xlsx .docx .json .html")]
    content: Annotated[str, msgspec.Meta(description="whole content: Markdown for docx and html; CSV for csv and xlsx")]
    title: Annotated[str, msgspec.Meta(description="title of the document")] = ""
    encoding: Annotated[str, msgspec.Meta(description="of text files")] = "utf-8"
    use_latex: Annotated[bool, msgspec.Meta(description="the content holds LaTeX formulas")] = False


class WriteToFile:
    """Writes a file into the workspace; one of the same name is replaced, unless it holds more than text."""

    def __init__(self) -> None:
        self._written: set[Path] = set()

    spec = ToolSpec(
        name="write_to_file",
        summary="Write a whole new file. The format follows the suffix (docx and html from Markdown, xlsx from CSV).",
        arguments=WriteToFileArguments,
        effect="write",
        example={"filename": "note.md", "content": "# Note\n\nText."},
    )

    async def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Write the file.

        Raises:
            ModelError: no such format, or content that does not fit it.
        """
        assert isinstance(arguments, WriteToFileArguments)
        target = context.target(arguments.filename)
        check_suffix(target.name)
        if not arguments.content.strip():
            raise ModelError("The content is empty; nothing was written.", code="write.empty")
        if arguments.use_latex and target.suffix.lower() not in TEXT_SUFFIXES:
            raise ModelError(
                f"LaTeX cannot be set in {target.suffix} files. Write the formulas in plain characters "
                "(x² + y₁ ≤ √2) with use_latex false, or write a .md file.",
                code="write.latex",
            )
        if target.suffix.lower() in _HOLD_MORE and target not in self._written and target.exists():
            raise ModelError(
                f"{target.name} is there already and was not written with this tool: writing it anew would lose what "
                f"is in it. {_HOLD_MORE[target.suffix.lower()]}, or write a file of another name.",
                code="write.would_lose",
            )
        made = scratch_file(context, target.name)
        params = {
            "content": arguments.content,
            "target": str(made),
            "title": arguments.title,
            "encoding": arguments.encoding,
        }
        written = msgspec.convert(await context.documents.job("write", params), Written)
        size = made.stat().st_size
        await place(made, target)
        self._written.add(target)
        return ToolResult(text=_report(target.name, size, written))


def _report(name: str, size: int, written: Written) -> str:
    parts = [f"{size} bytes"]
    if written.words:
        parts.append(f"{written.words} words")
    if written.rows:
        parts.append(f"{written.rows} rows")
    if written.pages:
        parts.append(f"about {written.pages} page{'s' if written.pages > 1 else ''}")
    return "\n".join([f"Wrote {name}: {', '.join(parts)}.", *written.notes])
