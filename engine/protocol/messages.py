"""What goes to a model and what comes back."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a dialogue.

    Attributes:
        role: who speaks.
        content: the text.
        extra: provider fields to be replayed verbatim (tool calls, thought signatures).
    """

    role: Role
    content: str
    extra: dict[str, Any] = {}


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How the next token is drawn; None leaves the backend's own default."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repeat_penalty: float | None = None
    seed: int | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one call (or a sum of calls).

    Attributes:
        calls: number of model calls.
        prompt_tokens: tokens of all prompts.
        completion_tokens: tokens generated.
        cached_tokens: prompt tokens that came from a prefix cache.
        evaluated_tokens: prompt tokens the server says it computed (its own timings).
        seconds: wall time of the calls.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    evaluated_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


FinishReason = Literal["stop", "length", "repetition", "filtered", "tool_calls"]


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a model.

    Attributes:
        messages: the whole dialogue, oldest first.
        max_tokens: upper bound of generated tokens.
        sampling: see `Sampling`.
        schema: JSON Schema that the reply must satisfy; None for free text.
        schema_name: a short name some backends require beside a schema.
        stop: strings that end the reply (not part of it).
    """

    messages: tuple[Message, ...]
    max_tokens: int
    sampling: Sampling = Sampling()
    schema: dict[str, Any] | None = None
    schema_name: str = "reply"
    stop: tuple[str, ...] = ()


class ChatReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a model answered.

    Attributes:
        text: the visible text.
        reasoning: text the backend marked as thinking.
        finish: why it ended; ``"length"`` is a cut reply, ``"repetition"`` one we stopped because it looped.
        usage: tokens of this call.
        extra: provider fields to be replayed verbatim with the assistant message.
    """

    text: str
    reasoning: str = ""
    finish: FinishReason = "stop"
    usage: Usage = Usage()
    extra: dict[str, Any] = {}


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """One decoded action of the model.

    Attributes:
        tool: name of a registered tool, or ``"finish"``.
        arguments: its arguments, not yet validated.
        thought: the free text before the action.
    """

    tool: str
    arguments: dict[str, Any] = {}
    thought: str = ""
