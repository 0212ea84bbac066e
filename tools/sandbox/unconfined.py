"""No confinement: for computers where no sandbox works. Whoever uses it must ask the person about each command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from engine.protocol.sandbox import Outcome, SandboxPolicy
from engine.system.spawn import Child, spawn, spawn_guarded
from tools.sandbox.execution import Execution
from tools.sandbox.limits import limited


class UnconfinedSandbox:
    """Runs commands as they are, with time, output and memory limits and a certain end.

    Args:
        state: one sentence for people on why there is no confinement.
    """

    def __init__(self, *, state: str = "Commands are not confined; each one is asked about.") -> None:
        self._state = state

    @property
    def state(self) -> str:
        """One or two sentences for people."""
        return self._state

    @property
    def name(self) -> str:
        return "unconfined"

    @property
    def confines(self) -> bool:
        return False

    async def spawn(self, argv: Sequence[str], policy: SandboxPolicy, *, stderr: Path | None = None) -> Child:
        """Start with pipes on stdin and stdout; stderr is appended to a file or dropped.

        Raises:
            OSError: it could not be started.
        """
        return await start_guarded(argv, policy, stderr=stderr)

    async def run(self, argv: Sequence[str], policy: SandboxPolicy, stdin: bytes = b"") -> Outcome:
        """Run to the end or to a limit; the guard ends what is left of it."""
        return await (await execute_guarded(argv, policy, stdin)).wait()

    async def start(self, argv: Sequence[str], policy: SandboxPolicy) -> Execution:
        """Start in the background."""
        return await execute_guarded(argv, policy, b"")


async def start_guarded(
    argv: Sequence[str], policy: SandboxPolicy, *, stderr: Path | None = None, merge_stderr: bool = False
) -> Child:
    """Start under the guard, which also catches what leaves the process group (on Windows a job does that).

    Raises:
        OSError: it could not be started.
    """
    if sys.platform == "win32":
        return await spawn(argv, cwd=policy.workspace, env=policy.environment, stderr=stderr, merge_stderr=merge_stderr)
    return await spawn_guarded(
        limited(argv, policy, count_processes=False),
        cwd=policy.workspace,
        env=policy.environment,
        stderr=stderr,
        merge_stderr=merge_stderr,
        use_stdin=True,
    )


async def execute_guarded(argv: Sequence[str], policy: SandboxPolicy, stdin: bytes) -> Execution:
    """The same as a supervised command."""
    child = await start_guarded(argv, policy, merge_stderr=True)
    return Execution(child, policy, stdin=stdin, settle=_as_it_is, root_pid=None)


async def _as_it_is(returncode: int) -> int:
    return returncode
