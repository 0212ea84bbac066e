"""Entry of the command line `oneday`: a lazy group, so that help and typing mistakes cost next to nothing.

Each command lives in a module of ``engine/commands`` that is imported when the command is named. To add one, write
the module and a line in `COMMANDS`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from types import TracebackType

COMMANDS = {
    "run": ("engine.commands.run:run", "Carry out a request with its files."),
    "runs": ("engine.commands.runs:runs", "List, show and continue runs."),
    "models": ("engine.commands.models:models", "Get and check models for this computer."),
    "profiles": ("engine.commands.profiles:profiles", "Show how models are used."),
    "read": ("engine.commands.files:read", "Show what a model would see of a file."),
    "check": ("engine.commands.files:check", "Check finished files for faults."),
    "doctor": ("engine.commands.doctor:doctor", "Tell what works on this computer, and what to do."),
    "sandbox": ("engine.commands.sandbox:sandbox", "Try a command under the confinement of a run."),
}
"""Command → where its click object is, and its line in the help."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used."""

    def __init__(self, *args: object, lazy: Mapping[str, tuple[str, str]], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self._lazy:
            return None
        module, _, name = self._lazy[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, from the table and not from the modules."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._lazy.items()])


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="oneday-desk", prog_name="oneday")
def oneday() -> None:
    """Drop files and a request in, get finished, checked files out.

    Everything happens on this computer unless you choose a hosted model.
    """


def main() -> None:
    """Run the command line: the console script, and ``python -m engine.cli``."""
    for stream in (sys.stdout, sys.stderr):
        # Under LANG=C, or a code page without the letter, a file name must not end the program.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    sys.excepthook = _last_resort
    oneday()


def _last_resort(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Errors for people in three lines; anything else is a bug and leaves a report."""
    from engine.commands.failures import report

    report(kind, error, trace)


if __name__ == "__main__":
    main()
