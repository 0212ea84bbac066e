from __future__ import annotations

import asyncio
import random
import sqlite3
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from engine.blobs import Blobs
from engine.journal import Journal
from engine.journal_store import JournalReader
from engine.protocol.errors import UserError
from engine.protocol.events import Envelope, Event, MessageAdded, StageEntered, Steered, ToolIntended, Warned
from engine.system.clock import ManualClock
from engine.system.spawn import Child, spawn

HELPER = Path(__file__).with_name("journal_helper.py")
ROOT = Path(__file__).parents[2]


def message(text: str) -> MessageAdded:
    return MessageAdded(dialogue="d", role="user", content=text)


async def opened(folder: Path, **options: object) -> Journal:
    return await Journal.open(folder / "journal.sqlite", "run-1", Blobs(folder / "blobs"), ManualClock(), **options)  # type: ignore[arg-type]


async def helper(*arguments: str) -> Child:
    start = (
        f"import sys, runpy; sys.path.insert(0, {str(ROOT)!r}); runpy.run_path({str(HELPER)!r}, run_name='__main__')"
    )
    return await spawn([sys.executable, "-c", start, *arguments], stderr=None)


async def test_events_come_back_in_order_and_numbered(tmp_path: Path) -> None:
    journal = await opened(tmp_path)
    written = [message("ä\r\n😀"), Steered(text="go"), message("x" * 10_000), StageEntered(stage="plan")]
    envelopes = [await journal.append(event, subtask_id="task_1", attempt=2) for event in written]
    await journal.aclose()
    again = await opened(tmp_path)
    read = list(again.read())
    await again.aclose()
    assert [event for _, event in read] == written
    assert [envelope for envelope, _ in read] == envelopes
    assert [envelope.seq for envelope in envelopes] == [1, 2, 3, 4]
    assert envelopes[0].subtask_id == "task_1" and envelopes[0].attempt == 2
    assert [event for _, event in again.read(after_seq=3)] == written[3:]
    assert again.last_seq == 4


async def test_long_bodies_are_blobs_and_short_ones_are_not(tmp_path: Path) -> None:
    journal = await opened(tmp_path)
    short = await journal.append(Steered(text="x" * 3000))
    long = await journal.append(Steered(text="x" * 5000))
    await journal.aclose()
    assert msgspec.json.decode(bytes(short.body))["text"] == "x" * 3000
    digest = msgspec.json.decode(bytes(long.body))["blob"]
    assert msgspec.json.decode(Blobs(tmp_path / "blobs").get(digest))["text"] == "x" * 5000


async def test_acknowledged_means_readable_by_others(tmp_path: Path) -> None:
    journal = await opened(tmp_path, linger_s=3600.0)
    await journal.append(message("rides along"))
    reader = JournalReader(tmp_path / "journal.sqlite", Blobs(tmp_path / "blobs"))
    assert list(reader.read()) == []
    await journal.append(Steered(text="waits"))
    assert [type(event).__name__ for _, event in reader.read()] == ["MessageAdded", "Steered"]
    await journal.append(message("flushed"))
    await journal.flush()
    assert reader.last_seq() == 3
    assert journal.stats.commits == 2 and journal.stats.appended == 3
    assert journal.stats.sync_s > 0 and journal.stats.waited_s > 0
    await journal.aclose()


async def test_the_thread_ends_on_close_and_twice_is_fine(tmp_path: Path) -> None:
    journal = await opened(tmp_path)
    assert any(thread.name == "journal run-1" for thread in threading.enumerate())
    await journal.append(message("queued"))
    await journal.aclose()
    await journal.aclose()
    assert not any(thread.name == "journal run-1" for thread in threading.enumerate())
    assert not (tmp_path / "journal.sqlite-wal").exists()
    with pytest.raises(RuntimeError):
        await journal.append(message("late"))
    assert len(list(journal.read())) == 1


async def test_subscribers_hear_past_and_new_in_order(tmp_path: Path) -> None:
    journal = await opened(tmp_path, linger_s=3600.0)
    await journal.append(Steered(text="0"))
    await journal.append(message("1"))  # delivered, but not on disk yet
    heard: list[int] = []
    end = journal.subscribe(lambda envelope, _: heard.append(envelope.seq), after_seq=0)
    assert heard == [1, 2]
    await asyncio.gather(*(journal.append(Steered(text="") if n % 3 else message("")) for n in range(30)))
    assert heard == list(range(1, 33))
    end()
    await journal.append(Steered(text="unheard"))
    assert len(heard) == 32
    await journal.aclose()


async def test_must_sync_is_on_disk_before_a_subscriber_hears_it(tmp_path: Path) -> None:
    journal = await opened(tmp_path)
    reader = JournalReader(tmp_path / "journal.sqlite", Blobs(tmp_path / "blobs"))
    on_disk: list[bool] = []
    journal.subscribe(lambda envelope, _: on_disk.append(reader.last_seq() >= envelope.seq))
    for number in range(5):
        await journal.append(Steered(text=str(number)))
    await journal.aclose()
    assert on_disk == [True] * 5


async def test_a_failing_subscriber_is_reported_and_disturbs_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journal = await opened(tmp_path)
    heard: list[Event] = []

    def broken(_: Envelope, event: Event) -> None:
        raise ZeroDivisionError("broken watcher")

    journal.subscribe(broken)
    journal.subscribe(lambda _, event: heard.append(event))
    await journal.append(Steered(text="1"))
    await journal.append(Steered(text="2"))
    await journal.aclose()
    warned = [event for _, event in journal.read() if isinstance(event, Warned)]
    assert len(warned) == 1 and "broken watcher" in warned[0].text
    assert [event for event in heard if isinstance(event, Steered)] == [Steered(text="1"), Steered(text="2")]
    assert "ZeroDivisionError" in caplog.text


