"""The one door to a run's history: record an event, and see the state that follows from it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from engine.cursor import Cursors
from engine.journal import Journal
from engine.protocol.events import Envelope, Event
from engine.state import RunState


class RunLog:
    """Journal, state and cursors of one run, always in step.

    Args:
        journal: open journal; its past is folded here.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.state = RunState()
        self.cursors = Cursors()
        self._subtask = ("", 0)
        journal.subscribe(self._apply, after_seq=0)

    async def record(self, event: Event) -> Envelope:
        """Append an event; when this returns, the state holds it.

        Raises:
            UserError: the disk is full or the run is read-only.
        """
        subtask_id, attempt = self._subtask
        return await self.journal.append(event, subtask_id=subtask_id, attempt=attempt)

    @contextlib.contextmanager
    def within(self, subtask_id: str, attempt: int) -> Iterator[None]:
        """Label the events recorded inside with a subtask and its attempt."""
        before, self._subtask = self._subtask, (subtask_id, attempt)
        try:
            yield
        finally:
            self._subtask = before

    def _apply(self, envelope: Envelope, event: Event) -> None:
        self.state.apply(envelope, event)
        self.cursors.apply(event)
