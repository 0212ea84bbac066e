"""One command at work, whatever confines it: output bounded while it is read, limits, a typed end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

from engine.protocol.sandbox import Outcome, OutcomeStatus, SandboxPolicy
from engine.system.spawn import Child
from tools.sandbox.limits import watch

_PIECE = 64 << 10
_TAIL = 8 << 10
_SIGKILL = 9
_OUT_OF_MEMORY = ("MemoryError", "Cannot allocate memory", "std::bad_alloc", "Unable to allocate", "out of memory")
_DENIED = (
    "Read-only file system",
    "Operation not permitted",
    "Permission denied",
    "Network is unreachable",
    "Address family not supported",
    "Temporary failure in name resolution",
    "Could not resolve host",
)

Settle = Callable[[int], Awaitable[int]]
"""Given the exit status of the child, waits for the last of the tree and gives the command's own exit status."""


class BoundedOutput:
    """The beginning and the end of a stream, within a number of bytes; the middle is dropped.

    Args:
        limit_bytes: most bytes kept.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._half = max(limit_bytes // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def feed(self, piece: bytes) -> None:
        """Take in the next bytes."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += piece[:room]
            piece = piece[room:]
        self._tail += piece
        over = len(self._tail) - self._half
        if over > 0:
            del self._tail[:over]
            self._dropped += over

    def text(self) -> str:
        """All that is kept, decoded with replacement; a line tells what was dropped."""
        gap = f"\n[… {self._dropped} bytes left out …]\n".encode() if self._dropped else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "replace").replace("\r\n", "\n")


class Execution:
    """A command that was started with stdout and stderr in one pipe; satisfies ``BackgroundCommand``.

    Args:
        child: the started child.
        policy: its limits.
        stdin: what it is given to read.
        settle: see `Settle`.
        root_pid: process below which all of the command's lie; None if not known.
    """

    def __init__(
        self, child: Child, policy: SandboxPolicy, *, stdin: bytes, settle: Settle, root_pid: int | None
    ) -> None:
        self._child = child
        self._policy = policy
        self._settle = settle
        self._root_pid = root_pid
        self._kept = BoundedOutput(policy.output_bytes)
        self._stopping = asyncio.Event()
        self._task = asyncio.create_task(self._supervise(stdin))

    @property
    def running(self) -> bool:
        """Whether it is still at work."""
        return not self._task.done()

    def output(self) -> str:
        """Everything printed so far, bounded as in the policy."""
        return self._kept.text()

    async def wait(self) -> Outcome:
        """Wait for its end or for a limit; when cancelled, the command is ended first."""
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            await self.stop()
            raise

    async def stop(self) -> Outcome:
        """End it with all its children; gives its outcome, also if it had ended already."""
        self._stopping.set()
        return await asyncio.shield(self._task)

    async def _supervise(self, stdin: bytes) -> Outcome:
        began = time.monotonic()
        reading = asyncio.create_task(self._read())
        feeding = asyncio.create_task(self._feed(stdin))
        try:
            reason = await self._first_end()
        finally:
            status = await self._child.stop(grace_s=0)
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
        await reading
        status = await self._settle(status)
        text = self.output()
        if reason not in ("", "timeout", "stopped"):
            text += f"\n[stopped: {reason}]\n"
        seconds = time.monotonic() - began
        return Outcome(status=_judge(reason, status, text), returncode=status, output=text, seconds=seconds)

    async def _first_end(self) -> str:
        """Empty if the command ended by itself, else why it must be ended."""
        ended = asyncio.create_task(self._child.wait())
        watching = asyncio.create_task(watch(self._policy, self._root_pid))
        stopped = asyncio.create_task(self._stopping.wait())
        tasks: set[asyncio.Task[int] | asyncio.Task[str] | asyncio.Task[bool]] = {ended, watching, stopped}
        try:
            done, _ = await asyncio.wait(tasks, timeout=self._policy.timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if ended in done:
                return ""
            if watching in done:
                return watching.result()
            return "stopped" if stopped in done else "timeout"
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self) -> None:
        while piece := await self._child.stdout.read(_PIECE):
            self._kept.feed(piece)

    async def _feed(self, stdin: bytes) -> None:
        writer = self._child.stdin
        # A command that does not read its input, or ends early, is no fault of ours.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            writer.write(stdin)
            await writer.drain()
            writer.close()
            await writer.wait_closed()


def _judge(reason: str, returncode: int, text: str) -> OutcomeStatus:
    if reason == "timeout":
        return "timeout"
    if reason:
        return "killed"
    if returncode == 0:
        return "ok"
    tail = text[-_TAIL:]
    if any(sign in tail for sign in _OUT_OF_MEMORY):
        return "out_of_memory"
    if returncode == -_SIGKILL:
        return "killed"
    return "denied" if any(sign in tail for sign in _DENIED) else "failed"
