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

_CREATE_NO_WINDOW = 0x08000000

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

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    @property
    def stdin(self) -> asyncio.StreamWriter:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> asyncio.StreamReader:
        assert self._process.stdout is not None
        return self._process.stdout

    async def wait(self) -> int:
        """Wait for its end; gives the exit status, negative for a signal."""
        return await self._process.wait()

    async def stop(self, *, grace_s: float = 0.5) -> int:
        """End it with its whole group: close stdin and terminate, wait `grace_s`, kill."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._signal(terminate=True)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), grace_s)
        self._signal(terminate=False)
        return await self._process.wait()

    def _signal(self, *, terminate: bool) -> None:
        if sys.platform == "win32":
            if self._process.returncode is None:
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
            **_platform_options(pass_fds),
        )
    finally:
        if log is not None:
            log.close()
    return Child(process, argv)


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
    name: str, args: Sequence[str] = (), *, env: Mapping[str, str] | None = None, stderr: Path | None = None
) -> Child:
    """Start one of our own programs; it ends by itself when its stdin is closed.

    Args:
        name: a key of `ROLES`.
        args: its arguments.
        env: complete environment; None inherits ours.
        stderr: file to append its standard error to; None drops it.
    """
    return await spawn(role_argv(name, args), env=env, stderr=stderr)


def _platform_options(pass_fds: Sequence[int]) -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": _CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True, "pass_fds": tuple(pass_fds)}
