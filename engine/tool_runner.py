"""Runs one tool: intent → effect → result, with the workspace locked and scanned around whatever changes it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import msgspec

from engine.memory.observations import ObservationStore
from engine.protocol.errors import ModelError
from engine.protocol.events import SnapshotRestored, SnapshotTaken, ToolIntended, ToolReturned
from engine.protocol.messages import Action
from engine.protocol.ports import Tool, ToolContext
from engine.protocol.tools import ChangeSet, ToolResult
from engine.runlog import RunLog
from engine.workspace import Workspace

MIN_TOOL_S = 1.0
CHANGES = ("write", "send")
"""Effects that may change the workspace."""


class ToolRunner:
    """Runs tools of a run.

    Args:
        log: keeps intents and results.
        workspace: locked and scanned around every call that may change it.
        context: handed to the tools.
        store: bounds their results.
    """

    def __init__(self, log: RunLog, workspace: Workspace, context: ToolContext, store: ObservationStore) -> None:
        self._log = log
        self._workspace = workspace
        self._context = context
        self._store = store
        self.tool_s = 0.0

    async def workspace_digest(self) -> str:
        """Hash of the files as they are now."""
        return (await self._workspace.manifest()).digest

    def found(self, name: str) -> str:
        """The name in the workspace of the file that a model named; empty where there is none."""
        try:
            path = self._workspace.resolve(name)
        except ModelError:
            return ""
        root = self._workspace.root
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""

    async def run(self, tool: Tool, action: Action, arguments: Any, dialogue: str, note: str = "") -> None:
        """Run a tool and journal intent and result.

        Args:
            tool: which.
            action: as the model sent it.
            arguments: validated.
            dialogue: whose turn this is.
            note: put before the result.
        """
        call_id = f"call_{self._log.state.seq + 1}"
        before = ""
        if tool.spec.effect in CHANGES:
            files = await self._workspace.snapshot()
            await self._log.record(SnapshotTaken(name=call_id, files=files))
            before = await self.workspace_digest()
        intent = ToolIntended(
            call_id=call_id,
            dialogue=dialogue,
            tool=action.tool,
            arguments=action.arguments,
            effect=tool.spec.effect,
            thought=action.thought,
            before=before,
        )
        await self._log.record(intent)
        await self._effect(call_id, tool, arguments, note)

    async def recover(self, intent: ToolIntended, tool: Tool) -> None:
        """Deal with a call that was cut off between intent and result.

        Reading and asking is simply repeated. A call that writes is repeated from the files as they were before it.
        One that sends is not repeated: nobody knows whether it arrived.
        """
        if intent.effect == "send":
            text = "This call was interrupted; it may or may not have been carried out. It was not sent again."
            await self._return(
                intent.call_id, intent.tool, ToolResult(text=text, ok=False, code="interrupted"), ChangeSet(), 0
            )
            return
        if intent.effect in CHANGES and await self.workspace_digest() != intent.before:
            await self._workspace.restore(self._log.state.snapshots[intent.call_id])
            await self._log.record(SnapshotRestored(name=intent.call_id, reason="the call was interrupted"))
        await self._effect(intent.call_id, tool, msgspec.convert(intent.arguments, tool.spec.arguments, strict=False))

    async def undo(self, call_id: str) -> None:
        """Set the files back to what they were before a call that writes."""
        await self._workspace.restore(self._log.state.snapshots[call_id])
        await self._log.record(SnapshotRestored(name=call_id, reason="the change was wrong"))

    async def _effect(self, call_id: str, tool: Tool, arguments: Any, note: str = "") -> None:
        started = time.perf_counter()
        if tool.spec.effect not in CHANGES:
            result, changes = await self._guarded(tool, arguments), ChangeSet()
        else:
            async with self._workspace.mutation() as mutation:
                result = await self._guarded(tool, arguments)
            changes = mutation.changes
        if note:
            result = msgspec.structs.replace(result, text=f"{note}\n{result.text}")
        seconds = time.perf_counter() - started
        self.tool_s += seconds
        await self._return(call_id, tool.spec.name, result, changes, seconds)

    async def _guarded(self, tool: Tool, arguments: Any) -> ToolResult:
        # The person is waited for as long as it takes; the run's time stands still meanwhile.
        limit_s = None if tool.spec.effect == "ask" else max(MIN_TOOL_S, self._context.time_left_s)
        try:
            return await asyncio.wait_for(tool.run(arguments, self._context), limit_s)
        except ModelError as error:
            return ToolResult(text=error.text, ok=False, code=error.code)
        except TimeoutError:
            return ToolResult(
                text="The time for this run is nearly used up; the call was stopped.", ok=False, code="timeout"
            )

    async def _return(self, call_id: str, name: str, result: ToolResult, changes: ChangeSet, seconds: float) -> None:
        observation = await asyncio.to_thread(self._store.bound, name, call_id, result, changes)
        await self._log.record(ToolReturned(call_id=call_id, observation=observation, seconds=seconds))
