"""Guard, lifeline and trees with real processes."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from engine.system.spawn import role_argv, spawn, spawn_guarded
from engine.system.tree import descendants

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups of POSIX"),
]
ROOT = str(Path(__file__).resolve().parents[2])
SERVER = "trap '' TERM; (setsid sleep 5555 &); sleep 5556 & echo $$; wait; wait"


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


async def all_gone(pids) -> None:
    async with asyncio.timeout(8):
        while any(alive(pid) for pid in pids):  # noqa: ASYNC110 - they are not our children
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("use_stdin", [False, True])
async def test_exit_status_passes_through_the_guard(use_stdin):
    for script, status in (("exit 7", 7), ("kill -9 $$", -9), ("kill -15 $$", -15)):
        child = await spawn_guarded(["/bin/sh", "-c", script], use_stdin=use_stdin)
        assert await child.wait() == status
        child.release()


async def test_guard_ends_the_tree_when_the_lifeline_closes():
    child = await spawn_guarded(["/bin/sh", "-c", SERVER])
    await child.stdout.readline()
    pids = [child.pid, *descendants(child.pid)]
    assert len(pids) >= 4
    child.stdin.close()
    await child.wait()
    await all_gone(pids)


async def test_guard_ends_the_tree_when_its_parent_is_killed():
    argv = role_argv("guard", ["--", "/bin/sh", "-c", SERVER])
    # The middle process keeps the guard's stdin open elsewhere, so that only the death of the parent tells.
    middle = f"import subprocess, time; subprocess.Popen({argv!r}); time.sleep(60)"
    parent = await spawn([sys.executable, "-c", middle])
    await parent.stdout.readline()
    pids = descendants(parent.pid)
    assert len(pids) >= 4
    os.kill(parent.pid, signal.SIGKILL)
    await all_gone(pids)
    await parent.stop()


async def test_stop_ends_what_left_the_group():
    child = await spawn(["/bin/sh", "-c", "setsid sleep 5557 & echo x; wait"], low_priority=True)
    await child.stdout.readline()
    assert os.getpriority(os.PRIO_PROCESS, child.pid) == 10
    pids = [child.pid, *descendants(child.pid)]
    await child.stop(grace_s=0)
    assert not any(alive(pid) for pid in pids)


@pytest.mark.parametrize("carries_data", [False, True])
async def test_a_role_ends_with_its_lifeline_even_when_busy(carries_data):
    program = (
        f"import sys; sys.path.insert(0, {ROOT!r})\nfrom engine.system.lifeline import hold_on\n"
        f"hold_on(carries_data={carries_data}, grace_s=0)\nprint('on', flush=True)\nwhile True: pass"
    )
    child = await spawn([sys.executable, "-c", program])
    assert await child.stdout.readline() == b"on\n"
    child.stdin.close()
    assert await asyncio.wait_for(child.wait(), 8) == 1
