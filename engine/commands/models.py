"""``oneday models``: what the catalogue offers, and what of it is on this computer."""

from __future__ import annotations

from pathlib import Path

import click

from engine.commands.following import run_async
from engine.commands.screen import Screen, human_size

STATES = {
    "ready": "here",
    "unverified": "here, not verified",
    "partial": "fetched in part",
    "corrupt": "damaged",
}


@click.group()
def models() -> None:
    """Get and check models for this computer."""


@models.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one model a line as JSON.")
def list_(as_json: bool) -> None:
    """List the models of the catalogue."""
    import msgspec

    from engine.commands.setting_up import folders
    from models.catalog import load_catalog
    from models.downloads import list_installed

    catalog = load_catalog()
    states = {model.name: model for model in list_installed(catalog, folders().models)}
    screen = Screen()
    for entry in catalog.models:
        installed = states.get(entry.name)
        state = STATES[installed.state] if installed else "not here"
        if as_json:
            facts = {
                name: getattr(entry, name) for name in ("name", "title", "licence", "size_bytes", "context_tokens")
            }
            facts |= {"state": installed.state if installed else "absent"}
            click.echo(msgspec.json.encode(facts | {"path": str(installed.path) if installed else ""}))
            continue
        style = "green" if installed and installed.state == "ready" else ""
        words = f"{entry.name}  {human_size(entry.size_bytes)}  {entry.licence}  {entry.context_tokens} tokens  {state}"
        screen.say(words, style=style)


@models.command()
@click.argument("name")
@click.option("--from", "local", metavar="FILE", help="Take it from a copy on this computer.")
def fetch(name: str, local: str | None) -> None:
    """Fetch the model NAME; goes on where an earlier attempt stopped."""
    from engine.commands.setting_up import fetch_model
    from models.catalog import load_catalog

    screen = Screen()
    entry = load_catalog().entry(name)
    path = run_async(fetch_model(entry, screen, local=Path(local).absolute() if local else None))
    screen.say(f"{entry.title or entry.name} is ready: {path}", wrap=False)


@models.command()
@click.argument("name")
def verify(name: str) -> None:
    """Read the whole file of the model NAME and compare its checksum."""
    from engine.commands.setting_up import folders
    from models.catalog import load_catalog
    from models.downloads import verify as verify_file

    entry = load_catalog().entry(name)
    run_async(verify_file(entry, folders().models))
    click.echo(f"{entry.name} is complete and right (SHA-256 {entry.sha256}).")


@models.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove the model NAME from this computer; it can be fetched again."""
    from engine.commands.setting_up import folders
    from models.catalog import load_catalog
    from models.downloads import remove as remove_files

    entry = load_catalog().entry(name)
    freed = run_async(remove_files(entry, folders().models))
    click.echo(f"{entry.name}: {human_size(freed)} freed." if freed else f"{entry.name} was not here.")
