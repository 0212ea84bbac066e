"""Whole runs: plans, repairs, steering, questions, pauses, time and a small window."""

from __future__ import annotations

import asyncio
import csv
import itertools
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.protocol.events import (
    ActionRefused,
    DialogueRewritten,
    LedgerSet,
    MessageAdded,
    ModelCalled,
    ModelReplied,
    PlanSet,
    QuestionAnswered,
    QuestionAsked,
    RepairEnded,
    RunEnded,
    SnapshotRestored,
    Steered,
    SubtaskEnded,
    ToolIntended,
    ToolReturned,
    Verified,
)
from engine.protocol.messages import Message
from engine.protocol.tasks import Mode
from models.tokens import TokenEstimator
from tools.sandbox.unconfined import UnconfinedSandbox

if TYPE_CHECKING:
    from conftest import Desk, Watcher

pytestmark = pytest.mark.processes

TOTALS = {"North": 11.75, "South": 4.0, "East": 7.0}
REQUEST = "Add up the amount for each region and save the totals as totals.csv with the columns region and amount."
PEEK = '{"tool": "read_file", "arguments": {"files": ["orders.csv"]}}'


def python(*lines: str) -> str:
    return "Now the script.\n\n```python\n" + "\n".join(lines) + "\n```"


def grouped(condition: str = "") -> str:
    return python(
        "import pandas as pd",
        'table = pd.read_csv("orders.csv").groupby("region", as_index=False)["amount"].sum()',
        f"table{condition}.to_csv('totals.csv', index=False)",
        'print("written")',
    )


RIGHT = grouped()
LOST = grouped('[table["region"] != "South"]')
WORSE = python("import os", 'os.remove("totals.csv")', 'print("removed")')


def finish(answer: str = "Done.", *files: str) -> str:
    return json.dumps({"tool": "finish", "arguments": {"answer": answer, "files": list(files)}})


def plan(*titles: str) -> str:
    subtasks = [
        {"id": f"task_{n}", "title": title, "description": title, "dependencies": [f"task_{n - 1}"] if n > 1 else []}
        for n, title in enumerate(titles, 1)
    ]
    return json.dumps({"subtasks": subtasks})


async def exists(path: Path) -> None:
    """Wait until a script has made a file."""
    while not await asyncio.to_thread(path.exists):  # noqa: ASYNC110 - another process makes it, so nothing can wake us
        await asyncio.sleep(0.01)


def totals(path: Path) -> dict[str, float]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["region"]: float(row["amount"]) for row in csv.DictReader(file)}


def sent(watcher: Watcher, dialogue: str) -> list[list[Message]]:
    """The messages of each call of a dialogue, rebuilt from the events."""
    from engine.state import rewritten

    messages: list[Message] = []
    calls = []
    for event in watcher.events:
        if isinstance(event, MessageAdded) and event.dialogue == dialogue:
            messages.append(Message(role=event.role, content=event.content))
        elif isinstance(event, DialogueRewritten) and event.dialogue == dialogue:
            messages = rewritten(messages, event)
        elif isinstance(event, ModelCalled) and event.dialogue == dialogue:
            calls.append(list(messages))
    return calls


async def test_a_plan_of_two_subtasks_is_followed(desk: Desk) -> None:
    replies = {
        "roles": {
            "plan": [plan("Add up", "Write a note")],
            "execute": [
                RIGHT,
                finish("The totals are there.", "totals.csv"),
                "```file note.md\n# Note\nThe totals are in totals.csv.\n```",
                finish("The note is written.", "note.md"),
            ],
            "synthesize": ["Totals and a note were made."],
        }
    }
    ended, watcher = await desk.run(replies, mode=Mode.DECOMPOSE)
    assert ended.status == "unverified" and ended.answer == "Totals and a note were made."
    assert [event.checkpoint.status for event in watcher.of(SubtaskEnded)] == ["done", "done"]
    assert totals(desk.out / "totals.csv") == TOTALS
    second = sent(watcher, "task_2.1")[0][-1].content
    assert "The totals are there. totals.csv" in second and "groupby" not in second


