"""One run on the real, smallest local model: what must hold whether or not it succeeds."""

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


@pytest.mark.model
@pytest.mark.processes
@pytest.mark.timeout(400)
def test_a_small_model_ends_and_never_claims_a_wrong_result(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(tmp_path / "data")}
    out = tmp_path / "out"
    before = SAMPLE.read_bytes()
    argv = [sys.executable, "-m", "engine.cli", "run", REQUEST, "--attach", str(SAMPLE), "--out", str(out), "--json"]
    done = subprocess.run(
        [*argv, "--profile", "cpu-tiny", "--budget", "3m"], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1, 3), done.stderr
    assert "Traceback" not in done.stderr
    ended = json.loads(done.stdout.splitlines()[-1])["body"]
    assert ended["type"] == "RunEnded"
    assert SAMPLE.read_bytes() == before
    if ended["status"] == "verified":
        assert _totals(out / "totals.csv") == _totals(SAMPLE)


def _totals(path: Path) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["region"]] += float(row["amount"])
    return {region: round(amount, 1) for region, amount in found.items()}
