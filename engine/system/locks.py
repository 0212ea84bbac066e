"""Named locks between processes: a run, a download, a model server is held by one at a time."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import filelock
import msgspec

from engine.protocol.errors import UserError

_LOOK_S = 0.1


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds a lock, as written beside it.

    Attributes:
        pid: process id.
        what: what it is doing, for a sentence such as "… is busy with …".
    """

    pid: int
    what: str


@contextlib.asynccontextmanager
async def hold(path: Path, what: str, wait_s: float = 0.0) -> AsyncIterator[None]:
    """Hold the lock at `path` while the block runs. The system frees it when the process ends, however it ends.

    Args:
        path: the lock's file; its folder is made. ``<name>.holder`` beside it tells who holds it.
        what: what is being done, told to whoever finds it busy.
        wait_s: seconds to wait for the holder to let go.

    Raises:
        UserError: ``lock.busy``, naming the holder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(path, timeout=0, thread_local=False)
    await _acquire(lock, path, wait_s)
    note = _note(path)
    try:
        note.write_bytes(msgspec.json.encode(Holder(pid=os.getpid(), what=what)))
        yield
    finally:
        note.unlink(missing_ok=True)
        lock.release()


def holder(path: Path) -> Holder | None:
    """Who says to hold the lock; None if nobody does or the note is being written."""
    try:
        return msgspec.json.decode(_note(path).read_bytes(), type=Holder)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


async def _acquire(lock: filelock.BaseFileLock, path: Path, wait_s: float) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + wait_s
    while True:
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout as error:
            left = until - loop.time()
            if left <= 0:
                raise _busy(path) from error
            await asyncio.sleep(min(_LOOK_S, left))
        else:
            return


def _busy(path: Path) -> UserError:
    by = holder(path)
    return UserError(
        "lock.busy",
        "Another OneDay Desk (process {pid}) is busy with this: {job}." if by else "Another OneDay Desk holds {name}.",
        kept="Nothing was changed.",
        todo="Wait until it is done, or end it, and try again.",
        pid=by.pid if by else 0,
        job=by.what if by else "",
        name=path.name,
    )


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".holder")
