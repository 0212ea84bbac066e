from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.protocol.errors import UserError
from engine.system.spawn import spawn
from tools.registry import TOOLS, load_tools

_OURS = ["read_file", "write_to_file", "edit_file", "edit_table", "aggregate_table"]
_ROOT = str(Path(__file__).resolve().parents[3])


def test_tools_carry_the_name_they_are_registered_under() -> None:
    assert [tool.spec.name for tool in load_tools(_OURS)] == _OURS
    assert set(_OURS) < set(TOOLS)


def test_examples_are_valid_arguments() -> None:
    import msgspec

    for tool in load_tools(_OURS):
        msgspec.convert(tool.spec.example, tool.spec.arguments)


def test_unknown_tool() -> None:
    with pytest.raises(UserError, match="no tool called teleport"):
        load_tools(["teleport"])


@pytest.mark.processes
async def test_the_pool_imports_no_parser() -> None:
    code = (
        f"import sys; sys.path.insert(0, {_ROOT!r}); import tools.documents.pool, tools.registry as r; "
        f"r.load_tools({_OURS!r}); "
        "print([m for m in ('openpyxl', 'docx', 'pptx', 'lxml', 'PIL', 'pdfplumber', 'ironcalc', 'pandas') "
        "if m in sys.modules])"
    )
    child = await spawn([sys.executable, "-I", "-c", code], merge_stderr=True)
    assert (await child.stdout.read()).strip() == b"[]"
    await child.wait()
