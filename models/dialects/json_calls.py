"""Finds tool calls written as JSON, in the many ways small models write them."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

_DECODER = json.JSONDecoder(strict=False)  # small models put raw line feeds into strings
_TOOL_KEYS = ("tool", "name", "function", "tool_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input", "tool_input", "params")
_NOT_ARGUMENTS = {*_TOOL_KEYS, "thought", "reasoning", "type", "id"}
_FUNCTION = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?(?:</parameter>|\Z)", re.DOTALL)


def json_objects(text: str) -> list[dict[str, Any]]:
    """Every top-level JSON object in a text, in order; trailing commas and Python's spelling are forgiven."""
    found: list[dict[str, Any]] = []
    position = text.find("{")
    while position >= 0:
        value, end = _object_at(text, position)
        if value is not None:
            found.append(value)
        position = text.find("{", end)
    return found


def _object_at(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except ValueError:
        end = _closing_brace(text, start)
        if end < 0:
            return None, start + 1
        value = _forgiving(text[start:end])
    if isinstance(value, dict):
        return value, end
    return None, start + 1


def _forgiving(source: str) -> Any:
    """An object in Python's spelling or with a comma too many; None where it is neither."""
    try:
        return json.loads(re.sub(r",(\s*[}\]])", r"\1", source), strict=False)
    except ValueError:
        pass
    try:
        return ast.literal_eval(source)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _closing_brace(text: str, start: int) -> int:
    """Index after the brace that closes the one at `start`; -1 where there is none."""
    depth, quote, index = 0, "", start
    while index < len(text):
        char = text[index]
        if quote:
            if char == "\\":
                index += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return index + 1
        index += 1
    return -1


def as_call(value: dict[str, Any], tools: set[str]) -> tuple[str, dict[str, Any]] | None:
    """Read an object as a call.

    Args:
        value: what the model wrote.
        tools: names of the tools there are; used for ``{"finish": {…}}``.

    Returns:
        Name and arguments, or None where it is no call at all.
    """
    function = value.get("function")
    if isinstance(function, dict):
        return as_call(function, tools)
    for key in _TOOL_KEYS:
        if isinstance(value.get(key), str):
            return value[key], _arguments(value)
    if len(value) == 1:
        ((name, inner),) = value.items()
        if name in tools and isinstance(inner, dict):
            return name, inner
    if "answer" in value and set(value) <= {"answer", "files", "thought"}:
        return "finish", {key: value[key] for key in ("answer", "files") if key in value}
    return None


def _arguments(value: dict[str, Any]) -> dict[str, Any]:
    for key in _ARGUMENT_KEYS:
        inner = value.get(key)
        if isinstance(inner, dict):
            return inner
        if isinstance(inner, str):
            objects = json_objects(inner)
            if objects:
                return objects[0]
    return {key: item for key, item in value.items() if key not in _NOT_ARGUMENTS and key not in _ARGUMENT_KEYS}


def tagged_calls(text: str) -> list[dict[str, Any]]:
    """Calls written as ``<function=NAME><parameter=KEY>…``; those in ``<tool_call>`` are plain JSON objects."""
    calls = []
    for name, body in _FUNCTION.findall(text):
        parameters = dict(_PARAMETER.findall(body))
        if not parameters:
            objects = json_objects(body)
            parameters = objects[0] if objects else {}
        calls.append({"tool": name, "arguments": parameters})
    return calls


def server_calls(extra: dict[str, Any]) -> list[dict[str, Any]]:
    """Calls that the server decoded itself (``tool_calls`` of the assistant message)."""
    calls = extra.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
