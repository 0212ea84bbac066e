"""Mends what the verifier found, on top of a snapshot: a repair that makes things worse is undone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from engine.deliverables import Deliverables
from engine.executor import Attempt, Executor
from engine.language import language_of
from engine.opening import with_role
from engine.protocol.events import RepairEnded, SnapshotRestored, SnapshotTaken, StageEntered, Verified
from engine.protocol.messages import Message
from engine.protocol.verdicts import Verdict
from engine.routes import how_to
from engine.runlog import RunLog
from engine.timing import Timeline
from engine.verifier import badness
from engine.workspace import Workspace
from prompts.loader import render

REPAIRS = 3
REPAIR_STEPS = 50

Verify = Callable[[int], Awaitable[Verdict]]


class Repair:
    """Repairs a result up to three times.

    Args:
        log: the run's history.
        executor: does the work.
        workspace: snapshots and undo.
        deliverables: names the existing files.
        timeline: the run's time.
        max_steps: most model turns of one repair.
    """

    def __init__(
        self,
        log: RunLog,
        executor: Executor,
        workspace: Workspace,
        deliverables: Deliverables,
        timeline: Timeline,
        *,
        max_steps: int,
    ) -> None:
        self._log = log
        self._executor = executor
        self._workspace = workspace
        self._deliverables = deliverables
        self._timeline = timeline
        self._max_steps = min(max_steps, REPAIR_STEPS)

    async def run(self, verdict: Verdict, shared: Sequence[Message], verify: Verify) -> Verdict:
        """Repair until nothing is known to be wrong, or tries or time are used up.

        Args:
            verdict: the last verification.
            shared: the messages every dialogue begins with.
            verify: verifies again; is given the number of the repair.

        Returns:
            The verdict of the files as they are now.
        """
        first = len(self._log.state.repairs) + 1
        # On resume: what held before the repair that was cut off, or after the last one that ended.
        known = [one.verdict for one in self._log.state.verifications if one.attempt < first]
        verdict = known[-1] if known else verdict
        for number in range(first, REPAIRS + 1):
            if verdict.completed or self._timeline.elapsed_s >= self._timeline.repair_until_s:
                break
            if (self._log.state.stage, self._log.state.stage_attempt) != ("repair", number):
                await self._log.record(StageEntered(stage="repair", attempt=number))
            verdict = await self._once(number, verdict, shared, verify)
        return verdict

    async def _once(self, number: int, verdict: Verdict, shared: Sequence[Message], verify: Verify) -> Verdict:
        name = f"repair.{number}"
        tools = self._tools(number)
        if name not in self._log.state.snapshots:
            await self._log.record(SnapshotTaken(name=name, files=await self._workspace.snapshot()))
        with self._log.within(name, number):
            await self._executor.run(
                Attempt(
                    dialogue=name,
                    role="repair",
                    opening=with_role(shared, await self._text(verdict, tools)),
                    max_steps=self._max_steps,
                    retry=number - 1,
                    until_s=self._timeline.repair_until_s,
                    tools=tools,
                    reminder=self._how(tools),
                )
            )
        after = await verify(number)
        kept = badness(after) <= badness(verdict)
        if not kept:
            await self._workspace.restore(self._log.state.snapshots[name])
            await self._log.record(SnapshotRestored(name=name, reason="the repair made things worse"))
            await self._log.record(Verified(verdict=verdict, attempt=number))
        await self._log.record(RepairEnded(attempt=number, kept=kept, reason=after.reason))
        return after if kept else verdict

    def _tools(self, number: int) -> tuple[str, ...]:
        """Only the tools of the plan's steps at first, where it has them; everything in the last repair."""
        plan = self._log.state.plan
        if number == REPAIRS or plan is None or not all(subtask.tools for subtask in plan.subtasks):
            return ()
        return tuple(dict.fromkeys(tool for subtask in plan.subtasks for tool in subtask.tools))

    def _how(self, tools: tuple[str, ...]) -> str:
        request, plan = self._log.state.request, self._log.state.plan
        language = language_of(request.text) if request is not None else ""
        steps = plan.subtasks if plan is not None and tools else ()
        return "\n".join(how_to(step, language) for step in steps) or how_to(None, language)

    async def _text(self, verdict: Verdict, tools: tuple[str, ...]) -> str:
        how = self._how(tools)
        files = ", ".join(await self._deliverables.candidates()) or "none"
        earlier = [
            f"- repair {one.attempt}: {'kept' if one.kept else 'undone'}, {one.reason}"
            for one in self._log.state.repairs
        ]
        return render(
            "roles/repair",
            files=files,
            faults="\n".join(f"- {item}" for item in verdict.missing_items) or f"- {verdict.reason}",
            fixes="\n".join(f"- {fix}" for fix in verdict.suggestions) or "- Do what the requirement says.",
            how=how,
            tools=self._executor.tools_text(tools),
            tried="Tried before:\n" + "\n".join(earlier) if earlier else "",
        )
