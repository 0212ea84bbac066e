"""Dialect ``code_block``: short reasoning, then one fenced script, one fenced document, or one JSON call.

Small code models write a script well as plain text and badly when it must be escaped inside JSON.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from engine.protocol.messages import Action, ChatReply, Message
from engine.protocol.tools import Observation, ToolSpec
from models.dialects import common, fences, json_calls

SCRIPT_TOOL, FILE_TOOL, SHELL_TOOL = "python_interpreter", "write_to_file", "execute_command"
_PYTHON = {"python", "py", "python3", "tool_code"}
_SHELL = {"bash", "sh", "shell", "console"}
DOCUMENT_EXAMPLE = "```file brief.docx\n# Title\nText\n```"
SCRIPT_EXAMPLE = '```python\nimport pandas as pd\nprint(pd.read_csv("data.csv").head())\n```'


class CodeBlock:
    """`engine.protocol.ports.Dialect` with fenced scripts."""

    name = "code_block"

    def instructions(self, tools: Sequence[ToolSpec]) -> str:
        names = {tool.name for tool in tools}
        calls = [common.tool_with_example(tool) for tool in tools if tool.name not in (SCRIPT_TOOL, FILE_TOOL)]
        finish = f"- finish: the request is done and looked at.\n  {common.FINISH_EXAMPLE}"
        parts = ["Send exactly ONE action and nothing after it. You then see its result."]
        parts.append("\n".join(["A call is one JSON object:", *calls, finish]))
        if FILE_TOOL in names:
            parts.append(
                f"A text document is a fenced block; Markdown is made into the named file:\n{DOCUMENT_EXAMPLE}"
            )
        if SCRIPT_TOOL in names:
            lead = "Only where no call above can do it, a" if calls else "A"
            parts.append(
                f"{lead} Python script. It runs in the folder of the files; "
                f"print what you need to know:\n{SCRIPT_EXAMPLE}"
            )
        return "\n\n".join(parts)

    def schema(self, tools: Sequence[ToolSpec]) -> dict[str, Any] | None:  # noqa: ARG002 - the port's signature
        return None

    def stop(self) -> tuple[str, ...]:
        # Small models go on with explanations and a second fence; an opening fence has a language, a closing one none.
        return ("\n```\n",)

    def decode(self, reply: ChatReply, tools: Sequence[ToolSpec]) -> Action:
        names = {tool.name for tool in tools}
        example = SCRIPT_EXAMPLE if SCRIPT_TOOL in names else common.example_call(tools)
        common.check_whole(reply, example)
        text = reply.text if reply.text.strip() else reply.reasoning
        prose, blocks = fences.split(text)
        for call in json_calls.server_calls(reply.extra):
            decoded = json_calls.as_call(call, names | {common.FINISH})
            if decoded is not None:
                return common.to_action(decoded, prose, tools)
        found = _actions(blocks, names, cut=reply.finish == "length", example=example)
        found += _loose(prose, names, has_blocks=bool(found))
        if not found and reply.finish == "length":
            raise common.cut(example)
        if not found:
            raise common.no_action("one fenced block or one JSON call", example)
        # A "finish" beside real work was written before the work was seen: the work comes first.
        chosen = next((call for call in found if call[0] != common.FINISH), found[0])
        return common.to_action(chosen, prose, tools)

    def kept(self, reply: ChatReply, tools: Sequence[ToolSpec]) -> str:  # noqa: ARG002 - the port's signature
        return common.up_to_action(reply.text)

    def document(self, filename: str, content: str) -> str:
        return f"```file {filename}\n{content.strip()}\n```"

    def observation(self, observation: Observation) -> Message:
        return common.result_message(observation)


Call = tuple[str, dict[str, Any]]
_PROSE = {"markdown", "md"}


def _title_name(block: fences.Block) -> str:
    """The file name of a document block that names none: its first heading if that is one, else a plain one."""
    first = block.body.strip().partition("\n")[0].lstrip("# ").strip()
    return first if fences.is_file_name(first) else "document.md"


def _actions(blocks: list[fences.Block], names: set[str], *, cut: bool, example: str) -> list[Call]:
    """The calls in fenced blocks; all scripts of a reply become one call, at the place of the first."""
    calls: list[Call] = []
    scripts: list[str] = []
    for block in blocks:
        if not block.closed and (cut or not _usable_unclosed(block)):
            if calls or scripts:
                continue  # what came before is whole
            raise common.cut(example)
        if _is_script(block):
            if not scripts:
                calls.append((SCRIPT_TOOL, {}))
            scripts.append(block.body)
        elif block.file_name:
            calls.append((FILE_TOOL, {"filename": block.file_name, "content": block.body.strip("\n") + "\n"}))
        elif block.language in _PROSE and FILE_TOOL in names:
            calls.append((FILE_TOOL, {"filename": _title_name(block), "content": block.body.strip("\n") + "\n"}))
        elif block.language in _SHELL and SHELL_TOOL in names:
            calls.append((SHELL_TOOL, {"command": block.body.strip()}))
        else:
            calls += _json_calls(block.body, names)
    code = _one_script(scripts)
    return [
        (name, {"code": code}) if name == SCRIPT_TOOL and not arguments else (name, arguments)
        for name, arguments in calls
    ]


def _is_script(block: fences.Block) -> bool:
    if block.language in _PYTHON:
        # A call put into a python fence by mistake is a call.
        return not _only_a_call(block.body)
    return not block.language and _parses(block.body) and not _only_a_call(block.body)


def _only_a_call(body: str) -> bool:
    stripped = body.strip()
    return stripped.startswith("{") and bool(json_calls.json_objects(stripped)) and stripped.endswith("}")


def _parses(source: str) -> bool:
    """Whether a text is Python that does something (a lone word or literal parses too, but is no script)."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    acting = (ast.Import, ast.ImportFrom, ast.Assign, ast.For, ast.With, ast.FunctionDef)
    return any(
        isinstance(node, acting) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in tree.body
    )


def _usable_unclosed(block: fences.Block) -> bool:
    """The model stopped by itself without the closing marks: a script must at least parse; a document is as it is."""
    if block.file_name or block.language in _PROSE:
        return bool(block.body.strip())
    return _parses(block.body) if _is_script(block) else bool(json_calls.json_objects(block.body))


def _one_script(scripts: list[str]) -> str:
    """Join steps that follow each other; where a later script starts over (imports again), it replaces the others."""
    kept: list[str] = []
    for script in scripts:
        starts_over = kept and script.lstrip().startswith(("import ", "from "))
        kept = [script] if starts_over else [*kept, script]
    return "\n".join(kept).strip("\n") + "\n"


def _json_calls(text: str, names: set[str]) -> list[Call]:
    calls = [json_calls.as_call(value, names | {common.FINISH}) for value in json_calls.json_objects(text)]
    return [call for call in calls if call is not None]


def _loose(prose: str, names: set[str], *, has_blocks: bool) -> list[Call]:
    """Calls outside fences: bare JSON, ``<tool_call>``, ``<function=``, or a bare script."""
    calls = _json_calls(prose, names)
    for value in json_calls.tagged_calls(prose):
        call = json_calls.as_call(value, names)
        if call is not None:
            calls.append(call)
    if not calls and not has_blocks and prose.lstrip().startswith(("import ", "from ")) and _parses(prose):
        calls.append((SCRIPT_TOOL, {"code": prose.strip() + "\n"}))
    return calls


def _call_example(tools: Sequence[ToolSpec]) -> str:
    others = [tool for tool in tools if tool.name not in (SCRIPT_TOOL, FILE_TOOL)]
    return common.example_call(others)
