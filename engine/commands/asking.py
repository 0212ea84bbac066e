"""Questions to the person at the terminal."""

from __future__ import annotations

import asyncio
import os
import sys
import threading

from engine.commands.screen import Screen
from engine.protocol.events import QuestionAsked

_LINE_BYTES = 4096


def somebody_there() -> bool:
    """Whether a person can read a question and type an answer."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


async def read_line() -> str:
    """A line typed at the terminal, without blocking the loop.

    The thread reads the descriptor itself: a daemon thread that waits inside `sys.stdin` can break the end of the
    program.

    Raises:
        EOFError: the input is at its end.
    """
    loop = asyncio.get_running_loop()
    line: asyncio.Future[bytes] = loop.create_future()

    def deliver(data: bytes) -> None:
        if not line.done():
            line.set_result(data)

    def wait() -> None:
        data = os.read(sys.stdin.fileno(), _LINE_BYTES)
        if not loop.is_closed():
            loop.call_soon_threadsafe(deliver, data)

    threading.Thread(target=wait, name="terminal-input", daemon=True).start()
    data = await line
    if not data:
        raise EOFError
    return data.decode(sys.stdin.encoding or "utf-8", errors="replace").strip()


async def agree(screen: Screen, question: str) -> bool:
    """A yes-or-no question; only a clear yes counts.

    Args:
        screen: where to ask.
        question: the question, without the choices.
    """
    screen.still()
    screen.say(f"{question} [y/N]")
    try:
        return (await read_line()).lower() in ("y", "yes")
    except EOFError:
        return False


class Questions:
    """Answers the questions of a run.

    Args:
        screen: where to ask.
        attended: whether somebody is there.
        take_defaults: answer plain questions with their default; approvals are asked all the same.
    """

    def __init__(self, screen: Screen, *, attended: bool, take_defaults: bool) -> None:
        self._screen = screen
        self._attended = attended
        self._take_defaults = take_defaults

    async def answer(self, asked: QuestionAsked) -> str | None:
        """The answer to a question; None where the engine takes the default by itself.

        Args:
            asked: the question with its options and default.
        """
        if not self._attended:
            return None
        if asked.kind == "question" and self._take_defaults:
            return asked.default
        return await self._typed(asked)

    async def _typed(self, asked: QuestionAsked) -> str:
        self._screen.still()
        self._screen.say()
        self._screen.say(asked.question, style="bold")
        for number, option in enumerate(asked.options, 1):
            self._screen.say(f"  {number}. {option}")
        nothing = "no" if asked.kind == "approval" else "no answer"
        self._screen.say(f"Your answer (Enter for: {asked.default or nothing})")
        try:
            typed = await read_line()
        except EOFError:
            return asked.default
        if typed.isdigit() and 1 <= int(typed) <= len(asked.options):
            return asked.options[int(typed) - 1]
        return typed or asked.default
