"""What a person sees: rich on a terminal, plain lines anywhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

_DIRECTION_MARKS = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}
PLAIN_STEP = 0.1
"""Without a terminal, progress is one line for each tenth."""


def clean(text: str) -> str:
    """Text that cannot steer a terminal.

    Names and answers come from files and models: escape sequences and marks that turn the direction of writing are
    replaced.
    """
    return "".join(_harmless(character) for character in text)


def _harmless(character: str) -> str:
    code = ord(character)
    if character in "\n\t":
        return character
    return "\ufffd" if code < 32 or 0x7F <= code < 0xA0 or code in _DIRECTION_MARKS else character


def human_size(size_bytes: float) -> str:
    """A size in words, in decimal units: ``1.1 GB``."""
    value = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def human_time(seconds: float) -> str:
    """A duration in words: ``42 s``, ``3 min 20 s``, ``1 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


class Screen:
    """Prints lines, a passing status and progress.

    Args:
        stream: where to print; standard output by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stdout if stream is None else stream
        self.is_terminal = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self._console: Console | None = None
        self._status: Status | None = None

    def say(self, text: str = "", *, style: str = "", wrap: bool = True) -> None:
        """Print a line.

        Args:
            text: what to print; made harmless first.
            style: a style of rich such as ``bold``; only on a terminal.
            wrap: False keeps paths in one piece, so that they can be copied.
        """
        text = clean(text)
        if self.is_terminal:
            self._rich().print(text, style=style or None, soft_wrap=not wrap, markup=False, highlight=False)
        else:
            self.stream.write(text + "\n")
            self.stream.flush()

    def status(self, text: str) -> None:
        """Show what is going on now, on a terminal only; the next status replaces it."""
        if not self.is_terminal:
            return
        if self._status is None:
            self._status = self._rich().status("")
            self._status.start()
        from rich.text import Text

        self._status.update(Text(clean(text), overflow="ellipsis", no_wrap=True))

    def still(self) -> None:
        """Take the status away (before a question, and at the end)."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    @contextmanager
    def progress(self, label: str) -> Iterator[Callable[[float, float], None]]:
        """A progress bar in bytes; gives a function to be called with done and total.

        Args:
            label: what is going on.
        """
        self.still()
        if self.is_terminal:
            with self._bar(label) as advance:
                yield advance
            return
        reached = -1.0

        def plain(done: float, total: float) -> None:
            nonlocal reached
            share = done / total if total else 0.0
            if share >= reached + PLAIN_STEP or (share >= 1 > reached):
                reached = share
                self.say(f"{label}: {share:.0%} of {human_size(total)}" if total else f"{label}: {human_size(done)}")

        yield plain

    @contextmanager
    def _bar(self, label: str) -> Iterator[Callable[[float, float], None]]:
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn(None), DownloadColumn())
        with Progress(*columns, TimeRemainingColumn(compact=True), console=self._rich(), expand=True) as bar:
            task = bar.add_task(clean(label), total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total or None)

    def _rich(self) -> Console:
        if self._console is None:
            from rich.console import Console

            self._console = Console(file=self.stream, markup=False, highlight=False, emoji=False)
        return self._console
