"""Events of a run in plain words. Keeps what the closing summary needs; prints nothing."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import msgspec

from engine.commands.screen import human_time
from engine.protocol import events as ev
from engine.protocol.ledger import Ledger
from engine.protocol.plan import Plan
from engine.protocol.tasks import Mode
from engine.protocol.tools import ChangeSet
from engine.protocol.verdicts import RequirementVerdict, Verdict

STAGES = {
    "plan": "Making a plan",
    "synthesize": "Putting the result together",
    "verify": "Checking the files",
    "repair": "Mending what the checks found",
    "deliver": "Handing over",
}
TOOLS = {
    "read_file": ("Reading {}", "files"),
    "write_to_file": ("Writing {}", "filename"),
    "edit_file": ("Changing {}", "file_path"),
    "edit_table": ("Changing {}", "file_path"),
    "python_interpreter": ("Running a script", ""),
    "execute_command": ("Running the command {}", "command"),
    "ask_user": ("Asking you", ""),
    "finish": ("Finishing this step", ""),
}
"""What a tool does, in words, and which argument completes them."""

MOST_WORDS = 100
MOST_ITEMS = 12


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line to print: its text, a style for terminals, and whether it may be wrapped."""

    text: str
    style: str = ""
    wrap: bool = True


class Narrator:
    """Tells a run. Feed it each event in order; ask for the summary at the end."""

    def __init__(self) -> None:
        self.mode = Mode.AUTO
        self.attended = False
        self.ledger = Ledger()
        self.plan: Plan | None = None
        self.verdict: Verdict | None = None
        self.delivered: ev.Delivered | None = None
        self.ended: ev.RunEnded | None = None
        self.model_calls = 0

    def hear(self, event: ev.Event) -> list[Line]:
        """Take in an event.

        Args:
            event: the next event of the run.

        Returns:
            The lines to show for it; most events need none.
        """
        method = getattr(self, f"_on_{type(event).__name__}", None)
        lines: list[Line] = method(event) if method is not None else []
        return lines

    def _on_RunCreated(self, event: ev.RunCreated) -> list[Line]:
        self.mode = event.request.mode
        self.attended = event.request.attended
        return []

    def _on_ModeChosen(self, event: ev.ModeChosen) -> list[Line]:
        self.mode = event.mode
        return []

    def _on_LedgerSet(self, event: ev.LedgerSet) -> list[Line]:
        first = not self.ledger.items
        self.ledger = event.ledger
        title = "What the result must satisfy" if first else "What the result must satisfy now"
        items = [f"  {item.id} {_short(item.text)}" for item in event.ledger.items]
        return _listed(title, items)

    def _on_PlanSet(self, event: ev.PlanSet) -> list[Line]:
        self.plan = event.plan
        steps = [f"  {number}. {_short(task.title)}" for number, task in enumerate(event.plan.subtasks, 1)]
        return _listed("Plan", steps)

    def _on_StageEntered(self, event: ev.StageEntered) -> list[Line]:
        words = STAGES.get(event.stage, "")
        if not words:
            return []
        if event.stage == "repair" or event.attempt > 1:
            words += f" (attempt {event.attempt})"
        return [Line(text=words, style="bold")]

    def _on_PhaseEntered(self, event: ev.PhaseEntered) -> list[Line]:
        if event.phase != "reserve":
            return []
        left = human_time(max(event.budget_s - event.elapsed_s, 0))
        return [Line(text=f"{left} left: nothing new is begun, the good parts are kept.", style="yellow")]

    def _on_SubtaskStarted(self, event: ev.SubtaskStarted) -> list[Line]:
        place = self._place(event.subtask_id)
        again = f" (attempt {event.attempt})" if event.attempt > 1 else ""
        return [Line(text=f"{place}: {_short(event.title)}{again}", style="bold")]

    def _on_SubtaskEnded(self, event: ev.SubtaskEnded) -> list[Line]:
        point = event.checkpoint
        if point.status == "done":
            return []
        word = "failed" if point.status == "failed" else "was left out"
        return [Line(text=f"{self._place(point.subtask_id)} {word}: {_short(point.problem)}", style="red")]

    def _on_ModelReplied(self, event: ev.ModelReplied) -> list[Line]:
        self.model_calls += max(event.reply.usage.calls, 1)
        return []

    def _on_ToolIntended(self, event: ev.ToolIntended) -> list[Line]:
        return [Line(text=f"  {tool_words(event.tool, event.arguments)}")]

    def _on_ToolReturned(self, event: ev.ToolReturned) -> list[Line]:
        lines = [Line(text=f"    {text}", style="green") for text in change_words(event.observation.changes)]
        if not event.observation.ok:
            why = event.observation.code.replace(".", ", ").replace("_", " ")
            lines.append(Line(text=f"    That did not work{f' ({why})' if why else ''}.", style="yellow"))
        return lines

    def _on_ActionRefused(self, event: ev.ActionRefused) -> list[Line]:
        why = event.code.replace(".", ", ").replace("_", " ")
        return [Line(text=f"  A step was turned down ({why}); the model is told why.", style="yellow")]

    def _on_QuestionAnswered(self, event: ev.QuestionAnswered) -> list[Line]:
        if event.by == "person":
            return []
        return [Line(text=f"  Nobody was asked; taken: {_short(event.answer)}", style="yellow")]

    def _on_Verified(self, event: ev.Verified) -> list[Line]:
        self.verdict = event.verdict
        if event.verdict.verified:
            return [Line(text="  Everything that matters passed its check.", style="green")]
        return [Line(text=f"  {_short(event.verdict.reason) or 'Not everything could be checked.'}", style="yellow")]

    def _on_RepairEnded(self, event: ev.RepairEnded) -> list[Line]:
        word = "The mended version is kept." if event.kept else "The mended version was not better and is dropped."
        return [Line(text=f"  {word}")]

    def _on_Warned(self, event: ev.Warned) -> list[Line]:
        return [Line(text=f"Note: {event.text}", style="yellow")]

    def _on_RunResumed(self, _event: ev.RunResumed) -> list[Line]:
        self.ended = None
        return [Line(text="Going on from where it stopped.", style="bold")]

    def _on_Delivered(self, event: ev.Delivered) -> list[Line]:
        self.delivered = event
        return []

    def _on_RunEnded(self, event: ev.RunEnded) -> list[Line]:
        self.ended = event
        return []

    def _place(self, subtask_id: str) -> str:
        ids = [task.id for task in self.plan.subtasks] if self.plan else []
        return f"Step {ids.index(subtask_id) + 1} of {len(ids)}" if subtask_id in ids else "Step"

    def summary(self, ended: ev.RunEnded, *, run_id: str, elapsed_s: float) -> list[Line]:
        """The closing lines: answer, files, what was checked and what could not be, time, calls.

        Args:
            ended: how the run ended.
            run_id: the run.
            elapsed_s: time used, in seconds.
        """
        lines = [Line(text="")]
        if ended.answer:
            lines += [Line(text=ended.answer), Line(text="")]
        lines += self._files()
        lines += self._checked()
        lines += [Line(text=_ending(ended, self.mode), style="green" if ended.status == "verified" else "bold")]
        calls = sum(usage.calls for usage in ended.usage.values()) or self.model_calls
        lines.append(Line(text=f"Time: {human_time(elapsed_s)}. Model calls: {calls}. Run: {run_id}", wrap=False))
        if ended.status == "paused":
            lines.append(Line(text=f"Go on with: oneday runs resume {run_id}", wrap=False))
        return lines

    def _files(self) -> list[Line]:
        if self.delivered is None:
            return []
        lines = [Line(text="Files:", style="bold")] if self.delivered.files else []
        lines += [Line(text=f"  {path}", wrap=False) for path in self.delivered.files.values()]
        if self.delivered.report:
            lines.append(Line(text=f"Report: {self.delivered.report}", wrap=False))
        return lines

    def _checked(self) -> list[Line]:
        if self.verdict is None:
            return []
        texts = {item.id: item.text for item in self.ledger.items}
        groups = (
            ("pass", "Checked:", "green"),
            ("fail", "Not right:", "red"),
            ("unknown", "Could not be checked:", ""),
        )
        lines: list[Line] = []
        for status, title, style in groups:
            items = [item for item in self.verdict.items if item.status == status]
            lines += _listed(title, [_verdict_words(item, texts) for item in items], style=style)
        for item in self.verdict.missing_items:
            lines.append(Line(text=f"  missing: {_short(item)}", style="red"))
        return lines


