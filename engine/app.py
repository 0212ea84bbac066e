"""Puts the parts together: the engine that the faces hold, and the handle of a run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.assembly import Parts, assemble
from engine.delivery import check_out_dir
from engine.journal import Journal
from engine.protocol.errors import UserError
from engine.protocol.events import Envelope, Event, RunCreated, RunEnded, RunResumed, Signal
from engine.protocol.ports import ChatModel
from engine.protocol.sandbox import InterpreterEnv
from engine.protocol.tasks import TaskRequest
from engine.runfolder import RunFolder
from engine.runlog import RunLog
from engine.runs_index import RunsIndex
from engine.system.clock import SystemClock
from engine.system.paths import UserFolders, user_folders
from engine.workspace import Workspace
from models.profile import ExecutionProfile, load_profile
from models.provider import ModelProvider
from models.scripted import Script
from tools.compute.interpreter_env import interpreter_env
from tools.sandbox.probe import ChosenSandbox, choose_sandbox

DEFAULT_PROFILE = "cpu-small"
ROLES = ("execute", "repair", "plan", "extract", "synthesize", "judge")

OnProgress = Callable[[int, int, str], None]


class ActiveRun:
    """A run at work (the `RunHandle` port); made by `AppEngine`.

    Args:
        folder: the run folder, locked for this engine.
        log: its history.
        parts: the assembled run.
        held: what is given back at the end: the journal, the models, and last the lock of the run.
    """

    def __init__(self, folder: RunFolder, log: RunLog, parts: Parts, held: contextlib.AsyncExitStack) -> None:
        self._log = log
        self._parts = parts
        self._held = held
        self._listeners: list[Callable[[Signal], None]] = []
        self._stop = asyncio.Event()
        self.run_id = folder.run_id
        self.folder = folder.root
        parts.signals.append(self._signal)
        self._task = asyncio.create_task(self._work(), name=f"run {self.run_id}")

    def subscribe(self, on_event: Callable[[Envelope, Event], None], on_signal: Callable[[Signal], None]) -> None:
        self._log.journal.subscribe(on_event, after_seq=0)
        self._listeners.append(on_signal)

    async def result(self) -> RunEnded:
        """Wait for the end.

        Raises:
            UserError: the person must do something first; the run is paused and can be resumed.
        """
        return await asyncio.shield(self._task)

    async def pause(self) -> None:
        if not self._task.done():
            self._stop.set()
            await asyncio.wait((self._task,))

    def answer(self, question_id: str, answer: str) -> None:
        self._parts.questions.answer(question_id, answer)

    def steer(self, text: str) -> None:
        if not self._task.done():
            self._parts.background(self._parts.steering.steer(text))

    def seconds(self) -> dict[str, float]:
        """Where the time of this session went so far; see `RunEnded.seconds`."""
        return self._parts.seconds()

    @property
    def over(self) -> bool:
        """Whether it is no longer at work here."""
        return self._task.done()

    def _signal(self, signal: Signal) -> None:
        for listener in self._listeners:
            listener(signal)

    async def _work(self) -> RunEnded:
        """Work until the end or a stop. Only the inner task is ever cancelled, so the orderly end is not."""
        work = asyncio.create_task(self._parts.run.execute())
        stop = asyncio.create_task(self._stop.wait())
        with contextlib.suppress(asyncio.CancelledError):  # the program is ending: the same as a stop
            await asyncio.wait((work, stop), return_when=asyncio.FIRST_COMPLETED)
        work.cancel()
        stop.cancel()
        await asyncio.wait((work, stop))
        if work.cancelled():
            return await self._end(RunEnded(status="paused", reason="Stopped by you."))
        error = work.exception()
        if error is None:
            return await self._end(work.result())
        fault = f"A fault in the program: {type(error).__name__}: {error}"
        await self._end(RunEnded(status="paused", reason=str(error) if isinstance(error, UserError) else fault))
        raise error

    async def _end(self, ended: RunEnded) -> RunEnded:
        async with self._held as held:
            held.push_async_callback(self._parts.aclose)
            await self._parts.settle()
            ended = msgspec.structs.replace(ended, usage=self._log.state.usage, seconds=self._parts.seconds())
            if not self._log.journal.read_only:
                await self._log.record(ended)
        return ended


class AppEngine:
    """The engine in one process (the `Engine` port).

    Args:
        folders: where things of this user lie.
        sandbox: chosen and tried.
        interpreter: the Python for scripts.
        on_progress: bytes done, bytes in all, words; for downloads and loading.
        script: replies for the profile ``scripted``.
    """

    def __init__(
        self,
        folders: UserFolders,
        sandbox: ChosenSandbox,
        interpreter: InterpreterEnv,
        on_progress: OnProgress,
        script: Path | None,
    ) -> None:
        self._folders = folders
        self._sandbox = sandbox
        self._interpreter = interpreter
        self._on_progress = on_progress
        self._script = script
        self._clock = SystemClock()
        self._provider: ModelProvider | None = None
        self._runs: list[ActiveRun] = []
        self.index = RunsIndex(folders.runs)

    async def start(self, request: TaskRequest) -> ActiveRun:
        request = msgspec.structs.replace(request, profile=request.profile or DEFAULT_PROFILE)
        profile = load_profile(request.profile, self._folders.data / "profiles")
        check_out_dir(Path(request.out_dir))
        folder = RunFolder.create(self._folders.runs, self._clock)
        workspace = Workspace(folder)
        async with contextlib.AsyncExitStack() as held:
            await held.enter_async_context(folder.lock())
            try:
                originals = await workspace.attach(request.attachments)
                (folder.outputs / "request.txt").write_text(request.text, "utf-8")
                models = await self._open_models(profile, {}, held)
                log = await self._open_log(folder, held)
                await log.record(RunCreated(request=request, originals=originals))
            except BaseException:
                await held.aclose()
                shutil.rmtree(folder.root, ignore_errors=True)  # nothing has begun; the person's files lie elsewhere
                raise
            kept = held.pop_all()
        return self._activate(folder, log, workspace, profile, models, kept)

    async def resume(self, run_id: str) -> ActiveRun:
        folder = self.index.find(run_id)
        async with contextlib.AsyncExitStack() as held:
            await held.enter_async_context(folder.lock())
            log = await self._open_log(folder, held)
            request = _resumable(log)
            profile = load_profile(request.profile, self._folders.data / "profiles")
            used = {role: usage.calls for role, usage in log.state.usage.items()}
            models = await self._open_models(profile, used, held)
            await log.record(RunResumed(after_seq=log.state.seq))
            kept = held.pop_all()
        return self._activate(folder, log, Workspace(folder), profile, models, kept)

    async def aclose(self) -> None:
        await asyncio.gather(*(run.pause() for run in self._runs))
        if self._provider is not None:
            await self._provider.aclose()

    async def _open_log(self, folder: RunFolder, held: contextlib.AsyncExitStack) -> RunLog:
        journal = await Journal.open(folder.journal, folder.run_id, folder.blobs, self._clock)
        held.push_async_callback(journal.aclose)
        return RunLog(journal)

    async def _open_models(
        self, profile: ExecutionProfile, used: dict[str, int], held: contextlib.AsyncExitStack
    ) -> dict[str, ChatModel]:
        """The models by role; `held` closes them."""
        provider = self._provider_of(profile, used)
        roles = ROLES if profile.backend == "scripted" else ("execute", *profile.roles)
        models: dict[str, ChatModel] = {}
        for role in dict.fromkeys(roles):
            models[role] = await provider.open(profile, role)
            held.push_async_callback(models[role].aclose)
        return models

    def _provider_of(self, profile: ExecutionProfile, used: dict[str, int]) -> ModelProvider:
        if profile.backend == "scripted" and self._script is not None:
            script = Script.load(self._script, used=used)
            return ModelProvider(self._folders.models, self._on_progress, script=script)
        if self._provider is None:
            self._provider = ModelProvider(self._folders.models, self._on_progress)
        return self._provider

    def _activate(
        self,
        folder: RunFolder,
        log: RunLog,
        workspace: Workspace,
        profile: ExecutionProfile,
        models: dict[str, ChatModel],
        held: contextlib.AsyncExitStack,
    ) -> ActiveRun:
        parts = assemble(
            folder=folder,
            log=log,
            workspace=workspace,
            profile=profile,
            models=models,
            sandbox=self._sandbox,
            interpreter=self._interpreter,
            clock=self._clock,
        )
        run = ActiveRun(folder, log, parts, held)
        self._runs = [*(other for other in self._runs if not other.over), run]
        return run


def _resumable(log: RunLog) -> TaskRequest:
    state = log.state
    if state.request is None:
        raise UserError("run.empty", "This run was cut off before it began.", todo="Start the task again.")
    if state.over:
        raise UserError(
            "run.over",
            "Run {run_id} is over; there is nothing to resume.",
            kept="Its files and report are where they were delivered.",
            todo="Start a new run for another result.",
            run_id=state.run_id,
        )
    return state.request


def _ignore(_done: int, _total: int, _text: str) -> None:
    """Progress that nobody watches."""


async def confinement(cache: Path) -> tuple[ChosenSandbox, InterpreterEnv]:
    """The confinement that commands get here, tried, and the Python that scripts run with.

    Args:
        cache: a folder of ours that can be made anew.

    Raises:
        UserError: it cannot be written, or the Python for scripts does not start.
    """
    try:
        interpreter = await interpreter_env(cache)
        return await choose_sandbox(cache / "scratch", interpreter), interpreter
    except OSError as error:
        raise UserError(
            "folders.unwritable",
            "The program's own folder {folder} cannot be written: {detail}.",
            kept="Nothing was started and none of your files was touched.",
            todo="Make room on that disk or allow writing there, or name another folder in ONEDAY_HOME.",
            folder=cache,
            detail=error.strerror or str(error),
        ) from error


async def open_engine(
    *, runs: Path | None = None, script: Path | str | None = None, on_progress: OnProgress | None = None
) -> AppEngine:
    """Open the engine of this user.

    Args:
        runs: folder of all runs; None for the user's own.
        script: replies for the profile ``scripted``.
        on_progress: bytes done, bytes in all (0: unknown) and words, for downloads and loading.

    Raises:
        UserError: the user's folders cannot be used.
    """
    folders = user_folders(os.environ)
    if runs is not None:
        folders = msgspec.structs.replace(folders, runs=runs)
    sandbox, interpreter = await confinement(folders.cache)
    return AppEngine(folders, sandbox, interpreter, on_progress or _ignore, Path(script) if script else None)
