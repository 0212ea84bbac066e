"""``oneday run``: a request with its files, in words or as lines of JSON."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from engine.commands import durations
from engine.commands.asking import Questions, somebody_there
from engine.commands.following import Follower, run_async
from engine.commands.screen import Screen
from engine.protocol.errors import UserError
from engine.protocol.tasks import Mode, TaskRequest

DEFAULT_PROFILE = "cpu-small"
SCRIPTED = "scripted"


@click.command()
@click.argument("request")
@click.option("--attach", "attachments", multiple=True, metavar="FILE", help="A file to work on; may be repeated.")
@click.option("--out", "out_dir", metavar="DIR", help="Where finished files go.  [default: the current folder]")
@click.option("--mode", type=click.Choice([mode.value for mode in Mode]), default=Mode.AUTO.value, show_default=True)
@click.option("--profile", default="", metavar="NAME", help=f"Execution profile.  [default: {DEFAULT_PROFILE}]")
@click.option("--budget", metavar="TIME", help="Most time to take, such as 20m or 1h30m.")
@click.option("--json", "as_json", is_flag=True, help="Print one event a line as JSON.")
@click.option("--yes", is_flag=True, help="Take defaults instead of asking; never covers unconfined commands.")
@click.option("--script", metavar="FILE", help="Replies for the profile 'scripted', as JSON.")
def run(
    request: str,
    attachments: tuple[str, ...],
    out_dir: str | None,
    mode: str,
    profile: str,
    budget: str | None,
    as_json: bool,
    yes: bool,
    script: str | None,
) -> None:
    """Carry out REQUEST ('-' reads it from standard input).

    Exit status: 0 delivered and verified, 3 delivered but not verified, 1 failed, 130 paused.
    """
    attended = somebody_there() and not as_json
    task = TaskRequest(
        text=_request_text(request),
        # Not resolved: a link keeps the name that the person gave.
        attachments=tuple(os.path.abspath(name) for name in attachments),  # noqa: PTH100
        out_dir=str(out_folder(out_dir)),
        mode=Mode(mode),
        profile=profile or (SCRIPTED if script else DEFAULT_PROFILE),
        budget_s=durations.seconds(budget) if budget else None,
        attended=attended,
    )
    screen = Screen(sys.stderr if as_json else sys.stdout)
    questions = Questions(screen, attended=attended, take_defaults=yes)
    follower = Follower(screen, questions, as_json=as_json)
    sys.exit(run_async(_run(task, Path(script) if script else None, screen, follower, yes=yes)))


def out_folder(named: str | None) -> Path:
    """Where finished files go: the folder that was named, or the current one.

    Raises:
        UserError: no folder was named and the current one cannot be written to.
    """
    if named:
        return Path(named).absolute()
    here = Path.cwd()
    if not os.access(here, os.W_OK):
        raise UserError(
            "out.not_writable",
            "The current folder {folder} cannot be written to.",
            kept="Nothing was started.",
            todo="Name a folder for the results: --out DIR.",
            folder=here,
        )
    return here


def _request_text(request: str) -> str:
    text = sys.stdin.read() if request == "-" else request
    if not text.strip():
        raise UserError("request.empty", "The request is empty.", todo="Say in a sentence or two what you want done.")
    return text


async def _run(task: TaskRequest, script: Path | None, screen: Screen, follower: Follower, *, yes: bool) -> int:
    from engine.app import open_engine
    from engine.commands.setting_up import ensure_model

    await ensure_model(task.profile, screen, attended=task.attended, agreed=yes)
    screen.status("Starting")
    engine = await open_engine(script=script, on_progress=lambda _done, _total, text: screen.status(text))
    try:
        handle = await engine.start(task)
        return await follower.follow(handle)
    finally:
        screen.still()
        await engine.aclose()
