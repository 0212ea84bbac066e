"""The warm pool of document workers: at most a few confined processes, each doing one job at a time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from engine.protocol.documents import CheckFiles, FileProfile, Inspection, Reading, ReadOptions
from engine.protocol.errors import ModelError, UserError
from engine.protocol.ledger import Check
from engine.protocol.ports import Sandbox
from engine.protocol.sandbox import SandboxPolicy
from engine.protocol.verdicts import CheckResult, Defect, Evidence
from engine.system.spawn import Child, role_argv
from tools.documents.confinement import worker_environment, worker_paths
from tools.documents.wire import Reply, Request
from tools.readers.kinds import PROBLEMS, ReadProblem, first_problem, kind_of

_LIFETIME_S = 86_400.0
_START_S = 30.0
_MOST_JOBS = 200
"""A worker is replaced after so many jobs, so that leaks of libraries stay small."""


class _Worker:
    """One worker process."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.jobs = 0

    async def ask(self, request: Request) -> Reply | None:
        """Send a request and wait for its reply; None if the process ended or spoke nonsense."""
        self.jobs += 1
        try:
            self.child.stdin.write(msgspec.json.encode(request) + b"\n")
            await self.child.stdin.drain()
        except ConnectionError:
            return None
        return await self.receive(request.id)

    async def receive(self, number: int) -> Reply | None:
        """The reply to a request; the one of number 0 says that the worker is ready."""
        try:
            line = await self.child.stdout.readline()
            reply = msgspec.json.decode(line, type=Reply) if line else None
        except (ConnectionError, ValueError, msgspec.DecodeError):
            return None
        return reply if reply is not None and reply.id == number else None


