"""The end of a command that failed: words for people, a report for bugs."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

import click

from engine.commands.screen import clean
from engine.protocol.errors import OneDayError, UserError


def say(error: OneDayError) -> None:
    """Print what happened, what is safe and what to do, on standard error."""
    lines = [error.what, error.kept, error.todo] if isinstance(error, UserError) else [str(error)]
    for line in lines:
        if line:
            click.echo(clean(line), err=True)


def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Last resort of the command line.

    Args:
        kind: class of the error.
        error: the error.
        trace: where it happened.
    """
    if isinstance(error, OneDayError):
        say(error)
        return
    if issubclass(kind, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        return
    text = crash_text(kind, error, trace)
    click.echo(f"A fault in the program ended this command: {clean(f'{kind.__name__}: {error}')}", err=True)
    click.echo("Your own files were not touched.", err=True)
    try:
        path = _write(text)
    except OSError as problem:
        click.echo(f"No report could be written ({problem}); here it is:\n{clean(text)}", err=True)
        return
    click.echo(f"A report is in {path}; it stays on this computer.", err=True)


def crash_text(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> str:
    """The report: versions and the trace, without the request, file contents or environment."""
    head = [
        f"time      {datetime.now(UTC).isoformat(timespec='seconds')}",
        f"python    {platform.python_version()} {platform.python_implementation()}",
        f"system    {platform.platform()}",
        f"command   {' '.join(argument for argument in sys.argv[1:3] if argument.isalpha())}",
    ]
    from engine.system.redactor import Redactor

    return Redactor().redact("\n".join(head) + "\n\n" + "".join(traceback.format_exception(kind, error, trace)))


def _write(text: str) -> Path:
    from engine.system.paths import user_folders

    folder = user_folders(os.environ).data / "crashes"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"crash-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.txt"
    path.write_text(text, encoding="utf-8", errors="replace")
    return path
