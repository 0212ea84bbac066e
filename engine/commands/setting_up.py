"""What the commands compose for themselves: folders, the confinement, and the model that a profile needs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.commands.asking import agree
from engine.commands.screen import Screen, human_size
from engine.protocol.errors import UserError
from engine.protocol.sandbox import InterpreterEnv
from engine.system.paths import UserFolders, user_folders

if TYPE_CHECKING:
    from models.catalog import CatalogEntry
    from tools.sandbox.probe import ChosenSandbox

USABLE = ("ready", "unverified")
"""States of an installed model that a server may load; an unverified one is hashed by ``fetch``."""


def folders() -> UserFolders:
    """The folders of this user."""
    return user_folders(os.environ)


def profile_folder() -> Path:
    """Where a person's own profiles are; may be missing."""
    return folders().data / "profiles"


async def confinement() -> tuple[ChosenSandbox, InterpreterEnv]:
    """The confinement that runs get here, tried, and the Python that scripts run with."""
    from engine.app import confinement as tried

    return await tried(folders().cache)


async def fetch_model(entry: CatalogEntry, screen: Screen, *, local: Path | None = None) -> Path:
    """Fetch a model with a progress bar; returns at once where it is already here and right.

    Args:
        entry: the model.
        screen: where progress is shown.
        local: a copy of the file on this computer.

    Raises:
        UserError: no room, no source, or the folder cannot be written.
    """
    from models.downloads import fetch

    said: set[str] = set()
    with screen.progress(f"Fetching {entry.name}") as advance:

        def progress(done: int, total: int, text: str) -> None:
            advance(done, total)
            # A source that failed and a wait for another program are worth a line; each once.
            if text.startswith(("Did not work", "Waiting", "Verifying")) and text not in said:
                said.add(text)
                screen.say(text)

        return await fetch(entry, folders().models, progress, local=local)


async def ensure_model(profile_name: str, screen: Screen, *, attended: bool, agreed: bool) -> None:
    """See to it that the local models of a profile are here; fetch them after a yes.

    Args:
        profile_name: the profile of a run.
        screen: where to ask and to show progress.
        attended: somebody can be asked.
        agreed: the person said yes beforehand.

    Raises:
        UserError: no such profile, or a model is missing and nobody agreed to fetch it.
    """
    for entry in _missing(profile_name):
        title = entry.title or entry.name
        question = f"The model {title} is not on this computer yet ({human_size(entry.size_bytes)}). Fetch it now?"
        if not agreed and not (attended and await agree(screen, question)):
            raise UserError(
                "model.missing",
                "The model {name} is not on this computer.",
                kept="Nothing was started.",
                todo="Fetch it once ({size}): oneday models fetch {name}",
                name=entry.name,
                size=human_size(entry.size_bytes),
            )
        await fetch_model(entry, screen)


def _missing(profile_name: str) -> Sequence[CatalogEntry]:
    from models.catalog import load_catalog
    from models.downloads import list_installed
    from models.profile import load_profile

    profile = load_profile(profile_name, profile_folder())
    if profile.backend != "llama_cpp":
        return ()
    catalog = load_catalog()
    here = {model.name for model in list_installed(catalog, folders().models) if model.state in USABLE}
    wanted = {profile.model, *profile.roles.values()} - here
    return [entry for entry in catalog.models if entry.name in wanted]
