from __future__ import annotations

import sys
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.protocol.events import (
    DialogueRewritten,
    Envelope,
    Event,
    LedgerSet,
    MessageAdded,
    ModelCalled,
    ModelReplied,
    PlanSet,
    QuestionAnswered,
    QuestionAsked,
    RunCreated,
    RunEnded,
    RunResumed,
    SnapshotTaken,
    StageEntered,
    Steered,
    SubtaskEnded,
    SubtaskStarted,
    ToolIntended,
    ToolReturned,
    Verified,
    Warned,
)
from engine.protocol.ledger import Ledger
from engine.protocol.messages import ChatReply, Message, Usage
from engine.protocol.plan import Checkpoint, Plan, Subtask
from engine.protocol.tasks import TaskRequest
from engine.protocol.tools import Observation
from engine.protocol.verdicts import Verdict
from engine.state import RunState, fold


def envelope(seq: int, event: Event, second: float) -> Envelope:
    at = datetime.fromtimestamp(1_700_000_000 + second, UTC).isoformat()
    body = msgspec.Raw(msgspec.json.encode(event))
    return Envelope(seq=seq, run_id="run-1", at=at, type=type(event).__name__, body=body)


def numbered(events: list[Event], seconds: list[float] | None = None) -> list[tuple[Envelope, Event]]:
    times = seconds or [float(number) for number in range(len(events))]
    return [(envelope(n + 1, event, time), event) for n, (event, time) in enumerate(zip(events, times, strict=True))]


def said(text: str) -> MessageAdded:
    return MessageAdded(dialogue="d", role="user", content=text)


def intended(call: str) -> ToolIntended:
    return ToolIntended(call_id=call, dialogue="d", tool="read_file", arguments={}, effect="read")


def returned(call: str) -> ToolReturned:
    return ToolReturned(call_id=call, observation=Observation(tool="read_file", text="x"))


def replied(tokens: int) -> ModelReplied:
    reply = ChatReply(text="hi", usage=Usage(calls=1, prompt_tokens=tokens))
    return ModelReplied(dialogue="d", role="executor", model="m", reply=reply)


CALLED = ModelCalled(dialogue="d", role="executor", model="m")

some_event = st.one_of(
    st.builds(said, st.text(max_size=20)),
    st.sampled_from("abc").map(intended),
    st.sampled_from("abc").map(returned),
    st.just(CALLED),
    st.integers(0, 9).map(replied),
    st.builds(Warned, text=st.text(max_size=5)),
    st.builds(Steered, text=st.text(max_size=5)),
    st.builds(StageEntered, stage=st.sampled_from(["plan", "execute"])),
    st.builds(QuestionAsked, question_id=st.sampled_from("pq"), question=st.just("?")),
    st.builds(QuestionAnswered, question_id=st.sampled_from("pq"), answer=st.just("!")),
    st.builds(RunEnded, status=st.sampled_from(["paused", "verified"])),
    st.builds(RunResumed, after_seq=st.just(0)),
)


@given(st.lists(some_event, max_size=30), st.integers(0, 30))
def test_fold_is_the_same_in_pieces_and_after_a_round_trip(events: list[Event], cut: int) -> None:
    pairs = numbered(events)
    whole = fold(pairs)
    pieces = fold(pairs[:cut])
    for one, event in pairs[cut:]:
        pieces.apply(one, msgspec.json.decode(msgspec.json.encode(event), type=Event))
    assert pieces == whole
    open_intents = [event.call_id for event in events if isinstance(event, ToolIntended)]
    assert set(whole.pending_intent) <= set(open_intents)
    assert sum(usage.calls for usage in whole.usage.values()) == sum(isinstance(e, ModelReplied) for e in events)


def test_a_run_from_start_to_end() -> None:
    plan = Plan(subtasks=(Subtask(id="task_1", title="t"),))
    checkpoint = Checkpoint(subtask_id="task_1", status="done", answer="a")
    verdict = Verdict(completed=True, verified=True)
    events: list[Event] = [
        RunCreated(request=TaskRequest(text="do"), originals={"a.csv": "0" * 64}, version="1"),
        LedgerSet(ledger=Ledger()),
        PlanSet(plan=plan),
        StageEntered(stage="execute"),
        SubtaskStarted(subtask_id="task_1", title="t", attempt=2),
        said("one"),
        CALLED,
        replied(5),
        intended("c1"),
        returned("c1"),
        CALLED,
        replied(7),
        intended("c2"),
        SubtaskEnded(checkpoint=checkpoint),
        SnapshotTaken(name="s", files={"a.csv": "1" * 64}),
        Verified(verdict=verdict),
        QuestionAsked(question_id="q", question="?"),
        CALLED,
    ]
    state = fold(numbered(events))
    assert state.run_id == "run-1" and state.request == TaskRequest(text="do") and state.originals["a.csv"] == "0" * 64
    assert state.plan == plan and state.ledger == Ledger() and state.checkpoints == {"task_1": checkpoint}
    assert state.attempts == {"task_1": 2} and state.stage == "execute"
    assert list(state.pending_intent) == ["c2"] and state.steps == {"d": 1} and state.pending_call == {"d": CALLED}
    assert state.usage["executor"] == Usage(calls=2, prompt_tokens=12)
    assert state.verifications[0].verdict == verdict and state.snapshots["s"]["a.csv"] == "1" * 64
    assert state.open_question is not None and state.open_question.question_id == "q"
    assert state.status is None and not state.over and state.seq == len(events)


