"""The tool ``aggregate_table``: totals, means and counts per group."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from engine.protocol.errors import ModelError
from engine.protocol.ports import ToolContext
from engine.protocol.tools import ToolResult, ToolSpec
from tools.files.placing import place, scratch_file
from tools.table.edit_table import as_list, check_table_name


class AggregateTableArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `AggregateTable`."""

    file: Annotated[str, msgspec.Meta(description="a .csv, .tsv or .xlsx file")]
    group_by: Annotated[str | list[str], msgspec.Meta(description="columns that make the groups")]
    output: Annotated[str, msgspec.Meta(description="name of the .csv or .xlsx file to write")]
    values: Annotated[str | list[str], msgspec.Meta(description="number columns; none with count")] = []
    how: Literal["sum", "mean", "count", "min", "max", "median"] = "sum"
    sheet: Annotated[str, msgspec.Meta(description="sheet of an .xlsx; empty for the first")] = ""
    total_row: Annotated[
        Literal["none", "formula", "value"], msgspec.Meta(description="last row over all groups; formula needs .xlsx")
    ] = "none"
    sort: Annotated[str, msgspec.Meta(description="column to sort by; -name for descending")] = ""
    names: Annotated[str | list[str], msgspec.Meta(description="headers for the value columns")] = []


class AggregateTable:
    """Groups a table and writes the result to a new file."""

    spec = ToolSpec(
        name="aggregate_table",
        summary="Totals, means, counts per group of a table, written to a new .csv or .xlsx file.",
        arguments=AggregateTableArguments,
        effect="write",
        example={
            "file": "stock list.csv",
            "group_by": ["Warehouse"],
            "values": ["Pieces"],
            "how": "sum",
            "output": "stock totals.xlsx",
            "total_row": "formula",
        },
    )

    async def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Aggregate the table.

        Raises:
            ModelError: a column that is not there or holds no numbers.
        """
        assert isinstance(arguments, AggregateTableArguments)
        path = context.resolve(arguments.file)
        target = context.target(arguments.output)
        for name in (path, target):
            check_table_name(name)
        made = scratch_file(context, target.name)
        params = msgspec.to_builtins(arguments) | {"path": str(path), "target": str(made)}
        params |= {name: as_list(params[name]) for name in ("group_by", "values", "names")}
        if not params["group_by"]:
            raise ModelError("group_by is empty: name the columns that make the groups.", code="table.group_by")
        result = await context.documents.job("aggregate_table", params)
        await place(made, target)
        head = f"Wrote {target.name}: {result['groups']} groups of {result['rows']} rows."
        lines = [head, result["extremes"], *result["notes"], result["preview"].rstrip()]
        return ToolResult(text="\n".join(line for line in lines if line), trust="file")
