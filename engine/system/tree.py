"""The processes below one process, so that those which left its group are found too (Linux; elsewhere empty)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

_PROC = Path("/proc")


def parents() -> dict[int, int]:
    """Process id to parent id of everything visible in ``/proc``; empty where there is none."""
    found: dict[int, int] = {}
    if sys.platform != "linux":
        return found
    for folder in _PROC.iterdir():
        if not folder.name.isdigit():
            continue
        # A process may end between the listing and the read.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            stat = (folder / "stat").read_bytes()
            found[int(folder.name)] = int(stat[stat.rindex(b")") + 2 :].split()[1])
    return found


def descendants(pid: int) -> list[int]:
    """Process ids of the children of `pid`, their children and so on; parents come first."""
    children: dict[int, list[int]] = {}
    for child, parent in parents().items():
        children.setdefault(parent, []).append(child)
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found.extend(below)
        waiting.extend(below)
    return found


class Tree:
    """Handles on the descendants of a process, so that a reused number never hits a stranger.

    Args:
        pid: the root; it is not part of the tree itself.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._handles: dict[int, int] = {}

    def look(self) -> None:
        """Take hold of the descendants there are now; call it before the root ends and again just before killing."""
        if sys.platform != "linux":
            return
        for pid in descendants(self._pid):
            if pid not in self._handles:
                with contextlib.suppress(ProcessLookupError):
                    self._handles[pid] = os.pidfd_open(pid)

    def kill(self) -> None:
        """Kill all that were found; those that belong to another user stay."""
        if sys.platform != "linux":
            return
        for handle in self._handles.values():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)

    async def gone(self, wait_s: float = 2.0) -> bool:
        """Wait until every one found has ended; False if some are left after `wait_s`. Gives the handles back."""
        loop = asyncio.get_running_loop()
        handles = list(self._handles.values())
        self._handles.clear()
        ended = [loop.create_future() for _ in handles]
        for handle, future in zip(handles, ended, strict=True):
            loop.add_reader(handle, _settle, future)
        try:
            if not ended:
                return True
            _, pending = await asyncio.wait(ended, timeout=wait_s)
            return not pending
        finally:
            for handle in handles:
                loop.remove_reader(handle)
                os.close(handle)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
