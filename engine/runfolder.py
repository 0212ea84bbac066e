"""The layout of a run folder, run ids, and the lock that keeps a second engine out."""

from __future__ import annotations

import os
import platform
import secrets
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from engine.blobs import Blobs
from engine.protocol.errors import UserError
from engine.protocol.ports import Clock

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
        if run_id != Path(run_id).name or not root.is_dir():
            raise UserError(
                "run.unknown",
                "There is no run {run_id}.",
                todo="List the runs to see their ids.",
                run_id=run_id,
            )
        return cls(root)

    def lock(self, program: str = "oneday") -> RunLock:
        """Take the run for this engine; the lock ends with `RunLock.release` or with the process.

        Args:
            program: what a second engine is told about who holds it.

        Raises:
            UserError: another engine holds it.
        """
        return RunLock(self, program)


class _Holder(msgspec.Struct, frozen=True, kw_only=True):
    program: str = ""
    pid: int = 0
    host: str = ""
    since: str = ""


class RunLock:
    """An operating system lock on a run, held from construction to `release`.

    Args:
        folder: the run.
        program: name told to others.

    Raises:
        UserError: another engine holds it.
    """

    def __init__(self, folder: RunFolder, program: str) -> None:
        self._note = folder.root / "lock.holder"
        self._lock = FileLock(folder.root / "lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise self._held(folder.run_id) from error
        holder = _Holder(
            program=program,
            pid=os.getpid(),
            host=platform.node(),
            since=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self._note.write_bytes(msgspec.json.encode(holder))

    def release(self) -> None:
        """Give the run back. Safe to call twice."""
        if self._lock.is_locked:
            self._note.unlink(missing_ok=True)
            self._lock.release()

    def __enter__(self) -> RunLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _held(self, run_id: str) -> UserError:
        try:
            holder = msgspec.json.decode(self._note.read_bytes(), type=_Holder)
        except (OSError, msgspec.MsgspecError):  # it is just being taken or given back
            holder = _Holder(program="another program")
        return UserError(
            "run.locked",
            "Run {run_id} is being worked on by {program} (process {pid} on {host}, since {since}).",
            kept="Nothing was changed.",
            todo="Wait until it is done, or pause the run there.",
            run_id=run_id,
            program=holder.program,
            pid=holder.pid or "unknown",
            host=holder.host or "this computer",
            since=holder.since or "just now",
        )


def _claim(runs: Path, clock: Clock) -> Path:
    while True:
        root = runs / new_run_id(clock)
        try:
            root.mkdir()
        except FileExistsError:  # two runs drew the same tail within a second
            continue
        return root
