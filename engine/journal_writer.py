"""The thread that owns a journal's connection and groups its commits."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from engine.blobs import Blobs
from engine.journal_store import INSERT, connect_for_writing
from engine.protocol.errors import UserError


class Row(NamedTuple):
    """One row to be written.

    Attributes:
        values: in the order of the table's columns; the first is the sequence number.
        long_body: body that goes to a blob first; None where `values` holds it.
        urgent: somebody waits for the disk.
    """

    values: tuple[int, str, str, int, str, int, bytes]
    long_body: bytes | None
    urgent: bool


class JournalWriter:
    """Writes rows in order, many to a commit.

    Args:
        path: the SQLite file.
        run_id: the run it belongs to.
        blobs: where long bodies go.
        linger_s: how long rows that nobody waits for may stay in memory for others to join.
        on_written: called in the writer's thread with the last sequence number that is on disk.
        on_failed: called in the writer's thread, once, when writing failed; nothing is written after that.
    """

    def __init__(
        self,
        path: Path,
        run_id: str,
        blobs: Blobs,
        *,
        linger_s: float,
        on_written: Callable[[int], None],
        on_failed: Callable[[BaseException], None],
    ) -> None:
        self._path = path
        self._run_id = run_id
        self._blobs = blobs
        self._linger_s = linger_s
        self._on_written = on_written
        self._on_failed = on_failed
        self._changed = threading.Condition()
        self._rows: deque[Row] = deque()
        self._urgent = False
        self._closing = False
        self.commits = 0
        self.sync_s = 0.0
        # A daemon thread: what was acknowledged is on disk, so a process that dies without `close` loses nothing by it.
        self._thread = threading.Thread(target=self._run, name=f"journal {run_id}", daemon=True)

    def start(self) -> None:
        """Start the thread; it reports sequence number 0 as written when the file is open."""
        self._thread.start()

    def put(self, row: Row) -> None:
        """Queue a row; never blocks on the disk."""
        with self._changed:
            self._rows.append(row)
            self._urgent = self._urgent or row.urgent
            self._changed.notify()

    def hurry(self) -> None:
        """Write what is queued now."""
        with self._changed:
            self._urgent = True
            self._changed.notify()

    def close(self) -> None:
        """Write what is queued, close the file, end the thread. Blocks; safe to call twice."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            connection = connect_for_writing(self._path, self._run_id)
        except (sqlite3.Error, OSError, UserError) as error:
            self._on_failed(error)
            return
        self._on_written(0)
        try:
            while rows := self._take():
                self._write(connection, rows)
                self._on_written(rows[-1].values[0])
        except (sqlite3.Error, OSError) as error:
            self._on_failed(error)
        except BaseException as error:  # a bug: nobody may wait for ever because of it, and it stays loud
            self._on_failed(error)
            raise
        finally:
            connection.close()

    def _take(self) -> list[Row]:
        """Rows of the next commit; empty when the thread shall end."""
        with self._changed:
            self._changed.wait_for(lambda: self._rows or self._closing)
            self._changed.wait_for(lambda: self._urgent or self._closing, timeout=self._linger_s)
            rows = list(self._rows)
            self._rows.clear()
            self._urgent = False
            return rows

    def _write(self, connection: sqlite3.Connection, rows: list[Row]) -> None:
        started = time.perf_counter()
        for row in rows:
            if row.long_body is not None:
                self._blobs.put_bytes(row.long_body)
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany(INSERT, [row.values for row in rows])
            connection.execute("COMMIT")
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self.commits += 1
        self.sync_s += time.perf_counter() - started
