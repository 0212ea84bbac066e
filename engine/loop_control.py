"""Notices an executor that goes round in circles, and says so in a way that changes the situation."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.protocol.errors import ModelError
from engine.protocol.tools import Effect

SAME_ACTION_LIMIT = 2
ERROR_STREAK_LIMIT = 4


class Looping(ModelError):
    """The attempt is not getting anywhere; it should start afresh."""


class LoopControl:
    """Watches the actions of one attempt at a subtask.

    The same action is refused while nothing has changed since it was last done; refused twice in a row, or after a
    streak of errors, the attempt is given up for a fresh start.
    """

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._workspace = ""
        self._refusals = 0
        self._errors = 0

    def before(self, tool: str, arguments: dict[str, Any], effect: Effect, workspace: str) -> None:
        """Check an action about to run.

        Args:
            tool: its name.
            arguments: as decoded.
            effect: the tool's effect.
            workspace: hash of the workspace's manifest; an action may be repeated once the files have changed.

        Raises:
            ModelError: it was done already and would give the same again.
            Looping: it keeps being sent.
        """
        if workspace != self._workspace and effect == "read":
            self._seen.clear()
        self._workspace = workspace
        key = f"{tool} {msgspec.json.encode(arguments, order='sorted').decode()}"
        count = self._seen.get(key, 0)
        if count == 0:
            self._seen[key] = 1
            self._refusals = 0
            return
        self._refusals += 1
        if self._refusals >= SAME_ACTION_LIMIT:
            raise Looping("The same action was sent again and again.", code="loop.same_action")
        raise ModelError(
            f"You already sent exactly this {tool} call and its result is above; it would give the same again. "
            "Do something different: change the script, use another tool, or finish.",
            code="loop.same_action",
        )

    def after(self, ok: bool) -> None:
        """Take note of an outcome (also of replies that could not be decoded).

        Raises:
            Looping: one error after the other.
        """
        self._errors = 0 if ok else self._errors + 1
        if self._errors >= ERROR_STREAK_LIMIT:
            raise Looping("One action after the other failed.", code="loop.errors")
