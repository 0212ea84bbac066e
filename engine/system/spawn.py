"""The only place that starts processes: argv lists, no shell, and a certain end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from engine.system.tree import Tree
from engine.system.windows_job import Job

_CREATE_NO_WINDOW = 0x08000000
_BELOW_NORMAL = 0x00004000
_NICE = 10
_REFUSED = "the child has no pipe there"

ROLES = {
    "engine": "engine.host",
    "document-worker": "tools.documents.worker",
    "model-host": "models.servers.llama_host",
    "guard": "engine.system.guard",
}
"""Our own programs by role, as modules run with ``-m`` from a source tree or a pip install."""


class Child:
    """A running child process with pipes on stdin and stdout; it leads a process group of its own."""

    def __init__(self, process: asyncio.subprocess.Process, argv: Sequence[str]) -> None:
        self._process = process
        self.argv = tuple(argv)
        self._lifeline: int | None = None
        self._job = Job.of(process.pid) if sys.platform == "win32" else None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    @property
    def stdin(self) -> asyncio.StreamWriter:
        if self._process.stdin is None:
            raise RuntimeError(_REFUSED)
        return self._process.stdin

    @property
    def stdout(self) -> asyncio.StreamReader:
        if self._process.stdout is None:
            raise RuntimeError(_REFUSED)
        return self._process.stdout

    async def wait(self) -> int:
        """Wait for its end; gives the exit status, negative for a signal."""
        return await self._process.wait()

    def own_lifeline(self, write_end: int) -> None:
        """Keep the writing end of a pipe that the child watches; closed when the child is stopped."""
        self._lifeline = write_end

    async def stop(self, *, grace_s: float = 0.5) -> int:
        """End it with its whole tree: close stdin and terminate, wait `grace_s`, kill.

        On Linux descendants that left the process group are killed too, and this returns when they are gone. On
        Windows the child lies in a kill-on-close job. On macOS only the group is reached; what must not be able to
        leave it runs under the guard.

        Args:
            grace_s: seconds it may take to end by itself; 0 kills at once.
        """
        tree = Tree(self._process.pid)
        if self._process.returncode is None:
            tree.look()
        if self._process.stdin is not None:
            self._process.stdin.close()
        if grace_s > 0:
            self._signal(terminate=True)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), grace_s)
        if self._process.returncode is None:
            tree.look()
        self._signal(terminate=False)
        tree.kill()
        status = await self._process.wait()
        await tree.gone()
        self.release()
        return status

    def release(self) -> None:
        """Give back what is kept for the child; after its end only. Safe to call twice."""
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None
        if self._job is not None:
            self._job.close()
            self._job = None

    def _signal(self, *, terminate: bool) -> None:
        if sys.platform == "win32":
            # There is no gentle signal without a console: closing stdin was the request, this is the end.
            if not terminate and self._job is not None:
                self._job.kill()
            if not terminate and self._process.returncode is None:
                self._process.kill()
            return
        try:
            os.killpg(self._process.pid, signal.SIGTERM if terminate else signal.SIGKILL)
        except ProcessLookupError:
            return


async def spawn(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stderr: Path | int | None = None,
    merge_stderr: bool = False,
    pass_fds: Sequence[int] = (),
    limit_bytes: int = 8 << 20,
    low_priority: bool = False,
) -> Child:
    """Start a program with pipes on stdin and stdout.

    Args:
        argv: program and arguments; never a shell line.
        cwd: working directory.
        env: complete environment; None inherits ours.
        stderr: file to append standard error to, or an open descriptor; None drops it.
        merge_stderr: standard error goes into the stdout pipe instead.
        pass_fds: descriptors the child inherits (POSIX).
        limit_bytes: longest line that can be read from its stdout.
        low_priority: the rest of the computer goes first.

    Raises:
        OSError: it could not be started.
    """
    log: IO[bytes] | None = None
    target: int | IO[bytes] = subprocess.DEVNULL
    if merge_stderr:
        target = subprocess.STDOUT
    elif isinstance(stderr, Path):
        log = target = stderr.open("ab")
    elif stderr is not None:
        target = stderr
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=target,
            cwd=cwd,
            env=None if env is None else dict(env),
            limit=limit_bytes,
            **_platform_options(pass_fds, low_priority),
        )
    finally:
        if log is not None:
            log.close()
    if low_priority and sys.platform != "win32":
        # Set from outside, as running Python between fork and exec is not safe; it may have ended already.
        with contextlib.suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
    return Child(process, argv)


async def spawn_guarded(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stderr: Path | None = None,
    merge_stderr: bool = False,
    use_stdin: bool = False,
    low_priority: bool = False,
) -> Child:
    """Start a foreign program under our guard, which ends its whole tree when we end, however we end.

    The child given back is the guard; its exit status is that of the program.

    Args:
        argv: the foreign program and its arguments.
        env: complete environment; None inherits ours.
        cwd: working directory.
        stderr: file to append standard error to; None drops it.
        merge_stderr: standard error goes into the stdout pipe instead.
        use_stdin: the program reads the child's stdin (POSIX only); otherwise that is the lifeline and the program
            has none.
        low_priority: the rest of the computer goes first.

    Raises:
        OSError: the guard could not be started.
    """
    if not use_stdin:
        command = role_argv("guard", ["--", *argv])
        return await spawn(
            command, cwd=cwd, env=env, stderr=stderr, merge_stderr=merge_stderr, low_priority=low_priority
        )
    read_end, write_end = os.pipe()
    try:
        command = role_argv("guard", ["--lifeline", str(read_end), "--", *argv])
        child = await spawn(
            command,
            cwd=cwd,
            env=env,
            stderr=stderr,
            merge_stderr=merge_stderr,
            pass_fds=[read_end],
            low_priority=low_priority,
        )
    except OSError:
        os.close(write_end)
        raise
    finally:
        os.close(read_end)
    child.own_lifeline(write_end)
    return child


def spawn_below_guard(argv: Sequence[str], *, use_stdin: bool) -> subprocess.Popen[bytes]:
    """Start the program of a guard: it shares the guard's stdout and stderr and leads a group of its own.

    Args:
        argv: program and arguments.
        use_stdin: it shares the guard's stdin too; otherwise its stdin is empty.

    Raises:
        OSError: it could not be started.
    """
    return subprocess.Popen(argv, stdin=None if use_stdin else subprocess.DEVNULL, **_platform_options((), False))


def role_argv(name: str, args: Sequence[str] = ()) -> list[str]:
    """Command line of one of our own programs, in a source tree, a pip install or a frozen bundle.

    Args:
        name: a key of `ROLES`.
        args: its arguments.
    """
    if getattr(sys, "frozen", False):
        suffix = ".exe" if sys.platform == "win32" else ""
        return [str(Path(sys.executable).with_name(f"oneday-role{suffix}")), name, *args]
    root = Path(__file__).resolve().parents[2]
    start = (
        f"import sys, runpy; sys.path.insert(0, {str(root)!r}); runpy.run_module({ROLES[name]!r}, run_name='__main__')"
    )
    return [sys.executable, "-I", "-c", start, *args]


async def spawn_role(
    name: str,
    args: Sequence[str] = (),
    *,
    env: Mapping[str, str] | None = None,
    stderr: Path | None = None,
    low_priority: bool = False,
) -> Child:
    """Start one of our own programs; it ends by itself when its stdin is closed.

    Args:
        name: a key of `ROLES`.
        args: its arguments.
        env: complete environment; None inherits ours.
        stderr: file to append its standard error to; None drops it.
        low_priority: the rest of the computer goes first.
    """
    return await spawn(role_argv(name, args), env=env, stderr=stderr, low_priority=low_priority)


def _platform_options(pass_fds: Sequence[int], low_priority: bool) -> dict[str, Any]:
    if sys.platform == "win32":
        flags = _CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
        return {"creationflags": flags | (_BELOW_NORMAL if low_priority else 0)}
    return {"start_new_session": True, "pass_fds": tuple(pass_fds)}
