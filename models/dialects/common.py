"""What the dialects share: the tool list, the call ``finish``, and the wording of errors and results."""

from __future__ import annotations

import contextlib
import difflib
import json
import re
import types
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from engine.protocol.errors import ModelError
from engine.protocol.messages import Action, ChatReply, Message
from engine.protocol.tools import Observation, ToolSpec
from models.dialects import json_calls

FINISH = "finish"
FINISH_EXAMPLE = '{"tool": "finish", "arguments": {"answer": "What I did and found.", "files": ["result.csv"]}}'
_FINISH_LINE = "- finish(answer, files): when the work is done and looked at. files: the names of the result files."


def tool_lines(tools: Sequence[ToolSpec]) -> str:
    """One line for each tool, ``finish`` last.

    Args:
        tools: the tools to list.
    """
    lines = [f"- {tool.name}({_parameters(tool)}): {tool.summary}" for tool in tools if tool.name != FINISH]
    return "\n".join([*lines, _FINISH_LINE])


def tool_with_example(tool: ToolSpec) -> str:
    """Two lines for small models, which copy an example better than they read a signature.

    Args:
        tool: what to describe.
    """
    if not tool.example:
        return f"- {tool.name}({_parameters(tool)}): {tool.summary}"
    call = json.dumps({"tool": tool.name, "arguments": tool.example}, ensure_ascii=False)
    return f"- {tool.name}: {tool.summary}\n  {call}"


def _parameters(tool: ToolSpec) -> str:
    """Argument names with a type where it is not text; optional ones are marked ``?``."""
    return ", ".join(
        f"{field.encode_name}{'' if field.required else '?'}{_kind(field.type)}"
        for field in msgspec.structs.fields(tool.arguments)
    )


def _kind(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kind(get_args(annotation)[0])
    if origin is Literal:
        return ": " + "|".join(str(value) for value in get_args(annotation))
    if origin in (Union, types.UnionType):
        options = [option for option in get_args(annotation) if option is not type(None)]
        return _kind(options[0]) if len(options) == 1 else ""
    named = {int: ": int", float: ": number", bool: ": bool", list: ": list", tuple: ": list", dict: ": object"}
    return named.get(origin or annotation, "")


def example_call(tools: Sequence[ToolSpec]) -> str:
    """A JSON call for instructions and errors: the first declared example, else a ``finish``.

    Args:
        tools: the tools there are.
    """
    for tool in tools:
        if tool.example:
            return json.dumps({"tool": tool.name, "arguments": tool.example}, ensure_ascii=False)
    return FINISH_EXAMPLE


def check_whole(reply: ChatReply, example: str) -> None:
    """Refuse a reply that is empty or only repeats.

    Args:
        reply: what came.
        example: a good reply, for the error.

    Raises:
        ModelError: ``reply.empty`` or ``reply.repetition``.
    """
    if reply.finish == "repetition":
        raise ModelError(
            "Your reply repeated the same text again and again and was stopped. Nothing was run. "
            f"Send one short action, for example:\n{example}",
            code="reply.repetition",
        )
    if not reply.text.strip() and not reply.reasoning.strip() and not json_calls.server_calls(reply.extra):
        raise ModelError(f"Your reply was empty. Send one action, for example:\n{example}", code="reply.empty")


def cut(example: str) -> ModelError:
    """The error for a reply that ended in the middle.

    Args:
        example: a good reply.
    """
    return ModelError(
        "Your reply was cut because it was too long. Nothing was run. Do less in one step: a shorter script, or the "
        f"content in parts. For example:\n{example}",
        code="reply.cut",
    )


def no_action(wanted: str, example: str) -> ModelError:
    """The error for a reply of prose only.

    Args:
        wanted: what a reply must hold.
        example: a good reply.
    """
    return ModelError(
        f"Your reply held no action, so nothing happened. Send {wanted}. For example:\n{example}\n"
        f"If the work is done, send:\n{FINISH_EXAMPLE}",
        code="reply.no_action",
    )


def to_action(call: tuple[str, dict[str, Any]], thought: str, tools: Sequence[ToolSpec]) -> Action:
    """An action of a known tool.

    Args:
        call: name and arguments as the model wrote them.
        thought: text before it.
        tools: the tools there are; ``finish`` is always one.

    Raises:
        ModelError: ``reply.unknown_tool``, naming the nearest.
    """
    written, arguments = call
    names = [*dict.fromkeys([*(tool.name for tool in tools), FINISH])]
    plain = {name.lower().replace("_", "").replace("-", ""): name for name in names}
    name = plain.get(written.lower().replace("_", "").replace("-", "").removeprefix("functions."))
    if name is None:
        near = difflib.get_close_matches(written, names, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ModelError(
            f"There is no tool {written!r}.{hint} The tools are: {', '.join(names)}.", code="reply.unknown_tool"
        )
    if name == FINISH:
        arguments = _finish(arguments)
    return Action(tool=name, arguments=arguments, thought=thought.strip())


def _finish(arguments: dict[str, Any]) -> dict[str, Any]:
    """Answer as text and files as a list of names, in whatever way they were written."""
    answer = next((arguments[key] for key in ("answer", "result", "message", "text") if arguments.get(key)), "")
    files = arguments.get("files") or arguments.get("file") or []
    if isinstance(files, str):
        files = [files]
    if isinstance(answer, (dict, list)):
        answer = json.dumps(answer, ensure_ascii=False)
    return {"answer": str(answer), "files": [str(name) for name in files]}


def result_message(observation: Observation) -> Message:
    """The user message that reports a tool's result.

    Args:
        observation: already bounded.
    """
    head = f"Result of {observation.tool}:" if observation.ok else f"{observation.tool} failed:"
    parts = [head, observation.text]
    changed = observation.changes.changes
    if changed:
        parts.append("Files changed: " + ", ".join(f"{change.name} ({change.kind})" for change in changed))
    if observation.full_output and observation.full_output not in observation.text:
        parts.append(f"This is cut; all of it: {observation.full_output}")
    return Message(role="user", content="\n".join(parts))


def up_to_action(text: str) -> str:
    """A reply up to the end of its first action: the first whole JSON object or the first closed fence.

    Args:
        text: the reply.
    """
    ends = []
    fence = re.search(r"^ {0,3}```[^\n]*\n.*?(?:^ {0,3}```[ \t]*$|\Z)", text, re.MULTILINE | re.DOTALL)
    if fence:
        ends.append((fence.start(), fence.end()))
    start = text.find('{"')
    if start >= 0 and (not fence or start < fence.start()):
        with contextlib.suppress(ValueError):  # not JSON after all: the fence, or the whole text, is what counts
            _, end = json.JSONDecoder().raw_decode(text, start)
            ends.append((start, end))
    return text[: min(ends)[1]] if ends else text