async def test_a_cancelled_caller_does_not_take_the_event_back(tmp_path: Path) -> None:
    journal = await opened(tmp_path)
    task = asyncio.ensure_future(journal.append(Steered(text="kept")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await journal.flush()
    await journal.aclose()
    assert [event for _, event in journal.read()] == [Steered(text="kept")]


async def test_older_bodies_are_lifted(tmp_path: Path) -> None:
    journal = await opened(tmp_path)
    await journal.append(Steered(text="old"))
    await journal.aclose()

    def add_mark(body: dict[str, object]) -> dict[str, object]:
        return {**body, "text": f"{body['text']}+"}

    upcasters = {("Steered", 1): add_mark, ("Steered", 2): add_mark}
    newer = await opened(tmp_path, upcasters=upcasters, versions={"Steered": 3})
    await newer.append(Steered(text="new"))
    await newer.aclose()
    assert [event for _, event in newer.read()] == [Steered(text="old++"), Steered(text="new")]
    gap = await opened(tmp_path, upcasters={("Steered", 1): add_mark}, versions={"Steered": 3})
    with pytest.raises(UserError) as caught:
        list(gap.read())
    await gap.aclose()
    assert caught.value.key == "journal.damaged"


@pytest.mark.parametrize("change", ["type = 'Teleported'", "version = 9"])
async def test_what_is_not_known_opens_read_only(tmp_path: Path, change: str) -> None:
    journal = await opened(tmp_path)
    await journal.append(Steered(text="1"))
    await journal.append(Steered(text="2"))
    await journal.aclose()
    with sqlite3.connect(tmp_path / "journal.sqlite") as connection:
        connection.execute(f"UPDATE events SET {change} WHERE seq = 1")
    connection.close()
    again = await opened(tmp_path)
    assert again.read_only
    assert [event for _, event in again.read()] == [Steered(text="2")]
    heard: list[Event] = []
    again.subscribe(lambda _, event: heard.append(event), after_seq=0)
    assert heard == [Steered(text="2")]
    with pytest.raises(UserError) as caught:
        await again.append(Steered(text="3"))
    assert caught.value.key == "journal.newer"
    await again.aclose()


async def test_damage_is_named_not_guessed_around(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(UserError) as caught:
        await opened(tmp_path)
    assert caught.value.key == "journal.damaged"


async def test_a_gap_and_a_foreign_journal_are_refused(tmp_path: Path) -> None:
    journal = await opened(tmp_path)
    for text in "abc":
        await journal.append(Steered(text=text))
    await journal.aclose()
    with pytest.raises(UserError) as caught:
        await Journal.open(tmp_path / "journal.sqlite", "run-2", Blobs(tmp_path / "blobs"), ManualClock())
    assert caught.value.key == "journal.other_run"
    with sqlite3.connect(tmp_path / "journal.sqlite") as connection:
        connection.execute("DELETE FROM events WHERE seq = 2")
    connection.close()
    with pytest.raises(UserError) as caught:
        await opened(tmp_path)
    assert caught.value.key == "journal.damaged"


@pytest.mark.processes
async def test_kill_loses_nothing_acknowledged(tmp_path: Path) -> None:
    root = tmp_path / "run-k"
    root.mkdir()
    dice = random.Random(5)
    acknowledged = 0
    for _ in range(6):
        child = await helper("write", str(root))
        for _ in range(dice.randrange(1, 40)):
            acknowledged = int(await child.stdout.readline())
        await child.stop(grace_s=0.0)
        rest = (await child.stdout.read()).split()
        acknowledged = int(rest[-1]) if rest else acknowledged
        journal = await Journal.open(root / "journal.sqlite", "run-k", Blobs(root / "blobs"), ManualClock())
        read = list(journal.read())
        await journal.aclose()
        assert [envelope.seq for envelope, _ in read] == list(range(1, len(read) + 1))
        assert len(read) >= acknowledged
        assert isinstance(read[acknowledged - 1][1], ToolIntended)
    assert acknowledged > 6


@pytest.mark.processes
async def test_a_cut_write_ahead_log_keeps_a_clean_beginning(tmp_path: Path) -> None:
    root = tmp_path / "run-w"
    root.mkdir()
    child = await helper("write", str(root))
    for _ in range(30):
        await child.stdout.readline()
    await child.stop(grace_s=0.0)
    log = root / "journal.sqlite-wal"
    data = log.read_bytes()
    log.write_bytes(data[: len(data) * 2 // 3 + 7])
    journal = await Journal.open(root / "journal.sqlite", "run-w", Blobs(root / "blobs"), ManualClock())
    read = list(journal.read())
    assert 0 < len(read) < 61
    assert [envelope.seq for envelope, _ in read] == list(range(1, len(read) + 1))
    assert (await journal.append(Steered(text="on"))).seq == len(read) + 1
    await journal.aclose()


@pytest.mark.processes
@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
async def test_a_full_disk_is_told_and_corrupts_nothing(tmp_path: Path) -> None:
    root = tmp_path / "run-f"
    root.mkdir()
    child = await helper("full", str(root), "400000")
    lines = (await child.stdout.read()).decode().split("\n")
    assert await child.wait() == 0
    numbers = [int(line) for line in lines if line.isdigit()]
    words = [line for line in lines if line and not line.isdigit()]
    assert words in (["journal.disk_full"], ["journal.disk_error"])
    journal = await Journal.open(root / "journal.sqlite", "run-f", Blobs(root / "blobs"), ManualClock())
    read = list(journal.read())
    assert [envelope.seq for envelope, _ in read] == numbers
    assert (await journal.append(Steered(text="room again"))).seq == len(numbers) + 1
    await journal.aclose()
