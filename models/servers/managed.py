"""A llama.cpp server of our own: started, watched, restarted, shared with other programs, ended for certain.

Sharing: whoever holds the OS lock of a server owns it and starts the process; its address is in a small state file
that only this user can read. Others attach to it. The lock is freed by the system when the owner ends in any way, and
its server ends with it (the pipe on its standard input closes); then whoever asks next becomes the owner and starts a
server itself. So a server never outlives its owner and a model is not loaded twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib
import importlib.util
import json
import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import filelock
import httpx
import msgspec

from engine.protocol.errors import RetryableError, UserError
from engine.system.spawn import Child, spawn_role
from models.http import new_client
from models.openai_compatible import Endpoint

_POLL_S = 0.1
_LOG_LIMIT_BYTES = 4 << 20
_LOG_LINES = 8
_LOG_STAMP = re.compile(r"^[\d.]+ [A-Z] ")


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a server is started with.

    Attributes:
        model: path of the GGUF file.
        name: catalogue name, for messages.
        context_tokens: window.
        threads: CPU threads; 0 for the physical cores.
        load_timeout_s: limit for loading the model.
        connect_timeout_s: limit for the connection that looks whether an attached server answers.
        nice: lowers the priority by this much (POSIX).
        max_restarts: how often a server that died is started again.
        cache_ram_mib: memory for prompts kept beside the slot.
    """

    model: Path
    name: str
    context_tokens: int
    load_timeout_s: float
    connect_timeout_s: float = 5.0
    threads: int = 0
    nice: int = 5
    max_restarts: int = 3
    cache_ram_mib: int = 256

    def key(self) -> str:
        """The same for settings that one server can serve."""
        return hashlib.sha256(f"{self.model}|{self.context_tokens}|{self.threads}".encode()).hexdigest()[:16]


class ServerState(msgspec.Struct, frozen=True, kw_only=True):
    """What the owner tells others: address, key, process of the server, process of the owner."""

    url: str
    api_key: str
    pid: int
    owner: int


def physical_cores() -> int:
    """Physical cores that this process may use; at least 1."""
    psutil: Any = importlib.import_module("psutil")  # it brings no types

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(psutil.cpu_count(logical=False) or usable, usable))


