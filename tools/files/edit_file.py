"""The tool ``edit_file``: exact replacement in a text file."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from engine.protocol.errors import ModelError
from engine.protocol.ports import ToolContext
from engine.protocol.tools import ToolResult, ToolSpec
from tools.files.placing import place, scratch_file
from tools.readers.kinds import kind_of

_OTHER_WAYS = {
    "xlsx": "use edit_table, or a script with openpyxl",
    "docx": "use a script with python-docx",
    "pptx": "use a script with python-pptx",
    "pdf": "a PDF cannot be edited; write a new file",
    "image": "use a script with Pillow",
}


class EditFileArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `EditFile`."""

    file_path: Annotated[str, msgspec.Meta(description="name of a text file")]
    old_content: Annotated[str, msgspec.Meta(description="text to replace, exactly as in the file", min_length=1)]
    new_content: Annotated[str, msgspec.Meta(description="text to put there")]
    replace_all: Annotated[bool, msgspec.Meta(description="replace every occurrence")] = False


class EditFile:
    """Replaces a piece of a text file; encoding, byte order mark and line ends stay as they are."""

    spec = ToolSpec(
        name="edit_file",
        summary="Replace one exact piece of a text file by another.",
        arguments=EditFileArguments,
        effect="write",
        example={"file_path": "note.md", "old_content": "2024", "new_content": "2025"},
    )

    async def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Edit the file.

        Raises:
            ModelError: not a text file, the old text is not there (the nearest is shown) or there several times.
        """
        assert isinstance(arguments, EditFileArguments)
        path = context.resolve(arguments.file_path)
        target = context.target(path.name)
        kind = kind_of(path)
        if kind in _OTHER_WAYS:
            raise ModelError(f"{path.name} is not a text file: {_OTHER_WAYS[kind]}.", code="edit.not_text")
        made = scratch_file(context, target.name)
        params = {
            "path": str(path),
            "target": str(made),
            "old": arguments.old_content,
            "new": arguments.new_content,
            "replace_all": arguments.replace_all,
        }
        result = await context.documents.job("edit_text", params)
        await place(made, target)
        places = "1 place" if result["count"] == 1 else f"{result['count']} places"
        return ToolResult(text=f"Edited {target.name}: {places}, first in line {result['line']}.")