async def test_a_planner_that_talks_nonsense_three_times_is_done_without(desk: Desk) -> None:
    replies = {"roles": {"plan": ["no", '{"subtasks": []}', plan(*"abcdefgh")], "execute": [RIGHT, finish()]}}
    ended, watcher = await desk.run(replies, mode=Mode.DECOMPOSE)
    assert ended.status == "unverified"
    (made,) = watcher.of(PlanSet)
    assert made.plan.origin == "code" and len(made.plan.subtasks) == 1
    assert [event.code for event in watcher.of(ActionRefused)] == ["plan.not_json", "plan.size", "plan.size"]
    assert totals(desk.out / "totals.csv") == TOTALS


async def test_a_repair_makes_what_a_failed_subtask_did_not(desk: Desk) -> None:
    replies = {
        "roles": {
            "plan": [plan("Look", "Add up")],
            "execute": [finish("It has three regions."), {"text": PEEK, "repeat": True}],
            "synthesize": ["The file was looked at; task_2 was not finished."],
            "repair": [RIGHT, finish("Made.", "totals.csv")],
        }
    }
    ended, watcher = await desk.run(replies, mode=Mode.FULL)
    assert [event.checkpoint.status for event in watcher.of(SubtaskEnded)] == ["done", "failed"]
    assert [event.verdict.completed for event in watcher.of(Verified)] == [False, True]
    assert [event.kept for event in watcher.of(RepairEnded)] == [True]
    assert ended.status == "verified"
    assert totals(desk.out / "totals.csv") == TOTALS
    assert "Steps that failed" in desk.report() and "task_2" in desk.report()


async def test_a_repair_that_makes_things_worse_is_undone(desk: Desk) -> None:
    insist = {"text": finish("So it stays.", "totals.csv"), "repeat": True}
    replies = {"roles": {"execute": [LOST, insist], "repair": [WORSE, insist]}}
    ended, watcher = await desk.run(replies)
    assert ended.status == "unverified"
    assert watcher.of(RepairEnded)[0].kept is False
    assert watcher.of(SnapshotRestored)[-1].name.startswith("repair.")
    assert totals(desk.out / "totals.csv") == {"North": 11.75, "East": 7.0}


async def test_a_repair_that_was_cut_off_is_measured_against_what_was_before_it(desk: Desk) -> None:
    insist = {"text": finish("So it stays.", "totals.csv"), "repeat": True}
    slow = {"roles": {"execute": [LOST, insist], "repair": [WORSE, {"text": finish(), "delay_s": 60}]}}
    handle, watcher = await desk.start(slow)
    await watcher.until(ModelCalled, lambda event: event.role == "repair")
    await watcher.until(ToolReturned, lambda event: "removed" in event.observation.text)
    await handle.pause()
    assert not (handle.folder / "workspace" / "totals.csv").exists()
    again, watcher = await desk.resume(handle.run_id, {"roles": {"execute": [LOST, insist], "repair": [WORSE, insist]}})
    assert (await again.result()).status == "unverified"
    assert watcher.of(RepairEnded)[0].kept is False
    assert totals(desk.out / "totals.csv") == {"North": 11.75, "East": 7.0}


async def test_what_the_person_says_changes_ledger_and_next_message(desk: Desk) -> None:
    replies = [python("import time", "time.sleep(0.4)", 'print("looked")'), RIGHT, {"text": finish(), "repeat": True}]
    handle, watcher = await desk.start(replies)
    await watcher.until(ToolIntended)
    handle.steer("Please round the amounts to whole numbers.")
    await watcher.until(Steered)
    await handle.result()
    assert watcher.of(LedgerSet)[-1].cause == "steering"
    assert watcher.of(LedgerSet)[-1].ledger.items[-1].source == "steering"
    after = sent(watcher, "task_1.1")[1]
    assert "The person says now: Please round the amounts" in after[-1].content