class DocumentPool:
    """Reads, inspects, checks and writes documents in confined workers (the `Documents` port).

    Args:
        sandbox: starts the workers, without network.
        readable: folders and files the workers may read: workspace, pristine copies, attachments.
        scratch: folder the workers may write to; made if missing.
        workers: most processes at a time; further jobs wait.
        job_timeout_s: wall time of one job in seconds; the worker is killed after it.
        memory_bytes: address space of one worker.
        log: file that receives what libraries print and tracebacks of failed jobs; None drops it.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        readable: Sequence[Path],
        scratch: Path,
        workers: int = 2,
        job_timeout_s: float = 60.0,
        memory_bytes: int = 3 << 30,
        log: Path | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._scratch = scratch.resolve()
        self._readable = tuple(path.resolve() for path in readable)
        self._slots = asyncio.Semaphore(workers)
        self._timeout_s = job_timeout_s
        self._memory_bytes = memory_bytes
        self._log = log
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._ids = itertools.count(1)
        self._closed = False

    async def __aenter__(self) -> DocumentPool:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @property
    def scratch(self) -> Path:
        """The one folder the workers may write to."""
        self._scratch.mkdir(parents=True, exist_ok=True)
        return self._scratch

    async def warm(self) -> None:
        """Start one worker now, so that the first job need not wait for it."""
        async with self._slots:
            if not self._idle:
                self._idle.append(await self._start())

    async def read(self, path: Path, options: ReadOptions | None = None) -> Reading:
        """What a model sees of a file; every problem is in the reading, none is raised."""
        options = options or ReadOptions()
        try:
            await self._precheck(path)
            value = await self._value("read", {"path": str(path), "options": msgspec.to_builtins(options)})
        except ReadProblem as problem:
            return Reading(name=path.name, kind=kind_of(path), problem=problem.problem, detail=problem.detail)
        return msgspec.convert(value, Reading)

    async def profile(self, path: Path) -> FileProfile:
        """The facts about a file; every problem is in the profile, none is raised."""
        try:
            await self._precheck(path)
            value = await self._value("profile", {"path": str(path)})
        except ReadProblem as problem:
            size = await asyncio.to_thread(_size, path)
            return FileProfile(name=path.name, kind=kind_of(path), size_bytes=size, problem=problem.problem)
        return msgspec.convert(value, FileProfile)

    async def inspect(self, path: Path) -> Inspection:
        """Facts and defects of a deliverable; a worker that fails on it is a defect of the file."""
        try:
            value = await self._value("inspect", {"path": str(path)})
        except ReadProblem as problem:
            evidence = Evidence(file=path.name, says=problem.detail)
            defect = Defect(code=f"file.{problem.problem}", evidence=evidence)
            return Inspection(name=path.name, kind=kind_of(path), opens=False, defects=(defect,))
        return msgspec.convert(value, Inspection)

    async def check(self, check: Check, files: CheckFiles) -> CheckResult:
        """Run a check; a worker that fails on it leaves the answer unknown."""
        params = {"check": msgspec.to_builtins(check), "files": msgspec.to_builtins(files)}
        try:
            value = await self._value("check", params)
        except ReadProblem as problem:
            return CheckResult(status="unknown", evidence=(Evidence(says=problem.detail),))
        return msgspec.convert(value, CheckResult)

    async def job(self, name: str, params: Mapping[str, Any]) -> Any:
        """Run a registered job; see `tools.documents.jobs`.

        Raises:
            ModelError: the job refused its parameters, or ran out of time or memory or broke on the file.
            UserError: as the job raised it, or no worker can be started.
        """
        try:
            return await self._value(name, dict(params))
        except ReadProblem as problem:
            raise ModelError(
                f"This did not work: {problem.detail} No file was changed. Try a smaller part, or a script.",
                code=f"document.{problem.problem}",
            ) from problem

    async def aclose(self) -> None:
        """End all workers."""
        self._closed = True
        workers, self._idle = list(self._all), []
        await asyncio.gather(*(self._end(worker) for worker in workers))

    async def _precheck(self, path: Path) -> None:
        problem = await asyncio.to_thread(first_problem, path)
        if problem is not None:
            raise problem
        real = await asyncio.to_thread(path.resolve)
        if not any(real.is_relative_to(root) for root in (*self._readable, self._scratch)):
            raise ReadProblem("unreadable", "The file is outside the folders that may be read.")

    async def _value(self, name: str, params: dict[str, Any]) -> Any:
        """Run a job and give its value.

        Raises:
            ReadProblem: the worker failed on the file; ModelError, UserError: as the job raised them.
        """
        reply = await self._run(name, params)
        if reply.status == "ok":
            return reply.value
        if reply.status == "model":
            raise ModelError(reply.text, code=reply.key)
        if reply.status == "user":
            # the sentences are final already; as parameters they are not formatted twice
            raise UserError(
                reply.key,
                "{what_}",
                kept="{kept_}",
                todo="{todo_}",
                what_=reply.text,
                kept_=reply.kept,
                todo_=reply.todo,
            )
        if reply.status == "timeout":
            raise ReadProblem("timeout", f"{PROBLEMS['timeout']} (limit {self._timeout_s:g} s)")
        if reply.status == "memory":
            raise ReadProblem("too_large", "It needs more memory than a job may use.")
        raise ReadProblem("corrupt", f"{PROBLEMS['corrupt']} ({reply.key}: {reply.text})".replace(": )", ")"))

    async def _run(self, name: str, params: dict[str, Any]) -> Reply:
        async with self._slots:
            worker = self._idle.pop() if self._idle else await self._start()
            request = Request(next(self._ids), name, params)
            try:
                reply = await asyncio.wait_for(worker.ask(request), self._timeout_s)
            except TimeoutError:
                await self._end(worker)
                return Reply(id=request.id, status="timeout")
            except asyncio.CancelledError:
                await self._end(worker)
                raise
            if reply is None:
                code = await self._end(worker)
                return Reply(id=request.id, status="crash", key="the reader broke down", text=f"status {code}")
            if reply.status in ("memory", "crash") or worker.jobs >= _MOST_JOBS or self._closed:
                await self._end(worker)
            else:
                self._idle.append(worker)
            return reply

    async def _start(self) -> _Worker:
        if self._closed:
            raise RuntimeError("the document pool is closed")
        policy = SandboxPolicy(
            workspace=self.scratch,
            read_only_paths=tuple(dict.fromkeys((*worker_paths(), *self._existing_readable()))),
            environment=worker_environment(self._scratch),
            timeout_s=_LIFETIME_S,
            memory_bytes=self._memory_bytes,
        )
        worker = _Worker(await self._sandbox.spawn(role_argv("document-worker"), policy, stderr=self._log))
        self._all.add(worker)
        try:
            ready = await asyncio.wait_for(worker.receive(0), _START_S)
        except TimeoutError:
            ready = None
        except asyncio.CancelledError:
            await self._end(worker)
            raise
        if ready is None:
            code = await self._end(worker)
            raise UserError(
                "documents.no_worker",
                "The program that reads documents does not start (status {code}).",
                kept="No file was touched.",
                todo="Run `oneday doctor`; it tells what is missing.",
                code=code,
            )
        return worker

    def _existing_readable(self) -> list[Path]:
        return [path for path in self._readable if path.exists()]

    async def _end(self, worker: _Worker) -> int:
        self._all.discard(worker)
        return await worker.child.stop(grace_s=0.05)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
