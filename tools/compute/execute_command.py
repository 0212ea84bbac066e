"""Tool: a shell command inside the sandbox, waited for or in the background."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from engine.protocol.errors import ModelError
from engine.protocol.ports import BackgroundCommand, ToolContext
from engine.protocol.sandbox import Outcome
from engine.protocol.tools import ToolResult, ToolSpec
from tools.compute.policies import policy_for

_MOST_AT_ONCE = 4


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `ExecuteCommand`."""

    command: Annotated[str, msgspec.Meta(description="shell command; for action run")] = ""
    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=3600, description="seconds it may take")] = 60.0
    background: Annotated[bool, msgspec.Meta(description="start it and go on; poll it later")] = False
    id: Annotated[str, msgspec.Meta(description="of a background command; for poll and stop")] = ""
    action: Literal["run", "poll", "stop"] = "run"


class ExecuteCommand:
    """Runs ``/bin/sh -c`` inside the sandbox; keeps the background commands of one run."""

    def __init__(self) -> None:
        self._commands: dict[str, BackgroundCommand] = {}
        self._count = 0

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name="execute_command",
            summary="Run a shell command in the folder of the files (no network).",
            arguments=Arguments,
            effect="write",
            example={"command": "ls -l"},
        )

    async def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Run, poll or stop a command.

        Raises:
            ModelError: no command, an unknown id, or too many at once.
            UserError: the sandbox could not be set up.
        """
        if arguments.action == "run":
            return await self._run(arguments, context)
        command = self._commands.get(arguments.id)
        if command is None:
            known = ", ".join(self._commands) or "none"
            raise ModelError(f"There is no background command {arguments.id!r}; there are: {known}", code="command.id")
        if arguments.action == "poll" and command.running:
            return ToolResult(text=f"{arguments.id} is still running.\n{command.output()}".rstrip())
        del self._commands[arguments.id]
        return _result(await command.stop(), stopped=arguments.action == "stop")

    async def aclose(self) -> None:
        """End the background commands that are left."""
        while self._commands:
            _, command = self._commands.popitem()
            await command.stop()

    async def _run(self, arguments: Arguments, context: ToolContext) -> ToolResult:
        if not arguments.command.strip() or "\0" in arguments.command:
            raise ModelError("Give the command to run.", code="command.empty")
        policy = policy_for(context, arguments.timeout_s)
        argv = ["/bin/sh", "-c", arguments.command]
        if not arguments.background:
            return _result(await context.sandbox.run(argv, policy))
        if sum(command.running for command in self._commands.values()) >= _MOST_AT_ONCE:
            raise ModelError("Too many commands run in the background: stop one first.", code="command.too_many")
        self._count += 1
        name = f"command_{self._count}"
        self._commands[name] = await context.sandbox.start(argv, policy)
        return ToolResult(text=f"Started in the background as {name}; poll or stop it by this id.")


def _result(outcome: Outcome, *, stopped: bool = False) -> ToolResult:
    text = outcome.output.strip("\n")
    if outcome.status == "ok" or (stopped and outcome.status == "killed"):
        return ToolResult(text=text or ("The command was stopped." if stopped else "The command printed nothing."))
    code = "command.failed" if outcome.status == "failed" else outcome.status
    return ToolResult(
        text=f"{text}\nThe command ended: {outcome.status}, exit status {outcome.returncode}.".lstrip(),
        ok=False,
        code=code,
    )
