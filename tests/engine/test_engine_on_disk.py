"""Delivery, questions and models by role, over a real journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.asking import Questions
from engine.delivery import REPORT_NAME, Delivery, check_out_dir
from engine.dialogue import Dialogue
from engine.journal import Journal
from engine.memory.budget import ContextBudget
from engine.protocol.errors import ModelError, RetryableError, UserError
from engine.protocol.events import ModelReplied, QuestionAsked, Warned
from engine.protocol.messages import ChatReply, ChatRequest, Message, Sampling
from engine.protocol.ports import OnDelta
from engine.roles import RoleModels
from engine.runfolder import RunFolder
from engine.runlog import RunLog
from engine.steering import Steering
from engine.system.clock import ManualClock
from engine.timing import Timeline


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "runs", ManualClock())


@pytest.fixture
async def log(folder: RunFolder) -> AsyncIterator[RunLog]:
    journal = await Journal.open(folder.journal, folder.run_id, folder.blobs, ManualClock())
    yield RunLog(journal)
    await journal.aclose()


def made(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_nothing_is_overwritten_whatever_its_case(log: RunLog, folder: RunFolder, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    made(out / "A.CSV", "mine")
    delivered = await Delivery(log, out, folder.root).deliver([made(folder.workspace / "a.csv", "new")], "report")
    assert (out / "A.CSV").read_text() == "mine"
    assert delivered.files == {"a.csv": str(out / "a (2).csv")} and (out / "a (2).csv").read_text() == "new"


async def test_a_delivery_that_was_cut_off_leaves_no_doubles(log: RunLog, folder: RunFolder, tmp_path: Path) -> None:
    out = tmp_path / "out"
    files = [made(folder.workspace / "a.csv", "new"), made(folder.workspace / "b.csv", "other")]
    first = Delivery._copy(out, files, Delivery(log, out, folder.root)._keep("after 1.0 minutes"))  # no event follows
    second = await Delivery(log, out, folder.root).deliver(files, "after 1.1 minutes")
    assert first == second and names(out) == ["a.csv", "b.csv", REPORT_NAME]
    assert (out / REPORT_NAME).read_text() == "after 1.0 minutes"


async def test_results_stay_in_the_run_where_they_cannot_be_delivered(
    log: RunLog, folder: RunFolder, tmp_path: Path
) -> None:
    out = made(tmp_path / "out", "a file in the way")
    delivered = await Delivery(log, out, folder.root).deliver([made(folder.workspace / "a.csv", "new")], "report")
    assert Path(delivered.files["a.csv"]) == folder.root / "delivered" / "a.csv"
    (warned,) = log.state.warnings
    assert str(out) in warned.text and warned.code == "output.fallback"
    with pytest.raises(UserError):
        check_out_dir(out)


async def test_an_answer_may_come_the_moment_a_question_is_heard(log: RunLog) -> None:
    clock = ManualClock()
    timeline = Timeline(clock, 100.0)
    questions = Questions(log, timeline, attended=True)

    def hear(_envelope: object, event: object) -> None:
        if isinstance(event, QuestionAsked):
            clock.advance(500)
            questions.answer(event.question_id, "blue")

    log.journal.subscribe(hear, after_seq=0)
    answered = await asyncio.wait_for(questions.ask("q", "Which?"), 5)
    assert (answered.answer, answered.by) == ("blue", "person")
    assert (await questions.ask("q", "Which?")) == answered
    questions.answer("unknown", "ignored")
    assert not log.state.open_questions


async def test_nobody_there_takes_the_default_and_never_approves(log: RunLog) -> None:
    questions = Questions(log, Timeline(ManualClock(), 100.0), attended=False)
    assert (await questions.ask("q1", "Which?", default="red")).by == "default"
    for number, (default, approval) in enumerate([("", False), ("yes", True)]):
        with pytest.raises(ModelError):
            await questions.ask(f"a{number}", "May I?", default=default, approval=approval)


async def test_steering_is_told_once_to_each_dialogue_and_again_when_it_was_dropped(log: RunLog) -> None:
    steering = Steering(log, lambda _view: [])
    await steering.steer("Use red.")
    dialogue = Dialogue(log, "d")
    assert steering.take("d") == "The person says now: Use red."
    await dialogue.add("user", f"x\n{steering.take('d')}")
    await steering.steer("And blue.")
    assert steering.take("d") == "The person says now: And blue."
    assert steering.take("other").count("says now") == 2
    assert log.state.ledger is not None
    assert [(item.id, item.source) for item in log.state.ledger.items][:1] == [("R1", "steering")]


class _Flaky:
    """A model that fails for a while, and takes a while to answer."""

    name = "flaky"
    context_tokens = 1000

    def __init__(self, failures: int = 0, delay_s: float = 0.0) -> None:
        self.failures = failures
        self.delay_s = delay_s
        self.temperatures: list[float | None] = []

    def _fail(self) -> None:
        if self.failures:
            self.failures -= 1
            raise RetryableError("busy", after_s=0.0)

    async def chat(self, request: ChatRequest, on_delta: OnDelta | None = None) -> ChatReply:
        self.temperatures.append(request.sampling.temperature)
        self._fail()
        await asyncio.sleep(self.delay_s)
        return ChatReply(text="hello")

    async def count_tokens(self, messages: object) -> int:
        self._fail()
        return 10

    async def aclose(self) -> None:
        """Nothing to close."""


def roles(log: RunLog, model: _Flaky, budget_s: float = 100.0) -> RoleModels:
    return RoleModels(
        log,
        {"execute": model},
        sampling=Sampling(temperature=0.2),
        temperature_step=0.2,
        timeline=Timeline(ManualClock(), budget_s),
        on_signal=lambda _: None,
    )


ASKED = (Message(role="user", content="x"),)


async def test_a_passing_fault_is_tried_again_also_while_counting(log: RunLog) -> None:
    model = _Flaky(failures=2)
    used = roles(log, model)
    assert await used.count("execute", ASKED) == 10
    model.failures = 3
    assert (await used.chat("plan", "p", ASKED, max_tokens=50, retry=2)).text == "hello"
    assert model.temperatures == pytest.approx([0.6])
    assert [warned.code for warned in log.state.warnings] == ["model.retry"] * 5
    assert isinstance(log.state.last_reply["p"], ModelReplied)
    assert (await used.once("plan", "p", ASKED, max_tokens=50)).text == "hello" and len(model.temperatures) == 1
    model.failures = 9
    with pytest.raises(UserError, match="did not answer"):
        await used.count("execute", ASKED)
    assert all(isinstance(warned, Warned) for warned in log.state.warnings)


async def test_a_reply_does_not_outlast_the_time_of_the_run(log: RunLog) -> None:
    with pytest.raises(ModelError) as caught:
        await roles(log, _Flaky(delay_s=60.0), budget_s=0.1).chat("execute", "d", ASKED, max_tokens=50)
    assert caught.value.code == "loop.time"
    with pytest.raises(ModelError):
        await roles(log, _Flaky()).chat("execute", "d", ASKED, max_tokens=50, until_s=-1.0)


async def test_a_dialogue_that_cannot_fit_is_never_sent(log: RunLog) -> None:
    dialogue = Dialogue(log, "d")
    await dialogue.open((Message(role="system", content="head"), Message(role="user", content="request")))
    for number in range(6):
        await dialogue.add("assistant", f"act {number}")
        await dialogue.add("user", f"saw {number}")
    await dialogue.open((Message(role="system", content="head"), Message(role="user", content="request")))
    budget = ContextBudget(window_tokens=1000)

    async def count(messages: object) -> int:
        return 100 * len(list(messages))  # type: ignore[call-overload]

    assert await dialogue.fit(count, budget) == 600
    assert len(dialogue.messages) == 7 and [message.role for message in dialogue.to_send][:3] == [
        "system",
        "user",
        "assistant",
    ]

    async def never(_messages: object) -> int:
        return 2000

    with pytest.raises(ModelError) as caught:
        await dialogue.fit(never, budget)
    assert caught.value.code == "context.full"
