"""What the person says during a run: taken up at the next step, and made part of the ledger."""

from __future__ import annotations

import msgspec

from engine.clauses import split_clauses
from engine.ledger import Proposer, build_ledger
from engine.protocol.documents import FileProfile
from engine.protocol.events import LedgerSet, Steered
from engine.protocol.ledger import Ledger
from engine.runlog import RunLog


class Steering:
    """Messages of the person to the running task.

    Args:
        log: the run's history.
        propose: compiles requirements to checks.
    """

    def __init__(self, log: RunLog, propose: Proposer) -> None:
        self._log = log
        self._propose = propose
        self._told = 0
        self.files: tuple[FileProfile, ...] = ()

    async def steer(self, text: str) -> None:
        """Take a message: it is journaled, and what it asks joins the ledger as further requirements."""
        await self._log.record(Steered(text=text))
        ledger = self._log.state.ledger or Ledger()
        added = build_ledger(text, self.files, self._propose).items if split_clauses(text) else ()
        first = len(ledger.items) + 1
        items = tuple(
            msgspec.structs.replace(item, id=f"R{number}", source="steering")
            for number, item in enumerate(added, first)
        )
        await self._log.record(LedgerSet(ledger=Ledger(items=ledger.items + items), cause="steering"))

    def take(self) -> str:
        """What has been said since the last call, as it goes into the next message; empty if nothing."""
        fresh = [text for _, text in self._log.state.steering[self._told :]]
        self._told += len(fresh)
        return "\n".join(f"The person says now: {text}" for text in fresh)