def tool_words(tool: str, arguments: dict[str, Any]) -> str:
    """What a tool call does, in words for a person.

    Args:
        tool: name of the tool.
        arguments: its arguments as the model gave them.
    """
    words, name = TOOLS.get(tool, (f"Using {tool.replace('_', ' ')}", ""))
    if "{}" not in words:
        return words
    value = arguments.get(name, "")
    many = value if isinstance(value, list | tuple) else [value]
    shown = ", ".join(str(one) if name == "command" else PurePath(str(one)).name for one in many)
    return _short(words.format(shown or "a file"))


def change_words(changes: ChangeSet) -> list[str]:
    """What a call changed, one line for each of the first files."""
    kinds = {"added": "new", "modified": "changed", "deleted": "removed"}
    shown = [f"{kinds[change.kind]}: {change.name}" for change in changes.changes[:MOST_ITEMS]]
    rest = len(changes.changes) - len(shown)
    return [*shown, f"and {rest} more files"] if rest > 0 else shown


def exit_code(ended: ev.RunEnded, mode: Mode) -> int:
    """Exit status of the command for how a run ended.

    Args:
        ended: the last event.
        mode: the mode that ran (after ``auto`` has chosen).

    Returns:
        0 delivered and verified (or delivered in a mode without verification), 3 delivered but not verified,
        1 failed, 130 paused.
    """
    if ended.status == "unverified":
        return 3 if mode.verifies or mode is Mode.AUTO else 0
    return {"verified": 0, "failed": 1, "paused": 130}[ended.status]


def _ending(ended: ev.RunEnded, mode: Mode) -> str:
    reason = f" {ended.reason}" if ended.reason else ""
    if ended.status == "verified":
        return "Done, and checked."
    if ended.status == "unverified" and not mode.verifies:
        return f"Done; nothing was checked in this mode ({mode.value})."
    words = {"unverified": "Done, but not everything could be confirmed.", "failed": "Not done.", "paused": "Paused."}
    return words[ended.status] + reason


def _verdict_words(item: RequirementVerdict, texts: dict[str, str]) -> str:
    text = f"  - {_short(texts.get(item.requirement_id, item.requirement_id))}"
    says = next((evidence.says for evidence in item.evidence if evidence.says), "")
    if item.status == "fail" and says:
        return f"{text} ({_short(says)})"
    return f"{text} (judged by the model)" if item.by == "judge" else text


def _listed(title: str, items: list[str], *, style: str = "") -> list[Line]:
    if not items:
        return []
    lines = [Line(text=title, style="bold"), *(Line(text=item, style=style) for item in items[:MOST_ITEMS])]
    if len(items) > MOST_ITEMS:
        lines.append(Line(text=f"  and {len(items) - MOST_ITEMS} more"))
    return lines


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_WORDS else line[: MOST_WORDS - 3].rstrip() + "..."
