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

    def take(self, dialogue: str) -> str:
        """What was said and does not stand in a dialogue (or no more, after it was shortened), for its next message.

        Args:
            dialogue: its name; a fresh one is told everything.
        """
        lines = [f"The person says now: {text}" for _, text in self._log.state.steering]
        known = [message.content for message in self._log.state.dialogue(dialogue) if message.role == "user"]
        return "\n".join(line for line in lines if not any(line in content for content in known))
