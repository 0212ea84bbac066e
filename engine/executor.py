"""The ReAct loop of one attempt: ask the model, decode one action, act, report what was seen.

Each turn of the loop looks at where the dialogue stands (`engine/cursor.py`) and makes one transition, so that a run
that was cut off anywhere goes on by entering the same loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import msgspec

from engine.asking import Questions
from engine.dialogue import Dialogue
from engine.loop_control import LoopControl, Looping
from engine.memory.budget import ContextBudget
from engine.mending import mend_output
from engine.opening import with_role
from engine.policy import Policy
from engine.protocol.errors import ModelError
from engine.protocol.events import ActionRefused, PhaseEntered
from engine.protocol.messages import Action, Message
from engine.protocol.plan import Subtask
from engine.protocol.ports import Dialect, Tool
from engine.protocol.tools import Observation, ToolSpec
from engine.roles import TIME_UP, RoleModels
from engine.runlog import RunLog
from engine.timing import Timeline
from engine.tool_runner import ToolRunner

UNDONE = "This change was undone; the file is as it was before. Send one call with everything."

Look = Callable[[Subtask | None], Awaitable["Sight"]]


class Sight(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at the files gives after a step.

    Attributes:
        text: put under the observation: what is wrong and how to mend it; empty if nothing is known.
        complete: every requirement in scope was checked by code and holds, so the attempt may end here.
        wrong: something is known to be wrong.
        files: candidate deliverables.
    """

    text: str = ""
    complete: bool = False
    wrong: bool = False
    files: tuple[str, ...] = ()


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at a subtask or a repair.

    Attributes:
        dialogue: name of its dialogue.
        role: ``execute`` or ``repair``.
        opening: messages it begins with.
        max_steps: most model turns.
        retry: how many attempts came before; raises the temperature.
        until_s: it must stop when this many active seconds of the run have passed.
        tools: names of the tools it has; empty for all.
        scope: the subtask whose checks settle it; None where the whole ledger does.
        reminder: how this kind of work is done, said again where a look finds something wrong.
    """

    dialogue: str
    role: str
    opening: tuple[Message, ...]
    max_steps: int
    retry: int = 0
    until_s: float = float("inf")
    tools: tuple[str, ...] = ()
    scope: Subtask | None = None
    reminder: str = ""


class AttemptResult(msgspec.Struct, frozen=True, kw_only=True):
    """How an attempt ended; `problem` says what kept it from finishing."""

    status: Literal["done", "gave_up"]
    answer: str = ""
    files: tuple[str, ...] = ()
    problem: str = ""


class Executor:
    """Runs attempts.

    Args:
        log: the run's history.
        roles: metered models.
        dialect: how actions are written.
        tools: by name.
        runner: runs a tool with intent, effect and result.
        policy: what needs consent.
        questions: asks the person.
        timeline: the run's time.
        budget: limits that follow from the window.
        look: checks the files after a step; see `Sight`.
        steering: what the person said that a dialogue does not hold yet.
        finish_when_checked: end an attempt as soon as code has checked every requirement.
    """

    def __init__(
        self,
        *,
        log: RunLog,
        roles: RoleModels,
        dialect: Dialect,
        tools: Mapping[str, Tool],
        runner: ToolRunner,
        policy: Policy,
        questions: Questions,
        timeline: Timeline,
        budget: ContextBudget,
        look: Look,
        steering: Callable[[str], str],
        finish_when_checked: bool,
    ) -> None:
        self._log = log
        self._roles = roles
        self._dialect = dialect
        self._tools = tools
        self._runner = runner
        self._policy = policy
        self._questions = questions
        self._timeline = timeline
        self._budget = budget
        self._look = look
        self._finish_when_checked = finish_when_checked
        self._steering = steering

    async def run(self, attempt: Attempt) -> AttemptResult:
        """Work until the attempt finishes, loops, or runs out of steps or time.

        Args:
            attempt: what to do.
        """
        dialogue = Dialogue(self._log, attempt.dialogue)
        loop = LoopControl()
        told: set[str] = set()
        try:
            await dialogue.open(self._opening(attempt))
            while True:
                result = await self._turn(attempt, dialogue, loop, told)
                if result is not None:
                    return result
        except ModelError as error:  # it loops, or its time or its window is used up
            return await self._give_up(attempt, error.text)

    def _opening(self, attempt: Attempt) -> tuple[Message, ...]:
        said = self._steering(attempt.dialogue)
        return with_role(attempt.opening, said) if said else attempt.opening

    async def _turn(
        self, attempt: Attempt, dialogue: Dialogue, loop: LoopControl, told: set[str]
    ) -> AttemptResult | None:
        cursor = self._log.cursors[dialogue.name]
        match cursor.at:
            case "ask":
                self._check_limits(attempt, dialogue)
                await self._ask(attempt, dialogue)
            case "replied":
                kept = self._dialect.kept(cursor.reply, self._specs(attempt)) or "(empty)"
                await dialogue.add("assistant", kept, cursor.reply.extra)
            case "act":
                return await self._act(attempt, dialogue, loop, told)
            case "intended":
                assert cursor.intent is not None
                await self._runner.recover(cursor.intent, self._tools[cursor.intent.tool])
            case "returned":
                assert cursor.observation is not None
                return await self._report(attempt, dialogue, loop, cursor.observation)
            case "new":
                raise AssertionError("The dialogue was not opened.")
        return None

    def document(self, filename: str, content: str) -> str:
        """How the model would write a document, for a first step that is written by code."""
        return self._dialect.document(filename, content)

    def tools_text(self, names: tuple[str, ...]) -> str:
        """The dialect's description of some tools.

        Args:
            names: which; empty for all.
        """
        return self._dialect.instructions(
            [tool.spec for name, tool in self._tools.items() if not names or name in names]
        )

    def _specs(self, attempt: Attempt) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for name, tool in self._tools.items() if not attempt.tools or name in attempt.tools)

    def _check_limits(self, attempt: Attempt, dialogue: Dialogue) -> None:
        if dialogue.turns >= attempt.max_steps:
            raise Looping(f"It was not done after {attempt.max_steps} steps.", code="loop.steps")
        if self._timeline.elapsed_s >= attempt.until_s:
            raise Looping(TIME_UP, code="loop.time")

    async def _ask(self, attempt: Attempt, dialogue: Dialogue) -> None:
        await self._enter_phase()
        tokens = await dialogue.fit(lambda messages: self._roles.count(attempt.role, messages), self._budget)
        await self._roles.chat(
            attempt.role,
            dialogue.name,
            dialogue.to_send,
            max_tokens=self._budget.reply_tokens,
            schema=self._dialect.schema(self._specs(attempt)),
            stop=self._dialect.stop(),
            retry=attempt.retry,
            prompt_tokens=tokens,
            until_s=attempt.until_s,
        )

    async def _enter_phase(self) -> None:
        phase = self._timeline.phase()
        if phase != self._log.state.phase:
            elapsed_s, budget_s = self._timeline.elapsed_s, self._timeline.budget_s
            await self._log.record(PhaseEntered(phase=phase, elapsed_s=elapsed_s, budget_s=budget_s))

    async def _act(
        self, attempt: Attempt, dialogue: Dialogue, loop: LoopControl, told: set[str]
    ) -> AttemptResult | None:
        reply = self._log.cursors[dialogue.name].reply
        specs = self._specs(attempt)
        try:
            kept = msgspec.structs.replace(reply, text=self._dialect.kept(reply, specs))
            action = self._dialect.decode(kept, specs)
            if action.tool == "finish":
                return await self._finish(attempt, action, told)
            await self._allow_and_run(attempt, action, dialogue, loop)
        except Looping:
            raise
        except ModelError as error:
            await self._refuse(dialogue, error)
            if not error.code.startswith("finish."):
                loop.after(ok=False)
        return None

    async def _allow_and_run(self, attempt: Attempt, action: Action, dialogue: Dialogue, loop: LoopControl) -> None:
        tool = self._tools.get(action.tool)
        if tool is None:
            names = ", ".join([*self._tools, "finish"])
            raise ModelError(f"There is no tool {action.tool!r}. Tools: {names}.", code="tool.unknown")
        given, note = mend_output(action.arguments, attempt.scope, tool.spec.arguments.__struct_fields__)
        action = msgspec.structs.replace(action, arguments=given)
        arguments = _convert(action.arguments, tool)
        loop.before(action.tool, action.arguments, tool.spec.effect, await self._runner.workspace_digest())
        decision = self._policy.decide(tool.spec, action.arguments)
        if decision.kind == "refuse":
            raise ModelError(decision.reason, code="policy.refused")
        if decision.kind == "ask":
            identity = f"approve:{dialogue.name}:{dialogue.turns}"
            answered = await self._questions.ask(identity, decision.question, ("yes", "no"), approval=True)
            if answered.answer != "yes":
                raise ModelError("The person did not allow this.", code="policy.declined")
        await self._runner.run(tool, action, arguments, dialogue.name, note)

    async def _finish(self, attempt: Attempt, action: Action, told: set[str]) -> AttemptResult:
        """Accept the end, or say what is wrong; a model that insists is not getting anywhere in this attempt."""
        sight = await self._look(attempt.scope)
        declared = action.arguments.get("files") or ()
        files = tuple(str(name) for name in declared if isinstance(name, str)) if isinstance(declared, list) else ()
        answer = str(action.arguments.get("answer") or "")
        if sight.wrong:
            if sight.text in told:
                raise Looping("It was called done twice although something is wrong.", code="finish.wrong")
            told.add(sight.text)
            raise ModelError(sight.text, code="finish.wrong")
        existing = tuple(found for name in files if (found := self._runner.found(name)))
        if files and not existing:
            if "no_file" in told:
                raise Looping("It was called done twice, but the file it names is not there.", code="finish.no_file")
            told.add("no_file")
            raise ModelError(
                f"finish names {', '.join(files)}, but no such file is here. Make the file first.",
                code="finish.no_file",
            )
        return AttemptResult(status="done", answer=answer, files=tuple(dict.fromkeys((*existing, *sight.files))))

    async def _report(
        self, attempt: Attempt, dialogue: Dialogue, loop: LoopControl, observation: Observation
    ) -> AttemptResult | None:
        sight = await self._look(attempt.scope) if observation.changes.changes else Sight()
        if self._finish_when_checked and sight.complete and observation.ok:
            return AttemptResult(status="done", answer=observation.text, files=sight.files)
        undone = sight.wrong and await self._undo_edit(attempt, dialogue, observation)
        message = self._dialect.observation(observation)
        parts = [
            message.content,
            sight.text,
            UNDONE if undone else "",
            attempt.reminder if sight.wrong else "",
            self._steering(dialogue.name),
            self._timeline.line(),
        ]
        await dialogue.add(message.role, "\n".join(part for part in parts if part), message.extra)
        loop.after(observation.ok, await self._runner.workspace_digest())
        return None

    async def _undo_edit(self, attempt: Attempt, dialogue: Dialogue, observation: Observation) -> bool:
        """Take back a wrong change of the person's file: the next call must start from what they gave."""
        originals = self._log.state.originals
        spoilt = any(change.name in originals for change in observation.changes.changes)
        intent = self._log.cursors[dialogue.name].intent
        if attempt.scope is None or not spoilt or intent is None:
            return False
        await self._runner.undo(intent.call_id)
        return True

    async def _refuse(self, dialogue: Dialogue, error: ModelError) -> None:
        await self._log.record(ActionRefused(dialogue=dialogue.name, code=error.code, text=error.text))
        steering = self._steering(dialogue.name)
        await dialogue.add("user", "\n".join(part for part in (error.text, steering, self._timeline.line()) if part))

    async def _give_up(self, attempt: Attempt, problem: str) -> AttemptResult:
        sight = await self._look(attempt.scope)
        if sight.text:
            problem = f"{problem}\n{sight.text}"
        return AttemptResult(status="gave_up", files=sight.files, problem=problem)


def _convert(arguments: dict[str, Any], tool: Tool) -> msgspec.Struct:
    try:
        return msgspec.convert(arguments, tool.spec.arguments, strict=False)
    except msgspec.ValidationError as error:
        fields = ", ".join(tool.spec.arguments.__struct_fields__)
        raise ModelError(
            f"The arguments of {tool.spec.name} are not right: {error}. Its arguments are: {fields}.",
            code="tool.arguments",
        ) from None
