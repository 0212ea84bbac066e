"""Measure how long ``oneday --help`` takes beside a bare ``python -c pass``.

Run it as a script; it prints the medians in milliseconds and their ratio.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 21


def median_ms(argv: Sequence[str]) -> float:
    """Median wall time of a command in milliseconds, over `ROUNDS` rounds after one to warm up."""
    times = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times[1:])


def main() -> None:
    bare = median_ms([sys.executable, "-c", "pass"])
    bare_help = median_ms([sys.executable, "-m", "engine.cli", "--help"])
    run_help = median_ms([sys.executable, "-m", "engine.cli", "run", "--help"])
    print(f"python -c pass      {bare:7.1f} ms")
    print(f"oneday --help       {bare_help:7.1f} ms  ratio {bare_help / bare:.2f}")
    print(f"oneday run --help   {run_help:7.1f} ms  ratio {run_help / bare:.2f}")


if __name__ == "__main__":
    main()
