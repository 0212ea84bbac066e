"""Chooses the confinement of this computer by trying what it must prevent; fails closed."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from engine.protocol.errors import UserError
from engine.protocol.ports import Sandbox
from engine.protocol.sandbox import InterpreterEnv, SandboxPolicy
from tools.sandbox.bubblewrap import BubblewrapSandbox, find_bubblewraps
from tools.sandbox.seatbelt import PROGRAM, SeatbeltSandbox
from tools.sandbox.unconfined import UnconfinedSandbox

_TIMEOUT_S = 20.0

_ATTEMPTS = """
import json, os, socket, sys
outside, port, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
done = []
def attempt(name, action):
    try:
        action()
    except OSError:
        return
    done.append(name)
def connect(family, address):
    with socket.socket(family) as link:
        link.settimeout(1)
        link.connect(address)
attempt("write in the workspace", lambda: open("probe.txt", "w").close())
attempt("write outside", lambda: open(os.path.join(outside, "made.txt"), "w").close())
attempt("read outside", lambda: open(os.path.join(outside, "private.txt")).close())
attempt("connect to this computer", lambda: connect(socket.AF_INET, ("127.0.0.1", port)))
attempt("connect to a unix socket", lambda: connect(socket.AF_UNIX, path))
print(json.dumps(done))
"""
_WANTED = {"write in the workspace"}


class ChosenSandbox(Sandbox, Protocol):
    """A sandbox that can say how it stands."""

    @property
    def state(self) -> str:
        """One or two sentences for people: what confines commands here, or why nothing does and what to do."""
        ...


async def choose_sandbox(
    scratch: Path, interpreter: InterpreterEnv, *, candidates: Sequence[ChosenSandbox] | None = None
) -> ChosenSandbox:
    """The first confinement that passes the probe, else the unconfined one with the reasons in its state.

    Args:
        scratch: a folder of ours for the probe; a program below it is never trusted.
        interpreter: the Python that scripts run with; the probe runs in it, so it is proven to start too.
        candidates: what to try, in order; None for what this system offers.

    Raises:
        OSError: `scratch` cannot be written.
    """
    await asyncio.to_thread(scratch.mkdir, parents=True, exist_ok=True)
    offered = list(offers(scratch)) if candidates is None else list(candidates)
    reasons: list[str] = []
    for candidate in offered:
        fault = await probe(candidate, scratch, interpreter)
        if not fault:
            return candidate
        reasons.append(f"{candidate.name}: {fault}")
    why = " ".join(reasons) or "no sandbox is known for this system."
    return UnconfinedSandbox(
        state=f"Commands are not confined, so each one is asked about. Tried: {why} {_advice()}".strip()
    )


def offers(scratch: Path) -> list[ChosenSandbox]:
    """What could confine commands on this system, best first; nothing of it has been tried."""
    if sys.platform == "linux":
        return [BubblewrapSandbox(path) for path in find_bubblewraps(scratch)]
    if sys.platform == "darwin" and PROGRAM.exists():
        return [SeatbeltSandbox()]
    return []


async def probe(sandbox: Sandbox, scratch: Path, interpreter: InterpreterEnv) -> str:
    """Try what must be prevented.

    Args:
        sandbox: what is tried.
        scratch: a folder of ours; what the probe makes there is removed again.
        interpreter: the Python it runs with.

    Returns:
        Why the sandbox cannot be trusted; empty if it can.
    """
    async with _bait(scratch) as (workspace, outside, port, path):
        policy = SandboxPolicy(
            workspace=workspace,
            read_only_paths=interpreter.read_only_paths,
            hidden_paths=interpreter.hidden_paths,
            environment=interpreter.environment,
            timeout_s=_TIMEOUT_S,
        )
        argv = [str(interpreter.python), "-I", "-S", "-c", _ATTEMPTS, str(outside), str(port), str(path)]
        try:
            outcome = await sandbox.run(argv, policy)
        except (UserError, OSError) as error:
            return f"it does not start ({error})."
        if (outside / "made.txt").exists():
            return "it let a command write outside its folder."
        try:
            done = set(msgspec.json.decode(outcome.output.encode(), type=list[str]))
        except msgspec.DecodeError:
            return f"a first command failed in it ({outcome.status}: {outcome.output.strip()[-200:]})."
    if done == _WANTED:
        return ""
    if missing := _WANTED - done:
        return f"it did not let a command {', '.join(sorted(missing))}."
    return f"it let a command {', '.join(sorted(done - _WANTED))}."


@contextlib.asynccontextmanager
async def _bait(scratch: Path) -> AsyncIterator[tuple[Path, Path, int, Path]]:
    """A workspace, a folder outside with a private file, a listening port and a listening unix socket."""
    root = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="probe-", dir=scratch))
    # The path of a unix socket may have some hundred bytes only, whatever the length of ours.
    short = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="oneday-"))
    servers: list[asyncio.Server] = []
    try:
        workspace, outside, path = root / "workspace", root / "outside", short / "socket"
        workspace.mkdir()
        outside.mkdir()
        (outside / "private.txt").write_text("private", encoding="utf-8")
        servers.append(await asyncio.start_server(_hang_up, "127.0.0.1", 0))
        if sys.platform != "win32":
            servers.append(await asyncio.start_unix_server(_hang_up, path))
        yield workspace, outside, servers[0].sockets[0].getsockname()[1], path
    finally:
        for server in servers:
            server.close()
            await server.wait_closed()
        for folder in (root, short):
            await asyncio.to_thread(shutil.rmtree, folder)


def _hang_up(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


def _advice() -> str:
    if sys.platform == "linux":
        return "Installing the system's bubblewrap package usually mends this."
    return ""
