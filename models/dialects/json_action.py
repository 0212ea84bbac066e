"""Dialect ``json_action``: free reasoning, then one JSON object; under a schema, a short thought comes first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from engine.protocol.messages import Action, ChatReply, Message
from engine.protocol.tools import Observation, ToolSpec
from models.dialects import common, fences, json_calls
from models.schema import Backend, SchemaRefused, lower

THOUGHT_CHARS = 300
"""Room for reasoning under a schema: a grammar from the first token on costs a small model accuracy."""


class JsonAction:
    """`engine.protocol.ports.Dialect` with JSON calls.

    Args:
        backend: whose schema subset `schema` uses; None for free text (no constrained decoding).
    """

    name = "json_action"

    def __init__(self, backend: Backend | None = "llama_cpp") -> None:
        self._backend = backend

    def instructions(self, tools: Sequence[ToolSpec]) -> str:
        return (
            "Think in one or two sentences, then send exactly one action as one JSON object:\n"
            f"{common.example_call(tools)}\n"
            "Wait for its result before the next action. Never invent a result.\n"
            f"Tools:\n{common.tool_lines(tools)}\n"
            f"When done: {common.FINISH_EXAMPLE}"
        )

    def schema(self, tools: Sequence[ToolSpec]) -> dict[str, Any] | None:
        if self._backend is None:
            return None
        calls = [_call(tool.name, _arguments(tool, self._backend)) for tool in tools if tool.name != common.FINISH]
        files = {"type": "array", "items": {"type": "string"}, "maxItems": 16}
        finish = {
            "type": "object",
            "properties": {"answer": {"type": "string"}, "files": files},
            "required": ["answer", "files"],
            "additionalProperties": False,
        }
        return {"anyOf": [*calls, _call(common.FINISH, finish)]}

    def stop(self) -> tuple[str, ...]:
        return ()

    def decode(self, reply: ChatReply, tools: Sequence[ToolSpec]) -> Action:
        example = common.example_call(tools)
        common.check_whole(reply, example)
        names = {common.FINISH, *(tool.name for tool in tools)}
        text = reply.text or reply.reasoning
        candidates = [
            *json_calls.server_calls(reply.extra), *json_calls.json_objects(text), *json_calls.tagged_calls(text)
        ]  # fmt: skip
        for value in candidates:
            call = json_calls.as_call(value, names)
            if call is not None:
                return common.to_action(call, _thought(value, text), tools)
        if reply.finish == "length":
            raise common.cut(example)
        raise common.no_action("one JSON object", example)

    def kept(self, reply: ChatReply, tools: Sequence[ToolSpec]) -> str:  # noqa: ARG002 - the port's signature
        return common.up_to_action(reply.text)

    def document(self, filename: str, content: str) -> str:
        arguments = {"filename": filename, "content": content}
        return json.dumps({"tool": "write_to_file", "arguments": arguments}, ensure_ascii=False)

    def observation(self, observation: Observation) -> Message:
        return common.result_message(observation)


def _thought(value: dict[str, Any], text: str) -> str:
    written = value.get("thought")
    if isinstance(written, str):
        return written
    return fences.split(text.partition("{")[0])[0].replace("<tool_call>", "")


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    thought = {"type": "string", "maxLength": THOUGHT_CHARS}
    return {
        "type": "object",
        "properties": {"thought": thought, "tool": {"const": name}, "arguments": arguments},
        "required": ["thought", "tool", "arguments"],
        "additionalProperties": False,
    }


def _arguments(tool: ToolSpec, backend: Backend) -> dict[str, Any]:
    """The arguments' own schema; any object where it cannot be enforced (they are validated after decoding anyway)."""
    try:
        return lower(tool.arguments, backend)
    except SchemaRefused:
        return {"type": "object"}
