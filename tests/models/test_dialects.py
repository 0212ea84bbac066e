from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import msgspec
import pytest

from engine.protocol.errors import ModelError, UserError
from engine.protocol.messages import Action, ChatReply
from engine.protocol.tools import ChangeSet, FileChange, Observation, ToolSpec
from models.dialects.registry import dialect_names, get_dialect


class ReadFile(msgspec.Struct, kw_only=True):
    filename: str
    pages: str = ""


class Script(msgspec.Struct, kw_only=True):
    code: str


class WriteFile(msgspec.Struct, kw_only=True):
    filename: str
    content: str


class Command(msgspec.Struct, kw_only=True):
    command: str
    timeout_s: Annotated[int, msgspec.Meta(ge=1)] | None = None
    kind: Literal["once", "background"] = "once"


TOOLS = (
    ToolSpec(name="read_file", summary="Read a file.", arguments=ReadFile, example={"filename": "a.pdf"}),
    ToolSpec(name="python_interpreter", summary="Run Python.", arguments=Script),
    ToolSpec(name="write_to_file", summary="Write a file.", arguments=WriteFile),
    ToolSpec(name="execute_command", summary="Run a command.", arguments=Command),
)
SCRIPT = "import pandas as pd\nprint(pd.read_csv('a.csv').sum())\n"


def act(dialect: str, text: str, **fields: Any) -> Action:
    return get_dialect(dialect).decode(ChatReply(text=text, **fields), TOOLS)


def refused(dialect: str, text: str, **fields: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        act(dialect, text, **fields)
    return caught.value


def test_registry() -> None:
    for name in dialect_names():
        assert get_dialect(name).name == name
    with pytest.raises(UserError, match="code_block"):
        get_dialect("xml")


@pytest.mark.parametrize("name", ["code_block", "json_action"])
def test_instructions_are_short_and_name_every_tool(name: str) -> None:
    text = get_dialect(name).instructions(TOOLS)
    assert len(text) < 1300
    assert "finish" in text
    assert "read_file" in text
    assert "timeout_s?: int" in text
    assert "kind?: once|background" in text


@pytest.mark.parametrize("name", ["code_block", "json_action"])
@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "read_file", "arguments": {"filename": "a.pdf"}}',
        'I look.\n```json\n{"tool": "read_file", "arguments": {"filename": "a.pdf"}}\n```\nDone.',
        '<tool_call>\n{"name": "read_file", "arguments": {"filename": "a.pdf"}}\n</tool_call>',
        "<tool_call>\n<function=read_file>\n<parameter=filename>\na.pdf\n</parameter>\n</function>\n</tool_call>",
        '<function=read_file>{"filename": "a.pdf"}</function>',
        '{"name": "read_file", "arguments": "{\\"filename\\": \\"a.pdf\\"}"}',
        "{'tool': 'read_file', 'arguments': {'filename': 'a.pdf',}}",
        '{"tool": "read_file", "filename": "a.pdf"}',
        '{"read_file": {"filename": "a.pdf"}}',
        '{"function": {"name": "Read-File", "parameters": {"filename": "a.pdf"}}}',
    ],
)
def test_calls_written_in_many_ways(name: str, text: str) -> None:
    action = act(name, text)
    assert (action.tool, action.arguments) == ("read_file", {"filename": "a.pdf"})


@pytest.mark.parametrize("name", ["code_block", "json_action"])
def test_a_call_the_server_decoded(name: str) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "read_file", "arguments": '{"filename": "b"}'}}
    action = act(name, "", finish="tool_calls", extra={"tool_calls": [call]})
    assert action.arguments == {"filename": "b"}


@pytest.mark.parametrize("name", ["code_block", "json_action"])
def test_finish_takes_answer_and_files_in_any_shape(name: str) -> None:
    action = act(name, 'All done.\n{"tool": "finish", "arguments": {"answer": "Total 5", "files": "a.csv"}}')
    assert (action.tool, action.arguments) == ("finish", {"answer": "Total 5", "files": ["a.csv"]})
    assert act(name, '{"answer": 5, "files": []}').arguments == {"answer": "5", "files": []}


@pytest.mark.parametrize("name", ["code_block", "json_action"])
def test_what_cannot_be_used_is_said_with_an_example(name: str) -> None:
    cases = {
        "reply.empty": refused(name, "  \n"),
        "reply.no_action": refused(name, "The total is 42, as you can see."),
        "reply.cut": refused(name, 'I write {"tool": "write_to_file", "arguments": {"fil', finish="length"),
        "reply.repetition": refused(name, "na na na", finish="repetition"),
        "reply.unknown_tool": refused(name, '{"tool": "readfiles", "arguments": {}}'),
    }
    assert {error.code for error in cases.values()} == set(cases)
    for code, error in cases.items():
        assert error.code == code
        assert len(error.text) < 600
    assert "read_file" in cases["reply.unknown_tool"].text
    assert "example" in cases["reply.no_action"].text


