"""Programs that the journal's tests run as processes of their own, and a small real engine for host and client."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path

from engine.journal import Journal
from engine.protocol.errors import UserError
from engine.protocol.events import (
    Envelope,
    Event,
    MessageAdded,
    QuestionAnswered,
    QuestionAsked,
    RunCreated,
    RunEnded,
    RunResumed,
    Signal,
    Steered,
    ToolIntended,
)
from engine.protocol.tasks import TaskRequest
from engine.runfolder import RunFolder
from engine.system.clock import SystemClock

OnEvent = Callable[[Envelope, Event], None]
OnSignal = Callable[[Signal], None]


async def open_journal(folder: RunFolder) -> Journal:
    return await Journal.open(folder.journal, folder.run_id, folder.blobs, SystemClock())


def intent(number: int, size: int = 10) -> ToolIntended:
    return ToolIntended(call_id=f"c{number}", dialogue="d", tool="t", arguments={"text": "x" * size}, effect="write")


async def write_for_ever(root: str) -> None:
    """Append intents (short and long) with queued messages between them; print each number once acknowledged."""
    journal = await open_journal(RunFolder(Path(root)))
    for number in range(journal.last_seq, 100_000):
        await journal.append(MessageAdded(dialogue="d", role="user", content=f"before {number}"))
        envelope = await journal.append(intent(number, 9000 if number % 5 == 0 else 10))
        print(envelope.seq, flush=True)


async def write_until_full(root: str, limit: str) -> None:
    """Append under a file size limit until the journal refuses; print what was acknowledged, then the error's key."""
    import resource

    journal = await open_journal(RunFolder(Path(root)))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    try:
        for number in range(100_000):
            envelope = await journal.append(intent(number, 3000))
            print(envelope.seq, flush=True)
    except UserError as error:
        print(error.key, flush=True)
        with contextlib.suppress(UserError):
            await journal.append(intent(0))
            print("appended after the end", flush=True)
    await journal.aclose()


async def hold_lock(root: str) -> None:
    async with RunFolder(Path(root)).lock():
        print("held", flush=True)
        await asyncio.to_thread(sys.stdin.read)


class EchoRun:
    """A run whose work is told by its request: ``flood N``, ``ask``, ``wait``, ``break`` or ``say TEXT``."""

    def __init__(self, folder: RunFolder, journal: Journal) -> None:
        self.run_id = folder.run_id
        self.folder = folder.root
        self._journal = journal
        self._signals: list[OnSignal] = []
        self._answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self.task: asyncio.Task[RunEnded] | None = None

    def begin(self, request: TaskRequest, first: Event) -> None:
        self.task = asyncio.get_running_loop().create_task(self._run(request, first))

    def subscribe(self, on_event: OnEvent, on_signal: OnSignal) -> None:
        self._journal.subscribe(on_event, after_seq=0)
        self._signals.append(on_signal)

    async def result(self) -> RunEnded:
        assert self.task is not None
        return await asyncio.shield(self.task)

    async def pause(self) -> None:
        self._stop.set()
        await self.result()

    def answer(self, question_id: str, answer: str) -> None:
        self._answered.set_result(answer)

    def steer(self, text: str) -> None:
        self._answered.set_result(text)

    async def _run(self, request: TaskRequest, first: Event) -> RunEnded:
        try:
            await self._journal.append(first)
            word, _, rest = request.text.partition(" ")
            answer = await self._work(word, rest)
            ended = RunEnded(status="paused" if self._stop.is_set() else "unverified", answer=answer)
            await self._journal.append(ended)
            return ended
        finally:
            await self._journal.aclose()

    async def _work(self, word: str, rest: str) -> str:
        if word == "break":
            raise RuntimeError("a bug, on purpose")
        if word == "flood":
            for number in range(int(rest)):
                for on_signal in self._signals:
                    on_signal(Signal(kind="text", text=f"{number} " + "x" * 500))
                await self._journal.append(MessageAdded(dialogue="d", role="user", content=f"{number} " + "y" * 500))
        if word == "ask":
            await self._journal.append(QuestionAsked(question_id="q1", question="Which?"))
            answer = await self._answered
            await self._journal.append(QuestionAnswered(question_id="q1", answer=answer))
            return answer
        if word == "steer":
            text = await self._answered
            await self._journal.append(Steered(text=text))
            return text
        if word == "wait":
            await self._stop.wait()
        return rest


class EchoEngine:
    """A small engine with real run folders and journals."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._active: list[EchoRun] = []

    async def start(self, request: TaskRequest) -> EchoRun:
        if not request.text:
            raise UserError("request.empty", "The request {odd} is empty.", todo="Say {much}.", odd="{x}", much="more")
        folder = RunFolder.create(self._runs, SystemClock())
        return await self._begin(folder, request, RunCreated(request=request))

    async def resume(self, run_id: str) -> EchoRun:
        folder = RunFolder.open(self._runs, run_id)
        return await self._begin(folder, TaskRequest(text="say resumed"), RunResumed(after_seq=0))

    async def aclose(self) -> None:
        for run in self._active:
            if run.task is not None and not run.task.done():
                await run.pause()

    async def _begin(self, folder: RunFolder, request: TaskRequest, first: Event) -> EchoRun:
        run = EchoRun(folder, await open_journal(folder))
        run.begin(request, first)
        self._active.append(run)
        return run


async def open_echo_engine(*, runs: Path, **_: str) -> EchoEngine:
    return EchoEngine(runs)


async def main() -> None:
    work = {"write": write_for_ever, "full": write_until_full, "lock": hold_lock}[sys.argv[1]]
    await work(*sys.argv[2:])


if __name__ == "__main__":
    asyncio.run(main())
