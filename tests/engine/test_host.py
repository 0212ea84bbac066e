from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from engine.client import EngineClient
from engine.host_wire import Wire
from engine.protocol import rpc
from engine.protocol.errors import UserError
from engine.protocol.events import Envelope, Event, MessageAdded, QuestionAsked, RunEnded, Signal
from engine.protocol.tasks import TaskRequest
from engine.system.spawn import Child, role_argv, spawn

HERE = Path(__file__).parent
pytestmark = pytest.mark.processes


async def engine_process(runs: Path, log: Path) -> Child:
    """The real role, with the small engine beside this file; its isolated start is told where that lies."""
    argv = role_argv("engine", ["--runs", str(runs), "--factory", "journal_helper:open_echo_engine"])
    at = argv.index("-c") + 1
    argv[at] = f"import sys; sys.path.insert(0, {str(HERE)!r}); {argv[at]}"
    return await spawn(argv, stderr=log)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[EngineClient]:
    client = EngineClient(await engine_process(tmp_path / "runs", tmp_path / "log"))
    yield client
    await client.aclose()


class Watcher:
    """Keeps what it hears, and can be waited on."""

    def __init__(self) -> None:
        self.events: list[tuple[Envelope, Event]] = []
        self.signals: list[Signal] = []
        self._news = asyncio.Event()

    def on_event(self, envelope: Envelope, event: Event) -> None:
        self.events.append((envelope, event))
        self._news.set()

    async def until(self, kind: type) -> None:
        while not any(isinstance(event, kind) for _, event in self.events):
            self._news.clear()
            await self._news.wait()


async def test_a_run_from_start_to_end(client: EngineClient) -> None:
    text = "say " + "ä😀\n" * 3000  # its first event is a blob
    started = await client.start(TaskRequest(text=text))
    ended = await client.result(started.run_id)
    assert ended.status == "unverified" and ended.answer == text[4:]
    watcher = Watcher()
    client.subscribe(started.run_id, watcher.on_event)
    await watcher.until(RunEnded)
    assert [envelope.type for envelope, _ in watcher.events] == ["RunCreated", "RunEnded"]
    assert watcher.events[0][1].request.text == text  # type: ignore[union-attr]
    summary = await client.show_run(started.run_id[-4:])
    assert (await client.list_runs()) == (summary,)
    assert summary.status == "unverified" and summary.folder == started.folder
    assert [pair async for pair in client.past_events(started.run_id)] == watcher.events
    assert len([pair async for pair in client.past_events(started.run_id, after_seq=1)]) == 1


async def test_questions_steering_and_pause(client: EngineClient) -> None:
    asking = await client.start(TaskRequest(text="ask"))
    watcher = Watcher()
    client.subscribe(asking.run_id, watcher.on_event)
    await watcher.until(QuestionAsked)
    await client.answer(asking.run_id, "q1", "blue")
    assert (await client.result(asking.run_id)).answer == "blue"
    steered = await client.start(TaskRequest(text="steer"))
    await client.steer(steered.run_id, "left")
    assert (await client.result(steered.run_id)).answer == "left"
    waiting = await client.start(TaskRequest(text="wait"))
    await client.pause(waiting.run_id)
    assert (await client.result(waiting.run_id)).status == "paused"
    resumed = await client.resume(waiting.run_id)
    assert resumed == waiting
    assert (await client.result(waiting.run_id)).answer == "resumed"


async def test_errors_arrive_whole(client: EngineClient) -> None:
    with pytest.raises(UserError) as caught:
        await client.start(TaskRequest(text=""))
    assert caught.value.key == "request.empty" and caught.value.todo == "Say more."
    assert caught.value.what == "The request {x} is empty." and caught.value.params["much"] == "more"
    for call in (client.show_run("nothing"), client.pause("nothing"), client.resume("nothing")):
        with pytest.raises(UserError):
            await call
    broken = await client.start(TaskRequest(text="break"))
    with pytest.raises(rpc.RpcError, match="a bug, on purpose"):
        await client.result(broken.run_id)
    assert (await client.list_runs())[0].status == "open"


async def test_files_are_read_in_pieces_and_only_below_the_run(client: EngineClient, tmp_path: Path) -> None:
    started = await client.start(TaskRequest(text="say x"))
    data = os.urandom(1_300_000)
    (Path(started.folder) / "workspace" / "big 😀.bin").write_bytes(data)
    assert await client.read_file(started.run_id, "workspace/big 😀.bin") == data
    (tmp_path / "secret").write_text("secret")
    for name in ("../../secret", str(tmp_path / "secret"), "workspace", "workspace/none"):
        with pytest.raises(UserError) as caught:
            await client.read_file(started.run_id, name)
        assert caught.value.key == "run.no_file"


