"""The list of runs, read from their folders; nothing is kept beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.journal_store import JournalReader
from engine.protocol.errors import UserError
from engine.protocol.events import Envelope, Event
from engine.protocol.rpc import RunSummary
from engine.runfolder import RunFolder
from engine.state import RunState, fold

_TITLE_CHARS = 80


class RunsIndex:
    """Finds runs. All methods block on the disk.

    Args:
        runs: folder of all runs; need not exist.
    """

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._seen: dict[str, tuple[tuple[int, ...], RunSummary]] = {}

    def list(self) -> tuple[RunSummary, ...]:
        """All runs, newest first; a folder that cannot be read is listed as ``corrupt``.

        Journals that did not change since the last call are not read again.
        """
        found = [self._summary(RunFolder(path)) for path in self._folders()]
        self._seen = {name: seen for name, seen in self._seen.items() if name in {run.run_id for run in found}}
        return tuple(sorted(found, key=lambda run: (run.created_at or run.run_id, run.run_id), reverse=True))

    def find(self, start: str) -> RunFolder:
        """The run whose id, or the random tail of it, begins so.

        Raises:
            UserError: none, or more than one.
        """
        names = [path.name for path in self._folders()]
        if start in names:
            return RunFolder(self._runs / start)
        hits = sorted(name for name in names if start and (name.startswith(start) or _tail(name).startswith(start)))
        if not hits:
            raise UserError(
                "run.unknown", "There is no run {run_id}.", todo="List the runs to see their ids.", run_id=start
            )
        if len(hits) > 1:
            raise UserError(
                "run.ambiguous",
                "{run_id} could be any of {count} runs: {hits}.",
                todo="Give more of the id.",
                run_id=start,
                count=len(hits),
                hits=", ".join(hits[-5:]),
            )
        return RunFolder(self._runs / hits[0])

    def show(self, run_id: str) -> RunSummary:
        """One run's line.

        Args:
            run_id: an id or the beginning of one.

        Raises:
            UserError: there is no such run.
        """
        return self._summary(self.find(run_id))

    def state(self, run_id: str) -> RunState:
        """Fold a run from its journal, whoever writes it.

        Args:
            run_id: an id or the beginning of one.

        Raises:
            UserError: there is no such run, or it cannot be read.
        """
        return fold(self.events(run_id))

    def events(self, run_id: str) -> tuple[tuple[Envelope, Event], ...]:
        """All events of a run on disk.

        Args:
            run_id: an id or the beginning of one.

        Raises:
            UserError: there is no such run, or it cannot be read.
        """
        folder = self.find(run_id)
        return tuple(JournalReader(folder.journal, folder.blobs).read())

    def _folders(self) -> Sequence[Path]:
        if not self._runs.is_dir():
            return []
        return [path for path in self._runs.iterdir() if path.is_dir() and not path.name.startswith(".")]

    def _summary(self, folder: RunFolder) -> RunSummary:
        stamp = _stamp(folder.journal)
        seen = self._seen.get(folder.run_id)
        if seen is not None and seen[0] == stamp:
            return seen[1]
        try:
            summary = summarize(folder)
        except (UserError, OSError, ValueError) as error:
            summary = _corrupt(folder, str(error))
        self._seen[folder.run_id] = (stamp, summary)
        return summary


def summarize(folder: RunFolder) -> RunSummary:
    """Read one run's line.

    Raises:
        UserError: it cannot be read.
        ValueError: its events do not follow each other.
    """
    reader = JournalReader(folder.journal, folder.blobs)
    interesting = ("RunCreated", "RunResumed", "RunEnded", "Delivered")
    state = RunState()
    for envelope in reader.envelopes():
        if envelope.type in interesting:
            state.apply(envelope, reader.decode(envelope))
    if state.request is None:
        return _corrupt(folder, "It has no beginning: it was cut off while it was made.")
    line = " ".join(state.request.text.split())
    return RunSummary(
        run_id=folder.run_id,
        folder=str(folder.root),
        created_at=state.created_at,
        title=line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1] + "…",
        status=state.status or "open",
        deliverables=tuple(state.delivered.files.values()) if state.delivered else (),
    )


def _corrupt(folder: RunFolder, problem: str) -> RunSummary:
    return RunSummary(run_id=folder.run_id, folder=str(folder.root), status="corrupt", problem=problem)


def _tail(run_id: str) -> str:
    return run_id.rsplit("-", 1)[-1]


def _stamp(journal: Path) -> tuple[int, ...]:
    stamp = []
    for path in (journal, journal.with_name(journal.name + "-wal")):
        try:
            found = path.stat()
        except OSError:
            stamp += [0, 0]
        else:
            stamp += [found.st_mtime_ns, found.st_size]
    return tuple(stamp)
