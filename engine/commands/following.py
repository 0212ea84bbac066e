"""Follow a run from the terminal: show it, answer its questions, stop it on Ctrl+C."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Coroutine, Iterator
from types import FrameType
from typing import Any, TypeVar

import click
import msgspec

from engine.commands.asking import Questions
from engine.commands.narrator import Narrator, exit_code
from engine.commands.screen import Screen
from engine.protocol.events import Envelope, Event, QuestionAnswered, QuestionAsked, RunEnded, RunResumed, Signal
from engine.protocol.ports import RunHandle

T = TypeVar("T")

INTERRUPTED = 130


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Entry into the asyncio world for one command; Ctrl+C ends it with status 130."""
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
        sys.exit(INTERRUPTED)


def json_line(envelope: Envelope, event: Event) -> str:
    """An event as one line: the envelope with the whole body in it, also where the journal keeps it as a blob."""
    whole = msgspec.structs.replace(envelope, body=msgspec.Raw(msgspec.json.encode(event)))
    return msgspec.json.encode(whole).decode()


class Follower:
    """Shows one run.

    Args:
        screen: where words go.
        questions: who answers.
        as_json: print each event as a line of JSON instead of words.
    """

    def __init__(self, screen: Screen, questions: Questions, *, as_json: bool) -> None:
        self._screen = screen
        self._questions = questions
        self._as_json = as_json
        self._news: asyncio.Queue[tuple[Envelope, Event] | None] = asyncio.Queue()
        self._narrator = Narrator()
        self._written = 0
        self._past = 0

    async def follow(self, handle: RunHandle, *, resumed: bool = False) -> int:
        """Show the run until it ends or pauses.

        Args:
            handle: the run.
            resumed: its past is taken in without being told again in words.

        Returns:
            The exit status of the command (see `exit_code`).
        """
        began = time.monotonic()
        shower = asyncio.create_task(self._show(handle))
        try:
            with _interrupts(handle, self._screen):
                handle.subscribe(lambda envelope, event: self._news.put_nowait((envelope, event)), self._on_signal)
                self._past = self._news.qsize() if resumed else 0
                ended = await self._watched(handle, shower)
            self._news.put_nowait(None)
            await shower
        finally:
            shower.cancel()
            self._screen.still()
        if not self._as_json:
            elapsed = time.monotonic() - began
            for line in self._narrator.summary(ended, run_id=handle.run_id, elapsed_s=elapsed):
                self._screen.say(line.text, style=line.style, wrap=line.wrap)
        return exit_code(ended, self._narrator.mode)

    async def _watched(self, handle: RunHandle, shower: asyncio.Task[None]) -> RunEnded:
        """The end of the run; if nothing can be shown any more (a closed pipe), the run is paused and we say so."""
        result = asyncio.create_task(handle.result())
        await asyncio.wait((result, shower), return_when=asyncio.FIRST_COMPLETED)
        if shower.done() and not result.done():
            await handle.pause()
            await result
            shower.result()
        return await result

    async def _show(self, handle: RunHandle) -> None:
        waiting: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            # A resumed run tells its past without a pause in between: a question that was answered then is cancelled
            # here before its task has begun.
            while (news := await self._news.get()) is not None:
                self._print(*news)
                event = news[1]
                if isinstance(event, QuestionAsked):
                    waiting[event.question_id] = group.create_task(self._answer(handle, event))
                elif isinstance(event, QuestionAnswered) and event.question_id in waiting:
                    waiting.pop(event.question_id).cancel()
            for task in waiting.values():
                task.cancel()

    async def _answer(self, handle: RunHandle, asked: QuestionAsked) -> None:
        answer = await self._questions.answer(asked)
        if answer is None and self._narrator.attended:
            # The run was begun with somebody there and is continued without: what has no default waits for them.
            if asked.kind == "question" and asked.default:
                answer = asked.default
            else:
                self._screen.say(f"This needs your answer, so the run is paused: {asked.question}")
                await handle.pause()
        if answer is not None:
            handle.answer(asked.question_id, answer)

    def _print(self, envelope: Envelope, event: Event) -> None:
        lines = self._narrator.hear(event)
        self._past -= 1
        if self._as_json:
            sys.stdout.write(json_line(envelope, event) + "\n")
            sys.stdout.flush()
            return
        if self._past >= 0 and not isinstance(event, RunResumed):
            return
        for line in lines:
            self._screen.say(line.text, style=line.style, wrap=line.wrap)
        if lines:
            self._written = 0

    def _on_signal(self, news: Signal) -> None:
        if self._as_json:
            return
        if news.kind == "text":
            self._written += len(news.text)
            self._screen.status(f"The model is writing ({self._written} characters)")
        elif news.text:
            share = f" {news.done / news.total:.0%}" if news.total else ""
            self._screen.status(news.text + share)


@contextlib.contextmanager
def _interrupts(handle: RunHandle, screen: Screen) -> Iterator[None]:
    """First Ctrl+C (or terminate): pause. Second: end at once; children end by themselves with us."""
    loop = asyncio.get_running_loop()
    pausing: list[asyncio.Task[None]] = []

    def pause() -> None:
        screen.still()
        click.echo(f"\nPausing; go on later with: oneday runs resume {handle.run_id}", err=True)
        click.echo("Press Ctrl+C again to end at once.", err=True)
        pausing.append(asyncio.create_task(handle.pause()))

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if pressed:
            os._exit(INTERRUPTED)
        pressed.append(number)
        loop.call_soon_threadsafe(pause)

    pressed: list[int] = []
    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
