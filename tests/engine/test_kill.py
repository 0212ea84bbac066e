"""`kill -9` at random moments; the work is done by ``tests/bench/kill_runs.py``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench" / "kill_runs.py"


@pytest.mark.processes
@pytest.mark.timeout(170)
def test_a_killed_run_is_resumed_to_the_right_result_and_leaves_nothing_behind() -> None:
    argv = [sys.executable, str(BENCH), "--times", "5", "--seed", "7"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 of 5 right, 0 processes left" in done.stdout
