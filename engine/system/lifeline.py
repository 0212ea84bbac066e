"""What our own programs call at their start, so that they end when their parent does, however it ended."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_LOOK_S = 0.5

OnEnd = Callable[[], None]


def hold_on(*, fd: int = 0, carries_data: bool = False, grace_s: float = 2.0, on_end: OnEnd | None = None) -> None:
    """End this process when its lifeline closes or its parent is gone.

    Two threads watch; the process gets `grace_s` to end by itself and is then ended without further ado. Linux's
    parent-death signal is not used here, as it follows the thread that started us and not the process.

    Args:
        fd: lifeline, a pipe whose other end the parent holds; 0 is stdin. A private duplicate is watched.
        carries_data: the pipe is also read by someone else, so only its hanging up is waited for (POSIX; on
            Windows the reader notices the end of the file, and the watch on the parent does the rest).
        grace_s: seconds between noticing and the certain end.
        on_end: called once in the watching thread before the grace begins, such as to cancel the work.
    """
    noticed = threading.Lock()

    def end() -> None:
        if not noticed.acquire(blocking=False):
            return
        if on_end is not None:
            on_end()
        time.sleep(grace_s)
        os._exit(1)

    if not (carries_data and sys.platform == "win32"):
        private = os.dup(fd)
        wait = _wait_for_hangup if carries_data else _wait_for_end
        threading.Thread(target=_then, args=(lambda: wait(private), end), name="lifeline", daemon=True).start()
    parent = os.getppid()
    threading.Thread(target=_then, args=(lambda: wait_for_orphaning(parent), end), name="parent", daemon=True).start()


def die_with_parent() -> None:
    """Ask Linux to kill us with the thread that started us; an extra for programs without threads in the parent."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def wait_for_orphaning(parent: int) -> None:
    """Block until our parent is no longer `parent`."""
    if sys.platform == "win32":
        synchronize, forever = 0x00100000, 0xFFFFFFFF
        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel32.OpenProcess.restype = ctypes.c_void_p
        handle = ctypes.c_void_p(kernel32.OpenProcess(synchronize, False, parent))
        if handle:
            kernel32.WaitForSingleObject(handle, forever)
        return
    while os.getppid() == parent:
        time.sleep(_LOOK_S)


def _then(wait: Callable[[], None], end: OnEnd) -> None:
    wait()
    end()


def _wait_for_end(fd: int) -> None:
    while os.read(fd, 4096):
        continue


def _wait_for_hangup(fd: int) -> None:
    poll = select.poll()
    poll.register(fd, 0)
    while not any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in poll.poll()):
        continue
