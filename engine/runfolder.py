"""The layout of a run folder, run ids, and the lock that keeps a second engine out."""

from __future__ import annotations

import secrets
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path

from engine.blobs import Blobs
from engine.protocol.errors import UserError
from engine.protocol.ports import Clock
from engine.system.locks import hold

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # without look-alikes


def new_run_id(clock: Clock) -> str:
    """A run id such as ``261130-230145-8fk3``: UTC time, so that ids sort by age, and a random tail."""
    at = datetime.fromtimestamp(clock.now(), UTC)
    tail = "".join(secrets.choice(_ALPHABET) for _ in range(4))
    return f"{at:%y%m%d-%H%M%S}-{tail}"


class RunFolder:
    """Where everything of one run lies.

    Args:
        root: the folder; its name is the run id.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.run_id = root.name
        self.journal = root / "journal.sqlite"
        self.workspace = root / "workspace"
        self.originals = root / "originals"
        self.outputs = root / "outputs"
        self.scratch = root / "scratch"
        self.trash = root / "trash"
        self.blobs = Blobs(root / "blobs")

    @classmethod
    def create(cls, runs: Path, clock: Clock) -> RunFolder:
        """Make the folder of a new run.

        Args:
            runs: folder of all runs; made if it is not there.
            clock: for the run id.

        Raises:
            UserError: it cannot be made.
        """
        try:
            runs.mkdir(parents=True, exist_ok=True)
            folder = cls(_claim(runs, clock))
            for part in (folder.workspace, folder.originals, folder.outputs, folder.scratch, folder.blobs.root):
                part.mkdir()
        except OSError as error:
            raise UserError(
                "runs.unwritable",
                "No run can be kept in {folder}: {detail}.",
                kept="Nothing was changed.",
                todo="Make room there, give yourself write permission, or choose another folder for runs.",
                folder=runs,
                detail=error.strerror or str(error),
            ) from error
        return folder

    @classmethod
    def open(cls, runs: Path, run_id: str) -> RunFolder:
        """The folder of an existing run.

        Args:
            runs: folder of all runs.
            run_id: its whole id (see `RunsIndex.find` for beginnings).

        Raises:
            UserError: there is no such run.
        """
        root = runs / run_id
        if run_id in ("", ".", "..") or run_id != Path(run_id).name or not root.is_dir():
            raise UserError(
                "run.unknown",
                "There is no run {run_id}.",
                todo="List the runs to see their ids.",
                run_id=run_id,
            )
        return cls(root)

    def lock(self) -> AbstractAsyncContextManager[None]:
        """Hold the run for this engine: ``async with folder.lock(): …``; the system frees it if the process dies.

        Raises:
            UserError: ``lock.busy``, naming the engine that holds it.
        """
        return hold(self.root / "lock", f"run {self.run_id}")


def _claim(runs: Path, clock: Clock) -> Path:
    while True:
        root = runs / new_run_id(clock)
        try:
            root.mkdir()
        except FileExistsError:  # two runs drew the same tail within a second
            continue
        return root
