"""The tool ``edit_table``: typed changes to a table, everything else untouched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec

from engine.protocol.errors import ModelError
from engine.protocol.ports import ToolContext
from engine.protocol.tools import ToolResult, ToolSpec
from tools.files.placing import place, scratch_file
from tools.readers.kinds import kind_of

Cell = str | int | float | bool | None


class EditTableArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `EditTable`. The operations are done in this order, whatever the order they are given in."""

    file: Annotated[str, msgspec.Meta(description="a .csv, .tsv or .xlsx file")]
    sheet: Annotated[str, msgspec.Meta(description="sheet of an .xlsx; empty for the first")] = ""
    output: Annotated[str, msgspec.Meta(description="new file name; empty changes the file itself")] = ""
    rename: Annotated[dict[str, str], msgspec.Meta(description="old column name: new name")] = {}
    drop_columns: Annotated[str | list[str], msgspec.Meta(description="columns to remove")] = []
    keep_columns: Annotated[str | list[str], msgspec.Meta(description="only these columns, in this order")] = []
    drop_duplicates: Annotated[
        bool | list[str], msgspec.Meta(description="true for whole rows, or the columns to compare")
    ] = False
    add_columns: Annotated[
        dict[str, Cell], msgspec.Meta(description="name: value, or a formula such as ={price}*{amount} or =B{row}*2")
    ] = {}
    add_rows: Annotated[list[list[Cell]], msgspec.Meta(description="rows to add at the end")] = []
    total_row: Annotated[
        dict[str, list[str]], msgspec.Meta(description='label: columns to sum, such as {"Total": ["amount"]}')
    ] = {}
    sort_by: Annotated[str | list[str], msgspec.Meta(description="columns; -name for descending")] = []
    set_cells: Annotated[dict[str, Cell], msgspec.Meta(description="cell of the finished sheet: value")] = {}


class EditTable:
    """Edits a table of a CSV, TSV or XLSX file."""

    spec = ToolSpec(
        name="edit_table",
        summary="Change a table: rename, drop, add columns and rows, drop duplicates, total row, sort, set cells.",
        arguments=EditTableArguments,
        effect="write",
        example={
            "file": "members.xlsx",
            "sheet": "List",
            "rename": {"Tel": "Phone", "Zip": "Postcode"},
            "drop_duplicates": True,
            "output": "members.xlsx",
        },
    )

    async def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Edit the table.

        Raises:
            ModelError: no table, a column that is not there, or something would be lost.
        """
        assert isinstance(arguments, EditTableArguments)
        path = context.resolve(arguments.file)
        target = context.target(arguments.output or path.name)
        for name in (path, target):
            check_table_name(name)
        made = scratch_file(context, target.name)
        given = msgspec.to_builtins(arguments)
        operations = {key: value for key, value in given.items() if key not in ("file", "sheet", "output")}
        operations |= {name: as_list(operations[name]) for name in ("drop_columns", "keep_columns", "sort_by")}
        params = {"path": str(path), "target": str(made), "sheet": arguments.sheet, "operations": operations}
        result = await context.documents.job("edit_table", params)
        await place(made, target)
        shape = f"{result['rows']} rows; columns: {', '.join(result['columns'])}"
        return ToolResult(text="\n".join([f"{target.name}: {'; '.join(result['said'])}. {shape}.", *result["notes"]]))


def as_list(names: str | list[str]) -> list[str]:
    """A list of names where a model may have given one name alone; empty for an empty one."""
    found = [names] if isinstance(names, str) else names
    return [name for name in found if name.strip()]


def check_table_name(path: Path) -> None:
    """Refuse a file that is no table by its name.

    Raises:
        ModelError: neither CSV, TSV nor XLSX.
    """
    if kind_of(path) not in ("csv", "xlsx"):
        raise ModelError(f"{path.name} is not a .csv, .tsv or .xlsx file.", code="table.format")
    if path.suffix.lower() == ".xlsm":
        raise ModelError(f"{path.name} holds macros, which editing would lose.", code="table.would_lose")