async def test_an_earlier_message_of_the_person_is_told_to_a_fresh_attempt(desk: Desk) -> None:
    slow = {"text": PEEK, "delay_s": 0.3}
    handle, watcher = await desk.start([slow, {"text": PEEK, "repeat": True}])
    await watcher.until(ModelCalled)
    handle.steer("Leave out nothing.")
    await handle.result()
    for attempt in (1, 2, 3):
        calls = sent(watcher, f"task_1.{attempt}")
        told = ["\n".join(message.content for message in call).count("says now: Leave out nothing.") for call in calls]
        assert told == ([0, 1, 1] if attempt == 1 else [1] * len(told))


ASK = json.dumps(
    {"tool": "ask_user", "arguments": {"question": "Which kind?", "options": ["sum", "mean"], "default": "sum"}}
)


async def test_the_model_asks_and_the_person_answers(desk: Desk) -> None:
    profile = desk.profile("asks", tools=["ask_user", "python_interpreter"])
    handle, watcher = await desk.start([ASK, RIGHT], profile=profile, attended=True)
    asked = await watcher.until(QuestionAsked)
    assert (asked.question, asked.options, asked.default) == ("Which kind?", ("sum", "mean"), "sum")
    handle.answer(asked.question_id, "mean")
    assert (await handle.result()).status == "verified"
    assert watcher.of(ToolReturned)[0].observation.text == "The person answered: mean"
    assert "assumed" not in desk.report()


async def test_nobody_is_there_so_the_default_is_taken_and_named(desk: Desk) -> None:
    profile = desk.profile("asks", tools=["ask_user", "python_interpreter"])
    ended, watcher = await desk.run([ASK, RIGHT], profile=profile)
    assert ended.status == "verified"
    assert watcher.of(QuestionAnswered)[0].by == "default"
    assert "Which kind?" in desk.report() and "this was assumed: sum" in desk.report()


async def test_a_question_without_default_does_not_stop_a_run_alone(desk: Desk) -> None:
    profile = desk.profile("asks", tools=["ask_user", "python_interpreter"])
    bare = json.dumps({"tool": "ask_user", "arguments": {"question": "Which kind?"}})
    ended, watcher = await desk.run([bare, RIGHT], profile=profile)
    assert ended.status == "verified"
    assert watcher.of(ToolReturned)[0].observation.code == "ask.nobody"


async def test_a_question_outlives_a_pause(desk: Desk) -> None:
    profile = desk.profile("asks", tools=["ask_user", "python_interpreter"])
    handle, watcher = await desk.start([ASK, RIGHT], profile=profile, attended=True)
    asked = await watcher.until(QuestionAsked)
    await handle.pause()
    again, watcher = await desk.resume(handle.run_id, [ASK, RIGHT])
    await watcher.until(QuestionAsked)
    again.answer(asked.question_id, "sum")
    assert (await again.result()).status == "verified"
    assert len(watcher.of(ToolReturned)) == 2


@pytest.mark.parametrize("answer", ["yes", "no"])
async def test_without_a_sandbox_each_script_is_asked_about(desk: Desk, answer: str) -> None:
    engine = await desk.engine([RIGHT, {"text": finish(), "repeat": True}])
    engine._sandbox = UnconfinedSandbox()
    handle = await engine.start(desk.request(REQUEST, desk.file("orders.csv"), attended=True))
    watcher = desk.watch(handle)
    asked = await watcher.until(QuestionAsked)
    assert asked.kind == "approval" and "groupby" in asked.question
    handle.answer(asked.question_id, answer)
    ended = await handle.result()
    assert ended.status == ("verified" if answer == "yes" else "failed")
    assert (desk.out / "totals.csv").exists() == (answer == "yes")


async def test_without_a_sandbox_nothing_runs_unattended(desk: Desk) -> None:
    engine = await desk.engine([RIGHT, {"text": finish(), "repeat": True}])
    engine._sandbox = UnconfinedSandbox()
    handle = await engine.start(desk.request(REQUEST, desk.file("orders.csv")))
    watcher = desk.watch(handle)
    assert (await handle.result()).status == "failed"
    assert not watcher.of(ToolIntended)
    assert "policy.refused" in [event.code for event in watcher.of(ActionRefused)]


