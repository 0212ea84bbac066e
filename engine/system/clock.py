"""Time: the real clock, and one that is moved by hand."""

from __future__ import annotations

import time


class SystemClock:
    """The computer's clock."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never jump."""
        return time.monotonic()


class ManualClock:
    """A clock that stands still until it is moved; for tests and for replaying a journal.

    Args:
        start: seconds since the epoch at which it stands.
    """

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._start = start
        self._passed = 0.0

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._start + self._passed

    def monotonic(self) -> float:
        """Seconds since it was made."""
        return self._passed

    def advance(self, seconds: float) -> None:
        """Move it on.

        Raises:
            ValueError: backwards.
        """
        if seconds < 0:
            raise ValueError("a clock does not go back")
        self._passed += seconds
