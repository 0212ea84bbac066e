"""Kills a run with SIGKILL at random moments, resumes it, and looks at what is left.

    python tests/bench/kill_runs.py --times 20 --seed 1
    python tests/bench/kill_runs.py --each-event

With ``--each-event`` the engine dies after its first event, in another run after its second, and so on.

Prints one line a kill. Ends with status 1 if a result is wrong, doubled or missing, an attachment was changed, or a
process of the run was still there three seconds after the kill.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import hashlib
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import psutil

ROOT = Path(__file__).resolve().parents[2]
REQUEST = "Add up the amount for each region and save the totals as totals.csv with the columns region and amount."
ORDERS = "region,item,amount\nNorth,apple,10.5\nSouth,pear,4\nNorth,plum,1.25\nEast,apple,7\n"
TOTALS = {"North": 11.75, "South": 4.0, "East": 7.0}
LEFT_AFTER_S = 3.0


def python(*lines: str) -> str:
    return "```python\n" + "\n".join(lines) + "\n```"


GROUP = 'table = pd.read_csv("orders.csv").groupby("region", as_index=False)["amount"].sum()'
REPLIES = [
    '{"tool": "read_file", "arguments": {"files": ["orders.csv"]}}',
    python("import time", 'open("notes.tmp", "a").write("once\\n")', "time.sleep(0.3)", "print('noted')"),
    {"text": python("print(open('notes.tmp').read().count('once'))"), "delay_s": 0.3},
    python("import pandas as pd", GROUP, 'table[:2].to_csv("totals.csv", index=False)', "print(table)"),
    python("import time, pandas as pd", GROUP, "time.sleep(0.3)", 'table.to_csv("totals.csv", index=False)'),
]


class Kill(msgspec.Struct, kw_only=True):
    """One kill: when, where the run was, how often it was resumed, how many processes were ended, what was wrong."""

    at_s: float
    stage: str = "not begun"
    resumes: int = 0
    children: int = 0
    left: int = 0
    fault: str = ""


class Desk:
    """Runs the command line in a home of its own.

    Args:
        folder: an empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.folder = folder
        self.orders = folder / "orders.csv"
        self.orders.write_text(ORDERS, encoding="utf-8")
        self.script = folder / "replies.json"
        self.script.write_text(json.dumps(REPLIES), encoding="utf-8")
        self._env = {**os.environ, "ONEDAY_HOME": str(self.home), "PYTHONPATH": str(ROOT)}

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "engine.cli", *args, "--script", str(self.script), "--json"]
        with (self.folder / "log.txt").open("ab") as log:
            return subprocess.Popen(argv, env=self._env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)

    def begin(self, out: Path) -> subprocess.Popen[bytes]:
        return self.start(
            "run", REQUEST, "--attach", str(self.orders), "--out", str(out), "--mode", "verify", "--profile", "scripted"
        )

    def begin_to_die(self, out: Path, after_seq: int) -> subprocess.Popen[bytes]:
        """A run whose process ends itself, without any clearing up, when that event was told."""
        argv = [sys.executable, __file__, "--die-after", str(after_seq), str(self.script), str(self.orders), str(out)]
        return subprocess.Popen(argv, env=self._env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

    def runs(self) -> set[str]:
        folder = self.home / "data" / "runs"
        return {path.name for path in folder.iterdir() if path.is_dir()} if folder.is_dir() else set()

    def processes(self, root: int) -> list[psutil.Process]:
        """What the run started: the tree below its process, and whatever names a file of this home."""
        found = {}
        for process in [*psutil.Process(root).children(recursive=True), *psutil.process_iter()]:
            try:
                if process.pid not in (root, os.getpid()) and str(self.home) in " ".join(process.cmdline()):
                    found[process.pid] = process
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        return [*found.values()]


def fault_of(desk: Desk, out: Path, status: int, attached: str) -> str:
    """What is wrong with a run that has ended; empty if nothing is."""
    if hashlib.sha256(desk.orders.read_bytes()).hexdigest() != attached:
        return "the attachment was changed"
    if status != 0:
        return f"status {status}"
    names = sorted(path.name for path in out.iterdir())
    if names != ["oneday-report.md", "totals.csv"]:
        return f"delivered {names}"
    with (out / "totals.csv").open(encoding="utf-8", newline="") as file:
        totals = {row["region"]: float(row["amount"]) for row in csv.DictReader(file)}
    return "" if totals == TOTALS else f"totals {totals}"


def stage_of(output: bytes) -> str:
    """The last event that was told before the kill."""
    lines = [line for line in output.split(b"\n") if line.endswith(b"}")]
    return json.loads(lines[-1])["type"] if lines else "not begun"


def kill_once(desk: Desk, out: Path, at_s: float) -> Kill:
    """Begin a run, kill it after `at_s` seconds, and resume it until it is over."""
    attached = hashlib.sha256(desk.orders.read_bytes()).hexdigest()
    before = desk.runs()
    process = desk.begin(out)
    time.sleep(at_s)
    known = desk.processes(process.pid) if process.poll() is None else []
    process.kill()
    output, _ = process.communicate()
    kill = Kill(at_s=at_s, stage=stage_of(output), children=len(known))
    _, alive = psutil.wait_procs(known, timeout=LEFT_AFTER_S)
    kill.left = len(alive)
    status = process.returncode
    if status < 0:
        status = resume(desk, out, desk.runs() - before, kill)
    kill.fault = fault_of(desk, out, status, attached) or (f"{kill.left} processes left" if kill.left else "")
    return kill


def die_at_each_event(desk: Desk, folder: Path) -> list[Kill]:
    """Let runs die after their first, second, … event, until one gets to its end."""
    attached = hashlib.sha256(desk.orders.read_bytes()).hexdigest()
    kills = []
    for number in itertools.count(1):
        out = folder / f"event {number}"
        before = desk.runs()
        process = desk.begin_to_die(out, number)
        output, _ = process.communicate()
        if process.returncode == 0:
            return kills
        kill = Kill(at_s=0.0, stage=output.decode().strip())
        status = resume(desk, out, desk.runs() - before, kill)
        over = kill.stage == "RunEnded"  # nothing was left to resume
        kill.fault = fault_of(desk, out, 0 if over else status, attached)
        kills.append(kill)
        print(f"{number:3}  died after {kill.stage:16} {kill.resumes} resumed: {kill.fault or 'right'}", flush=True)
    raise AssertionError("unreachable")


async def run_and_die(after_seq: int, script: Path, orders: Path, out: Path) -> None:
    """The process of `Desk.begin_to_die`."""
    from engine.app import open_engine
    from engine.protocol.events import Envelope, Event
    from engine.protocol.tasks import Mode, TaskRequest

    def on_event(envelope: Envelope, event: Event) -> None:
        if envelope.seq >= after_seq:
            os.write(1, type(event).__name__.encode())
            os._exit(137)

    engine = await open_engine(script=script)
    request = TaskRequest(
        text=REQUEST, attachments=(str(orders),), out_dir=str(out), mode=Mode.VERIFY, profile="scripted"
    )
    handle = await engine.start(request)
    handle.subscribe(on_event, lambda _: None)
    await handle.result()
    await engine.aclose()


def resume(desk: Desk, out: Path, new: set[str], kill: Kill) -> int:
    """Go on with the run that was killed; one that had not begun is begun anew."""
    for run_id in new:
        again = desk.start("runs", "resume", run_id, "--yes")
        output, _ = again.communicate()
        if again.returncode != 1 or output:
            kill.resumes += 1
            return again.returncode
        if out.is_dir() and (out / "oneday-report.md").exists():
            return 0  # it was over; only its process was still ending
    fresh = desk.begin(out)
    fresh.communicate()
    return fresh.returncode


def measure(times: int, seed: int) -> list[Kill]:
    """Kill so many runs, spread over the length of a whole one."""
    draw = random.Random(seed)
    kills = []
    with tempfile.TemporaryDirectory(prefix="kill-runs-") as folder:
        desk = Desk(Path(folder))
        desk.begin(Path(folder) / "warm").communicate()
        started = time.monotonic()
        whole = desk.begin(Path(folder) / "whole")
        whole.communicate()
        length_s = time.monotonic() - started
        print(f"A whole run takes {length_s:.1f} s and ends with status {whole.returncode}.", flush=True)
        for number in range(times):
            # One moment in each part of the run, so that few kills too reach all its stages.
            at_s = 0.3 + (length_s - 0.3) * (number + draw.random()) / times
            kill = kill_once(desk, Path(folder) / f"out {number}", at_s)
            kills.append(kill)
            print(
                f"{number + 1:3}  killed at {kill.at_s:5.2f} s after {kill.stage:16} {kill.children} processes ended, "
                f"{kill.resumes} resumed: {kill.fault or 'right'}",
                flush=True,
            )
        if any(kill.fault for kill in kills):
            print((Path(folder) / "log.txt").read_text("utf-8")[-4000:], file=sys.stderr)
    return kills


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each-event", action="store_true", help="die after each event instead")
    parser.add_argument("--die-after", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.die_after:
        after_seq, script, orders, out = arguments.die_after
        asyncio.run(run_and_die(int(after_seq), Path(script), Path(orders), Path(out)))
        return 0
    if arguments.each_event:
        with tempfile.TemporaryDirectory(prefix="kill-runs-") as folder:
            kills = die_at_each_event(Desk(Path(folder)), Path(folder))
    else:
        kills = measure(arguments.times, arguments.seed)
    wrong = [kill for kill in kills if kill.fault]
    print(f"{len(kills) - len(wrong)} of {len(kills)} right, {sum(kill.left for kill in kills)} processes left")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
