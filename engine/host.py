"""The role ``engine``: serves a face over stdin and stdout until stdin ends.

Run as ``python -m engine.host [--runs DIR] [--factory MODULE:FUNCTION] [--option NAME=VALUE]…``.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from engine.host_wire import Wire, private_stdio
from engine.journal_store import JournalReader
from engine.protocol import rpc
from engine.protocol.errors import UserError
from engine.protocol.events import Envelope, Event, Signal
from engine.protocol.ports import Engine, RunHandle
from engine.runfolder import RunFolder
from engine.runs_index import RunsIndex
from engine.system.lifeline import hold_on
from engine.system.paths import user_folders

DEFAULT_FACTORY = "engine.app:open_engine"
END_GRACE_S = 5.0
PAGE_BYTES = 512 * 1024

EngineFactory = Callable[..., Awaitable[Engine]]

_log = logging.getLogger(__name__)


class Host:
    """Answers requests and passes on events, for one face. Made inside the event loop.

    Args:
        engine: does the work.
        index: finds runs on disk.
        reading: descriptor that requests come from.
        writing: descriptor that answers and news go to.
    """

    def __init__(self, engine: Engine, index: RunsIndex, reading: int, writing: int) -> None:
        self._engine = engine
        self._index = index
        self._runs: dict[str, RunHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()
        self._methods: dict[str, Callable[[rpc.Request], Awaitable[object]]] = {
            "pause": self._pause,
            "answer": self._answer,
            "steer": self._steer,
            "list_runs": self._list_runs,
            "show_run": self._show_run,
            "read_events": self._read_events,
            "read_file": self._read_file,
        }
        self._wire = Wire(reading, writing, self._on_line)

    async def serve(self) -> None:
        """Work until the face is gone; then pause all runs and end every child."""
        try:
            await self._ended.wait()
        finally:
            await self._engine.aclose()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=1.0)
            await self._wire.aclose()

    def _on_line(self, line: bytes | None) -> None:
        if line is None:
            self._ended.set()
            return
        try:
            message = rpc.decode(line)
        except rpc.RpcError as error:
            self._send(rpc.Failure(id=None, error=rpc.error_body(error)))
            return
        if isinstance(message, rpc.Request):
            self._spawn(self._handle(message))
        else:
            _log.warning("The face sent a message that is no request: %.200r", line)

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _handle(self, request: rpc.Request) -> None:
        try:
            if request.method in ("start", "resume"):
                await self._begin(request)
                return
            method = self._methods.get(request.method)
            if method is None:
                raise rpc.RpcError(rpc.METHOD_NOT_FOUND, f"No method {request.method!r}.")
            self._respond(request, await method(request))
        except Exception as error:  # noqa: BLE001 - goes to the face as an error object; a bug is logged besides
            if not isinstance(error, UserError | rpc.RpcError):
                _log.exception("The call %s failed.", request.method)
            self._send(rpc.Failure(id=request.id, error=rpc.error_body(error)))

    async def _begin(self, request: rpc.Request) -> None:
        if request.method == "start":
            handle = await self._engine.start(rpc.params(request, rpc.StartParams).request)
        else:
            handle = await self._engine.resume(await self._find(rpc.params(request, rpc.RunParams).run_id))
        self._runs[handle.run_id] = handle
        # The answer goes first, so that the face knows the run before it hears of its events.
        self._respond(request, rpc.Started(run_id=handle.run_id, folder=str(handle.folder)))
        self._spawn(self._watch(handle))
        handle.subscribe(self._on_event, lambda signal: self._on_signal(handle.run_id, signal))

    async def _watch(self, handle: RunHandle) -> None:
        try:
            note = rpc.EndedNote(run_id=handle.run_id, ended=await handle.result())
        except Exception as error:  # noqa: BLE001 - a broken run is told to the face and logged; others go on
            _log.exception("Run %s broke.", handle.run_id)
            note = rpc.EndedNote(run_id=handle.run_id, error=rpc.error_body(error))
        if self._runs.get(handle.run_id) is handle:
            del self._runs[handle.run_id]
        self._notify("ended", note)

    def _on_event(self, envelope: Envelope, event: Event) -> None:  # noqa: ARG002 - the envelope holds it
        self._notify("event", rpc.EventNote(envelope=envelope))

    def _on_signal(self, run_id: str, signal: Signal) -> None:
        self._notify("signal", rpc.SignalNote(run_id=run_id, signal=signal), droppable=True)

    async def _pause(self, request: rpc.Request) -> None:
        await self._running(rpc.params(request, rpc.RunParams).run_id).pause()

    async def _answer(self, request: rpc.Request) -> None:
        given = rpc.params(request, rpc.AnswerParams)
        self._running(given.run_id).answer(given.question_id, given.answer)

    async def _steer(self, request: rpc.Request) -> None:
        given = rpc.params(request, rpc.SteerParams)
        self._running(given.run_id).steer(given.text)

    async def _list_runs(self, _: rpc.Request) -> tuple[rpc.RunSummary, ...]:
        return await asyncio.to_thread(self._index.list)

    async def _show_run(self, request: rpc.Request) -> rpc.RunSummary:
        return await asyncio.to_thread(self._index.show, rpc.params(request, rpc.RunParams).run_id)

    async def _read_events(self, request: rpc.Request) -> rpc.EventPage:
        given = rpc.params(request, rpc.EventsParams)
        folder = await asyncio.to_thread(self._index.find, given.run_id)
        return await asyncio.to_thread(_page, folder, given.after_seq)

    async def _read_file(self, request: rpc.Request) -> rpc.FilePiece:
        given = rpc.params(request, rpc.ReadFileParams)
        folder = await asyncio.to_thread(self._index.find, given.run_id)
        return await asyncio.to_thread(_piece, folder, given)

    async def _find(self, run_id: str) -> str:
        return (await asyncio.to_thread(self._index.find, run_id)).run_id

    def _running(self, run_id: str) -> RunHandle:
        try:
            return self._runs[run_id]
        except KeyError:
            raise UserError(
                "run.not_running",
                "Run {run_id} is not at work.",
                kept="Nothing was changed.",
                todo="Resume it first.",
                run_id=run_id,
            ) from None

    def _respond(self, request: rpc.Request, value: object) -> None:
        self._send(rpc.Response(id=request.id, result=rpc.raw(value)))

    def _notify(self, method: str, note: object, *, droppable: bool = False) -> None:
        self._send(rpc.Notification(method=method, params=rpc.raw(note)), droppable=droppable)

    def _send(self, message: rpc.RpcMessage, *, droppable: bool = False) -> None:
        try:
            line = rpc.encode(message)
        except rpc.RpcError as error:
            if not isinstance(message, rpc.Response):
                raise
            line = rpc.encode(rpc.Failure(id=message.id, error=rpc.error_body(error)))
        self._wire.send(line, droppable=droppable)


def _page(folder: RunFolder, after_seq: int) -> rpc.EventPage:
    envelopes: list[Envelope] = []
    size = 0
    for envelope in JournalReader(folder.journal, folder.blobs).envelopes(after_seq):
        if size > PAGE_BYTES:
            return rpc.EventPage(envelopes=tuple(envelopes), end=False)
        envelopes.append(envelope)
        size += len(bytes(envelope.body)) + 300
    return rpc.EventPage(envelopes=tuple(envelopes), end=True)


def _piece(folder: RunFolder, wanted: rpc.ReadFileParams) -> rpc.FilePiece:
    path = (folder.root / wanted.name).resolve()
    if not path.is_relative_to(folder.root.resolve()) or not path.is_file():
        raise UserError(
            "run.no_file",
            "Run {run_id} has no file {name}.",
            todo="List the files of the run again.",
            run_id=folder.run_id,
            name=wanted.name,
        )
    limit = max(0, min(wanted.limit, PAGE_BYTES))
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, wanted.offset))
        data = file.read(limit)
        return rpc.FilePiece(data=data, size_bytes=size, end=file.tell() >= size)


async def _serve(arguments: argparse.Namespace, reading: int, writing: int) -> None:
    module, _, function = arguments.factory.partition(":")
    factory: EngineFactory = getattr(importlib.import_module(module), function)
    options = dict(option.split("=", 1) for option in arguments.option)
    engine = await factory(runs=arguments.runs, **options)
    await Host(engine, RunsIndex(arguments.runs), reading, writing).serve()


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="engine", description="Serves a face over stdin and stdout.")
    parser.add_argument("--runs", type=Path, default=user_folders(os.environ).runs, help="folder of all runs")
    parser.add_argument("--factory", default=DEFAULT_FACTORY, help="module:function that gives the engine")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="passed to the factory")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the role; ends when stdin does.

    Args:
        argv: arguments without the program's name; None takes the command line's.
    """
    arguments = _arguments(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    reading, writing = private_stdio()
    hold_on(fd=reading, carries_data=True, grace_s=END_GRACE_S)
    asyncio.run(_serve(arguments, reading, writing))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