def test_a_dialogue_is_what_was_said_byte_for_byte() -> None:
    extra = {"tool_calls": [{"id": "1", "arguments": '{"a": 1.0}'}]}
    events: list[Event] = [
        MessageAdded(dialogue="d", role="system", content="head\r\n\t 😀"),
        said("1"),
        MessageAdded(dialogue="d", role="assistant", content="2", extra=extra),
        said("3"),
        MessageAdded(dialogue="other", role="user", content="x"),
    ]
    state = fold(numbered(events))
    assert state.dialogue("d")[0] == Message(role="system", content="head\r\n\t 😀")
    assert state.dialogue("d")[2] == Message(role="assistant", content="2", extra=extra)
    rewrite = DialogueRewritten(dialogue="d", keep=(0, 3), summary="sum", summary_before=3)
    state = fold(numbered([*events, rewrite, said("4")]))
    assert [message.content for message in state.dialogue("d")] == ["head\r\n\t 😀", "sum", "3", "4"]
    assert [message.content for message in state.dialogue("other")] == ["x"]
    assert state.dialogue("none") == ()


@pytest.mark.parametrize("keep", [(0, 9), (1, 0), (0, 0), (-1,)])
def test_a_rewrite_of_what_is_not_there_is_a_bug(keep: tuple[int, ...]) -> None:
    with pytest.raises(ValueError):
        fold(numbered([said("a"), said("b"), DialogueRewritten(dialogue="d", keep=keep)]))


def test_a_pause_a_crash_and_a_clock_set_back_cost_no_time() -> None:
    created = RunCreated(request=TaskRequest(text="do"))
    events: list[Event] = [
        created, said("a"), RunEnded(status="paused"), RunResumed(after_seq=3), said("b"),  # a pause of 1000 s
        RunResumed(after_seq=5), said("c"), said("d"), said("e"),  # a crash, then the clock goes back
    ]  # fmt: skip
    state = fold(numbered(events, [0, 10, 12, 1012, 1015, 5000, 5001, 4000, 4002]))
    assert state.active_s == pytest.approx(12 + 3 + 1 + 0 + 2)
    assert state.sessions == 3 and state.status is None


def test_numbers_must_rise() -> None:
    state = fold(numbered([said("a"), said("b")]))
    with pytest.raises(ValueError):
        state.apply(envelope(2, said("c"), 3.0), said("c"))


def steps(first: int, count: int) -> list[Event]:
    found: list[Event] = []
    for number in range(first, first + count):
        call = f"c{number}"
        found += [said("x"), CALLED, replied(1), intended(call), returned(call)]
    return found


def test_a_late_step_does_the_same_work_as_an_early_one() -> None:
    """Counted in executed lines of Python, which no busy machine changes."""
    pairs = numbered(steps(0, 1001))

    def lines_of(step: int) -> int:
        state = fold(pairs[: step * 5])
        count = 0

        def tracer(frame: object, what: str, argument: object) -> object:
            nonlocal count
            count += what == "line"
            return tracer

        before = sys.gettrace()
        sys.settrace(tracer)  # type: ignore[arg-type]
        try:
            for one, event in pairs[step * 5 : step * 5 + 5]:
                state.apply(one, event)
        finally:
            sys.settrace(before)
        return count

    early, late = lines_of(10), lines_of(1000)
    assert early > 20
    assert late <= 1.2 * early


def test_every_type_of_event_has_its_place() -> None:
    state = RunState()
    assert set(state.__struct_fields__) >= {"dialogues", "pending_intent", "delivered", "active_s"}
    from typing import get_args

    seen = set()
    for number, kind in enumerate(get_args(Event), start=1):
        event = msgspec.convert(_least(kind), kind)
        state.apply(envelope(number, event, 0.0), event)
        seen.add(kind.__name__)
    assert len(seen) == len(get_args(Event))


def _least(kind: type[msgspec.Struct]) -> dict[str, object]:
    """The smallest body of a type: its required fields, filled by their types."""
    body: dict[str, object] = {"type": kind.__name__}
    for field in msgspec.structs.fields(kind):
        if field.required:
            body[field.encode_name] = _value(msgspec.inspect.type_info(field.type))
    return body


def _value(info: msgspec.inspect.Type) -> object:
    match info:
        case msgspec.inspect.LiteralType(values=values):
            return values[0]
        case msgspec.inspect.EnumType(cls=cls):
            return next(iter(cls)).value
        case msgspec.inspect.StructType(cls=cls):
            return {key: value for key, value in _least(cls).items() if key != "type"}
        case msgspec.inspect.DictType():
            return {}
        case msgspec.inspect.VarTupleType():
            return []
        case msgspec.inspect.BoolType():
            return True
        case msgspec.inspect.IntType() | msgspec.inspect.FloatType():
            return 1
        case _:
            return "x"