async def test_a_killed_engine_is_noticed_and_nothing_is_lost(client: EngineClient, tmp_path: Path) -> None:
    started = await client.start(TaskRequest(text="wait"))
    waiting = asyncio.ensure_future(client.result(started.run_id))
    await client._child.stop(grace_s=0.0)
    with pytest.raises(UserError) as caught:
        await waiting
    assert caught.value.key == "engine.gone"
    with pytest.raises(UserError):
        await client.list_runs()
    assert not client.alive
    second = EngineClient(await engine_process(tmp_path / "runs", tmp_path / "log"))
    assert [run.status for run in await second.list_runs()] == ["open"]
    await second.resume(started.run_id)
    assert (await second.result(started.run_id)).answer == "resumed"
    await second.aclose()


async def test_the_end_of_stdin_pauses_runs_and_ends_the_engine(client: EngineClient, tmp_path: Path) -> None:
    started = await client.start(TaskRequest(text="wait"))
    assert await client.aclose() == 0
    assert (await client.result(started.run_id)).status == "paused"
    second = EngineClient(await engine_process(tmp_path / "runs", tmp_path / "log"))
    assert (await second.show_run(started.run_id)).status == "paused"
    await second.aclose()


async def test_lines_that_are_no_calls_are_refused_and_the_next_is_served(tmp_path: Path) -> None:
    child = await engine_process(tmp_path / "runs", tmp_path / "log")
    child.stdin.write(b"nonsense\n" + b"x" * (rpc.MAX_MESSAGE_BYTES + 10) + b"\n")
    child.stdin.write(rpc.encode(rpc.Request(id=1, method="nothing")))
    child.stdin.write(rpc.encode(rpc.Request(id=2, method="steer", params=rpc.raw([]))))
    child.stdin.write(rpc.encode(rpc.Request(id="three", method="list_runs")))
    got = [rpc.decode(await child.stdout.readline()) for _ in range(5)]
    refused = sorted((m.id or 0, m.error.code) for m in got if isinstance(m, rpc.Failure))  # type: ignore[type-var]
    assert refused == [
        (0, rpc.PARSE_ERROR),
        (0, rpc.INVALID_REQUEST),
        (1, rpc.METHOD_NOT_FOUND),
        (2, rpc.INVALID_PARAMS),
    ]
    assert [m.id for m in got if isinstance(m, rpc.Response)] == ["three"]
    child.stdin.close()
    assert await child.wait() == 0


async def test_a_print_does_not_reach_the_wire(tmp_path: Path) -> None:
    program = (
        "import os, engine.host_wire as w; r, o = w.private_stdio(); print('noise', flush=True); "
        "os.system('echo more noise'); assert os.read(0, 10) == b''; os.write(o, b'wire:' + os.read(r, 4))"
    )
    start = f"import sys; sys.path.insert(0, {str(HERE.parents[1])!r}); {program}"
    child = await spawn([sys.executable, "-c", start], stderr=tmp_path / "log")
    child.stdin.write(b"ping")
    assert await child.stdout.read() == b"wire:ping"
    assert await child.wait() == 0
    assert (tmp_path / "log").read_text().split("\n")[:2] == ["noise", "more noise"]


async def test_a_flood_drops_signals_and_no_event(client: EngineClient) -> None:
    started = await client.start(TaskRequest(text="flood 1500"))
    watcher = Watcher()
    client.subscribe(started.run_id, watcher.on_event, watcher.signals.append)
    await watcher.until(RunEnded)
    numbers = [envelope.seq for envelope, _ in watcher.events]
    assert numbers == list(range(1, 1503))
    said = [event.content.split()[0] for _, event in watcher.events if isinstance(event, MessageAdded)]
    assert said == [str(number) for number in range(1500)]
    assert len(watcher.signals) <= 1500


async def test_who_does_not_listen_loses_signals_and_no_event() -> None:
    """The other side reads nothing until all was sent, so the order of dropping is certain."""
    there, writing = os.pipe()
    reading, keep = os.pipe()
    wire = Wire(reading, writing, lambda line: None, drop_above=10)
    filler = b"e" * 200_000 + b"\n"  # more than a pipe takes
    wire.send(filler)
    for number in range(50):
        wire.send(b"event %d\n" % number)
        wire.send(b"signal %d\n" % number, droppable=True)
    closing = asyncio.ensure_future(wire.aclose(grace_s=30.0))

    def read_all() -> bytes:
        with os.fdopen(there, "rb") as file:
            return b"".join(file.readline() for _ in range(101 - wire.dropped))

    lines = (await asyncio.to_thread(read_all)).split(b"\n")
    await closing
    assert [line for line in lines if line.startswith(b"event")] == [b"event %d" % n for n in range(50)]
    assert wire.dropped >= 44
    assert len([line for line in lines if line.startswith(b"signal")]) == 50 - wire.dropped
    os.close(keep)
    os.close(writing)


def test_every_note_has_its_struct() -> None:
    note = rpc.EndedNote(run_id="r", ended=RunEnded(status="paused"))
    assert msgspec.json.decode(msgspec.json.encode(note), type=rpc.EndedNote) == note
