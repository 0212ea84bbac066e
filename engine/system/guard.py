"""Guard of a foreign server: starts it, and ends it with its whole tree when its lifeline closes.

Run as ``guard [--lifeline FD] -- program arguments…``. The lifeline is stdin unless a descriptor is named. The exit
status of the program is passed on; a program ended by a signal ends the guard by the same signal.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType

from engine.system.lifeline import wait_for_orphaning
from engine.system.spawn import spawn_below_guard
from engine.system.tree import descendants

_PR_SET_CHILD_SUBREAPER = 36
_GRACE_S = 0.7
_KILL_S = 5.0
_USAGE = 64
_NOT_STARTED = 127


def main(arguments: Sequence[str]) -> int:
    """Run the guard.

    Args:
        arguments: as in the module's text.

    Returns:
        Exit status: the program's; 64 for wrong arguments; 127 if it could not be started.
    """
    split = _parse(arguments)
    if split is None:
        sys.stderr.write("usage: guard [--lifeline FD] -- program arguments…\n")
        return _USAGE
    lifeline, argv = split
    parent = os.getppid()
    happened: queue.SimpleQueue[str] = queue.SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: _note(_number, _frame, happened))
    if sys.platform == "linux":
        # Grandchildren whose parent ended become ours, so that leaving the group does not lose them.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        program = spawn_below_guard(argv, use_stdin=lifeline != 0)
    except OSError as error:
        sys.stderr.write(f"{argv[0]} could not be started: {error}\n")
        return _NOT_STARTED
    _watch(happened, lambda: wait_for_orphaning(parent), "parent")
    _watch(happened, lambda: _drain(lifeline), "lifeline")
    _watch(happened, lambda: _ended(program), "exited")
    if happened.get() != "exited":
        _terminate(program)
    _kill_rest(program)
    return program.wait()


def _parse(arguments: Sequence[str]) -> tuple[int, list[str]] | None:
    if len(arguments) >= 2 and arguments[0] == "--":
        return 0, list(arguments[1:])
    if len(arguments) >= 4 and arguments[0] == "--lifeline" and arguments[1].isdigit() and arguments[2] == "--":
        return int(arguments[1]), list(arguments[3:])
    return None


def _note(_number: int, _frame: FrameType | None, happened: queue.SimpleQueue[str]) -> None:
    happened.put("signal")


def _watch(happened: queue.SimpleQueue[str], wait: Callable[[], None], what: str) -> None:
    def run() -> None:
        wait()
        happened.put(what)

    threading.Thread(target=run, name=what, daemon=True).start()


def _drain(fd: int) -> None:
    while os.read(fd, 4096):
        continue


def _ended(program: subprocess.Popen[bytes]) -> None:
    program.wait()


def _terminate(program: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        program.terminate()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(_GRACE_S)


def _kill_rest(program: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        program.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program.pid, signal.SIGKILL)
    until = time.monotonic() + _KILL_S
    while left := [pid for pid in descendants(os.getpid()) if _alive(pid, program)]:
        if time.monotonic() > until:
            sys.stderr.write(f"these processes could not be ended: {left}\n")
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)


def _alive(pid: int, program: subprocess.Popen[bytes]) -> bool:
    """Whether it still runs; a dead one that is ours is reaped on the way."""
    if pid == program.pid:
        return program.poll() is None
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == 0
    except ChildProcessError:
        # Not our own child (yet): it is dead once it has left the tree.
        return True


def _leave(status: int) -> None:
    if status < 0:
        number = -status
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    sys.exit(status)


if __name__ == "__main__":
    _leave(main(sys.argv[1:]))
