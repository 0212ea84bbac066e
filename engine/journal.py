"""The journal of a run: every event in order, in one SQLite file, written by one thread."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import logging
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from engine.blobs import Blobs
from engine.journal_store import BLOB_PREFIX, JournalReader, damaged, newer_version
from engine.journal_writer import JournalWriter, Row
from engine.migrations import UPCASTERS, Upcaster
from engine.protocol.errors import UserError
from engine.protocol.events import MUST_SYNC, VERSIONS, Envelope, Event, Warned
from engine.protocol.ports import Clock

LONG_BODY_BYTES = 4096
LINGER_S = 0.05

OnEvent = Callable[[Envelope, Event], None]

_log = logging.getLogger(__name__)


class JournalStats(msgspec.Struct, frozen=True, kw_only=True):
    """What writing cost so far.

    Attributes:
        appended: events appended since it was opened.
        commits: commits they took.
        sync_s: seconds the writer's thread spent on blobs and commits.
        waited_s: seconds callers of `Journal.append` waited for the disk.
    """

    appended: int
    commits: int
    sync_s: float
    waited_s: float


class _Pending(NamedTuple):
    envelope: Envelope
    event: Event
    urgent: bool


class Journal:
    """Appends and reads the events of one run; made by `Journal.open`, used in one event loop.

    Whoever opens it must hold the run's lock (`RunFolder.lock`).
    """

    def __init__(self, reader: JournalReader, run_id: str, clock: Clock, versions: Mapping[str, int]) -> None:
        self._reader = reader
        self._run_id = run_id
        self._clock = clock
        self._versions = versions
        self._loop = asyncio.get_running_loop()
        self._encode = msgspec.json.Encoder().encode
        self._writer: JournalWriter | None = None
        self._opened: asyncio.Future[None] = self._loop.create_future()
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._undelivered: deque[_Pending] = deque()
        self._unwritten: deque[_Pending] = deque()
        self._subscribers: list[OnEvent] = []
        self._blamed: set[int] = set()
        self._failure: UserError | None = None
        self._failure_told = False
        self._closed = False
        self._seq = self._delivered = self._written = 0
        self._appended = 0
        self._waited_s = 0.0

    @classmethod
    async def open(
        cls,
        path: Path,
        run_id: str,
        blobs: Blobs,
        clock: Clock,
        *,
        upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
        versions: Mapping[str, int] = VERSIONS,
        linger_s: float = LINGER_S,
    ) -> Journal:
        """Open the journal of a run, or begin one.

        A journal with types that this version does not know opens read-only: `read_only` says why, `append` raises.

        Args:
            path: the SQLite file; its folder exists.
            run_id: the run.
            blobs: where bodies over 4 KiB go.
            clock: stamps the events.
            upcasters: how older bodies are lifted.
            versions: today's body version by type; 1 where not listed.
            linger_s: how long events that nobody waits for may stay in memory.

        Raises:
            UserError: the file is damaged, belongs to another run, or cannot be written.
        """
        reader = JournalReader(path, blobs, upcasters=upcasters, versions=versions)
        journal = cls(reader, run_id, clock, versions)
        unknown = await asyncio.to_thread(lambda: reader.unknown() if path.exists() else ())
        if unknown:
            journal._failure = newer_version(", ".join(unknown))
            return journal
        journal._writer = JournalWriter(
            path,
            run_id,
            blobs,
            linger_s=linger_s,
            on_written=lambda seq: journal._call(journal._on_written, seq),
            on_failed=lambda error: journal._call(journal._on_failed, error, path),
        )
        journal._writer.start()
        await journal._opened
        try:
            journal._seq = journal._delivered = journal._written = await asyncio.to_thread(reader.last_seq)
        except BaseException:
            await journal.aclose()
            raise
        return journal

    @property
    def run_id(self) -> str:
        """The run this journal belongs to."""
        return self._run_id

    @property
    def last_seq(self) -> int:
        """Number of the newest event appended; 0 in an empty journal."""
        return self._seq

    @property
    def read_only(self) -> str:
        """Why nothing can be appended; empty while it can."""
        return str(self._failure) if self._failure else ""

    @property
    def stats(self) -> JournalStats:
        """What writing cost so far."""
        writer = self._writer
        return JournalStats(
            appended=self._appended,
            commits=writer.commits if writer else 0,
            sync_s=writer.sync_s if writer else 0.0,
            waited_s=self._waited_s,
        )

    async def append(self, event: Event, *, subtask_id: str = "", attempt: int = 0) -> Envelope:
        """Append an event.

        Returns when it is on disk for the types in `MUST_SYNC`, at once (queued, in order) for the others. Cancelling
        the caller does not take the event back.

        Args:
            event: what happened.
            subtask_id: subtask at work; empty outside.
            attempt: its attempt, from 1; 0 outside.

        Raises:
            UserError: the run is read-only here, or the disk is full or failing: the journal then holds every event
                acknowledged before, and takes no more until it is opened anew.
        """
        if self._failure is not None:
            self._failure_told = True
            raise self._failure
        if self._closed:
            raise RuntimeError("The journal is closed.")
        envelope = self._submit(event, subtask_id, attempt)
        waiter = self._waiting.get(envelope.seq)
        if waiter is not None:
            started = time.perf_counter()
            try:
                await asyncio.shield(waiter)
            finally:
                self._waited_s += time.perf_counter() - started
        return envelope

    async def flush(self) -> None:
        """Return when everything appended so far is on disk.

        Raises:
            UserError: it could not be written.
        """
        if self._failure is not None:
            self._failure_told = True
            raise self._failure
        if self._writer is None or self._written >= self._seq:
            return
        waiter = self._waiting.setdefault(self._seq, self._loop.create_future())
        self._writer.hurry()
        await asyncio.shield(waiter)

    def read(self, after_seq: int = 0) -> Iterator[tuple[Envelope, Event]]:
        """Events on disk after number `after_seq`, in order; types not known here are left out.

        Raises:
            UserError: the file or a blob is missing or damaged.
        """
        return self._reader.read(after_seq)

    def subscribe(self, on_event: OnEvent, *, after_seq: int | None = None) -> Callable[[], None]:
        """Be told of each event after it was appended (and, for `MUST_SYNC` types, written), in order.

        An exception of the subscriber is logged with its traceback, and the first one is put into the journal as
        `Warned`; it disturbs nobody else.

        Args:
            on_event: called in the event loop; must not block.
            after_seq: first tell it, now, every past event after this number; None for news only.

        Returns:
            A function that ends the subscription.
        """
        if after_seq is not None:
            self._replay(on_event, after_seq)
        self._subscribers.append(on_event)

        def end() -> None:
            with contextlib.suppress(ValueError):
                self._subscribers.remove(on_event)

        return end

    async def aclose(self) -> None:
        """Write what is queued and end the writer's thread. Safe to call twice.

        Raises:
            UserError: queued events could not be written and nobody was told yet.
        """
        self._closed = True
        if self._writer is None:
            return
        await asyncio.to_thread(self._writer.close)
        if self._failure is not None and not self._failure_told:
            self._failure_told = True
            raise self._failure

    def _submit(self, event: Event, subtask_id: str, attempt: int) -> Envelope:
        assert self._writer is not None
        type_name = type(event).__name__
        version = self._versions.get(type_name, 1)
        body = self._encode(event)
        long_body = None
        if len(body) > LONG_BODY_BYTES:
            long_body, body = body, BLOB_PREFIX + b'"' + hashlib.sha256(body).hexdigest().encode() + b'"}'
        self._seq += 1
        self._appended += 1
        at = datetime.fromtimestamp(self._clock.now(), UTC).isoformat(timespec="microseconds")
        envelope = Envelope(
            seq=self._seq,
            run_id=self._run_id,
            at=at,
            type=type_name,
            version=version,
            subtask_id=subtask_id,
            attempt=attempt,
            body=msgspec.Raw(body),
        )
        pending = _Pending(envelope, event, isinstance(event, MUST_SYNC))
        if pending.urgent:
            self._waiting[self._seq] = self._loop.create_future()
        self._undelivered.append(pending)
        self._unwritten.append(pending)
        self._writer.put(Row((self._seq, at, type_name, version, subtask_id, attempt, body), long_body, pending.urgent))
        self._deliver()
        return envelope

    def _deliver(self) -> None:
        """Tell the subscribers what may be told: in order, nothing that must be on disk and is not."""
        while self._undelivered:
            pending = self._undelivered[0]
            if pending.urgent and pending.envelope.seq > self._written:
                return
            self._undelivered.popleft()
            self._delivered = pending.envelope.seq
            for subscriber in tuple(self._subscribers):
                self._tell(subscriber, pending.envelope, pending.event)

    def _tell(self, subscriber: OnEvent, envelope: Envelope, event: Event) -> None:
        try:
            subscriber(envelope, event)
        except Exception as error:  # noqa: BLE001 - a watcher's fault must not end the run; it is logged and journaled
            _log.exception("A subscriber of run %s failed at event %s.", self._run_id, envelope.seq)
            if id(subscriber) not in self._blamed and self._failure is None and not self._closed:
                self._blamed.add(id(subscriber))
                text = f"A watcher of this run failed and may show too little: {type(error).__name__}: {error}"
                self._loop.call_soon(self._warn, text)

    def _warn(self, text: str) -> None:
        if self._failure is None and not self._closed:
            self._submit(Warned(text=text, code="journal.subscriber"), "", 0)

    def _replay(self, on_event: OnEvent, after_seq: int) -> None:
        last = after_seq
        if last < self._written or self._writer is None:
            for envelope, event in self._reader.read(after_seq):
                if self._writer is not None and envelope.seq > self._delivered:
                    break
                self._tell(on_event, envelope, event)
                last = envelope.seq
        for pending in tuple(self._unwritten):
            if last < pending.envelope.seq <= self._delivered:
                self._tell(on_event, pending.envelope, pending.event)

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        """From the writer's thread into the loop."""
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            if not self._loop.is_closed():
                raise
            _log.warning("Run %s: the event loop was closed before its journal.", self._run_id)

    def _on_written(self, seq: int) -> None:
        if not self._opened.done():
            self._opened.set_result(None)
            return
        self._written = seq
        while self._unwritten and self._unwritten[0].envelope.seq <= seq:
            self._unwritten.popleft()
        self._deliver()
        for number in [number for number in self._waiting if number <= seq]:
            _finish(self._waiting.pop(number), None)

    def _on_failed(self, error: BaseException, path: Path) -> None:
        self._failure = _failure(error, path)
        self._failure.__cause__ = error
        _log.error("The journal of run %s cannot be written: %r", self._run_id, error)
        if not self._opened.done():
            self._failure_told = True
            self._opened.set_exception(self._failure)
        for waiter in self._waiting.values():
            self._failure_told = True
            _finish(waiter, self._failure)
        self._waiting.clear()


def _finish(waiter: asyncio.Future[None], error: UserError | None) -> None:
    if waiter.done():  # its caller was cancelled
        return
    if error is None:
        waiter.set_result(None)
    else:
        waiter.set_exception(error)


def _failure(error: BaseException, path: Path) -> UserError:
    if isinstance(error, UserError):
        return error
    if getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path, str(error))
    kept = "Every step recorded before is kept, and so are your files."
    full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    if full or (isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)):
        return UserError(
            "journal.disk_full",
            "The disk that holds {folder} is full.",
            kept=kept,
            todo="Free some space, then resume the run.",
            folder=path.parent,
        )
    return UserError(
        "journal.disk_error",
        "The journal {path} cannot be written: {detail}.",
        kept=kept,
        todo="Check the disk, then resume the run.",
        path=path,
        detail=str(error) or type(error).__name__,
    )
