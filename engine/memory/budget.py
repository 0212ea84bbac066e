"""How much of the window each part of a dialogue may take.

Every limit of the published harness is the smaller of its figure and a share of the window, so that the same code
serves a window of 4K tokens and one of 128K.
"""

from __future__ import annotations

import msgspec

CHARS_PER_TOKEN = 3.0
"""Cautious: tables of numbers have about two characters a token, prose more than four."""

COMPRESS_AT = 0.90
PRUNE_AT = 0.95


class ContextBudget(msgspec.Struct, frozen=True, kw_only=True):
    """Limits that follow from the window.

    Attributes:
        window_tokens: the real window of the backend.
        reply_cap_tokens: most tokens the profile lets a reply have.
    """

    window_tokens: int
    reply_cap_tokens: int = 8192

    @property
    def head_tokens(self) -> int:
        """Rules and tools."""
        return int(self.window_tokens * 0.25)

    @property
    def request_chars(self) -> int:
        """Request and ledger."""
        return self._chars(1 << 30, 0.15)

    @property
    def reply_tokens(self) -> int:
        return min(self.reply_cap_tokens, int(self.window_tokens * 0.20))

    @property
    def observation_chars(self) -> int:
        """One tool message."""
        return self._chars(8_000, 0.10)

    @property
    def page_chars(self) -> int:
        """A page longer than this is summarised."""
        return self._chars(20_000, 0.10)

    @property
    def preview_chars(self) -> int:
        """The preview of one file."""
        return self._chars(10_000, 0.25)

    @property
    def parser_chars(self) -> int:
        """All files of one call together."""
        return self._chars(int(20_000 * CHARS_PER_TOKEN), 0.25)

    @property
    def summary_chars(self) -> int:
        return self._chars(8_000, 0.10)

    @property
    def compress_at_tokens(self) -> int:
        return int(self.window_tokens * COMPRESS_AT)

    @property
    def prune_at_tokens(self) -> int:
        return int(self.window_tokens * PRUNE_AT)

    def _chars(self, figure: int, share: float) -> int:
        return min(figure, int(self.window_tokens * share * CHARS_PER_TOKEN))
