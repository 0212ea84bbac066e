"""Errors of model calls that the harness treats in a way of their own."""

from __future__ import annotations

from engine.protocol.errors import UserError


class ContextExceeded(UserError):
    """The prompt does not fit the model's window; the harness should compress and ask again.

    Args:
        prompt_tokens: tokens of the prompt, 0 where the server did not say.
        context_tokens: the window, 0 where the server did not say.
    """

    def __init__(self, prompt_tokens: int = 0, context_tokens: int = 0) -> None:
        self.prompt_tokens = prompt_tokens
        self.context_tokens = context_tokens
        super().__init__(
            "model.context_exceeded",
            "The text for the model is too long for its window ({prompt_tokens} of {context_tokens} tokens).",
            kept="Your files are unchanged.",
            todo="Use shorter attachments, or a profile with a larger window.",
            prompt_tokens=prompt_tokens or "unknown",
            context_tokens=context_tokens or "unknown",
        )
