"""The one rewrite of a dialogue: old rounds are dropped or replaced by a labelled summary."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.protocol.messages import Message

NEWEST_ROUNDS = 3
PINNED = 2
"""The system head and the message with the request are never touched."""


class Rewrite(msgspec.Struct, frozen=True, kw_only=True):
    """Which messages survive (indices in order) and the digest that stands for the others."""

    keep: tuple[int, ...]
    summary: str


def prune(
    messages: Sequence[Message], *, newest_rounds: int = NEWEST_ROUNDS, digest_chars: int = 2_000
) -> Rewrite | None:
    """Deterministic pruning: works when the model does not.

    Args:
        messages: the dialogue; the first two are pinned, then assistant and user messages alternate.
        newest_rounds: rounds (action and observation) kept verbatim.
        digest_chars: bound of the digest.

    Returns:
        The rewrite, or None where nothing can be dropped.
    """
    rounds = max(0, (len(messages) - PINNED) // 2)
    dropped = rounds - newest_rounds
    if dropped <= 0:
        return None
    cut = PINNED + 2 * dropped
    lines = [_line(messages[index], messages[index + 1]) for index in range(PINNED, cut, 2)]
    digest = "\n".join(lines)
    if len(digest) > digest_chars:
        digest = "…" + digest[-digest_chars:]
    return Rewrite(keep=(*range(PINNED), *range(cut, len(messages))), summary=digest)


def _line(action: Message, observation: Message) -> str:
    did = " ".join(action.content.split())[:120]
    saw = " ".join(observation.content.split())[:160]
    return f"- you: {did} → {saw}"
