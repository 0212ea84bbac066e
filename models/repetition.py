"""Notices a reply that only repeats itself, so that it can be stopped before it reaches the token limit."""

from __future__ import annotations

MAX_WHITE_SPACE = 300
"""Longest run of white space that a sensible reply holds (deep indentation and blank lines stay far below)."""
MAX_SAME_LINES = 20
"""Most equal lines in a row; tables and code repeat a line now and then, but not this often."""
MIN_PERIODIC_CHARS = 400
"""A repeating passage counts only from this length on, so that rules such as ``-----`` pass."""
MIN_PERIODS = 10
"""A passage must come at least this often in a row."""
_CHECK_EVERY = 64
_TAIL = 2400


def repeating_tail(text: str) -> bool:
    """Whether the end of `text` is one passage again and again.

    Uses the failure function of Knuth, Morris and Pratt on the reversed text: a prefix of length ``n`` whose longest
    border has length ``b`` has the smallest period ``n - b``.

    Args:
        text: any length; only its last 2,400 characters are looked at.
    """
    tail = text[: -_TAIL - 1 : -1]
    borders = [0] * len(tail)
    border = 0
    for index in range(1, len(tail)):
        while border and tail[index] != tail[border]:
            border = borders[border - 1]
        if tail[index] == tail[border]:
            border += 1
        borders[index] = border
        length = index + 1
        if length >= MIN_PERIODIC_CHARS and length >= MIN_PERIODS * (length - border):
            return True
    return False


class RepetitionWatch:
    """Looks at a reply as it streams in."""

    def __init__(self) -> None:
        self._tail = ""
        self._unchecked = 0
        self._white = 0
        self._line = ""
        self._last_line = ""
        self._same_lines = 0

    def feed(self, piece: str) -> bool:
        """Take the next piece of text.

        Returns:
            Whether the reply has begun to repeat itself and should be stopped.
        """
        if self._white_space_runs_on(piece) or self._lines_repeat(piece):
            return True
        self._tail = (self._tail + piece)[-_TAIL:]
        self._unchecked += len(piece)
        if self._unchecked < _CHECK_EVERY:
            return False
        self._unchecked = 0
        return repeating_tail(self._tail)

    def _white_space_runs_on(self, piece: str) -> bool:
        if not piece.strip():
            self._white += len(piece)
            return self._white > MAX_WHITE_SPACE
        inner = _longest_white_run(piece)
        leading = self._white + len(piece) - len(piece.lstrip())
        self._white = len(piece) - len(piece.rstrip())
        return max(inner, leading) > MAX_WHITE_SPACE

    def _lines_repeat(self, piece: str) -> bool:
        *ended, rest = (self._line + piece).split("\n")
        self._line = rest
        for line in ended:
            if not line.strip():
                continue
            self._same_lines = self._same_lines + 1 if line == self._last_line else 1
            self._last_line = line
            if self._same_lines > MAX_SAME_LINES:
                return True
        return False


def _longest_white_run(text: str) -> int:
    longest = run = 0
    for char in text:
        run = run + 1 if char.isspace() else 0
        longest = max(longest, run)
    return longest
