"""``oneday doctor``: what works here, and what to do about the rest."""

from __future__ import annotations

import sys

import click

from engine.commands.following import run_async

MARKS = {"ok": "ok     ", "limited": "limited", "missing": "missing"}
STYLES = {"ok": "green", "limited": "yellow", "missing": "red"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one finding a line as JSON.")
def doctor(as_json: bool) -> None:
    """Tell what works on this computer, and what to do about the rest.

    Exit status 1 if something is missing without which no request can be carried out.
    """
    import msgspec

    from engine.commands.screen import Screen
    from engine.doctor import examine

    findings = run_async(examine())
    screen = Screen()
    for finding in findings:
        if as_json:
            click.echo(msgspec.json.encode(finding))
            continue
        screen.say(f"{MARKS[finding.state]}  {finding.name}: {finding.detail}", style=STYLES[finding.state])
        if finding.todo:
            screen.say(f"         {finding.todo}")
    sys.exit(1 if any(finding.state == "missing" and finding.needed for finding in findings) else 0)
