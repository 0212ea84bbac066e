"""The script tools on a real sandbox."""

from types import SimpleNamespace

import pytest

from engine.protocol.errors import ModelError
from tools.compute import execute_command, python_interpreter
from tools.compute.code_check import check, clean
from tools.compute.execute_command import ExecuteCommand
from tools.compute.interpreter_env import _own_entries, interpreter_env
from tools.compute.python_interpreter import PythonInterpreter
from tools.sandbox.probe import choose_sandbox


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
async def context(cache, tmp_path):
    env = await interpreter_env(cache)
    (tmp_path / "workspace").mkdir()
    return SimpleNamespace(
        workspace=tmp_path / "workspace",
        outputs=tmp_path / "outputs",
        interpreter=env,
        sandbox=await choose_sandbox(tmp_path / "scratch", env),
        time_left_s=60.0,
    )


async def script(context, code):
    return await PythonInterpreter().run(python_interpreter.Arguments(code=code), context)


@pytest.mark.processes
async def test_libraries_and_shown_figure(context):
    code = (
        "import numpy, openpyxl, docx, pptx, pandas as pd\nimport matplotlib.pyplot as plt\n"
        "plt.plot([1, 2])\nplt.show()\nprint(pd.DataFrame({'a': [1]}).shape)\n"
    )
    result = await script(context, code)
    assert result.ok and result.text == "The figure was saved as figure_1.png.\n(1, 1)"
    assert [path.name for path in context.workspace.iterdir()] == ["figure_1.png"]


@pytest.mark.processes
@pytest.mark.parametrize("name", ["engine", "models", "tools", "prompts", "desktop"])
async def test_our_packages_cannot_be_imported(context, name):
    result = await script(context, f"import {name}")
    assert not result.ok and f"No module named '{name}'" in result.text


@pytest.mark.processes
async def test_nothing_printed_and_errors_of_the_script(context):
    assert (await script(context, "x = 1")).text == "The script ran and printed nothing."
    failed = await script(context, "d = {'apples': 1}\nd['pears']")
    assert failed.code == "script.exception" and "line 2" in failed.text and "d has: 'apples'" in failed.text
    (context.workspace / "data.csv").write_text("a,b\n1,2\n")
    frame = await script(context, "import pandas as pd\ndf = pd.read_csv('data.csv')\ndf['c']")
    assert "columns 'a', 'b'" in frame.text and "site-packages" not in frame.text
    missing = await script(context, "name = 'dat' + 'a.xlsx'\nopen(name)")
    assert "Files here: 'data.csv'" in missing.text


@pytest.mark.processes
async def test_commands_in_front_and_background(context):
    tool = ExecuteCommand()

    async def call(**arguments):
        return await tool.run(execute_command.Arguments(**arguments), context)

    assert (await call(command="echo hi")).text == "hi"
    assert (await call(command="exit 4")).code == "command.failed"
    assert (await call(command="sleep 50", timeout_s=0.2)).code == "timeout"
    assert "command_1" in (await call(command="sleep 50", background=True)).text
    assert "still running" in (await call(action="poll", id="command_1")).text
    assert (await call(action="stop", id="command_1")).ok
    with pytest.raises(ModelError):
        await call(action="poll", id="command_1")


@pytest.mark.parametrize("code", ["```python\nprint(1)\n```", "python\nprint(1)", "print(1)"])
def test_fences_are_taken_off(code):
    assert clean(code) == "print(1)"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("", "script.empty"),
        ("x = (", "script.syntax"),
        ("a = input('?')", "script.input"),
        ("import os\nos.system('pip install x')", "script.install"),
        ("import pandas as pd\npd.read_csv('sale.csv')", "script.missing_file"),
    ],
)
def test_hopeless_scripts_are_refused(code, kind):
    with pytest.raises(ModelError) as caught:
        check(code, ["sales.csv"])
    assert caught.value.code == kind
    if kind == "script.missing_file":
        assert "sales.csv" in caught.value.text


@pytest.mark.parametrize("code", ["open('new.txt', 'w')", "open('sales.csv').read()", "open('./Sales.csv')"])
def test_good_scripts_pass(code):
    check(code, ["sales.csv"])


def test_own_packages_of_an_install_are_hidden(tmp_path):
    (tmp_path / "tools").mkdir()
    assert _own_entries(tmp_path) == []
    (tmp_path / "oneday_desk-0.1.0.dist-info").mkdir()
    assert {path.name for path in _own_entries(tmp_path)} == {"tools", "oneday_desk-0.1.0.dist-info"}


@pytest.mark.processes
async def test_slips_are_mended_and_told(context):
    (context.workspace / "festival tickets.csv").write_text("a,b\n1,2\n")
    result = await script(context, "print(pd.read_csv('festival_tickets.csv').shape)")
    assert result.ok and result.text == (
        "There is no file 'festival_tickets.csv'; it was taken for 'festival tickets.csv'. "
        "The script lacked import pandas as pd; it was added as one line.\n(1, 2)"
    )
