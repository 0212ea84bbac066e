"""Time awareness: phases of the budget, and the reserve that nothing may touch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Literal

from engine.protocol.ports import Clock

Phase = Literal["explore", "implement", "validate", "reserve"]

PHASES: tuple[tuple[Phase, float], ...] = (("explore", 0.0), ("implement", 0.30), ("validate", 0.60), ("reserve", 0.90))
GRACE = 0.05
RESERVE_FROM = 0.90
VERIFY_SHARE = 0.15
"""Part of the budget before the reserve that is kept for verification and repair."""


class Timeline:
    """The time of one run; only active time counts, so a pause or a crash costs nothing.

    Args:
        clock: source of monotonic seconds.
        budget_s: total time in seconds.
        spent_s: active seconds of earlier sessions of the run.
    """

    def __init__(self, clock: Clock, budget_s: float, spent_s: float = 0.0) -> None:
        self._clock = clock
        self._origin = clock.monotonic() - spent_s
        self._held_since: float | None = None
        self.budget_s = budget_s
        self._phase = 0

    @property
    def elapsed_s(self) -> float:
        now = self._clock.monotonic() if self._held_since is None else self._held_since
        return now - self._origin

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Stand still: waiting for the person costs the run no time."""
        self._held_since = self._clock.monotonic()
        try:
            yield
        finally:
            self._origin += self._clock.monotonic() - self._held_since
            self._held_since = None

    @property
    def remaining_s(self) -> float:
        return max(0.0, self.budget_s - self.elapsed_s)

    @property
    def action_left_s(self) -> float:
        """Seconds until the reserve: no tool call may outlive them."""
        return max(0.0, RESERVE_FROM * self.budget_s - self.elapsed_s)

    @property
    def execute_until_s(self) -> float:
        """When (in elapsed seconds) the share of verification and repair begins."""
        return (RESERVE_FROM - VERIFY_SHARE) * self.budget_s

    @property
    def repair_until_s(self) -> float:
        """When (in elapsed seconds) the reserve begins."""
        return RESERVE_FROM * self.budget_s

    def phase(self, *, busy: bool = False) -> Phase:
        """The current phase; it never goes back.

        Args:
            busy: in the middle of something; a boundary then waits for the grace, except into the reserve.
        """
        share = self.elapsed_s / self.budget_s
        while self._phase + 1 < len(PHASES):
            name, start = PHASES[self._phase + 1]
            if share < start + (GRACE if busy and name != "reserve" else 0.0):
                break
            self._phase += 1
        return PHASES[self._phase][0]

    def line(self) -> str:
        """What the model is shown every turn."""
        used, total = self.elapsed_s / 60, self.budget_s / 60
        return f"(Time: {used:.0f} of {total:.0f} min used, phase: {self.phase()}.)"
