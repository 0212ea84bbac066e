"""``oneday sandbox``: try the confinement that scripts of a model run under."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from engine.commands.following import run_async


@click.group()
def sandbox() -> None:
    """Try a command under the confinement of a run."""


@sandbox.command("run", context_settings={"ignore_unknown_options": True})
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD...")
@click.option("--folder", metavar="DIR", help="The one folder it may write to.  [default: a new empty one]")
@click.option("--timeout", "timeout_s", type=float, default=60.0, show_default=True, help="Seconds it may take.")
def run(argv: tuple[str, ...], folder: str | None, timeout_s: float) -> None:
    """Run CMD as a script of a model would run: no network, one folder, limits."""
    if folder:
        sys.exit(run_async(_confined(argv, Path(folder).absolute(), timeout_s)))
    with tempfile.TemporaryDirectory(prefix="oneday-") as fresh:
        status = run_async(_confined(argv, Path(fresh), timeout_s))
    sys.exit(status)


async def _confined(argv: tuple[str, ...], folder: Path, timeout_s: float) -> int:
    from engine.commands.screen import clean
    from engine.commands.setting_up import confinement
    from engine.protocol.sandbox import SandboxPolicy

    box, interpreter = await confinement()
    if not box.confines:
        click.echo("No confinement works on this computer, so the command was not run. See: oneday doctor", err=True)
        return 1
    policy = SandboxPolicy(
        workspace=folder,
        read_only_paths=interpreter.read_only_paths,
        hidden_paths=interpreter.hidden_paths,
        environment=interpreter.environment,
        timeout_s=timeout_s,
    )
    outcome = await box.run([*argv], policy)
    click.echo(clean(outcome.output), nl=False)
    if outcome.status not in ("ok", "failed"):
        click.echo(f"{box.name}: {outcome.status.replace('_', ' ')} after {outcome.seconds:.1f} s", err=True)
    return outcome.returncode if outcome.returncode >= 0 else 128 - outcome.returncode
