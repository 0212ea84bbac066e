"""The cheap look at the files after a step, so that a defect is met early."""

from __future__ import annotations

import time

from engine.deliverables import Deliverables, kind_of_name, needs_of
from engine.executor import Sight
from engine.protocol.ledger import Ledger, Requirement
from engine.protocol.plan import Subtask
from engine.protocol.verdicts import Defect, Verdict
from engine.runlog import RunLog
from engine.verifier import Verifier, fix_for

MOST_LINES = 4
"""A small model mends a few things at a time; the rest is said after the next step."""


class BoundaryLook:
    """Checks candidate deliverables by code.

    Args:
        log: knows the mode and the ledger.
        deliverables: finds the candidates.
        verifier: runs inspectors and checks.
    """

    def __init__(self, log: RunLog, deliverables: Deliverables, verifier: Verifier) -> None:
        self._log = log
        self._deliverables = deliverables
        self._verifier = verifier
        self.seconds = 0.0

    async def __call__(self, scope: Subtask | None) -> Sight:
        """What is known about the files now; in a mode without verification, only which they are.

        Args:
            scope: only the checks of this subtask; None for the whole ledger.
        """
        started = time.perf_counter()
        try:
            return await self._look(scope)
        finally:
            self.seconds += time.perf_counter() - started

    async def _look(self, scope: Subtask | None) -> Sight:
        files = await self._deliverables.candidates()
        mode = self._log.state.mode
        if not files or mode is None or not mode.verifies:
            return Sight(files=files, complete=bool(files) and scope is not None and _all_there(scope, files))
        ledger = self._log.state.ledger or Ledger()
        if scope is not None and scope.checks:
            item = Requirement(id=scope.id, text=scope.title, checks=scope.checks, settled=True)
            ledger = Ledger(items=(item,))
        verdict = await self._verifier.verify(ledger, self._deliverables.paths(files), "", by_code_only=True)
        return Sight(text=_words(verdict), complete=verdict.verified, wrong=not verdict.completed, files=files)


def _all_there(scope: Subtask, files: tuple[str, ...]) -> bool:
    """Whether the files a step was planned to make exist; all that is looked at in a mode without verification."""
    made = {kind_of_name(name) for name in files}
    wanted = needs_of(scope.checks)
    return bool(scope.tools) and all(need.name in files if need.name else made & set(need.kinds) for need in wanted)


def _words(verdict: Verdict) -> str:
    """What is wrong and how to mend it, fault by fault; what is right is not repeated."""
    lines = [_line(defect) for defect in verdict.defects if defect.fatal]
    lines = lines or list(verdict.missing_items)
    if not lines:
        return ""
    return "Not right yet:\n" + "\n".join(f"- {line}" for line in list(dict.fromkeys(lines))[:MOST_LINES])


def _line(defect: Defect) -> str:
    says, fix = defect.evidence.says, fix_for(defect)
    return f"{says} {fix}" if says and says not in fix else fix
