"""Works through the plan: each subtask in up to three attempts, each attempt a fresh dialogue."""

from __future__ import annotations

from collections.abc import Sequence

from engine.executor import Attempt, AttemptResult, Executor
from engine.gather import Gather
from engine.language import language_of
from engine.opening import execute_text, with_role
from engine.protocol.events import SnapshotRestored, SnapshotTaken, SubtaskEnded, SubtaskStarted
from engine.protocol.messages import Message
from engine.protocol.plan import Checkpoint, Plan, Subtask
from engine.routes import how_to, target_name
from engine.runlog import RunLog
from engine.timing import Timeline
from engine.workspace import Workspace

ATTEMPTS = 3


class SubtaskRunner:
    """Runs the subtasks of a plan in order.

    Args:
        log: the run's history; finished subtasks are taken from it.
        executor: runs attempts.
        timeline: the run's time.
        workspace: set back before a fresh attempt.
        gather: finds the facts that a text needs.
        max_steps: most model turns of one attempt.
    """

    def __init__(
        self,
        log: RunLog,
        executor: Executor,
        timeline: Timeline,
        workspace: Workspace,
        gather: Gather,
        *,
        max_steps: int,
    ) -> None:
        self._log = log
        self._executor = executor
        self._timeline = timeline
        self._workspace = workspace
        self._gather = gather
        self._max_steps = max_steps

    async def run(self, plan: Plan, files: Sequence[Message], shared: Sequence[Message]) -> list[Checkpoint]:
        """Work through the plan; a failure is kept as a checkpoint and the run goes on.

        Args:
            plan: ordered.
            files: the messages that hold the files, for questions about them.
            shared: the messages every dialogue begins with.
        """
        for subtask in plan.subtasks:
            if subtask.id not in self._log.state.checkpoints:
                checkpoint = await self._subtask(subtask, files, shared, alone=len(plan.subtasks) == 1)
                await self._log.record(SubtaskEnded(checkpoint=checkpoint))
        return [self._log.state.checkpoints[subtask.id] for subtask in plan.subtasks]

    async def _subtask(
        self, subtask: Subtask, files: Sequence[Message], shared: Sequence[Message], *, alone: bool
    ) -> Checkpoint:
        problem = ""
        result = AttemptResult(status="gave_up", problem="There was no time left for it.")
        draft = await self._gather.draft(subtask, files, self._language())
        for attempt in range(self._log.state.attempts.get(subtask.id, 1), ATTEMPTS + 1):
            if self._timeline.elapsed_s >= self._timeline.execute_until_s:
                break
            if self._log.state.attempts.get(subtask.id) != attempt:
                await self._fresh_files(subtask, attempt)
                await self._log.record(SubtaskStarted(subtask_id=subtask.id, title=subtask.title, attempt=attempt))
            with self._log.within(subtask.id, attempt):
                result = await self._executor.run(self._attempt(subtask, attempt, shared, draft, problem, alone))
            if result.status == "done":
                await self._better_than_nothing(subtask)
                return Checkpoint(subtask_id=subtask.id, status="done", answer=result.answer, files=result.files)
            problem = result.problem
        await self._better_than_nothing(subtask)
        return Checkpoint(subtask_id=subtask.id, status="failed", files=result.files, problem=result.problem)

    async def _fresh_files(self, subtask: Subtask, attempt: int) -> None:
        """A fresh attempt begins with the files as they were before the subtask: what a failed one left misleads."""
        name = f"{subtask.id}.start"
        if attempt == 1:
            await self._log.record(SnapshotTaken(name=name, files=await self._workspace.snapshot()))
        else:
            left = f"{subtask.id}.{attempt - 1}.left"
            if left not in self._log.state.snapshots:  # else cut off here: the files may be set back already
                await self._log.record(SnapshotTaken(name=left, files=await self._workspace.snapshot()))
            await self._restore(name, "a fresh attempt")

    async def _better_than_nothing(self, subtask: Subtask) -> None:
        """Where the last attempt left nothing, what an earlier one left is taken: it may be mended, or nearly right."""
        snapshots = self._log.state.snapshots
        start = snapshots.get(f"{subtask.id}.start")
        if start is None or await self._workspace.snapshot() != start:
            return
        for number in range(ATTEMPTS, 0, -1):
            name = f"{subtask.id}.{number}.left"
            if snapshots.get(name, start) != start:
                await self._restore(name, "an earlier attempt left more")
                return

    async def _restore(self, name: str, reason: str) -> None:
        await self._workspace.restore(self._log.state.snapshots[name])
        await self._log.record(SnapshotRestored(name=name, reason=reason))

    def _attempt(
        self,
        subtask: Subtask,
        number: int,
        shared: Sequence[Message],
        draft: str,
        problem: str,
        alone: bool,
    ) -> Attempt:
        earlier = [self._log.state.checkpoints[identity] for identity in self._earlier(subtask)]
        # The last attempt may use everything: the one tool that should have fitted did not.
        tools = subtask.tools if number < ATTEMPTS else ()
        how = how_to(subtask if tools else None, self._language())
        text = execute_text(
            subtask,
            earlier,
            problem=problem,
            how=how,
            tools=self._executor.tools_text(tools),
            alone=alone,
        )
        opening = with_role(shared, text)
        if draft and number == 1:
            opening = (
                *opening,
                Message(role="assistant", content=self._executor.document(target_name(subtask), draft)),
            )
        return Attempt(
            dialogue=f"{subtask.id}.{number}",
            role="execute",
            opening=opening,
            max_steps=self._max_steps,
            retry=number - 1,
            until_s=self._timeline.execute_until_s,
            tools=tools,
            scope=subtask if subtask.checks else None,
            reminder=how,
        )

    def _earlier(self, subtask: Subtask) -> list[str]:
        known = self._log.state.checkpoints
        return [identity for identity in known if not subtask.dependencies or identity in subtask.dependencies]

    def _language(self) -> str:
        request = self._log.state.request
        return language_of(request.text) if request is not None else ""
