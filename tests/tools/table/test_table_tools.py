from __future__ import annotations

from typing import Any

import msgspec
import openpyxl
import pytest

from engine.protocol.errors import ModelError
from tools.table.aggregate_table import AggregateTable, AggregateTableArguments
from tools.table.edit_table import EditTable, EditTableArguments

pytestmark = pytest.mark.processes


async def test_edit_in_place_and_to_a_new_name(context: Any) -> None:
    path = context.workspace / "销售 😀.csv"
    path.write_text("a,b\n1,2\n1,2\n")
    arguments = msgspec.convert({"file": path.name, "rename": {"a": "A"}, "output": "o.csv"}, EditTableArguments)
    await EditTable().run(arguments, context)
    assert path.read_text() == "a,b\n1,2\n1,2\n" and (context.workspace / "o.csv").read_text() == "A,b\n1,2\n1,2\n"
    result = await EditTable().run(EditTableArguments(file=path.name, drop_duplicates=True), context)
    assert path.read_text() == "a,b\n1,2\n"
    assert result.text == "销售 😀.csv: dropped 1 duplicate rows. 1 rows; columns: a, b."


async def test_a_refused_edit_changes_nothing(context: Any) -> None:
    path = context.workspace / "a.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ModelError, match="columns are: a, b"):
        await EditTable().run(EditTableArguments(file="a.csv", drop_columns=["c"]), context)
    with pytest.raises(ModelError, match=r"a[.]docx is not"):
        await EditTable().run(EditTableArguments(file="a.csv", output="a.docx", drop_columns=["a"]), context)
    assert path.read_text() == "a,b\n1,2\n" and [p.name for p in context.workspace.iterdir()] == ["a.csv"]


async def test_aggregate(context: Any) -> None:
    (context.workspace / "stock list.csv").write_text("Warehouse,Pieces\nN,1.5\nS,2\nN,3\n")
    example = msgspec.convert(AggregateTable.spec.example, AggregateTableArguments)
    result = await AggregateTable().run(example, context)
    assert result.text == (
        "Wrote stock totals.xlsx: 2 groups of 3 rows.\nLargest: N with 4.5. Smallest: S with 2.\n"
        "Warehouse,Pieces\nN,4.5\nS,2\nTotal,=SUM(B2:B3)"
    )
    book = openpyxl.load_workbook(context.workspace / "stock totals.xlsx")
    assert [[cell.value for cell in row] for row in book.active.rows][-1] == ["Total", "=SUM(B2:B3)"]


async def test_names_alone_and_a_formula_for_csv(context: Any) -> None:
    (context.workspace / "s.csv").write_text("Region,Amount due\nN,1.5\nS,2\nN,3\n")
    given = {"file": "s.csv", "group_by": "region", "values": "amount_due", "total_row": "formula", "output": "t.csv"}
    result = await AggregateTable().run(msgspec.convert(given, AggregateTableArguments), context)
    assert (context.workspace / "t.csv").read_text() == "Region,Amount due\nN,4.5\nS,2\n"
    assert "No total row was written: a CSV file holds no formulas." in result.text
    with pytest.raises(ModelError, match="group_by is empty"):
        await AggregateTable().run(msgspec.convert({**given, "group_by": ""}, AggregateTableArguments), context)


async def test_columns_are_found_loosely_but_new_names_kept(context: Any) -> None:
    (context.workspace / "s.csv").write_text("Start station,End station\na,1\na,1\n")
    given = {
        "file": "s.csv",
        "rename": {"start_station": "from_ Where"},
        "drop_duplicates": ["from_where"],
        "sort_by": "-END_station",
    }
    await EditTable().run(msgspec.convert(given, EditTableArguments), context)
    assert (context.workspace / "s.csv").read_text() == "from_ Where,End station\na,1\n"
