"""Scores real runs: ``python -m tests.e2e.score --help``. Appends a line a case and continues where it stopped."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import filelock

from engine.system.spawn import spawn
from tests.e2e.bare_loop import bare_loop, command
from tests.e2e.generator import KINDS, Case, make_case
from tests.e2e.judge import judge
from tests.e2e.runlog import RunFacts, read_run

_LINE_BYTES = 64 << 20
UNSEEN = (101, 102, 103)
"""Seeds kept for scoring; develop on 1 to 20."""


def main() -> None:
    """Entry of the command."""
    options = _options().parse_args()
    if not options.table_only:
        # The model fills the machine: a second scoring would spoil the figures of both.
        with filelock.FileLock(Path(tempfile.gettempdir()) / "oneday-score.lock"):
            asyncio.run(_score(options))
    print(tables(_done(options.results)))


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.score", description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(UNSEEN))
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--profile", default="cpu-small")
    parser.add_argument("--budget", default="20m")
    parser.add_argument("--results", type=Path, default=Path("docs/results/e2e.jsonl"))
    parser.add_argument("--keep", type=Path, help="folder for the files of each case; without it they are thrown away")
    parser.add_argument("--only", choices=("ours", "bare"), help="leave the other one out")
    parser.add_argument("--table-only", action="store_true", help="print the tables of what is there, run nothing")
    return parser


async def _score(options: argparse.Namespace) -> None:
    done = {(row["way"], row["kind"], row["seed"], row["mode"], row["profile"]) for row in _done(options.results)}
    ways = [options.only] if options.only else ["ours", "bare"]
    for seed in options.seeds:
        for kind in options.kinds:
            for way in ways:
                mode = options.mode if way == "ours" else "bare"
                if (way, kind, seed, mode, options.profile) in done:
                    continue
                row = {"way": way, "kind": kind, "seed": seed, "mode": mode, "profile": options.profile}
                row |= await _one(options, way, kind, seed)
                _append(options.results, row)
                _tell(row)


def _tell(row: dict[str, Any]) -> None:
    verdict, reasons = _word(row), "; ".join(row["reasons"])
    print(f"{row['way']:5} {row['kind']:12} {row['seed']:4} {verdict} {row['seconds']:6.1f} s {reasons}", flush=True)


async def _one(options: argparse.Namespace, way: str, kind: Any, seed: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="oneday-case-") as scratch:
        root = options.keep / f"{way}-{kind}-{seed}" if options.keep else Path(scratch)
        shutil.rmtree(root, ignore_errors=True)
        source, out = root / "source", root / "out"
        source.mkdir(parents=True)
        out.mkdir()
        case = make_case(kind, seed, source)
        return await (_ours if way == "ours" else _bare)(options, case, out)


async def _ours(options: argparse.Namespace, case: Case, out: Path) -> dict[str, Any]:
    argv = [command(), "run", case.request, "--out", str(out), "--mode", options.mode, "--profile", options.profile]
    argv += ["--budget", options.budget, "--json", "--yes"]
    for path in case.attachments:
        argv += ["--attach", str(path)]
    started = time.monotonic()
    log = out.parent / "stderr.txt"
    child = await spawn(argv, stderr=log, limit_bytes=_LINE_BYTES)
    child.stdin.close()
    output = (await child.stdout.read()).decode("utf-8")
    status = await child.wait()
    seconds = time.monotonic() - started
    (out.parent / "events.jsonl").write_text(output, encoding="utf-8")
    facts = read_run(output.splitlines())
    files = [Path(name) for name in facts.files]
    verdict = judge(case, [path for path in files if path.exists()])
    row = _row(case, verdict.right, [*verdict.reasons], [*verdict.notes], seconds, facts.calls)
    return row | {"exit": status, "verified": facts.status == "verified", **_facts(facts)}


async def _bare(options: argparse.Namespace, case: Case, out: Path) -> dict[str, Any]:
    result = await bare_loop(case.request, case.attachments, out, options.profile)
    verdict = judge(case, result.files)
    notes = [*verdict.notes, result.note]
    return _row(case, verdict.right, [*verdict.reasons], notes, result.seconds, result.calls)


def _row(case: Case, right: bool, reasons: list[str], notes: list[str], seconds: float, calls: int) -> dict[str, Any]:
    return {
        "right": right,
        "reasons": reasons,
        "notes": [note for note in notes if note],
        "seconds": round(seconds, 1),
        "calls": calls,
        "request": case.request,
    }


def _facts(facts: RunFacts) -> dict[str, Any]:
    return {
        "status": facts.status,
        "why": facts.reason,
        "repairs": facts.repairs,
        "prompt_tokens": facts.prompt_tokens,
        "completion_tokens": facts.completion_tokens,
        "evaluated_tokens": facts.evaluated_tokens,
        "new_tokens": round(facts.new_tokens),
        "spent": facts.seconds,
    }


def _done(results: Path) -> list[dict[str, Any]]:
    if not results.exists():
        return []
    return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines() if line.strip()]


def _append(results: Path, row: dict[str, Any]) -> None:
    results.parent.mkdir(parents=True, exist_ok=True)
    with results.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def tables(rows: Iterable[dict[str, Any]]) -> str:
    """The two tables and the prefix-cache ratio as Markdown.

    Args:
        rows: lines of a results file.
    """
    rows = list(rows)
    ours = [row for row in rows if row["way"] == "ours"]
    bare = {(row["kind"], row["seed"], row["profile"]): row for row in rows if row["way"] == "bare"}
    lines = [
        "| kind | seed | ours | seconds | calls | repairs | bare loop | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    shown = set()
    for row in ours:
        key = (row["kind"], row["seed"], row["profile"])
        shown.add(key)
        other = bare.get(key)
        beside = f"{_word(other)} | {other['seconds']}" if other else "– | –"
        work = f"{row['seconds']} | {row['calls']} | {row['repairs']}"
        lines.append(f"| {row['kind']} | {row['seed']} | {_word(row)} | {work} | {beside} |")
    lines += [
        f"| {row['kind']} | {row['seed']} | – | – | – | – | {_word(row)} | {row['seconds']} |"
        for key, row in bare.items()
        if key not in shown
    ]
    lines.append(f"\nSolved: ours {_sum(ours)}, bare loop {_sum(bare.values())}.\n")
    lines += ["| | said verified | said not verified |", "| --- | --- | --- |"]
    for right in (True, False):
        said = [row["verified"] for row in ours if row["right"] is right]
        lines.append(f"| {'right' if right else 'wrong'} | {said.count(True)} | {said.count(False)} |")
    new = sum(row["new_tokens"] for row in ours)
    if new:
        evaluated = sum(row["evaluated_tokens"] for row in ours)
        lines.append(
            f"\nPrefix cache: {evaluated} prompt tokens evaluated, {new} new to the slot: ratio {evaluated / new:.2f}."
        )
    return "\n".join(lines)


def _word(row: dict[str, Any]) -> str:
    return "right" if row["right"] else "wrong"


def _sum(rows: Iterable[dict[str, Any]]) -> str:
    rows = list(rows)
    return f"{sum(row['right'] for row in rows)} of {len(rows)}"


if __name__ == "__main__":
    sys.exit(main())
