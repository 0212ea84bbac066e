"""The one rewrite of a dialogue: old rounds are dropped or replaced by a labelled summary."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.protocol.messages import Message

NEWEST_ROUNDS = 3
_MARK = "- you: "
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
        messages: the dialogue; the first two are pinned, then comes the digest of an earlier rewrite, if there was one,
            and then rounds: an assistant message and what follows it.
        newest_rounds: rounds (action and observation) kept verbatim.
        digest_chars: bound of the digest.

    Returns:
        The rewrite, or None where nothing can be dropped.
    """
    starts = [index for index in range(PINNED, len(messages)) if messages[index].role == "assistant"]
    dropped = starts[: len(starts) - newest_rounds]
    if not dropped:
        return None
    ends = [*starts, len(messages)][1:]
    lines = [line for message in messages[PINNED : starts[0]] for line in _digested(message)]
    lines += [_line(messages[start:end]) for start, end in zip(dropped, ends, strict=False)]
    while len(lines) > 1 and sum(len(line) + 1 for line in lines) > digest_chars:
        lines.pop(0)
    cut = ends[len(dropped) - 1]
    return Rewrite(keep=(*range(PINNED), *range(cut, len(messages))), summary="\n".join(lines)[:digest_chars])


def _digested(message: Message) -> list[str]:
    return [line for line in message.content.splitlines() if line.startswith(_MARK)]


def _line(messages: Sequence[Message]) -> str:
    action, *rest = messages
    did = " ".join(action.content.split())[:120]
    saw = " ".join(" ".join(message.content.split())[:160] for message in rest)
    return f"{_MARK}{did} → {saw}"
