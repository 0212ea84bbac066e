"""Notices an executor that goes round in circles, and says so in a way that changes the situation."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from engine.protocol.errors import ModelError
from engine.protocol.tools import Effect

SAME_ACTION_LIMIT = 2
SAME_CHANGE_LIMIT = 3
"""Two actions that undo each other would otherwise go on for ever."""
ERROR_STREAK_LIMIT = 4


class Looping(ModelError):
    """The attempt is not getting anywhere; it should start afresh."""


class LoopControl:
    """Watches the actions of one attempt at a subtask.

    The same action is refused while the files are as it left them; refused twice in a row, or after a
    streak of errors, the attempt is given up for a fresh start.
    """

    def __init__(self) -> None:
        self._left: dict[str, str] = {}
        self._times: Counter[str] = Counter()
        self._current = ""
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
        key = f"{tool} {msgspec.json.encode(arguments, order='sorted').decode()}"
        worn_out = effect != "read" and self._times[key] >= SAME_CHANGE_LIMIT
        if self._left.get(key) != workspace and not worn_out:
            self._current = key
            self._times[key] += 1
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

    def after(self, ok: bool, workspace: str = "") -> None:
        """Take note of an outcome (also of replies that could not be decoded).

        Args:
            ok: it did what was asked.
            workspace: hash of the manifest now; empty where no action was carried out.

        Raises:
            Looping: one error after the other.
        """
        if self._current and workspace:
            self._left[self._current], self._current = workspace, ""
        self._errors = 0 if ok else self._errors + 1
        if self._errors >= ERROR_STREAK_LIMIT:
            raise Looping("One action after the other failed.", code="loop.errors")