async def test_a_pause_in_a_long_script_is_quick_and_the_run_goes_on_later(desk: Desk) -> None:
    slow = python("import time", "open('begun.txt', 'w').write('x')", "time.sleep(30)")
    handle, watcher = await desk.start([slow, RIGHT])
    begun = handle.folder / "workspace" / "begun.txt"
    await exists(begun)
    started = time.monotonic()
    await asyncio.gather(handle.pause(), handle.pause())
    assert time.monotonic() - started < 2.0
    assert (await handle.result()).status == "paused"
    again, watcher = await desk.resume(handle.run_id, [slow, RIGHT])
    await watcher.until(SnapshotRestored)
    await again.pause()
    assert (await again.result()).status == "paused"


async def test_a_pause_in_a_slow_reply_is_quick_and_the_run_goes_on_later(desk: Desk) -> None:
    handle, watcher = await desk.start([PEEK, {"text": RIGHT, "delay_s": 30}])
    await watcher.until(ToolReturned)
    started = time.monotonic()
    await handle.pause()
    assert time.monotonic() - started < 2.0
    again, watcher = await desk.resume(handle.run_id, [PEEK, RIGHT])
    ended = await again.result()
    assert ended.status == "verified" and totals(desk.out / "totals.csv") == TOTALS
    assert len(watcher.of(ModelReplied)) == 2


async def test_a_pause_before_the_first_step_is_a_pause_too(desk: Desk) -> None:
    handle, _ = await desk.start([RIGHT])
    await handle.pause()
    assert (await handle.result()).status == "paused"
    again, _ = await desk.resume(handle.run_id, [RIGHT])
    assert (await again.result()).status == "verified"


async def test_the_time_runs_out_in_a_slow_reply_and_what_is_there_is_delivered(desk: Desk) -> None:
    started = time.monotonic()
    slow = {"text": RIGHT, "delay_s": 60, "repeat": True}
    ended, _ = await desk.run([LOST, slow], budget_s=2.5)
    assert time.monotonic() - started < 6.0
    assert ended.status == "unverified"
    assert totals(desk.out / "totals.csv") == {"North": 11.75, "East": 7.0}
    assert "time for this part is used up" in desk.report()


async def test_the_time_runs_out_in_a_script(desk: Desk) -> None:
    started = time.monotonic()
    ended, _ = await desk.run([python("import time", "time.sleep(60)"), RIGHT], budget_s=2.5)
    assert time.monotonic() - started < 6.0
    assert ended.status == "failed" and isinstance(ended, RunEnded)


async def test_a_dialogue_that_outgrows_its_window_is_shortened_and_stays_valid(desk: Desk) -> None:
    profile = desk.profile("narrow", window=2048, reply_tokens=256, max_steps=40, tools=["python_interpreter"])
    noise: list[Any] = [python(f"print({n}, 'word ' * 400)") for n in range(20)]
    ended, watcher = await desk.run([*noise, RIGHT], profile=profile)
    assert ended.status == "verified"
    assert len(watcher.of(DialogueRewritten)) > 1
    estimate = TokenEstimator()
    for messages in sent(watcher, "task_1.1"):
        roles = [message.role for message in messages]
        assert roles[:2] == ["system", "user"] and "system" not in roles[1:]
        joined = [role for n, role in enumerate(roles) if n == 0 or role != "user" or roles[n - 1] != "user"]
        assert all(one != other for one, other in itertools.pairwise(joined))
        assert estimate.messages(messages) <= 2048
    assert all(event.prompt_tokens + 64 <= 2048 for event in watcher.of(ModelCalled))
    last = sent(watcher, "task_1.1")[-1]
    assert "Add up the amount" in last[1].content and last[-1].content.startswith("Result of python_interpreter")


async def test_files_too_big_for_the_window_end_in_words_and_not_in_a_fault(desk: Desk) -> None:
    profile = desk.profile("tiny", window=1024, reply_tokens=128, tools=["python_interpreter"])
    long = desk.file("orders.csv", "region,amount\n" + "\n".join(f"{n},{'9' * 30}" for n in range(900)))
    ended, _ = await desk.run([{"text": RIGHT, "repeat": True}], "Add up the amount. " * 200, long, profile=profile)
    assert ended.status in ("failed", "unverified")
