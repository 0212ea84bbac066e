"""What the engine itself costs in a step, at the beginning and after a hundred steps.

    python tests/bench/step_overhead.py

Plays a run of 110 script steps and prints the overhead of a step (its time without model, tools, disk syncs and
checks) around step 10 and around step 100, their ratio, and the share of the whole run. Ends with status 1 if the
ratio is above 1.2.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import statistics
import tempfile
from pathlib import Path

from engine.app import open_engine
from engine.protocol.events import Envelope, Event, ModelCalled
from engine.protocol.tasks import Mode, TaskRequest

STEPS = 110
WINDOW_STEPS = 9
TARGET = 1.2
OTHERS = ("model", "tools", "disk", "checks")
PROFILE = 'extends = "scripted"\nwindow = 131072\ntools = ["read_file", "python_interpreter"]\n'


def replies() -> list[str]:
    """Steps that differ, so that loop control keeps quiet; every tenth writes a file."""
    found = []
    for number in range(STEPS):
        lines = [f"print('step {number} of the run', {number} * 7)"]
        if number % 10 == 0:
            lines.append(f"open('part.txt', 'w').write('{number}')")
        found.append("```python\n" + "\n".join(lines) + "\n```")
    return [*found, json.dumps({"tool": "finish", "arguments": {"answer": "done", "files": []}})]


async def measure(folder: Path) -> list[dict[str, float]]:
    """Seconds since the start by kind, at the beginning of each step and at the end."""
    os.environ["ONEDAY_HOME"] = str(folder / "home")
    profiles = folder / "home" / "data" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "steps.toml").write_text(PROFILE, encoding="utf-8")
    (folder / "replies.json").write_text(json.dumps(replies()), encoding="utf-8")
    engine = await open_engine(script=folder / "replies.json")
    marks: list[dict[str, float]] = []
    try:
        request = TaskRequest(text="Work.", out_dir=str(folder / "out"), mode=Mode.DIRECT, profile="steps")
        handle = await engine.start(request)

        def on_event(_envelope: Envelope, event: Event) -> None:
            if isinstance(event, ModelCalled):
                marks.append(handle.seconds())

        handle.subscribe(on_event, lambda _: None)
        ended = await handle.result()
        marks.append(ended.seconds)
    finally:
        await engine.aclose()
    return marks


def overheads(marks: list[dict[str, float]]) -> list[float]:
    """Seconds of each step that are nobody else's."""
    own = [mark["total"] - sum(mark[kind] for kind in OTHERS) for mark in marks]
    return [after - before for before, after in itertools.pairwise(own)]


def around(values: list[float], step: int) -> float:
    half = WINDOW_STEPS // 2
    return statistics.median(values[step - 1 - half : step + half])


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="step-overhead-") as folder:
        marks = asyncio.run(measure(Path(folder)))
    own = overheads(marks)
    early, late = around(own, 10), around(own, 100)
    last = marks[-1]
    print(f"steps               {len(own)}")
    print(f"overhead at step 10   {early * 1000:7.2f} ms")
    print(f"overhead at step 100  {late * 1000:7.2f} ms")
    print(f"ratio                 {late / early:7.2f}   (target {TARGET})")
    print(f"whole run             {last['total']:7.2f} s: " + ", ".join(f"{kind} {last[kind]:.2f}" for kind in OTHERS))
    print(f"share of overhead     {sum(own) / last['total']:7.1%}")
    return 0 if late / early <= TARGET else 1


if __name__ == "__main__":
    raise SystemExit(main())
