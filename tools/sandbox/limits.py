"""Limits on one command: the system's own (set inside, before the command), and a watch from outside."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from engine.protocol.sandbox import SandboxPolicy
from engine.system.tree import descendants

_LOOK_S = 0.1
_DISK_EVERY = 5
_GROWTH = 4
_SPARE_BYTES = 128 << 20


def limited(argv: Sequence[str], policy: SandboxPolicy, *, count_processes: bool) -> list[str]:
    """The command line that sets the limits of `policy` and then becomes `argv`.

    Args:
        argv: program and arguments.
        policy: the limits.
        count_processes: limit processes too; only where the count is the sandbox's own and not all of the user's.
    """
    prlimit = Path("/usr/bin/prlimit")
    if prlimit.exists():
        limits = [f"--as={policy.memory_bytes}", f"--fsize={policy.file_bytes}", "--core=0"]
        if count_processes:
            limits.append(f"--nproc={policy.processes}")
        return [str(prlimit), *limits, "--", *argv]
    # Shells differ: -u or -p for processes; macOS refuses -v. What cannot be set is left to the watch.
    lines = [f"ulimit -v {policy.memory_bytes >> 10}", f"ulimit -f {policy.file_bytes >> 9}", "ulimit -c 0"]
    if count_processes:
        lines.append(f"{{ ulimit -u {policy.processes} || ulimit -p {policy.processes}; }}")
    script = "; ".join(f"{line} 2>/dev/null" for line in lines) + '; exec "$@"'
    return ["/bin/sh", "-c", script, "sh", *argv]


async def watch(policy: SandboxPolicy, root_pid: int | None) -> str:
    """Wait until the command has gone too far; gives the reason as a sentence.

    Looks at the disk (growth of the workspace, room left), and as root, for whom the system does not count, at the
    number of processes below `root_pid`.
    """
    before = await asyncio.to_thread(folder_bytes, policy.workspace)
    turn = 0
    while True:
        await asyncio.sleep(_LOOK_S)
        turn += 1
        if root_pid is not None and hasattr(os, "geteuid") and os.geteuid() == 0:
            count = len(await asyncio.to_thread(descendants, root_pid))
            if count > policy.processes:
                return f"it started more than {policy.processes} processes"
        if turn % _DISK_EVERY == 0:
            grown = await asyncio.to_thread(folder_bytes, policy.workspace) - before
            if grown > _GROWTH * policy.file_bytes:
                return f"it wrote more than {(_GROWTH * policy.file_bytes) >> 20} MB"
            if grown > 0 and shutil.disk_usage(policy.workspace).free < _SPARE_BYTES:
                return "the disk is nearly full"


def folder_bytes(folder: Path) -> int:
    """Bytes that the files below `folder` take on disk; links are not followed."""
    total = 0
    waiting = [str(folder)]
    while waiting:
        # The command makes and removes files while we look.
        with (
            contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError),
            os.scandir(waiting.pop()) as entries,
        ):
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        stat = entry.stat(follow_symlinks=False)
                        total += getattr(stat, "st_blocks", stat.st_size // 512) * 512
    return total
