"""A face's end of the wire, for asyncio: typed calls to an engine process, its events and signals."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from engine.journal_store import JournalReader
from engine.protocol import rpc
from engine.protocol.errors import UserError
from engine.protocol.events import Envelope, Event, RunEnded, Signal
from engine.protocol.tasks import TaskRequest
from engine.runfolder import RunFolder
from engine.system.spawn import Child, spawn_role

OnEvent = Callable[[Envelope, Event], None]
OnSignal = Callable[[Signal], None]

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class _Run:
    """What the client knows of one run: its folder, who listens, what came before anybody listened, its end."""

    def __init__(self, folder: Path) -> None:
        layout = RunFolder(folder)
        self.decode = JournalReader(layout.journal, layout.blobs).decode
        self.listeners: list[tuple[OnEvent, OnSignal | None]] = []
        self.early: list[Envelope] = []
        self.ended: asyncio.Future[RunEnded] = asyncio.get_running_loop().create_future()
        # Who does not ask for the result has the event; the loop need not complain.
        self.ended.add_done_callback(lambda ended: ended.cancelled() or ended.exception())


class EngineClient:
    """Talks to one engine process. Made inside the event loop; see `connect`.

    Args:
        child: the process of the role ``engine``.
    """

    def __init__(self, child: Child) -> None:
        self._child = child
        self._ids = itertools.count(1)
        self._calls: dict[int | str, tuple[str, asyncio.Future[rpc.Response]]] = {}
        self._runs: dict[str, _Run] = {}
        self._gone: UserError | None = None
        self._closing = False
        self._reading = asyncio.get_running_loop().create_task(self._read())

    @classmethod
    async def connect(
        cls, args: Sequence[str] = (), *, env: Mapping[str, str] | None = None, stderr: Path | None = None
    ) -> EngineClient:
        """Start an engine process.

        Args:
            args: arguments of `engine.host`.
            env: its complete environment; None inherits ours.
            stderr: file its log is appended to; None drops it.

        Raises:
            OSError: it could not be started.
        """
        return cls(await spawn_role("engine", args, env=env, stderr=stderr))

    @property
    def alive(self) -> bool:
        """Whether the engine is there."""
        return self._gone is None

    async def start(self, request: TaskRequest) -> rpc.Started:
        """Begin a run.

        Raises:
            UserError: as `Engine.start`, or the engine is gone (so for every call).
        """
        return await self._call("start", rpc.StartParams(request=request), rpc.Started)

    async def resume(self, run_id: str) -> rpc.Started:
        """Take up a paused or crashed run; `run_id` may be the beginning of an id."""
        return await self._call("resume", rpc.RunParams(run_id=run_id), rpc.Started)

    async def pause(self, run_id: str) -> None:
        """Pause a run at work here; returns when it is paused."""
        await self._call("pause", rpc.RunParams(run_id=run_id), type(None))

    async def answer(self, run_id: str, question_id: str, answer: str) -> None:
        """Answer a question of a run at work here."""
        await self._call("answer", rpc.AnswerParams(run_id=run_id, question_id=question_id, answer=answer), type(None))

    async def steer(self, run_id: str, text: str) -> None:
        """Send a message to a run at work here."""
        await self._call("steer", rpc.SteerParams(run_id=run_id, text=text), type(None))

    async def list_runs(self) -> tuple[rpc.RunSummary, ...]:
        """All runs on this computer, newest first."""
        return await self._call("list_runs", None, tuple[rpc.RunSummary, ...])

    async def show_run(self, run_id: str) -> rpc.RunSummary:
        """One run; `run_id` may be the beginning of an id."""
        return await self._call("show_run", rpc.RunParams(run_id=run_id), rpc.RunSummary)

    async def past_events(self, run_id: str, after_seq: int = 0) -> AsyncIterator[tuple[Envelope, Event]]:
        """Events of any run on disk, in order; types not known here are left out.

        Args:
            run_id: an id or the beginning of one.
            after_seq: only those after this number.
        """
        folder = RunFolder(Path((await self.show_run(run_id)).folder))
        reader = JournalReader(folder.journal, folder.blobs)
        while True:
            wanted = rpc.EventsParams(run_id=folder.run_id, after_seq=after_seq)
            page = await self._call("read_events", wanted, rpc.EventPage)
            for envelope in page.envelopes:
                after_seq = envelope.seq
                if reader.knows(envelope.type, envelope.version):
                    yield envelope, reader.decode(envelope)
            if page.end:
                return

    async def read_file(self, run_id: str, name: str) -> bytes:
        """A whole file below a run folder, such as ``workspace/report.md``.

        Raises:
            UserError: the run has no such file.
        """
        data = bytearray()
        while True:
            wanted = rpc.ReadFileParams(run_id=run_id, name=name, offset=len(data))
            piece = await self._call("read_file", wanted, rpc.FilePiece)
            data += piece.data
            if piece.end or not piece.data:
                return bytes(data)

    def subscribe(self, run_id: str, on_event: OnEvent, on_signal: OnSignal | None = None) -> None:
        """Be told of a run that was started or resumed here: first of every event that came before anybody listened.

        Args:
            run_id: the whole id.
            on_event: called in the loop, in order.
            on_signal: called in the loop; signals may be missing under load.

        Raises:
            KeyError: the run was not started or resumed here.
        """
        run = self._runs[run_id]
        run.listeners.append((on_event, on_signal))
        early, run.early = run.early, []
        for envelope in early:
            self._pass_on(run, envelope)

    async def result(self, run_id: str) -> RunEnded:
        """Wait for the end (or pause) of a run that was started or resumed here.

        Raises:
            KeyError: it was not.
            UserError: the run could not go on, or the engine is gone.
            RpcError: the run broke on a bug.
        """
        return await asyncio.shield(self._runs[run_id].ended)

    async def aclose(self, *, grace_s: float = 6.0) -> int:
        """End the engine by closing its stdin: it pauses its runs and ends its children. Safe to call twice.

        Args:
            grace_s: how long it may take before it is ended by force.

        Returns:
            Its exit status.
        """
        self._closing = True
        self._child.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._child.wait(), grace_s)
        status = await self._child.stop()
        await self._reading
        return status

    async def _call(self, method: str, params: object, kind: type[_T]) -> _T:
        if self._gone is not None:
            raise self._gone
        number = next(self._ids)
        line = rpc.encode(rpc.Request(id=number, method=method, params=rpc.raw({} if params is None else params)))
        answer: asyncio.Future[rpc.Response] = asyncio.get_running_loop().create_future()
        self._calls[number] = (method, answer)
        try:
            self._child.stdin.write(line)
            with contextlib.suppress(ConnectionError):  # the reader notices the end and says so
                await self._child.stdin.drain()
            return rpc.result(await answer, kind)
        finally:
            self._calls.pop(number, None)

    async def _read(self) -> None:
        try:
            while line := await self._child.stdout.readline():
                self._take(rpc.decode(line))
        except (rpc.RpcError, ValueError, msgspec.DecodeError) as error:
            _log.error("The engine broke the protocol: %s", error)
        finally:
            await self._end()

    async def _end(self) -> None:
        status = await (self._child.wait() if self._closing else self._child.stop())
        self._gone = UserError(
            "engine.gone",
            "The engine was ended." if self._closing else "The engine stopped unexpectedly (status {status}).",
            kept="Every step recorded so far is kept, and so are your files.",
            todo="Start it again and resume the run.",
            status=status,
        )
        for _, answer in self._calls.values():
            if not answer.done():
                answer.set_exception(self._gone)
        for run in self._runs.values():
            if not run.ended.done():
                run.ended.set_exception(self._gone)

    def _take(self, message: rpc.RpcMessage) -> None:
        match message:
            case rpc.Response():
                self._take_response(message)
            case rpc.Failure():
                _, answer = self._calls.get(message.id or "", ("", None))
                if answer is None:
                    _log.error("The engine refused a message: %s", message.error.message)
                elif not answer.done():
                    answer.set_exception(rpc.exception(message.error))
            case rpc.Notification():
                self._take_note(message)
            case rpc.Request():
                _log.error("The engine asked for %s, which no face answers.", message.method)

    def _take_response(self, message: rpc.Response) -> None:
        method, answer = self._calls.get(message.id, ("", None))
        if method in ("start", "resume"):
            started = rpc.result(message, rpc.Started)
            # Made here and not by the caller: the run's events may follow in the same breath.
            self._runs[started.run_id] = _Run(Path(started.folder))
        if answer is not None and not answer.done():
            answer.set_result(message)

    def _take_note(self, message: rpc.Notification) -> None:
        if message.method == "event":
            envelope = rpc.params(message, rpc.EventNote).envelope
            run = self._runs.get(envelope.run_id)
            if run is not None and run.listeners:
                self._pass_on(run, envelope)
            elif run is not None:
                run.early.append(envelope)
        elif message.method == "signal":
            signal = rpc.params(message, rpc.SignalNote)
            for _, on_signal in self._runs[signal.run_id].listeners if signal.run_id in self._runs else ():
                if on_signal is not None:
                    on_signal(signal.signal)
        elif message.method == "ended":
            self._take_end(rpc.params(message, rpc.EndedNote))

    def _take_end(self, note: rpc.EndedNote) -> None:
        run = self._runs.get(note.run_id)
        if run is None or run.ended.done():
            return
        if note.ended is not None:
            run.ended.set_result(note.ended)
        elif note.error is not None:
            run.ended.set_exception(rpc.exception(note.error))

    def _pass_on(self, run: _Run, envelope: Envelope) -> None:
        try:
            event = run.decode(envelope)
        except UserError:
            _log.exception("Event %s of run %s cannot be shown.", envelope.seq, envelope.run_id)
            return
        for on_event, _ in tuple(run.listeners):
            try:
                on_event(envelope, event)
            except Exception:  # noqa: BLE001 - one listener's fault must not cut off the others; it is logged
                _log.exception("A listener failed at event %s of run %s.", envelope.seq, envelope.run_id)
