"""``oneday profiles``: how models are used."""

from __future__ import annotations

import click

from engine.commands.screen import Screen
from engine.protocol.errors import UserError


@click.group()
def profiles() -> None:
    """Show how models are used."""


@profiles.command("list")
def list_() -> None:
    """List the profiles, built-in and your own."""
    from engine.commands.setting_up import profile_folder
    from models.profile import list_profiles, load_profile

    screen = Screen()
    for name in list_profiles(profile_folder()):
        try:
            profile = load_profile(name, profile_folder())
        except UserError as error:  # one bad file of the person's own must not hide the others
            screen.say(f"{name}  cannot be used: {error}")
            continue
        screen.say(f"{name}  {profile.model}  {profile.summary}")


@profiles.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(name: str, as_json: bool) -> None:
    """Show every setting of the profile NAME."""
    import msgspec

    from engine.commands.setting_up import profile_folder
    from models.profile import load_profile

    profile = load_profile(name, profile_folder())
    if as_json:
        click.echo(msgspec.json.encode(profile))
        return
    screen = Screen()
    for key, value in msgspec.to_builtins(profile).items():
        words = ", ".join(map(str, value)) if isinstance(value, list) else value
        screen.say(f"{key}: {'not set' if words is None or words == '' else words}")