class ManagedServer:
    """One server, owned or attached to.

    Args:
        settings: see `ServerSettings`.
        state_dir: folder for lock, state and log; made if missing.
        on_progress: told in words what is going on.
    """

    def __init__(self, settings: ServerSettings, state_dir: Path, on_progress: Callable[[str], None]) -> None:
        self._settings = settings
        self._say = on_progress
        key = settings.key()
        self._dir = state_dir
        self._state_path = state_dir / f"{key}.json"
        self.log = state_dir / f"{settings.name}.log"
        self._lock = filelock.FileLock(state_dir / f"{key}.lock", thread_local=False)
        self._guard = asyncio.Lock()
        self._child: Child | None = None
        self._state: ServerState | None = None
        self._restarts = 0

    @property
    def owned(self) -> bool:
        """Whether the process is ours (else it belongs to another program, or nothing runs)."""
        return self._child is not None

    @property
    def pid(self) -> int | None:
        """Process of the server, None before the first start."""
        return None if self._state is None else self._state.pid

    async def endpoint(self) -> Endpoint:
        """The address, of a server that runs: started, attached to or restarted where needed.

        Raises:
            UserError: it cannot be started (no library, damaged file, no memory); the log's last lines are named.
            RetryableError: another program's server does not come up in time.
        """
        async with self._guard:
            if self._child is not None:
                if self._child.returncode is not None:
                    await self._restart()
            elif self._try_lock():
                await self._start()
            else:
                await self._attach()
            assert self._state is not None
            return Endpoint(url=self._state.url, api_key=self._state.api_key)

    def _try_lock(self) -> bool:
        self._dir.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(blocking=False)
        except filelock.Timeout:
            return False
        return True

    async def _restart(self) -> None:
        assert self._child is not None
        status = await self._child.wait()
        if self._restarts >= self._settings.max_restarts:
            raise self._failed(f"it ended {self._restarts + 1} times, last with status {status}")
        self._restarts += 1
        self._say(f"The model server ended (status {status}); starting it again")
        await self._start()

    async def _start(self) -> None:
        """Start the process and wait until it answers; the lock is ours."""
        try:
            self._state = await self._launch()
        except BaseException:
            await self._end()
            raise
        self._write_state(self._state)

    async def _launch(self) -> ServerState:
        if importlib.util.find_spec("xllamacpp") is None:
            raise UserError(
                "model.no_backend",
                "The library that runs local models (xllamacpp) is not installed.",
                todo="Install it: pip install 'oneday-desk[local]'.",
            )
        settings = self._settings
        self._say(f"Loading the model {settings.name}")
        _shorten(self.log)
        self._child = child = await spawn_role("model-host", stderr=self.log)
        api_key = secrets.token_urlsafe(24)
        values = {
            "model": str(settings.model),
            "alias": settings.name,
            "api_key": api_key,
            "context_tokens": settings.context_tokens,
            "threads": settings.threads or physical_cores(),
            "cache_ram_mib": settings.cache_ram_mib,
            "nice": settings.nice,
        }
        try:
            async with asyncio.timeout(settings.load_timeout_s):
                child.stdin.write(json.dumps(values).encode() + b"\n")
                await child.stdin.drain()
                line = await child.stdout.readline()
        except TimeoutError:
            raise self._failed(f"it was not ready after {settings.load_timeout_s:.0f} s") from None
        except ConnectionError:
            line = b""
        if not line:
            raise self._failed(f"it ended with status {await child.wait()}")
        self._say(f"The model {settings.name} is loaded")
        return ServerState(url=json.loads(line)["url"], api_key=api_key, pid=child.pid, owner=os.getpid())

    async def _attach(self) -> None:
        """Use the server of the program that holds the lock; become the owner where that program ends meanwhile."""
        told = False
        deadline = asyncio.get_running_loop().time() + self._settings.load_timeout_s
        while asyncio.get_running_loop().time() < deadline:
            state = self._read_state()
            if state is not None and (state == self._state or await self._answers(state)):
                self._state = state
                return
            if not told:
                told = True
                self._say(f"Another program is loading the model {self._settings.name}; waiting for it")
            await asyncio.sleep(_POLL_S)
            if self._try_lock():
                await self._start()
                return
        raise RetryableError(f"Another program holds the model {self._settings.name}, but its server does not answer.")

    async def _answers(self, state: ServerState) -> bool:
        headers = {"Authorization": f"Bearer {state.api_key}"}
        async with new_client(state.url, connect_timeout_s=self._settings.connect_timeout_s) as client:
            client.timeout = httpx.Timeout(self._settings.connect_timeout_s)
            try:  # an address that asks for the key: a stranger on the same port after a crash does not pass
                response = await client.get(f"{state.url}/props", headers=headers)
            except httpx.TransportError:
                return False
        return response.status_code == 200

    def _read_state(self) -> ServerState | None:
        try:
            return msgspec.json.decode(self._state_path.read_bytes(), type=ServerState)
        except (FileNotFoundError, msgspec.MsgspecError):
            return None

    def _write_state(self, state: ServerState) -> None:
        fresh = self._state_path.with_name(f"{self._state_path.name}.{os.getpid()}.new")
        with contextlib.suppress(FileNotFoundError):
            fresh.unlink()
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(state))
        fresh.replace(self._state_path)

    def _failed(self, why: str) -> UserError:
        return UserError(
            "model.server",
            "The server for the model {name} could not be kept running: {why}. Its log ends with: {lines}",
            kept="Your files are unchanged.",
            todo="Check the model's file with: oneday models verify {name}. The whole log is in {log}.",
            name=self._settings.name,
            why=why,
            lines=" | ".join(_last_lines(self.log)) or "nothing",
            log=str(self.log),
        )

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.stop()
        if self._lock.is_locked:
            self._state_path.unlink(missing_ok=True)
            self._lock.release()
        self._state = None

    async def aclose(self) -> None:
        """End the server if it is ours, else let go of it; safe to call twice."""
        async with self._guard:
            await self._end()


def _shorten(log: Path) -> None:
    """Begin a new log where the old one grew large; the old one is kept once."""
    if log.exists() and log.stat().st_size > _LOG_LIMIT_BYTES:
        log.replace(log.with_name(log.name + ".old"))


def _last_lines(log: Path) -> list[str]:
    if not log.exists():
        return []
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        lines = file.read().decode("utf-8", errors="replace").splitlines()
    told = [line.strip() for line in lines if " E " in line or "rror" in line or "failed" in line]
    distinct = [*dict.fromkeys(_LOG_STAMP.sub("", line) for line in told or lines if line.strip())]
    return distinct[-_LOG_LINES:]
