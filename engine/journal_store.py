"""The SQLite file of a journal: its schema, and reading it (also while another process writes)."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import msgspec

from engine.blobs import Blobs
from engine.migrations import UPCASTERS, Upcaster, upcast
from engine.protocol.errors import UserError
from engine.protocol.events import VERSIONS, Envelope, Event

SCHEMA_VERSION = 1
BLOB_PREFIX = b'{"blob":'

_SCHEMA = """
CREATE TABLE IF NOT EXISTS run (run_id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY, at TEXT NOT NULL, type TEXT NOT NULL, version INTEGER NOT NULL,
    subtask_id TEXT NOT NULL, attempt INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS events_by_type ON events (type, version);
"""
_COLUMNS = "seq, at, type, version, subtask_id, attempt, body"
INSERT = f"INSERT INTO events ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
_KNOWN = frozenset(event.__name__ for event in get_args(Event))


class _BlobReference(msgspec.Struct, frozen=True):
    blob: str


def connect_for_writing(path: Path, run_id: str) -> sqlite3.Connection:
    """Open or make the file with the durability that the journal promises.

    Raises:
        sqlite3.Error: it cannot be opened or made.
        UserError: it belongs to another run or was written by a newer version.
    """
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        if sys.platform == "darwin":
            connection.execute("PRAGMA fullfsync = ON")
            connection.execute("PRAGMA checkpoint_fullfsync = ON")
        _prepare(connection, run_id)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, run_id: str) -> None:
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > SCHEMA_VERSION:
        raise newer_version(f"file format {found}")
    if found == 0:
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    owner = connection.execute("SELECT run_id FROM run").fetchone()
    if owner is None:
        connection.execute("INSERT INTO run VALUES (?)", (run_id,))
    elif owner[0] != run_id:
        raise UserError(
            "journal.other_run",
            "The journal in this folder belongs to run {owner}, not to {run_id}.",
            kept="Nothing was changed.",
            todo="Give the folder its old name back.",
            owner=owner[0],
            run_id=run_id,
        )


class JournalReader:
    """Reads a journal, whoever writes it.

    Args:
        path: the SQLite file.
        blobs: where long bodies lie.
        upcasters: how older bodies are lifted.
        versions: today's body version by type; 1 where not listed.
    """

    def __init__(
        self,
        path: Path,
        blobs: Blobs,
        *,
        upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
        versions: Mapping[str, int] = VERSIONS,
    ) -> None:
        self._path = path
        self._blobs = blobs
        self._upcasters = upcasters
        self._versions = versions
        self._decode = msgspec.json.Decoder(Event).decode

    def envelopes(self, after_seq: int = 0) -> Iterator[Envelope]:
        """Every envelope after `after_seq`, in order, bodies undecoded, unknown types included.

        Raises:
            UserError: the file is missing, damaged or of a newer format.
        """
        with self._connection() as connection:
            run_id = connection.execute("SELECT run_id FROM run").fetchone() if connection else None
            if connection is None or run_id is None:
                return
            rows = connection.execute(f"SELECT {_COLUMNS} FROM events WHERE seq > ? ORDER BY seq", (after_seq,))
            for seq, at, type_name, version, subtask_id, attempt, body in rows:
                yield Envelope(
                    seq=seq,
                    run_id=run_id[0],
                    at=at,
                    type=type_name,
                    version=version,
                    subtask_id=subtask_id,
                    attempt=attempt,
                    body=msgspec.Raw(body),
                )

    def read(self, after_seq: int = 0) -> Iterator[tuple[Envelope, Event]]:
        """Every event after `after_seq` that this version knows, in order; see `unknown` for the others.

        Raises:
            UserError: the file or a blob is missing, damaged or of a newer format.
        """
        for envelope in self.envelopes(after_seq):
            if self.knows(envelope.type, envelope.version):
                yield envelope, self.decode(envelope)

    def decode(self, envelope: Envelope) -> Event:
        """The event in an envelope, lifted to today's version.

        Raises:
            UserError: the body is damaged, its blob is missing, or its type is not known here.
        """
        if not self.knows(envelope.type, envelope.version):
            raise newer_version(f"{envelope.type} {envelope.version}")
        body = bytes(envelope.body)
        try:
            if body.startswith(BLOB_PREFIX):
                body = self._blobs.get(msgspec.json.decode(body, type=_BlobReference).blob)
            target = self._versions.get(envelope.type, 1)
            if envelope.version == target:
                return self._decode(body)
            lifted = upcast(msgspec.json.decode(body), envelope.type, envelope.version, target, self._upcasters)
            event: Event = msgspec.convert(lifted, Event)
            return event
        except (msgspec.MsgspecError, LookupError) as error:
            raise damaged(self._path, f"event {envelope.seq}: {error}") from error

    def knows(self, type_name: str, version: int) -> bool:
        """Whether this version of the program can read such a body."""
        return type_name in _KNOWN and version <= self._versions.get(type_name, 1)

    def unknown(self) -> tuple[str, ...]:
        """Types (with version) in the file that this program does not know, sorted; the run is read-only if any."""
        with self._connection() as connection:
            rows = connection.execute("SELECT DISTINCT type, version FROM events").fetchall() if connection else []
        return tuple(sorted(f"{name} {version}" for name, version in rows if not self.knows(name, version)))

    def last_seq(self) -> int:
        """Number of the newest event; 0 in an empty journal.

        Raises:
            UserError: as for `envelopes`, or the numbering has gaps.
        """
        with self._connection() as connection:
            if connection is None:
                return 0
            count, last = connection.execute("SELECT count(*), coalesce(max(seq), 0) FROM events").fetchone()
        if count != last:
            raise damaged(self._path, f"{last - count} events are missing")
        return int(last)

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection | None]:
        """A connection for reading; None where a crash came before the tables were made."""
        if not self._path.is_file():
            raise UserError(
                "journal.missing",
                "The run folder {folder} holds no journal.",
                todo="If it was moved, move the whole folder back; otherwise it can be deleted.",
                folder=self._path.parent,
            )
        try:
            with contextlib.closing(
                sqlite3.connect(f"{self._path.absolute().as_uri()}?{self._mode()}", uri=True)
            ) as connection:
                found = connection.execute("PRAGMA user_version").fetchone()[0]
                if found > SCHEMA_VERSION:
                    raise newer_version(f"file format {found}")
                yield connection if found else None
        except sqlite3.Error as error:
            raise damaged(self._path, str(error)) from error

    def _mode(self) -> str:
        # A WAL file cannot be opened in a folder without write permission unless nobody is writing it any more.
        waiting = self._path.with_name(self._path.name + "-wal")
        unwritable = not os.access(self._path.parent, os.W_OK)
        if unwritable and not (waiting.is_file() and waiting.stat().st_size):
            return "mode=ro&immutable=1"
        return "mode=ro"


def damaged(path: Path, detail: str) -> UserError:
    """The error for a journal that cannot be read."""
    return UserError(
        "journal.damaged",
        "The journal {path} is damaged: {detail}.",
        kept="Your files in the run's folders workspace and originals are untouched.",
        todo="Take the files from there, or restore the run folder from a backup.",
        path=path,
        detail=detail,
    )


def newer_version(detail: Any) -> UserError:
    """The error for a journal that a newer version of the program has written to."""
    return UserError(
        "journal.newer",
        "This run was worked on by a newer version of the program ({detail}); it can be read here, not continued.",
        kept="Nothing was changed.",
        todo="Update the program to continue this run.",
        detail=detail,
    )
