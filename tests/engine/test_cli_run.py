"""`oneday run` and `oneday runs` for real: sandbox, journal, checks; only the model plays a script."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "assets" / "samples" / "orders.csv"
REQUEST = "Add up the amount for each region and save the totals as totals.csv with the columns region and amount."
RIGHT = """The totals are computed with pandas.

```python
import pandas as pd
table = pd.read_csv("orders.csv").groupby("region", as_index=False)["amount"].sum().round(2)
table.to_csv("totals.csv", index=False)
print(table)
```"""

FINISH = '{"tool": "finish", "arguments": {"answer": "The totals are in totals.csv.", "files": ["totals.csv"]}}'

pytestmark = pytest.mark.processes


def oneday(home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "ONEDAY_HOME": str(home), "PYTHONPATH": str(ROOT), "LC_ALL": "C"}
    argv = [sys.executable, "-m", "engine.cli", *args]
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def script(folder: Path, *replies: str) -> str:
    path = folder / "replies.json"
    path.write_text(json.dumps(replies), encoding="utf-8")
    return str(path)


def totals(path: Path, name: str) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["region"]] += float(row[name])
    return {region: round(amount, 2) for region, amount in found.items()}


def test_a_run_from_request_to_checked_file(tmp_path: Path) -> None:
    out = tmp_path / "the results 表"
    replies = script(tmp_path, RIGHT)
    args = ("run", REQUEST, "--attach", str(SAMPLE), "--out", str(out), "--mode", "verify", "--script", replies)
    before = SAMPLE.read_bytes()
    done = oneday(tmp_path / "home", *args)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\x1b" not in done.stdout
    for words in (
        "Plan",
        "Running a script",
        "new: totals.csv",
        "Checking the files",
        "Checked:",
        "Done, and checked.",
    ):
        assert words in done.stdout
    assert totals(out / "totals.csv", "amount") == totals(SAMPLE, "amount")
    assert SAMPLE.read_bytes() == before
    listed = oneday(tmp_path / "home", "runs", "list", "--json")
    (line,) = listed.stdout.splitlines()
    run = json.loads(line)
    assert run["status"] == "verified"
    shown = oneday(tmp_path / "home", "runs", "show", run["run_id"])
    assert shown.returncode == 0 and "Done, and checked." in shown.stdout
    over = oneday(tmp_path / "home", "runs", "resume", run["run_id"], "--script", replies)
    assert over.returncode == 1 and "Traceback" not in over.stderr


def test_json_prints_every_event_and_nothing_else(tmp_path: Path) -> None:
    replies = script(tmp_path, RIGHT, FINISH)
    args = ("run", REQUEST, "--attach", str(SAMPLE), "--out", str(tmp_path / "out"), "--mode", "direct", "--json")
    done = oneday(tmp_path / "home", *args, "--script", replies)
    assert done.returncode == 0, done.stdout + done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["type"] == "RunCreated" and events[-1]["type"] == "RunEnded"
    assert all(event["body"]["type"] == event["type"] for event in events)
    assert events[-1]["body"]["status"] == "unverified"


def test_a_missing_model_says_how_to_get_it(tmp_path: Path) -> None:
    done = oneday(tmp_path / "home", "run", REQUEST, "--attach", str(SAMPLE), "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert "is not on this computer" in done.stderr and "oneday models fetch qwen2.5-coder-1.5b" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_missing_attachment_starts_nothing(tmp_path: Path) -> None:
    replies = script(tmp_path, RIGHT)
    done = oneday(tmp_path / "home", "run", REQUEST, "--attach", str(tmp_path / "gone.csv"), "--script", replies)
    assert done.returncode == 1
    assert "gone.csv" in done.stderr and "Traceback" not in done.stderr


def test_read_and_check_real_files(tmp_path: Path) -> None:
    read = oneday(tmp_path, "read", str(SAMPLE))
    assert read.returncode == 0 and "region" in read.stdout
    empty = tmp_path / "empty.csv"
    empty.touch()
    checked = oneday(tmp_path, "check", str(SAMPLE), str(empty), "--json")
    reports = [json.loads(line) for line in checked.stdout.splitlines()]
    assert [report["name"] for report in reports] == ["orders.csv", "empty.csv"]
    assert reports[0].get("defects", []) == [] and checked.returncode == 1


def test_doctor_tells_each_part(tmp_path: Path) -> None:
    done = oneday(tmp_path, "doctor", "--json")
    names = {json.loads(line)["name"] for line in done.stdout.splitlines()}
    assert {"Python", "Confinement of scripts", "Local model", "Keychain", "GPU", "Memory", "Disk"} <= names
    assert done.returncode == 1, "there is no model in a new home"
