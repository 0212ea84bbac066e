"""What the command line says: events in words, durations, harmless text, questions, exit codes."""

from __future__ import annotations

import io

import msgspec
import pytest

from engine.commands import durations
from engine.commands.asking import Questions
from engine.commands.following import json_line
from engine.commands.narrator import Narrator, change_words, exit_code, tool_words
from engine.commands.run import out_folder
from engine.commands.screen import Screen, clean, human_size, human_time
from engine.protocol import events as ev
from engine.protocol.errors import UserError
from engine.protocol.ledger import Ledger, Requirement
from engine.protocol.messages import ChatReply, Usage
from engine.protocol.plan import Checkpoint, Plan, Subtask
from engine.protocol.tasks import Mode, TaskRequest
from engine.protocol.tools import ChangeSet, FileChange, Observation
from engine.protocol.verdicts import Evidence, RequirementVerdict, Verdict


def texts(narrator: Narrator, event: ev.Event) -> list[str]:
    return [line.text for line in narrator.hear(event)]


@pytest.mark.parametrize(
    ("text", "expected"), [("20m", 1200), ("90s", 90), ("1h30m", 5400), ("1.5h", 5400), ("2 min", 120), ("1H", 3600)]
)
def test_durations(text: str, expected: float) -> None:
    assert durations.seconds(text) == expected


@pytest.mark.parametrize("text", ["", "20", "m", "0m", "-5m", "soon", "5 days", "1h x"])
def test_durations_that_cannot_be_read(text: str) -> None:
    with pytest.raises(UserError) as caught:
        durations.seconds(text)
    assert caught.value.key == "budget.unreadable"


def test_text_cannot_steer_a_terminal() -> None:
    hostile = "a\x1b[2Jb\x07c\x9bd\u202ee\rf"
    assert clean(hostile) == "a\ufffd[2Jb\ufffdc\ufffdd\ufffde\ufffdf"
    assert clean("tab\tand line\n表 📊") == "tab\tand line\n表 📊"


def test_sizes_and_times() -> None:
    assert human_size(512) == "512 B"
    assert human_size(1_117_320_768) == "1.1 GB"
    assert [human_time(value) for value in (4.4, 200, 120, 3900, 7200)] == [
        "4 s",
        "3 min 20 s",
        "2 min",
        "1 h 5 min",
        "2 h",
    ]


def test_plain_screen_has_no_colour_and_few_progress_lines() -> None:
    stream = io.StringIO()
    screen = Screen(stream)
    screen.say("bold words", style="bold")
    screen.status("not on a plain stream")
    with screen.progress("Fetching m") as advance:
        for done in range(0, 1001):
            advance(done * 1000.0, 1_000_000.0)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "bold words"
    assert "\x1b" not in stream.getvalue()
    assert lines[1] == "Fetching m: 0% of 1.0 MB" and lines[-1] == "Fetching m: 100% of 1.0 MB"
    assert len(lines) <= 13


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_narrow_terminal_keeps_paths_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    screen = Screen(stream)
    path = "/home/someone/a folder/with a very long name/totals.csv"
    screen.say(path, wrap=False)
    screen.say("a sentence that is longer than the terminal is wide")
    lines = stream.getvalue().splitlines()
    assert lines[0] == path
    assert len(lines) > 2 and all(len(line) <= 24 for line in lines[1:])


def test_tool_words_are_plain() -> None:
    assert tool_words("read_file", {"files": ["sales.csv", "notes.md"]}) == "Reading sales.csv, notes.md"
    assert tool_words("python_interpreter", {"code": "print(1)"}) == "Running a script"
    assert tool_words("execute_command", {"command": "ls -l"}) == "Running the command ls -l"
    assert tool_words("write_to_file", {}) == "Writing a file"
    assert tool_words("some_new_tool", {}) == "Using some new tool"


def test_changes_in_words() -> None:
    changes = ChangeSet(changes=(FileChange(name="a.csv", kind="added"), FileChange(name="b", kind="deleted")))
    assert change_words(changes) == ["new: a.csv", "removed: b"]
    many = ChangeSet(changes=tuple(FileChange(name=f"{number}", kind="added") for number in range(20)))
    assert change_words(many)[-1] == "and 8 more files"


