"""Bringing a finished file from the workers' scratch folder into the workspace, whole or not at all."""

from __future__ import annotations

import asyncio
import os
import shutil
import uuid
from pathlib import Path

from engine.protocol.errors import UserError
from engine.protocol.ports import ToolContext


def scratch_file(context: ToolContext, name: str) -> Path:
    """A path in the scratch folder that nobody else uses, with the suffix of `name`."""
    return context.documents.scratch / f"{uuid.uuid4().hex}{Path(name).suffix.lower()}"


async def place(source: Path, target: Path) -> None:
    """Move `source` to `target`, replacing what is there; the old file stays as it is if this fails.

    Raises:
        UserError: the disk is full or the folder cannot be written to.
    """
    try:
        await asyncio.to_thread(_move, source, target)
    except OSError as error:
        raise UserError(
            "workspace.not_written",
            "The file {name} could not be written: {reason}.",
            kept="The file that was there before is unchanged.",
            todo="Make room on the disk, or allow writing to the folder, and continue.",
            name=target.name,
            reason=error.strerror or str(error),
        ) from error


def _move(source: Path, target: Path) -> None:
    # the scratch folder may be on another disk: only a rename within one folder is atomic
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        shutil.copyfile(source, part)
        if target.exists():
            shutil.copymode(target, part)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
        source.unlink(missing_ok=True)
