from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.protocol.errors import ModelError, UserError
from tools.files.edit_file import EditFile, EditFileArguments
from tools.files.placing import place
from tools.files.read_file import ReadFile, ReadFileArguments
from tools.files.write_to_file import WriteToFile, WriteToFileArguments

pytestmark = pytest.mark.processes


async def edit(context: Any, name: str, old: str, new: str, **more: Any) -> str:
    arguments = EditFileArguments(file_path=name, old_content=old, new_content=new, **more)
    return (await EditFile().run(arguments, context)).text


async def test_several_files_share_the_budget(context: Any) -> None:
    for number in range(4):
        (context.workspace / f"f{number}.txt").write_text("word " * 5000)
    names = [f"f{number}.txt" for number in range(4)]
    result = await ReadFile().run(ReadFileArguments(files=[*names, "gone.txt"]), context)
    assert result.ok and len(result.text) <= context.observation_chars
    assert all(f"=== {name} ===" in result.text for name in names)
    assert "gone.txt cannot be read (missing)" in result.text and "offset=" in result.text
    assert result.trust == "file"


async def test_a_file_that_cannot_be_read_says_why(context: Any) -> None:
    (context.workspace / "e.csv").touch()
    result = await ReadFile().run(ReadFileArguments(files=["e.csv"]), context)
    assert (result.ok, result.code) == (False, "read.empty")
    assert result.text == "e.csv cannot be read (empty): The file is empty (0 bytes)."


async def test_write_reports_what_was_written(context: Any) -> None:
    arguments = WriteToFileArguments(filename="销售 'Q1'.docx", content="# A\n\nSome words here.")
    result = await WriteToFile().run(arguments, context)
    assert result.text.startswith("Wrote 销售 'Q1'.docx: ") and "about 1 page." in result.text
    assert (context.workspace / "销售 'Q1'.docx").read_bytes()[:2] == b"PK"
    assert list(context.documents.scratch.iterdir()) == []


async def test_a_failed_write_keeps_the_old_file(context: Any) -> None:
    old = context.workspace / "a.json"
    old.write_text("{}")
    for content, latex in (("{broken", False), ("{}", True), ("  ", False)):
        with pytest.raises(ModelError):
            await WriteToFile().run(WriteToFileArguments(filename="a.json", content=content, use_latex=latex), context)
    assert old.read_text() == "{}"
    assert [path.name for path in context.workspace.iterdir()] == ["a.json"]


async def test_prose_is_no_table(context: Any) -> None:
    tool = WriteToFile()
    for content in (
        "The largest city is Oslo, with 102 units.\nThe smallest is Bodo, with 8.",
        "# Totals\n\nOslo, 102",
        "Here are the totals:\n- Oslo: 102\n- Bodo: 8",
        "Totals were computed",
        "City, units\nOslo 102\nBodo 8\nBergen 9",
    ):
        for name in ("t.csv", "t.xlsx"):
            with pytest.raises(ModelError, match="aggregate_table") as caught:
                await tool.run(WriteToFileArguments(filename=name, content=content), context)
            assert caught.value.code == "write.no_table"
    for content in ("city,units\nOslo,102\n", "| a | b |\n|---|---|\n| 1 | 2 |", "name\nOslo\nBodo", "#,item\n1,pen\n"):
        await tool.run(WriteToFileArguments(filename="t.csv", content=content), context)
        assert len((context.workspace / "t.csv").read_text().splitlines()) > 1


async def test_a_workbook_made_otherwise_is_not_replaced(context: Any) -> None:
    tool = WriteToFile()
    for name, content in (("a.xlsx", "a,b\n1,2\n"), ("a.docx", "Text.")):
        (context.workspace / name).write_bytes(b"PK as it was")
        arguments = WriteToFileArguments(filename=name, content=content)
        with pytest.raises(ModelError, match="would lose"):
            await tool.run(arguments, context)
        assert (context.workspace / name).read_bytes() == b"PK as it was"
        own = WriteToFileArguments(filename=f"own {name}", content=content)
        for _ in range(2):
            await tool.run(own, context)


async def test_edit_keeps_line_ends_mark_and_encoding(context: Any) -> None:
    path = context.workspace / "a.txt"
    path.write_bytes("one\r\ntwo\r\nthree\r\n".encode("utf-8-sig"))
    assert await edit(context, "a.txt", "one\ntwo", "1\n2\n2b") == "Edited a.txt: 1 place, first in line 1."
    assert path.read_bytes() == "1\r\n2\r\n2b\r\nthree\r\n".encode("utf-8-sig")
    path.write_bytes("北京 上海 广州 是城市".encode("gb18030"))
    await edit(context, "a.txt", "上海", "深圳")
    assert path.read_bytes() == "北京 深圳 广州 是城市".encode("gb18030")


async def test_edit_refuses_what_is_not_clear(context: Any) -> None:
    path = context.workspace / "n.md"
    path.write_text("alpha beta\nalpha gamma\nThe quick brown fox\n")
    with pytest.raises(ModelError, match="2 times") as caught:
        await edit(context, "n.md", "alpha", "x")
    assert caught.value.code == "edit.ambiguous"
    with pytest.raises(ModelError, match="nearest is in line 3:\nThe quick brown fox"):
        await edit(context, "n.md", "The quick brown box", "x")
    with pytest.raises(ModelError, match="the same"):
        await edit(context, "n.md", "beta", "beta")
    assert await edit(context, "n.md", "alpha", "x", replace_all=True) == "Edited n.md: 2 places, first in line 1."
    (context.workspace / "b.docx").write_bytes(b"PK")
    with pytest.raises(ModelError, match="python-docx"):
        await edit(context, "b.docx", "a", "b")
    (context.workspace / "b.txt").write_bytes(bytes(range(256)) * 4)
    with pytest.raises(ModelError, match="not a text file"):
        await edit(context, "b.txt", "a", "b")


@pytest.mark.skipif(sys.platform == "win32", reason="permissions differ")
async def test_placing_that_fails_keeps_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("new")
    target = tmp_path / "folder in the way"
    target.mkdir()
    (target / "x").write_text("old")
    with pytest.raises(UserError, match="unchanged"):
        await place(tmp_path / "new", target)
    assert (target / "x").read_text() == "old"
    assert os.listdir(tmp_path) == ["folder in the way"]  # noqa: PTH208
