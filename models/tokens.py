"""Estimates tokens where the backend does not count them, and learns from the usage it reports."""

from __future__ import annotations

from collections.abc import Sequence

from engine.protocol.messages import Message

_MESSAGE_TOKENS = 4  # role and separators of a chat template
_FIRST_GUESS = 3.2  # characters per token; low, so that a first estimate is rather too high
_LOWEST, _HIGHEST = 1.5, 6.0
_WEIGHT_OF_NEWS = 0.3
_WIDE_FROM = 0x2E80  # from here on (Chinese, Japanese, Korean, emoji) a character is about one token


class TokenEstimator:
    """Characters per token, calibrated on what the backend reported."""

    def __init__(self) -> None:
        self.chars_per_token = _FIRST_GUESS

    def text(self, text: str) -> int:
        """Estimated tokens of a text."""
        wide = sum(1 for char in text if ord(char) >= _WIDE_FROM)
        return wide + round((len(text) - wide) / self.chars_per_token)

    def messages(self, messages: Sequence[Message]) -> int:
        """Estimated tokens of a dialogue with the marks of its chat template."""
        return sum(self.text(message.content) + _MESSAGE_TOKENS for message in messages)

    def learn(self, messages: Sequence[Message], prompt_tokens: int) -> None:
        """Move towards the ratio that one real prompt had.

        Args:
            messages: the prompt.
            prompt_tokens: what the backend counted for it.
        """
        text = "".join(message.content for message in messages)
        wide = sum(1 for char in text if ord(char) >= _WIDE_FROM)
        tokens = prompt_tokens - wide - _MESSAGE_TOKENS * len(messages)
        narrow = len(text) - wide
        if tokens < 50 or narrow < 200:  # too short to tell anything
            return
        ratio = min(max(narrow / tokens, _LOWEST), _HIGHEST)
        self.chars_per_token += _WEIGHT_OF_NEWS * (ratio - self.chars_per_token)
