from __future__ import annotations

import asyncio
import os
import sys
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.protocol.documents import ReadOptions
from engine.protocol.errors import ModelError, UserError
from tools.documents.jobs import JOBS, find_job
from tools.documents.pool import DocumentPool
from tools.sandbox.bubblewrap import BubblewrapSandbox, find_bubblewraps
from tools.sandbox.unconfined import UnconfinedSandbox

pytestmark = pytest.mark.processes


def make_pool(tmp_path: Path, workspace: Path, **more: object) -> DocumentPool:
    programs = find_bubblewraps(tmp_path)
    sandbox = BubblewrapSandbox(programs[0]) if programs else UnconfinedSandbox()
    return DocumentPool(
        sandbox,
        readable=(workspace,),
        scratch=tmp_path / "scratch",
        log=tmp_path / "log",
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
async def pool(tmp_path: Path, workspace: Path) -> AsyncIterator[DocumentPool]:
    async with make_pool(tmp_path, workspace) as pool:
        yield pool


@pytest.mark.parametrize("name", ['it\'s “quoted” "x".csv', "销售 表.csv", "🎉 party.csv", "a b.csv"])
async def test_names_of_all_kinds(pool: DocumentPool, workspace: Path, name: str) -> None:
    (workspace / name).write_text("region,amount\nN,1.5\nS,2\n")
    reading = await pool.read(workspace / name)
    assert reading.problem == ""
    assert f"{name}: 2 rows, 2 columns" in reading.text


async def test_problems_are_typed(pool: DocumentPool, workspace: Path, tmp_path: Path) -> None:
    (workspace / "empty.csv").touch()
    (workspace / "cut.xlsx").write_bytes(b"PK\x03\x04 cut in the middle")
    (workspace / "noise.bin").write_bytes(bytes(range(256)) * 8)
    (tmp_path / "outside.txt").write_text("secret")
    problems = {
        name: (await pool.read(workspace / name)).problem
        for name in ("missing.csv", ".", "empty.csv", "cut.xlsx", "noise.bin", "../outside.txt")
    }
    assert problems == {
        "missing.csv": "missing",
        ".": "folder",
        "empty.csv": "empty",
        "cut.xlsx": "corrupt",
        "noise.bin": "unsupported",
        "../outside.txt": "unreadable",
    }
    assert (await pool.profile(workspace / "empty.csv")).problem == "empty"


async def test_a_link_does_not_lead_out(pool: DocumentPool, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    (workspace / "inside.txt").symlink_to(tmp_path / "outside.txt")
    assert (await pool.read(workspace / "inside.txt")).problem == "unreadable"


async def test_too_large_before_it_is_opened_and_the_head_of_a_huge_table(pool: DocumentPool, workspace: Path) -> None:
    for name in ("huge.xlsx", "huge.csv"):
        with (workspace / name).open("wb") as file:
            file.write(b"a,b\n1,2\n")
            file.truncate(2 << 30)
    assert (await pool.read(workspace / "huge.xlsx")).problem == "too_large"
    with (workspace / "big.csv").open("wb") as file:
        file.write(b"name,amount\n")
        line = b"abcdefgh,12345.5\n"
        file.write(line * (100_000_000 // len(line)))
    reading = await pool.read(workspace / "big.csv")
    assert f"about {100_000_000 // len(line)} rows" in reading.text
    assert "amount (number" in reading.text


async def test_a_job_over_its_time_is_stopped_and_the_next_one_runs(tmp_path: Path, workspace: Path) -> None:
    (workspace / "long.csv").write_text("a,b,c,d\n" + "1,x,2024-01-01,y\n" * 1_000_000)
    (workspace / "good.txt").write_text("hello")
    async with make_pool(tmp_path, workspace, job_timeout_s=0.3) as pool:
        await pool.warm()
        reading = await pool.read(workspace / "long.csv")
        assert (reading.problem, reading.detail) == ("timeout", "Reading took too long and was stopped. (limit 0.3 s)")
        assert (await pool.profile(workspace / "long.csv")).problem == "timeout"
        assert len(pool._all) == 0
    async with make_pool(tmp_path, workspace) as pool:
        assert (await pool.read(workspace / "good.txt")).text == "hello"


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
async def test_what_is_no_ordinary_file_is_not_opened(pool: DocumentPool, workspace: Path) -> None:
    os.mkfifo(workspace / "never.txt")
    assert (await pool.read(workspace / "never.txt")).problem == "unsupported"
    params = {"path": str(workspace / "never.txt"), "target": str(pool.scratch / "x"), "old": "a", "new": "b"}
    with pytest.raises(ModelError, match="not an ordinary file"):
        await pool.job("edit_text", params | {"replace_all": False})


async def test_a_killed_worker_is_replaced(pool: DocumentPool, workspace: Path) -> None:
    (workspace / "a.txt").write_text("hello")
    assert (await pool.read(workspace / "a.txt")).text == "hello"
    for worker in pool._all:
        await worker.child.stop(grace_s=0)
    assert (await pool.read(workspace / "a.txt")).problem == "corrupt"
    assert (await pool.read(workspace / "a.txt")).text == "hello"


async def test_at_most_two_workers(pool: DocumentPool, workspace: Path) -> None:
    (workspace / "a.txt").write_text("hello")
    readings = await asyncio.gather(*(pool.read(workspace / "a.txt") for _ in range(12)))
    assert [reading.text for reading in readings] == ["hello"] * 12
    assert len(pool._all) <= 2


async def test_cancelled_job_leaves_a_working_pool(pool: DocumentPool, workspace: Path) -> None:
    (workspace / "a.txt").write_text("hello")
    await pool.warm()
    task = asyncio.create_task(pool.read(workspace / "a.txt"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await pool.read(workspace / "a.txt")).text == "hello"


async def test_workers_cannot_write_to_the_workspace(pool: DocumentPool, workspace: Path) -> None:
    if not pool._sandbox.confines:
        pytest.skip("no sandbox here")
    params = {"content": "x", "target": str(workspace / "x.txt")}
    with pytest.raises(ModelError):
        await pool.job("write", params)
    assert os.listdir(workspace) == []  # noqa: PTH208


async def test_zip_bomb(pool: DocumentPool, workspace: Path) -> None:
    with zipfile.ZipFile(workspace / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("xl/workbook.xml", b"\0" * (100 << 20))
    assert (await pool.read(workspace / "bomb.xlsx")).problem == "too_large"


async def test_unknown_job_and_no_worker(pool: DocumentPool, tmp_path: Path, workspace: Path) -> None:
    with pytest.raises(ModelError, match="no document job"):
        await pool.job("nonsense", {})
    (workspace / "a.txt").write_text("hello")
    async with DocumentPool(
        UnconfinedSandbox(), readable=(workspace,), scratch=tmp_path / "s2", memory_bytes=1 << 20
    ) as starved:
        with pytest.raises(UserError) as caught:
            await starved.read(workspace / "a.txt", ReadOptions())
    assert caught.value.key == "documents.no_worker"


async def test_nothing_is_left_running(tmp_path: Path, workspace: Path) -> None:
    (workspace / "a.txt").write_text("hello")
    async with make_pool(tmp_path, workspace) as pool:
        await pool.read(workspace / "a.txt")
        children = [worker.child for worker in pool._all]
    assert children
    assert all(child.returncode is not None for child in children)


def test_every_own_job_can_be_imported() -> None:
    for name, place in JOBS.items():
        if not place.startswith(("tools.inspectors", "tools.checks")):
            assert callable(find_job(name))
