"""Measures the journal: ``python tests/bench/journal_bench.py [FOLDER]`` (a folder on the disk to be measured)."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from engine.blobs import Blobs
from engine.journal import Journal
from engine.journal_store import JournalReader
from engine.protocol.events import MessageAdded, ToolIntended
from engine.state import RunState, fold
from engine.system.clock import SystemClock


def intent(number: int, size: int) -> ToolIntended:
    return ToolIntended(call_id=f"c{number}", dialogue="d", tool="t", arguments={"text": "x" * size}, effect="write")


def message(number: int) -> MessageAdded:
    return MessageAdded(dialogue="d", role="user", content=f"{number} " + "x" * 900)


async def timed(journal: Journal, count: int, size: int) -> str:
    took = []
    for number in range(count):
        started = time.perf_counter()
        await journal.append(intent(number, size))
        took.append(1000 * (time.perf_counter() - started))
    return f"median {statistics.median(took):.2f} ms, 95th percentile {statistics.quantiles(took, n=20)[-1]:.2f} ms"


async def main(folder: Path) -> None:
    blobs, path = Blobs(folder / "blobs"), folder / "journal.sqlite"
    journal = await Journal.open(path, "bench", blobs, SystemClock())
    print("append, waiting for the disk, 1 KB:  ", await timed(journal, 200, 900))
    print("append, waiting for the disk, 20 KB: ", await timed(journal, 100, 20_000))
    started = time.perf_counter()
    for number in range(10_000):
        await journal.append(message(number))
    queued = time.perf_counter() - started
    await journal.flush()
    print(f"append, not waiting, 1 KB:            {queued / 10:.4f} ms each; on disk after {queued:.2f} s")
    print("stats:", journal.stats)
    await journal.aclose()
    reader = JournalReader(path, blobs)
    after = 300
    for label, work in (
        ("raw rows (envelopes)", lambda: sum(1 for _ in reader.envelopes(after))),
        ("decoded events", lambda: sum(1 for _ in reader.read(after))),
        ("decoded and folded", lambda: fold(reader.read(after)).seq),
    ):
        started = time.perf_counter()
        work()
        print(f"10,000 events, {label}: {1000 * (time.perf_counter() - started):.0f} ms")
    pairs = list(reader.read(after))
    state, marks = RunState(), []
    for number, (envelope, event) in enumerate(pairs):
        if number % 1000 == 0:
            marks.append(time.perf_counter())
        state.apply(envelope, event)
    marks.append(time.perf_counter())
    print(
        "fold, microseconds per event, by thousands:", [f"{1000 * (b - a):.2f}" for a, b in itertools.pairwise(marks)]
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as place:
        asyncio.run(main(Path(place)))
