"""Measures the checks without a model: right answers must be verified, wrong ones must not.

``python tests/e2e/check_the_checks.py --seeds 1-60 [--kinds brief,chart] [--show]``
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import msgspec

from engine.ledger import build_ledger
from engine.protocol.documents import CheckFiles, FileProfile, Inspection, Reading, ReadOptions
from engine.protocol.ledger import Check, Ledger
from engine.protocol.verdicts import CheckResult, Verdict
from engine.verifier import Verifier
from tests.e2e.generator import KINDS, Case, Kind, make_case
from tests.e2e.judge import judge
from tests.e2e.variants import Variant, variants
from tools.checks.registry import check_job, propose_checks
from tools.inspectors.registry import inspect_job
from tools.readers.registry import profile_job

FIRST_EXAM_SEED = 100
"""From here on the seeds are for the final score and are not looked at while the checks are written."""


class Here:
    """Opens documents in this process; otherwise as the workers do, with plain data in and out."""

    async def profile(self, path: Path) -> FileProfile:
        return profile_job({"path": str(path)})

    async def inspect(self, path: Path) -> Inspection:
        return inspect_job({"path": str(path)})

    async def check(self, check: Check, files: CheckFiles) -> CheckResult:
        plain = msgspec.json.decode(msgspec.json.encode({"check": check, "files": files}))
        return check_job(plain)

    async def read(self, path: Path, options: ReadOptions | None = None) -> Reading:
        raise NotImplementedError(f"The verifier reads nothing itself: {path}")

    @property
    def scratch(self) -> Path:
        raise NotImplementedError("The verifier writes nothing.")

    async def job(self, name: str, params: Mapping[str, Any]) -> Any:
        raise NotImplementedError(f"The verifier starts no job: {name}")


class Outcome(msgspec.Struct, frozen=True):
    """What the checks said of one answer."""

    case: Case
    variant: Variant
    ledger: Ledger
    verdict: Verdict
    seconds: float
    agreed: bool

    @property
    def as_it_should_be(self) -> bool:
        return self.verdict.verified == self.variant.right


async def measure(kind: Kind, seed: int, folder: Path) -> list[Outcome]:
    """Try the checks on one case.

    Args:
        kind: kind of case.
        seed: below `FIRST_EXAM_SEED`.
        folder: an existing folder for its files.
    """
    if seed >= FIRST_EXAM_SEED:
        raise ValueError(f"Seed {seed} is kept for the final score.")
    given = folder / f"{kind}-{seed}"
    given.mkdir(parents=True)
    case = make_case(kind, seed, given)
    documents = Here()
    profiles = [await documents.profile(path) for path in case.attachments]
    ledger = build_ledger(case.request, profiles, propose_checks)
    verifier = Verifier(documents, {path.name: str(path) for path in case.attachments})
    outcomes = []
    for variant in variants(case, given / "answers"):
        start = time.perf_counter()
        verdict = await verifier.verify(ledger, variant.files, "")
        seconds = time.perf_counter() - start
        agreed = not variant.judged or judge(case, variant.files).right == variant.right
        outcomes.append(Outcome(case, variant, ledger, verdict, seconds, agreed))
    return outcomes


def explain(outcome: Outcome) -> str:
    """An outcome in lines for people."""
    texts = {item.id: item for item in outcome.ledger.items}
    head = f"{outcome.case.kind} {outcome.case.seed} [{outcome.variant.name}]"
    lines = [
        f"{head} verified={outcome.verdict.verified} completed={outcome.verdict.completed}",
        f"  {outcome.case.request}",
    ]
    for item in outcome.verdict.items:
        names = ", ".join(check.name for check in texts[item.requirement_id].checks)
        says = "; ".join(e.says for e in item.evidence)[:220]
        settled = "" if texts[item.requirement_id].settled else " OPEN"
        lines.append(f"    {item.status}{settled}: {texts[item.requirement_id].text!r} ({names}) {says}")
    lines += [f"    {'FATAL' if d.fatal else 'note'} {d.code}: {d.evidence.says}" for d in outcome.verdict.defects]
    return "\n".join(lines)


def table(outcomes: Sequence[Outcome]) -> str:
    """Shares of right and wrong answers that were verified, by kind."""
    lines = ["kind         right→verified      wrong→verified     wrong→fail        slowest"]
    for kind in KINDS:
        mine = [outcome for outcome in outcomes if outcome.case.kind == kind]
        right = [o for o in mine if o.variant.right]
        wrong = [o for o in mine if not o.variant.right]
        if not mine:
            continue
        good, bad = sum(o.verdict.verified for o in right), sum(o.verdict.verified for o in wrong)
        failed = sum(not o.verdict.completed for o in wrong)
        lines.append(
            f"{kind:12} {_share(good, len(right)):19} {_share(bad, len(wrong)):18} {_share(failed, len(wrong)):17} "
            f"{max(o.seconds for o in mine):.2f} s"
        )
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} {100 * part / whole:.1f} %" if whole else "-"


async def _all(kinds: Sequence[Kind], seeds: Sequence[int]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            for seed in seeds:
                outcomes += await measure(kind, seed, Path(folder))
    return outcomes


def main() -> int:
    """Measure, print the table and whatever went wrong; 0 if nothing did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="1-60")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--show", type=int, default=40, help="how many failures are shown in full")
    options = parser.parse_args()
    first, _, last = options.seeds.partition("-")
    kinds = [kind for kind in KINDS if kind in options.kinds.split(",")]
    outcomes = asyncio.run(_all(kinds, range(int(first), int(last or first) + 1)))
    faults = [outcome for outcome in outcomes if not outcome.as_it_should_be]
    for outcome in faults[: options.show]:
        print(explain(outcome))
    for kind, name, right in sorted({(o.case.kind, o.variant.name, o.variant.right) for o in outcomes if not o.agreed}):
        print(f"The judge does not agree that {kind} [{name}] is {'right' if right else 'wrong'}.")
    counts = Counter((o.case.kind, o.variant.name, o.variant.right) for o in faults)
    for (kind, name, right), count in sorted(counts.items()):
        print(f"{count:4} × {kind} [{name}], {'right but not verified' if right else 'WRONG BUT VERIFIED'}")
    soft = Counter((o.case.kind, o.variant.name) for o in outcomes if not o.variant.right and o.verdict.completed)
    for (kind, name), count in sorted(soft.items()):
        print(f"{count:4} × {kind} [{name}], wrong and not failed")
    print(table(outcomes))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
