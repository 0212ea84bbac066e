from __future__ import annotations

from typing import Any

import msgspec
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
    (context.workspace / "s.csv").write_text("region,amount\nN,1.5\nS,2\nN,3\n")
    arguments = msgspec.convert(AggregateTable.spec.example | {"file": "s.csv"}, AggregateTableArguments)
    result = await AggregateTable().run(arguments, context)
    assert (context.workspace / "totals.csv").read_text() == "region,amount\nN,4.5\nS,2\n"
    assert result.text == "Wrote totals.csv: 2 groups of 3 rows.\nregion,amount\nN,4.5\nS,2"
