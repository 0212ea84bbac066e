"""``oneday runs``: look at runs and go on with one."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from engine.commands.asking import Questions, somebody_there
from engine.commands.following import Follower, json_line, run_async
from engine.commands.narrator import Narrator
from engine.commands.screen import Screen

WORDS = {
    "verified": "done, checked",
    "unverified": "done, not confirmed",
    "failed": "failed",
    "paused": "paused",
    "open": "at work or cut off",
    "corrupt": "cannot be read",
}


@click.group()
def runs() -> None:
    """List, show and continue runs."""


@runs.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one run a line as JSON.")
@click.option("--all", "everything", is_flag=True, help="All, not only the newest twenty.")
def list_(as_json: bool, everything: bool) -> None:
    """List runs, newest first."""
    import msgspec

    from engine.commands.setting_up import folders
    from engine.runs_index import RunsIndex

    found = RunsIndex(folders().runs).list()
    screen = Screen()
    for run in found if everything else found[:20]:
        if as_json:
            click.echo(msgspec.json.encode(run))
        else:
            screen.say(f"{run.run_id}  {WORDS[run.status]:20}  {run.title or run.problem}")
    if not found and not as_json:
        screen.say("There is no run yet. Start one: oneday run REQUEST --attach FILE")


@runs.command()
@click.argument("run_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print its events, one a line, as JSON.")
def show(run_id: str, as_json: bool) -> None:
    """Show what happened in the run ID (the beginning of an id is enough)."""
    from engine.commands.setting_up import folders
    from engine.runs_index import RunsIndex

    index = RunsIndex(folders().runs)
    folder = index.find(run_id)
    events = index.events(folder.run_id)
    if as_json:
        for envelope, event in events:
            click.echo(json_line(envelope, event))
        return
    screen = Screen()
    narrator = Narrator()
    for _, event in events:
        for line in narrator.hear(event):
            screen.say(line.text, style=line.style, wrap=line.wrap)
    if narrator.ended is None:
        screen.say(f"\nNot ended. If no program is at work on it: oneday runs resume {folder.run_id}", wrap=False)
        return
    elapsed = index.state(folder.run_id).active_s
    for line in narrator.summary(narrator.ended, run_id=folder.run_id, elapsed_s=elapsed):
        screen.say(line.text, style=line.style, wrap=line.wrap)


@runs.command()
@click.argument("run_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one event a line as JSON.")
@click.option("--yes", is_flag=True, help="Take defaults instead of asking; never covers unconfined commands.")
@click.option("--script", metavar="FILE", help="Replies for the profile 'scripted', as JSON.")
def resume(run_id: str, as_json: bool, yes: bool, script: str | None) -> None:
    """Go on with the run ID where it stopped. Exit status as of `oneday run`."""
    from engine.commands.setting_up import folders
    from engine.runs_index import RunsIndex

    whole_id = RunsIndex(folders().runs).find(run_id).run_id
    screen = Screen(sys.stderr if as_json else sys.stdout)
    attended = somebody_there() and not as_json
    follower = Follower(screen, Questions(screen, attended=attended, take_defaults=yes), as_json=as_json)
    sys.exit(run_async(_resume(whole_id, Path(script) if script else None, screen, follower)))


async def _resume(run_id: str, script: Path | None, screen: Screen, follower: Follower) -> int:
    from engine.app import open_engine

    screen.status("Starting")
    engine = await open_engine(script=script, on_progress=lambda _done, _total, text: screen.status(text))
    try:
        return await follower.follow(await engine.resume(run_id), resumed=True)
    finally:
        screen.still()
        await engine.aclose()
