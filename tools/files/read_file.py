"""The tool ``read_file``: what is in files, bounded, with a way to read on."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import msgspec

from engine.protocol.documents import Reading, ReadOptions
from engine.protocol.errors import ModelError
from engine.protocol.ports import ToolContext
from engine.protocol.tools import ToolResult, ToolSpec


class ReadFileArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `ReadFile`."""

    files: Annotated[list[str], msgspec.Meta(description="names of the files", min_length=1, max_length=20)]
    pages: Annotated[str, msgspec.Meta(description="pages or slides, such as 3-5")] = ""
    sheet: Annotated[str, msgspec.Meta(description="name of a sheet")] = ""
    range: Annotated[str, msgspec.Meta(description="cells, such as A1:F40")] = ""
    search: Annotated[str, msgspec.Meta(description="only lines that hold this text")] = ""
    offset: Annotated[int, msgspec.Meta(description="characters to skip", ge=0)] = 0


class ReadFile:
    """Reads one or several files; they share what the model can see of a result."""

    spec = ToolSpec(
        name="read_file",
        summary="Show what is in files: text, tables with their columns, pages.",
        arguments=ReadFileArguments,
        effect="read",
        example={"files": ["sales.csv"]},
    )

    async def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Read the files.

        Raises:
            ModelError: none of the files is there.
        """
        assert isinstance(arguments, ReadFileArguments)
        share = max(context.observation_chars // len(arguments.files) - 200, 300)
        options = ReadOptions(
            max_chars=share,
            pages=arguments.pages,
            sheet=arguments.sheet,
            range=arguments.range,
            search=arguments.search,
            offset=arguments.offset,
        )
        if len(arguments.files) == 1:
            reading = await self._read(arguments.files[0], options, context)
            return ToolResult(text=show_reading(reading), ok=not reading.problem, code=_code(reading), trust="file")
        readings = await asyncio.gather(*(self._try(name, options, context) for name in arguments.files))
        good = [reading for reading in readings if not reading.problem]
        text = "\n\n".join(f"=== {reading.name} ===\n{show_reading(reading)}" for reading in readings)
        return ToolResult(text=text, ok=bool(good), code="" if good else _code(readings[0]), trust="file")

    async def _read(self, name: str, options: ReadOptions, context: ToolContext) -> Reading:
        return await context.documents.read(context.resolve(name), options)

    async def _try(self, name: str, options: ReadOptions, context: ToolContext) -> Reading:
        """Read one of several: what is wrong with one does not hide the others."""
        try:
            return await self._read(name, options, context)
        except ModelError as error:
            return Reading(name=name, problem="missing", detail=error.text)


def show_reading(reading: Reading) -> str:
    """A reading as text for the model."""
    if reading.problem:
        return f"{reading.name} cannot be read ({reading.problem}): {reading.detail}"
    return f"{reading.text.rstrip()}\n[{reading.more}]" if reading.more else reading.text.rstrip() or "(no text)"


def _code(reading: Reading) -> str:
    return f"read.{reading.problem}" if reading.problem else ""
