"""A dialogue: append-only messages, and the one rewrite that makes it fit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from engine.memory.budget import ContextBudget
from engine.memory.compression import NEWEST_ROUNDS, PINNED, prune
from engine.protocol.errors import ModelError
from engine.protocol.events import DialogueRewritten, MessageAdded
from engine.protocol.messages import Message, Role
from engine.runlog import RunLog
from prompts.loader import render

LEAST_REPLY_TOKENS = 256

Count = Callable[[Sequence[Message]], Awaitable[int]]


class Dialogue:
    """One dialogue of a run; its messages are the fold of the events.

    Args:
        log: the run's history.
        name: unique in the run.
    """

    def __init__(self, log: RunLog, name: str) -> None:
        self._log = log
        self.name = name

    @property
    def messages(self) -> tuple[Message, ...]:
        return self._log.state.dialogue(self.name)

    @property
    def to_send(self) -> tuple[Message, ...]:
        """The messages as a backend gets them: two user messages in a row are joined, as strict templates demand."""
        joined: list[Message] = []
        for message in self.messages:
            if joined and joined[-1].role == message.role == "user":
                joined[-1] = Message(role="user", content=f"{joined[-1].content}\n\n{message.content}")
            else:
                joined.append(message)
        return tuple(joined)

    @property
    def turns(self) -> int:
        """Replies of the model so far, counting those that a rewrite has dropped."""
        return self._log.cursors[self.name].replies

    async def open(self, opening: Sequence[Message]) -> None:
        """Begin it with these messages; one that was begun already is left as it is (on resume)."""
        for message in opening[len(self.messages) :]:
            await self.add(message.role, message.content, message.extra)

    async def add(self, role: Role, content: str, extra: dict[str, Any] | None = None) -> None:
        """Append a message."""
        await self._log.record(MessageAdded(dialogue=self.name, role=role, content=content, extra=extra or {}))

    async def fit(self, count: Count, budget: ContextBudget) -> int:
        """Make room before a call: a request that would not fit is never sent.

        Args:
            count: gives the tokens of messages.
            budget: when to rewrite.

        Returns:
            Tokens of `to_send` as it is now.

        Raises:
            ModelError: even the shortest form does not fit.
        """
        for newest_rounds in range(NEWEST_ROUNDS, -1, -1):
            tokens = await count(self.to_send)
            if tokens + budget.reply_tokens <= budget.compress_at_tokens:
                return tokens
            rewrite = prune(self.messages, newest_rounds=newest_rounds, digest_chars=budget.summary_chars)
            if rewrite is not None:
                await self._log.record(
                    DialogueRewritten(
                        dialogue=self.name,
                        keep=rewrite.keep,
                        summary=render("roles/over_window", digest=rewrite.summary),
                        summary_before=PINNED,
                        reason="the window is nearly full",
                    )
                )
        tokens = await count(self.to_send)
        if tokens + LEAST_REPLY_TOKENS <= budget.window_tokens:
            return tokens
        raise ModelError("The request and its files do not fit the model's window.", code="context.full")
