"""Puts the pieces of a streamed reply together."""

from __future__ import annotations

from typing import Any

from engine.protocol.messages import FinishReason, Usage

_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "filtered",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}
_REASONING = ("reasoning_content", "reasoning")


class ReplyAccumulator:
    """One reply: text, reasoning, finish reason, usage, and the fields we do not know but must send back."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.finish: FinishReason | None = None
        self.usage: dict[str, Any] = {}
        self.timings: dict[str, Any] = {}
        self._extra: dict[str, Any] = {}

    def take(self, chunk: dict[str, Any]) -> tuple[str, bool]:
        """Take a chunk of a stream, or a whole reply that came unstreamed.

        Args:
            chunk: ``chat.completion.chunk`` or ``chat.completion``.

        Returns:
            The new visible text, and whether anything was generated at all.
        """
        self.usage = chunk.get("usage") or self.usage
        self.timings = chunk.get("timings") or self.timings
        piece, alive = "", False
        for choice in (chunk.get("choices") or [])[:1]:
            fields = choice.get("delta") or choice.get("message") or {}
            piece = fields.get("content") or ""
            alive = any(value for name, value in fields.items() if name != "role")
            self._fields(fields)
            if choice.get("finish_reason"):
                self.finish = _FINISH.get(choice["finish_reason"], "stop")
        return piece, alive

    def _fields(self, fields: dict[str, Any]) -> None:
        for name, value in fields.items():
            if name == "role" or value is None:
                continue
            if name == "content":
                self.text.append(value)
            elif name in _REASONING and isinstance(value, str):
                self.reasoning.append(value)
            elif name == "tool_calls":
                _merge_calls(self._extra.setdefault("tool_calls", []), value)
            else:
                self._extra[name] = _merged(self._extra.get(name), value)

    @property
    def extra(self) -> dict[str, Any]:
        """Fields to be replayed verbatim; a turn with tool calls keeps its reasoning, which some services demand."""
        if self._extra.get("tool_calls") and self.reasoning:
            return {**self._extra, "reasoning_content": "".join(self.reasoning)}
        return dict(self._extra)

    def tokens(self, seconds: float) -> Usage:
        """Usage of the call.

        Args:
            seconds: its wall time.
        """
        details = self.usage.get("prompt_tokens_details") or {}
        prompt = self.usage.get("prompt_tokens") or 0
        cached = details.get("cached_tokens") or self.usage.get("prompt_cache_hit_tokens") or 0
        return Usage(
            calls=1,
            prompt_tokens=prompt,
            completion_tokens=self.usage.get("completion_tokens") or 0,
            cached_tokens=cached,
            evaluated_tokens=self.timings.get("prompt_n", max(prompt - cached, 0)),
            seconds=seconds,
        )


def _merge_calls(calls: list[dict[str, Any]], pieces: list[dict[str, Any]]) -> None:
    for position, piece in enumerate(pieces):
        index = piece.get("index", position)
        while len(calls) <= index:
            calls.append({})
        for name, value in piece.items():
            if name != "index":
                calls[index][name] = _merged(calls[index].get(name), value)


def _merged(old: Any, new: Any) -> Any:
    """Streamed strings are continued, objects merged key by key, everything else is replaced."""
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}
    return old if new is None else new
