"""Whole runs with real tools; what a model may do wrong, and what becomes of it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.protocol.events import ActionRefused, ModelReplied, SubtaskStarted, ToolReturned, Verified
from engine.protocol.tasks import Mode

if TYPE_CHECKING:
    from conftest import Desk

pytestmark = pytest.mark.processes

TOTALS = {"North": 11.75, "South": 4.0, "East": 7.0}


def python(*lines: str) -> str:
    return "Now the script.\n\n```python\n" + "\n".join(lines) + "\n```"


RIGHT = python(
    "import pandas as pd",
    'pd.read_csv("orders.csv").groupby("region", as_index=False)["amount"].sum().to_csv("totals.csv", index=False)',
    'print("written")',
)
LOST = python(
    "import pandas as pd",
    'table = pd.read_csv("orders.csv").groupby("region", as_index=False)["amount"].sum()',
    'table[table["region"] != "South"].to_csv("totals.csv", index=False)',
    'print("written")',
)
DONE = '{"tool": "finish", "arguments": {"answer": "The totals are in totals.csv.", "files": ["totals.csv"]}}'


def totals(path: Path) -> dict[str, float]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["region"]: float(row["amount"]) for row in csv.DictReader(file)}


async def test_a_typed_tool_makes_a_verified_result(desk: Desk) -> None:
    call = (
        '{"tool": "aggregate_table", "arguments": {"file": "orders.csv", "group_by": ["region"], '
        '"values": ["amount"], "output": "totals.csv"}}'
    )
    ended, watcher = await desk.run([call, DONE])
    assert ended.status == "verified", [event.observation.text for event in watcher.of(ToolReturned)]
    assert totals(desk.out / "totals.csv") == TOTALS
    assert "Verified" in desk.report()


async def test_a_script_that_fails_is_mended(desk: Desk) -> None:
    ended, watcher = await desk.run([python('open("nothing.csv")'), RIGHT])
    assert ended.status == "verified"
    assert [event.observation.ok for event in watcher.of(ToolReturned)] == [False, True]


@pytest.mark.parametrize(
    "bad",
    [
        "I would rather talk about the weather.",
        {"text": "```python\nimport pandas as pd\nprint(pd.read_csv(", "finish": "length"},
        "",
        {"text": "again and again and again and", "finish": "repetition"},
    ],
    ids=["words", "cut", "empty", "loop"],
)
async def test_a_reply_without_an_action_is_asked_for_again(desk: Desk, bad: object) -> None:
    ended, watcher = await desk.run([bad, RIGHT])
    assert ended.status == "verified"
    (refused,) = watcher.of(ActionRefused)
    assert refused.code.startswith("reply.") and refused.text
    assert len(watcher.of(ModelReplied)) == 2


async def test_the_same_action_again_and_again_is_a_failure_that_is_told(desk: Desk) -> None:
    peek = '{"tool": "read_file", "arguments": {"files": ["orders.csv"]}}'
    ended, watcher = await desk.run([{"text": peek, "repeat": True}])
    assert ended.status == "failed"
    assert [event.attempt for event in watcher.of(SubtaskStarted)][:3] == [1, 2, 3]
    assert "again and again" in desk.report()
    assert not (desk.out / "totals.csv").exists()


async def test_a_lost_group_is_seen_at_once_and_mended(desk: Desk) -> None:
    ended, watcher = await desk.run([LOST, RIGHT])
    assert ended.status == "verified"
    assert totals(desk.out / "totals.csv") == TOTALS
    assert len(watcher.of(Verified)) == 1


async def test_wrong_to_the_end_is_never_called_verified(desk: Desk) -> None:
    ended, _ = await desk.run([LOST, {"text": DONE, "repeat": True}])
    assert ended.status == "unverified"
    assert (desk.out / "totals.csv").exists()
    assert "South" in desk.report() and "Not verified" in desk.report()


async def test_mode_direct_checks_nothing_and_says_so(desk: Desk) -> None:
    ended, watcher = await desk.run([LOST, DONE], mode=Mode.DIRECT)
    assert ended.status == "unverified"
    assert not watcher.of(Verified)
    assert "this mode does not check" in desk.report()