def test_one_script() -> None:
    action = act("code_block", f"First I look.\n\n```python\n{SCRIPT}```")
    assert action.tool == "python_interpreter"
    assert action.arguments == {"code": SCRIPT}
    assert action.thought == "First I look."


@pytest.mark.parametrize("opening", ["```py", "```Python", "~~~python", "```", "```python3"])
def test_fences_of_other_kinds(opening: str) -> None:
    assert act("code_block", f"{opening}\n{SCRIPT}{opening[:3]}").arguments == {"code": SCRIPT}


def test_a_bare_script_and_one_with_windows_line_ends() -> None:
    assert act("code_block", SCRIPT).arguments == {"code": SCRIPT}
    assert act("code_block", "```python\r\nprint(1)\r\n```\r\n").tool == "python_interpreter"


def test_scripts_in_steps_are_joined_and_a_rewrite_replaces() -> None:
    steps = "```python\nimport os\nx = 1\n```\nthen\n```python\nprint(x)\n```"
    assert act("code_block", steps).arguments == {"code": "import os\nx = 1\nprint(x)\n"}
    rewrite = f"```python\nimport os\nx = 1\n```\nBetter:\n```python\n{SCRIPT}```"
    assert act("code_block", rewrite).arguments == {"code": SCRIPT}


def test_a_cut_script_is_refused_but_whole_one_without_its_end_is_taken() -> None:
    assert refused("code_block", "```python\nimport os\nprint(os.list", finish="length").code == "reply.cut"
    assert refused("code_block", "```python\nimport os\nprint(os.listdir(").code == "reply.cut"
    assert act("code_block", f"```python\n{SCRIPT}").arguments == {"code": SCRIPT}
    whole_then_cut = f"```python\n{SCRIPT}```\nand\n```python\nprint("
    assert act("code_block", whole_then_cut, finish="length").arguments == {"code": SCRIPT}


@pytest.mark.parametrize(
    "info", ["file brief.docx", "markdown brief.docx", 'file "brief.docx"', "md filename=brief.docx"]
)
def test_a_document(info: str) -> None:
    body = "# Title\n\n```python\nprint(1)\n```\n\nThe end.\n"
    if info.startswith("md"):
        body = "# Title\n"
    action = act("code_block", f"I write it.\n```{info}\n{body}```\n")
    assert action.tool == "write_to_file"
    assert action.arguments == {"filename": "brief.docx", "content": body}


def test_work_comes_before_a_finish_of_the_same_reply() -> None:
    text = f'```python\n{SCRIPT}```\n```json\n{{"tool": "finish", "arguments": {{"answer": "42", "files": []}}}}\n```'
    assert act("code_block", text).tool == "python_interpreter"


def test_a_call_inside_a_python_fence_and_a_shell_fence() -> None:
    action = act("code_block", '```python\n{"tool": "finish", "arguments": {"answer": "x"}}\n```')
    assert action.tool == "finish"
    assert act("code_block", "```bash\nls -l\n```").arguments == {"command": "ls -l"}


def test_a_script_is_not_run_where_no_such_tool_is_shown() -> None:
    with pytest.raises(ModelError) as caught:
        get_dialect("code_block").decode(ChatReply(text=f"```python\n{SCRIPT}```"), TOOLS[:1])
    assert caught.value.code == "reply.unknown_tool"


def test_action_in_the_reasoning_is_found() -> None:
    assert act("code_block", "", reasoning=f"```python\n{SCRIPT}```").arguments == {"code": SCRIPT}


def test_schema_puts_a_short_thought_first_and_knows_every_tool() -> None:
    schema = get_dialect("json_action").schema(TOOLS)
    assert schema is not None
    names = [option["properties"]["tool"]["const"] for option in schema["anyOf"]]
    assert names == [*(tool.name for tool in TOOLS), "finish"]
    for option in schema["anyOf"]:
        assert list(option["properties"]) == ["thought", "tool", "arguments"]
        assert option["properties"]["thought"]["maxLength"] <= 400
    assert get_dialect("code_block").schema(TOOLS) is None
    json.dumps(schema)


def test_observation() -> None:
    changes = ChangeSet(changes=(FileChange(name="o.csv", kind="added", after="0" * 64),))
    told = get_dialect("code_block").observation(
        Observation(tool="python_interpreter", text="boom", ok=False, full_output="outputs/1.txt", changes=changes)
    )
    assert told.role == "user"
    assert told.content.startswith("python_interpreter failed:\nboom")
    assert "o.csv (added)" in told.content
    assert "outputs/1.txt" in told.content
