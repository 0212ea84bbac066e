"""The parts of the engine that touch no file: plans, routes, time, limits, loops, policy, report, verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.clauses import split_clauses
from engine.cursor import Cursors
from engine.deliverables import DELIVERABLES
from engine.language import language_of
from engine.ledger import build_ledger, describe
from engine.loop_control import LoopControl, Looping
from engine.memory.budget import ContextBudget
from engine.memory.compression import PINNED, prune
from engine.memory.observations import ObservationStore, cut_middle
from engine.planner import choose_mode, parse_plan, single
from engine.policy import Policy
from engine.protocol.documents import CheckFiles, Inspection, Proposal, RequestView
from engine.protocol.errors import ModelError
from engine.protocol.events import (
    DialogueRewritten,
    MessageAdded,
    ModelCalled,
    ModelReplied,
    ToolIntended,
    ToolReturned,
)
from engine.protocol.ledger import Check, Ledger, Requirement
from engine.protocol.messages import ChatReply, Message, Usage
from engine.protocol.plan import Checkpoint
from engine.protocol.tasks import Mode
from engine.protocol.tools import ChangeSet, Observation, ToolResult, ToolSpec
from engine.protocol.verdicts import CheckResult, Defect, Evidence, Verdict
from engine.report import headline, render_report
from engine.routes import plan_by_routes
from engine.state import rewritten
from engine.synthesizer import plain_answer
from engine.system.clock import ManualClock
from engine.timing import PHASES, Timeline
from engine.verifier import Verifier, badness

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=300)


# --- clauses and ledger -------------------------------------------------------------------------------------------


@given(WORDS)
def test_clauses_are_pieces_of_the_request_in_order(text: str) -> None:
    clauses = split_clauses(text)
    assert [clause.index for clause in clauses] == list(range(len(clauses)))
    at = 0
    for clause in clauses:
        assert clause.text in text
        at = text.index(clause.text, at) + len(clause.text)


def test_a_request_is_split_where_a_new_order_begins() -> None:
    clauses = split_clauses("Add up the amounts and save them as a.csv. Do not touch the other sheet. Thanks!")
    assert [clause.text for clause in clauses] == [
        "Add up the amounts",
        "save them as a.csv.",
        "Do not touch the other sheet.",
        "Thanks!",
    ]
    assert [clause.negative for clause in clauses] == [False, False, True, False]
    assert [clause.asks for clause in clauses] == [True, True, True, False]


def test_a_ledger_has_an_item_for_each_order_and_knows_what_settles_it() -> None:
    def propose(view: RequestView) -> list[Proposal]:
        whole, part = Check(name="whole", says="it is whole"), Check(name="part")
        return [
            Proposal(check=whole, clauses=(0,)),
            Proposal(check=part, clauses=(0, 1), partial=True),
            Proposal(check=Check(name="general"), clauses=()),
        ]

    ledger = build_ledger("Make a table. Write a note. Thanks.", [], propose)
    assert [(item.id, item.settled, item.critical) for item in ledger.items] == [
        ("R1", True, True),
        ("R2", False, True),
        ("R3", True, True),
    ]
    assert [check.name for check in ledger.items[0].checks] == ["whole", "part"]
    assert describe(ledger) == "- R1: it is whole"


# --- planner and routes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("I cannot plan.", "plan.not_json"),
        ('{"subtasks": []}', "plan.size"),
        ('{"subtasks": [{"id": "a", "title": "x"}, {"id": "a", "title": "y"}]}', "plan.ids"),
        ('{"subtasks": [{"id": "a", "title": "x", "dependencies": ["b"]}]}', "plan.dependencies"),
        (
            '{"subtasks": [{"id": "a", "title": "x", "dependencies": ["b"]},'
            ' {"id": "b", "title": "y", "dependencies": ["a"]}]}',
            "plan.cycle",
        ),
        ('{"subtasks": [{"title": "no id"}]}', "plan.not_json"),
        ('{"subtasks": "all"}', "plan.not_json"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_refused(reply: str, code: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_plan(reply, 6)
    assert caught.value.code == code


def test_a_plan_in_words_and_out_of_order_is_read() -> None:
    plan = parse_plan(
        'Here it is:\n```json\n{"subtasks": [{"id": "b", "title": "2", "dependencies": ["a"]},'
        ' {"id": "a", "title": "1"}]}\n```',
        3,
    )
    assert [subtask.id for subtask in plan.subtasks] == ["a", "b"]
    with pytest.raises(ModelError):
        parse_plan('{"subtasks": [{"id": "a", "title": "1"}, {"id": "b", "title": "2"}]}', 1)


def test_mode_auto_decomposes_on_signs_of_risk_only() -> None:
    few = Ledger(items=(Requirement(id="R1", text="x"),))
    many = Ledger(items=tuple(Requirement(id=f"R{n}", text="x") for n in range(9)))
    assert choose_mode(Mode.AUTO, "short", few, 1, False)[0] is Mode.VERIFY
    assert choose_mode(Mode.AUTO, "short", many, 1, False)[0] is Mode.FULL
    assert choose_mode(Mode.AUTO, "word " * 151, few, 1, False)[0] is Mode.FULL
    assert choose_mode(Mode.AUTO, "short", few, 2, True)[0] is Mode.FULL
    assert choose_mode(Mode.DIRECT, "word " * 151, many, 9, True) == (Mode.DIRECT, ("asked for",))


def test_the_plan_without_a_model_is_the_request() -> None:
    assert single("a " * 100).subtasks[0].title.endswith("…")
    assert len(single("a " * 100).subtasks[0].title) == 80
    assert single("one\n two").subtasks[0].title == "one two"


def needing(*needs: tuple[str, str], checks: tuple[str, ...] = ()) -> Ledger:
    wanted = [{"kinds": [kind], "name": name} for kind, name in needs]
    named = tuple(Check(name=name) for name in checks)
    return Ledger(
        items=(
            Requirement(
                id="R1", text="x", checks=(*named, Check(name=DELIVERABLES, params={"needs": wanted})), settled=True
            ),
        )
    )


TOOLS = ("edit_table", "aggregate_table", "draw_chart", "write_to_file", "read_file")


def test_routes_make_one_step_for_each_kind_of_result() -> None:
    plan = plan_by_routes(needing(("csv", "t.csv"), ("image", "c.png"), checks=("group_totals", "chart")), TOOLS)
    assert plan is not None and plan.origin == "code"
    assert [subtask.tools for subtask in plan.subtasks] == [("aggregate_table",), ("draw_chart",)]
    assert plan.subtasks[1].dependencies == ("task_1",)
    assert all(check.name != "chart" for check in plan.subtasks[0].checks)


def test_routes_keep_silent_where_they_would_miss_something() -> None:
    assert plan_by_routes(Ledger(), TOOLS) is None
    assert plan_by_routes(needing(("csv", "t.csv"), ("pptx", "d.pptx"), checks=("group_totals",)), TOOLS) is None
    assert plan_by_routes(needing(("csv", "t.csv"), checks=("group_totals",)), ("read_file",)) is None


# --- budget, observations, compression ----------------------------------------------------------------------------


@given(st.integers(1024, 1 << 20), st.integers(64, 1 << 16))
def test_all_shares_of_a_window_fit_into_it(window: int, cap: int) -> None:
    budget = ContextBudget(window_tokens=window, reply_cap_tokens=cap)
    assert budget.reply_tokens <= min(cap, window * 0.2)
    assert budget.observation_chars <= 8000 and budget.summary_chars <= 8000
    assert budget.preview_chars <= 10_000 and budget.page_chars <= 20_000
    assert budget.compress_at_tokens < budget.prune_at_tokens < window
    taken = budget.head_tokens + (budget.request_chars + budget.observation_chars) / 3 + budget.reply_tokens
    assert taken <= window


@given(st.text(max_size=400), st.integers(0, 200))
def test_a_cut_text_keeps_its_beginning_and_end_and_says_so(text: str, limit: int) -> None:
    cut = cut_middle(text, limit, "read on")
    if len(text) <= limit:
        assert cut == text
        return
    head, _, rest = cut.partition("\n[… ")
    assert text.startswith(head) and "read on" in rest
    assert text.endswith(rest.partition("…]\n")[2])


def test_a_long_output_is_kept_whole_beside_its_cut(tmp_path: Path) -> None:
    store = ObservationStore(tmp_path / "outputs", 300)
    text = "\n".join(str(n) for n in range(500))
    seen = store.bound("t", "call_1", ToolResult(text=text, ok=False, code="x"), ChangeSet())
    assert len(seen.text) <= 300 and seen.full_output == "outputs/call_1.txt" and not seen.ok
    assert (tmp_path / "outputs" / "call_1.txt").read_text("utf-8") == text
    assert seen.text.startswith("0\n1\n") and seen.text.endswith("499")
    assert store.bound("t", "call_2", ToolResult(text="short"), ChangeSet()).full_output == ""


def dialogue(rounds: int) -> list[Message]:
    messages = [Message(role="system", content="head"), Message(role="user", content="request")]
    for number in range(rounds):
        messages.append(Message(role="assistant", content=f"act {number}"))
        messages.append(Message(role="user", content=f"saw {number}"))
    return messages


def shortened(messages: list[Message], newest: int, chars: int = 2000) -> list[Message]:
    rewrite = prune(messages, newest_rounds=newest, digest_chars=chars)
    if rewrite is None:
        return messages
    event = DialogueRewritten(
        dialogue="d", keep=rewrite.keep, summary=f"(Earlier.)\n{rewrite.summary}", summary_before=PINNED
    )
    return rewritten(messages, event)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=8), st.integers(50, 3000))
def test_however_often_a_dialogue_is_shortened_it_stays_one(steps: list[tuple[int, int]], chars: int) -> None:
    messages = dialogue(0)
    number = 0
    for grown, newest in steps:
        for _ in range(grown):
            messages.append(Message(role="assistant", content=f"act {number}"))
            messages.append(Message(role="user", content=f"saw {number}"))
            number += 1
        messages = shortened(messages, newest, chars)
        assert messages[:2] == dialogue(0)
        body = messages[2:]
        if body and body[0].role == "user":
            assert len(body[0].content) <= chars + len("(Earlier.)\n")
            body = body[1:]
        assert [message.role for message in body] == ["assistant", "user"] * (len(body) // 2)
        kept = [message.content for message in body if message.role == "user"]
        assert kept == [f"saw {n}" for n in range(number - len(kept), number)]


def test_a_second_shortening_keeps_what_the_first_one_noted() -> None:
    messages = shortened(dialogue(5), 3)
    assert messages[2].content == "(Earlier.)\n- you: act 0 → saw 0\n- you: act 1 → saw 1"
    again = shortened([*messages, Message(role="assistant", content="act 5"), Message(role="user", content="saw 5")], 3)
    assert again[2].content == "(Earlier.)\n- you: act 0 → saw 0\n- you: act 1 → saw 1\n- you: act 2 → saw 2"
    assert prune(dialogue(3), newest_rounds=3) is None


# --- time ---------------------------------------------------------------------------------------------------------


def test_phases_come_in_order_and_the_reserve_waits_for_nobody() -> None:
    clock = ManualClock()
    timeline = Timeline(clock, 100.0)
    assert timeline.phase() == "explore"
    clock.advance(31)
    assert timeline.phase(busy=True) == "explore"
    clock.advance(5)
    assert timeline.phase(busy=True) == "implement"
    clock.advance(54)
    assert timeline.phase(busy=True) == "reserve"
    assert timeline.action_left_s == 0 and timeline.remaining_s == pytest.approx(10)
    assert timeline.execute_until_s < timeline.repair_until_s == pytest.approx(90)
    assert "reserve" in timeline.line()


@given(st.lists(st.tuples(st.floats(0, 60), st.booleans()), max_size=30), st.floats(1, 1000), st.floats(0, 2000))
def test_a_phase_never_goes_back(steps: list[tuple[float, bool]], budget_s: float, spent_s: float) -> None:
    clock = ManualClock()
    timeline = Timeline(clock, budget_s, spent_s)
    order = [name for name, _ in PHASES]
    last = 0
    for seconds, busy in steps:
        clock.advance(seconds)
        now = order.index(timeline.phase(busy=busy))
        assert now >= last
        last = now
        assert 0 <= timeline.action_left_s <= timeline.remaining_s


def test_waiting_for_the_person_costs_the_run_nothing() -> None:
    clock = ManualClock()
    timeline = Timeline(clock, 100.0, spent_s=10.0)
    clock.advance(5)
    with timeline.held():
        clock.advance(500)
        assert timeline.elapsed_s == 15
    clock.advance(1)
    assert timeline.elapsed_s == 16


# --- loops and policy ---------------------------------------------------------------------------------------------


def test_the_same_action_is_refused_while_the_files_are_as_it_left_them() -> None:
    loop = LoopControl()
    loop.before("run", {"code": "a"}, "write", "w0")
    loop.after(True, "w1")
    with pytest.raises(ModelError) as caught:
        loop.before("run", {"code": "a"}, "write", "w1")
    assert not isinstance(caught.value, Looping)
    loop.before("run", {"code": "b"}, "write", "w1")
    loop.after(True, "w2")
    loop.before("run", {"code": "a"}, "write", "w2")  # the files are others now
    loop.after(True, "w1")
    with pytest.raises(ModelError):
        loop.before("run", {"code": "a"}, "write", "w1")
    with pytest.raises(Looping):
        loop.before("run", {"code": "a"}, "write", "w1")


def test_two_actions_that_undo_each_other_do_not_go_on_for_ever() -> None:
    loop = LoopControl()

    def again_and_again() -> int:
        for number in range(100):
            loop.before("run", {"code": "ab"[number % 2]}, "write", f"w{number % 2}")
            loop.after(True, f"w{(number + 1) % 2}")
        return 100

    with pytest.raises(ModelError):
        again_and_again()


def test_a_background_command_may_be_asked_after_as_often_as_needed() -> None:
    loop = LoopControl()
    for _ in range(20):
        loop.before("execute_command", {"action": "poll", "id": "c1"}, "write", "w")
        loop.after(True, "w")


def test_a_streak_of_errors_ends_an_attempt_and_a_success_ends_the_streak() -> None:
    loop = LoopControl()
    for _ in range(3):
        loop.after(False)
    loop.after(True)
    for _ in range(3):
        loop.after(False)
    with pytest.raises(Looping):
        loop.after(False)


class _Nothing(msgspec.Struct):
    """No arguments."""


@pytest.mark.parametrize(
    ("name", "effect", "confined", "attended", "kind"),
    [
        ("python_interpreter", "write", True, False, "allow"),
        ("python_interpreter", "write", False, True, "ask"),
        ("execute_command", "write", False, False, "refuse"),
        ("edit_table", "write", False, False, "allow"),
        ("send_mail", "send", True, True, "ask"),
        ("send_mail", "send", True, False, "refuse"),
        ("ask_user", "ask", True, False, "allow"),
    ],
)
def test_what_may_be_done_without_asking(name: str, effect: Any, confined: bool, attended: bool, kind: str) -> None:
    spec = ToolSpec(name=name, summary="", arguments=_Nothing, effect=effect)
    decision = Policy(confined=confined, attended=attended).decide(spec, {"code": "print(1)"})
    assert decision.kind == kind
    if kind == "ask":
        assert "print(1)" in decision.question


# --- verifier and report ------------------------------------------------------------------------------------------


class _Documents:
    """Checks whose outcome is their name; files that are as `defects` says."""

    def __init__(self, defects: tuple[Defect, ...] = ()) -> None:
        self._defects = defects

    async def inspect(self, path: Path) -> Inspection:
        return Inspection(name=path.name, defects=self._defects)

    async def check(self, check: Check, files: CheckFiles) -> CheckResult:
        return CheckResult(status=check.name, evidence=(Evidence(says=check.says),))  # type: ignore[arg-type]


def item(*outcomes: str, settled: bool = True, critical: bool = True, name: str = "R1") -> Requirement:
    checks = tuple(Check(name=outcome, says=f"it says {outcome}") for outcome in outcomes)
    return Requirement(id=name, text=f"text of {name}", checks=checks, settled=settled, critical=critical)


async def verdict_of(*items: Requirement, defects: tuple[Defect, ...] = (), files: int = 1) -> Verdict:
    paths = [Path(f"f{n}.csv") for n in range(files)]
    verifier = Verifier(_Documents(defects), {})  # type: ignore[arg-type]
    return await verifier.verify(Ledger(items=items), paths, "")


@pytest.mark.parametrize(
    ("items", "completed", "verified"),
    [
        ([item("pass")], True, True),
        ([item("pass", "fail")], False, False),
        ([item("pass", "unknown")], True, False),
        ([item("pass", settled=False)], True, False),
        ([item("fail", settled=False)], False, False),
        ([item(settled=True)], True, False),
        ([item("pass"), item("fail", critical=False, name="R2")], True, True),
        ([item("pass"), item(settled=False, critical=False, name="R2")], True, True),
        ([], True, False),
    ],
    ids=["pass", "one fails", "unknown", "partial", "partial fails", "no check", "minor", "minor open", "nothing"],
)
async def test_what_the_checks_say_together(items: list[Requirement], completed: bool, verified: bool) -> None:
    verdict = await verdict_of(*items)
    assert (verdict.completed, verdict.verified) == (completed, verified)
    if not completed:
        assert "text of R1" in verdict.missing_items[0] and "it says fail" in verdict.missing_items[0]


async def test_a_serious_fault_cannot_be_outvoted_and_a_small_one_does_not_count() -> None:
    fatal = Defect(code="file.cannot_open", evidence=Evidence(file="f0.csv"))
    small = Defect(code="made.up", fatal=False, evidence=Evidence(file="f0.csv", says="odd"))
    broken = await verdict_of(item("pass"), defects=(fatal, fatal))
    assert not broken.completed and len(broken.defects) == 1 and broken.suggestions
    assert (await verdict_of(item("pass"), defects=(small,))).verified
    assert badness(broken) == (0, 1) > badness(await verdict_of(item("pass")))


async def test_no_file_and_no_answer_is_never_complete() -> None:
    verdict = await verdict_of(item("pass"), files=0)
    assert not verdict.completed and verdict.defects[0].code == "deliverable.missing"


async def test_the_report_says_what_was_checked_and_what_was_not() -> None:
    open_item = item(settled=False, name="R2")
    ledger = Ledger(items=(item("pass"), open_item))
    verdict = await verdict_of(*ledger.items)
    text = render_report(
        request=" Do it. ",
        answer="",
        files=["a.csv"],
        ledger=ledger,
        verdict=verdict,
        checkpoints=[Checkpoint(subtask_id="task_1", status="failed", problem="no luck")],
        notes=["Mind this."],
        seconds=90,
        usage={"execute": Usage(calls=2), "plan": Usage(calls=1)},
    )
    for words in ("✓ text of R1 (holds)", "? text of R2 (could not be checked)", "task_1: no luck", "Mind this."):
        assert words in text
    assert "1.5 minutes, 3 calls" in text and "Not verified" in text and "**Answer:** none" in text
    assert "Unverified" in headline(None) and headline(await verdict_of(item("pass"))).startswith("Verified")


def test_the_answer_by_code_names_what_failed() -> None:
    done = Checkpoint(subtask_id="task_1", status="done", answer="Made the table.")
    bad = Checkpoint(subtask_id="task_2", status="failed", problem="It looped.\nlong story")
    answer = plain_answer([done, bad], ["a.csv"])
    assert answer == "Made the table. Made a.csv. task_2 was not finished: It looped."
    assert plain_answer([], []) == "No file was made."


# --- language and cursor ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Add up the amounts for each region", "English"),
        ("Bitte die Summe der Beträge je Region in eine Datei schreiben", "German"),
        ("Fais la somme des montants par région dans le fichier", "French"),
        ("Suma los importes de cada región en el archivo", "Spanish"),
        ("请把每个地区的金额加起来", "Chinese"),
        ("地域ごとの合計をください", "Japanese"),
        ("xyz 42", "the language of the request"),
        ('Benenne die Spalte "the amount of the day" um', "German"),
    ],
)
def test_the_language_of_a_request(text: str, language: str) -> None:
    assert language_of(text) == language


def test_where_a_dialogue_stands_after_each_event() -> None:
    cursors = Cursors()
    steps: list[tuple[Any, str]] = [
        (MessageAdded(dialogue="d", role="user", content="x"), "ask"),
        (ModelCalled(dialogue="d", role="execute", model="m"), "ask"),
        (ModelReplied(dialogue="d", role="execute", model="m", reply=ChatReply(text="r")), "replied"),
        (MessageAdded(dialogue="d", role="assistant", content="r"), "act"),
        (ToolIntended(call_id="c", dialogue="d", tool="t", arguments={}, effect="read"), "intended"),
        (ToolReturned(call_id="c", observation=Observation(tool="t", text="o")), "returned"),
        (MessageAdded(dialogue="d", role="user", content="o"), "ask"),
    ]
    assert cursors["d"].at == "new"
    for event, at in steps:
        cursors.apply(event)
        cursors.apply(MessageAdded(dialogue="other", role="user", content="y"))
        assert cursors["d"].at == at
    assert cursors["d"].replies == 1
