"""Starting the command line: what it imports, what it says, how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
LISTS_MODULES = """
import sys, json
before = set(sys.modules)
from engine.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("MODULES " + json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)
"""
HEAVY = {
    "httpx", "rich", "pandas", "numpy", "PIL", "matplotlib", "openpyxl", "docx", "pptx", "pdfplumber", "lxml",
    "keyring", "psutil", "ironcalc", "xllamacpp", "asyncio", "sqlite3", "ssl", "models", "tools", "prompts",
}  # fmt: skip

pytestmark = pytest.mark.processes


def oneday(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    argv = [sys.executable, "-m", "engine.cli", *args]
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def modules_after(*args: str) -> set[str]:
    argv = [sys.executable, "-c", LISTS_MODULES, *args]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    line = next(line for line in done.stderr.splitlines() if line.startswith("MODULES "))
    return set(json.loads(line.removeprefix("MODULES ")))


def test_help_imports_nothing_heavy() -> None:
    loaded = modules_after("--help")
    ours = {name for name in loaded if name.partition(".")[0] in ("engine", "models", "tools", "prompts", "desktop")}
    assert ours == {"engine", "engine.cli"}
    libraries = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"engine"}
    assert libraries == {"click"}
    assert not libraries & HEAVY and "asyncio" not in loaded


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_of_a_command_loads_no_library_of_its_work(command: str) -> None:
    loaded = {name.partition(".")[0] for name in modules_after(command, "--help")}
    assert not loaded & (HEAVY - {"asyncio", "ssl"})


def test_help_names_each_command() -> None:
    done = oneday("--help")
    assert done.returncode == 0
    for name, (_, line) in COMMANDS.items():
        assert name in done.stdout and line in done.stdout


def test_unknown_command_is_a_usage_error() -> None:
    done = oneday("rum")
    assert done.returncode == 2
    assert "No such command" in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("run", "x", "--budget", "soon"), ("cannot be read", "Nothing was started", "20m")),
        (("run", "   "), ("The request is empty", "Say in a sentence")),
        (("read", "not there.csv"), ("There is no file", "Nothing was changed", "Check the name")),
        (("check", "."), ("is a folder", "Name a file in it")),
    ],
)
def test_errors_for_people_are_short_lines(args: tuple[str, ...], words: tuple[str, ...], tmp_path: Path) -> None:
    done = oneday(*args, ONEDAY_HOME=str(tmp_path), LANG="C", LC_ALL="C")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) <= 3
    for word in words:
        assert word in done.stderr


def test_a_name_outside_the_code_page_does_not_end_the_program(tmp_path: Path) -> None:
    done = oneday("read", "表 📊.csv", ONEDAY_HOME=str(tmp_path), PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert "There is no file" in done.stderr and "Traceback" not in done.stderr


def test_a_bug_leaves_a_report(tmp_path: Path) -> None:
    broken = (
        "import engine.cli, sys; engine.cli.COMMANDS['read'] = ('engine.commands.nowhere:x', '');"
        "sys.argv = ['oneday', 'read', 'token=hunter2hunter2']; engine.cli.main()"
    )
    env = {**os.environ, "ONEDAY_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", broken], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    (report,) = (tmp_path / "data" / "crashes").iterdir()
    assert str(report) in done.stderr
    text = report.read_text(encoding="utf-8")
    assert "ModuleNotFoundError" in text and "hunter2" not in text and "command   read" in text