def test_a_run_told_from_plan_to_summary() -> None:
    narrator = Narrator()
    assert texts(narrator, ev.RunCreated(request=TaskRequest(text="x"))) == []
    narrator.hear(ev.ModeChosen(mode=Mode.VERIFY))
    items = (Requirement(id="R1", text="A file totals.csv"), Requirement(id="R2", text="A friendly tone"))
    assert texts(narrator, ev.LedgerSet(ledger=Ledger(items=items)))[1] == "  R1 A file totals.csv"
    plan = Plan(subtasks=(Subtask(id="task_1", title="Add up"), Subtask(id="task_2", title="Write")))
    assert texts(narrator, ev.PlanSet(plan=plan)) == ["Plan", "  1. Add up", "  2. Write"]
    started = ev.SubtaskStarted(subtask_id="task_2", title="Write", attempt=2)
    assert texts(narrator, started) == ["Step 2 of 2: Write (attempt 2)"]
    failed = Observation(tool="python_interpreter", text="...", ok=False, code="script.exception")
    assert texts(narrator, ev.ToolReturned(call_id="1", observation=failed)) == [
        "    That did not work (script, exception)."
    ]
    ended = Checkpoint(subtask_id="task_2", status="failed", problem="No file was made")
    assert texts(narrator, ev.SubtaskEnded(checkpoint=ended)) == ["Step 2 of 2 failed: No file was made"]
    verdicts = (
        RequirementVerdict(requirement_id="R1", status="fail", by="check", evidence=(Evidence(says="3 rows, not 4"),)),
        RequirementVerdict(requirement_id="R2", status="unknown"),
    )
    narrator.hear(ev.Verified(verdict=Verdict(completed=False, verified=False, items=verdicts)))
    narrator.hear(ev.Delivered(files={"totals.csv": "/out/totals.csv"}, report="/out/report.md"))
    end = ev.RunEnded(status="unverified", answer="Here it is.", usage={"main": Usage(calls=4)})
    told = [line.text for line in narrator.summary(end, run_id="r-1", elapsed_s=61)]
    assert "Here it is." in told and "  /out/totals.csv" in told and "Report: /out/report.md" in told
    assert "  - A file totals.csv (3 rows, not 4)" in told[told.index("Not right:") :]
    assert "  - A friendly tone" in told[told.index("Could not be checked:") :]
    assert "Checked:" not in told
    assert told[-1] == "Time: 1 min 1 s. Model calls: 4. Run: r-1"


def test_a_pause_says_how_to_go_on() -> None:
    narrator = Narrator()
    narrator.hear(ev.ModelReplied(dialogue="d", role="main", model="m", reply=ChatReply(text="x")))
    told = [line.text for line in narrator.summary(ev.RunEnded(status="paused"), run_id="r-2", elapsed_s=1)]
    assert told[-1] == "Go on with: oneday runs resume r-2"
    assert "Model calls: 1" in told[-2]


@pytest.mark.parametrize(
    ("status", "mode", "code"),
    [
        ("verified", Mode.FULL, 0),
        ("unverified", Mode.VERIFY, 3),
        ("unverified", Mode.FULL, 3),
        ("unverified", Mode.DIRECT, 0),
        ("unverified", Mode.DECOMPOSE, 0),
        ("failed", Mode.DIRECT, 1),
        ("failed", Mode.FULL, 1),
        ("paused", Mode.DIRECT, 130),
    ],
)
def test_exit_codes(status: ev.RunStatus, mode: Mode, code: int) -> None:
    assert exit_code(ev.RunEnded(status=status), mode) == code


def test_json_lines_hold_the_whole_body() -> None:
    event = ev.Warned(text="y" * 5000 + "\n")
    kept = ev.Envelope(seq=7, run_id="r", at="2026-01-01T00:00:00Z", type="Warned", body=msgspec.Raw(b'{"blob":"0"}'))
    line = json_line(kept, event)
    assert "\n" not in line
    decoded = msgspec.json.decode(line)
    assert (decoded["seq"], decoded["type"]) == (7, "Warned")
    assert decoded["body"] == {"type": "Warned", "text": event.text, "code": ""}


async def test_yes_takes_defaults_of_questions_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async def typed() -> str:
        return "2"

    monkeypatch.setattr("engine.commands.asking.read_line", typed)
    stream = io.StringIO()
    questions = Questions(Screen(stream), attended=True, take_defaults=True)
    asked = ev.QuestionAsked(question_id="1", question="Which?", options=("a", "b"), default="a")
    assert await questions.answer(asked) == "a"
    assert stream.getvalue() == ""
    approval = ev.QuestionAsked(
        question_id="2", question="Run it?", options=("allow", "refuse"), default="refuse", kind="approval"
    )
    assert await questions.answer(approval) == "refuse"
    assert "Run it?" in stream.getvalue()


async def test_nobody_there_leaves_it_to_the_engine() -> None:
    questions = Questions(Screen(io.StringIO()), attended=False, take_defaults=True)
    approval = ev.QuestionAsked(question_id="2", question="Run it?", default="refuse", kind="approval")
    assert await questions.answer(approval) is None


def test_results_go_to_the_current_folder_by_default(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert out_folder(None) == tmp_path
    assert out_folder("sub") == tmp_path / "sub"
