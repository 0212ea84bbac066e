from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.journal import Journal
from engine.protocol.errors import UserError
from engine.protocol.events import Delivered, Event, MessageAdded, RunCreated, RunEnded
from engine.protocol.tasks import TaskRequest
from engine.runfolder import RunFolder, new_run_id
from engine.runs_index import RunsIndex
from engine.system.clock import ManualClock
from engine.system.spawn import spawn

HELPER = Path(__file__).with_name("journal_helper.py")
ROOT = Path(__file__).parents[2]


async def run_of(runs: Path, clock: ManualClock, *events: Event) -> RunFolder:
    folder = RunFolder.create(runs, clock)
    journal = await Journal.open(folder.journal, folder.run_id, folder.blobs, clock)
    for event in events:
        await journal.append(event)
    await journal.aclose()
    clock.advance(60)
    return folder


def test_ids_sort_by_time() -> None:
    clock = ManualClock()
    ids = []
    for _ in range(20):
        ids.append(new_run_id(clock))
        clock.advance(1)
    assert ids == sorted(ids) and len(set(ids)) == 20 and len(ids[0]) == 18


async def test_the_list_is_read_from_the_folders(tmp_path: Path) -> None:
    runs, clock = tmp_path / "runs", ManualClock()
    assert RunsIndex(runs).list() == ()
    created = RunCreated(request=TaskRequest(text="Sum   the\nsales " + "x" * 200))
    first = await run_of(runs, clock, created, Delivered(files={"a.csv": "/out/a.csv"}), RunEnded(status="verified"))
    second = await run_of(runs, clock, created, MessageAdded(dialogue="d", role="user", content="x"))
    broken = await run_of(runs, clock, created)
    broken.journal.write_bytes(b"garbage" * 1000)
    empty = RunFolder.create(runs, clock)
    (runs / "stray file").write_text("x")
    index = RunsIndex(runs)
    found = {run.run_id: run for run in index.list()}
    assert [run.run_id for run in index.list() if run.status != "corrupt"] == [second.run_id, first.run_id]
    assert found[first.run_id].status == "verified" and found[first.run_id].deliverables == ("/out/a.csv",)
    assert found[first.run_id].title.startswith("Sum the sales xxx") and len(found[first.run_id].title) == 80
    assert found[second.run_id].status == "open"
    assert found[broken.run_id].status == "corrupt" and "damaged" in found[broken.run_id].problem
    assert found[empty.run_id].status == "corrupt" and found[empty.run_id].problem
    assert index.state(first.run_id[-4:]).status == "verified"
    assert len(index.events(second.run_id)) == 2
    journal = await Journal.open(second.journal, second.run_id, second.blobs, clock)
    await journal.append(RunEnded(status="paused"))
    assert index.show(second.run_id).status == "paused"
    await journal.aclose()


async def test_runs_are_found_by_beginnings(tmp_path: Path) -> None:
    clock = ManualClock()
    one = RunFolder.create(tmp_path, clock)
    clock.advance(3600)
    two = RunFolder.create(tmp_path, clock)
    index = RunsIndex(tmp_path)
    assert index.find(one.run_id[:13]).run_id == one.run_id
    assert index.find(two.run_id).run_id == two.run_id
    tail = two.run_id[-4:]
    if not one.run_id.endswith(tail):
        assert index.find(tail).run_id == two.run_id
    for start, key in ((one.run_id[:6], "run.ambiguous"), ("zzz-none", "run.unknown"), ("", "run.unknown")):
        with pytest.raises(UserError) as caught:
            index.find(start)
        assert caught.value.key == key
    for name in ("..", "a/b", "none"):
        with pytest.raises(UserError):
            RunFolder.open(tmp_path, name)
    assert RunFolder.open(tmp_path, one.run_id).root == one.root


async def test_no_place_for_runs_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError) as caught:
        RunFolder.create(tmp_path / "file" / "runs", ManualClock())
    assert caught.value.key == "runs.unwritable"


@pytest.mark.processes
async def test_a_second_engine_is_told_who_holds_the_run(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, ManualClock())
    run = f"runpy.run_path({str(HELPER)!r}, run_name='__main__')"
    argv = [sys.executable, "-c", f"import sys, runpy; sys.path.insert(0, {str(ROOT)!r}); {run}"]
    child = await spawn([*argv, "lock", str(folder.root)])
    assert await child.stdout.readline() == b"held\n"
    with pytest.raises(UserError) as caught:
        async with folder.lock():
            raise AssertionError("two engines hold one run")
    assert str(child.pid) in str(caught.value) and folder.run_id in str(caught.value)
    await child.stop(grace_s=0.0)
    async with folder.lock():
        pass
