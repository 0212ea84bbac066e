"""Judges the files themselves against the ledger; a model's word counts only where its precision was measured."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from engine.protocol.documents import CheckFiles, Inspection
from engine.protocol.ledger import Check, Ledger, Requirement
from engine.protocol.ports import Documents
from engine.protocol.verdicts import CheckResult, Defect, Evidence, RequirementVerdict, Verdict
from prompts.loader import hint

TRUSTED_JUDGE_PRECISION = 0.95
"""From here on a judge's "pass" counts; below it, it is only a remark."""

Judge = Callable[[Requirement, Sequence[Inspection]], Awaitable[RequirementVerdict]]


class Verifier:
    """Runs inspectors and checks, then a judge for what code cannot tell.

    Args:
        documents: where files are opened.
        sources: pristine attachments, absolute paths by name.
        judge: asks a model about one requirement; None where the profile vouches for none.
    """

    def __init__(self, documents: Documents, sources: dict[str, str], judge: Judge | None = None) -> None:
        self._documents = documents
        self._sources = sources
        self._judge = judge

    async def verify(
        self, ledger: Ledger, files: Sequence[Path], answer: str, *, by_code_only: bool = False
    ) -> Verdict:
        """Judge the candidate deliverables.

        Args:
            ledger: what was asked.
            files: candidate deliverables.
            answer: the candidate answer text.
            by_code_only: leave the judge out (the quick check at a subtask's boundary).
        """
        inspections = await asyncio.gather(*(self._documents.inspect(path) for path in files))
        results = await self._run_checks(ledger, CheckFiles(
            sources=self._sources, deliverables={path.name: str(path) for path in files}, answer=answer
        ))  # fmt: skip
        items = [self._by_checks(item, results) for item in ledger.items]
        if self._judge is not None and not by_code_only:
            items = [
                await self._judge(requirement, inspections) if verdict.status == "unknown" else verdict
                for requirement, verdict in zip(ledger.items, items, strict=True)
            ]
        defects = _distinct(
            [defect for inspection in inspections for defect in inspection.defects]
            + [defect for result in results.values() for defect in result.defects]
        )
        if not files and not answer.strip():
            defects.append(Defect(code="deliverable.missing"))
        return _conclude(ledger, items, defects)

    async def _run_checks(self, ledger: Ledger, files: CheckFiles) -> dict[str, CheckResult]:
        checks = {_key(check): check for item in ledger.items for check in item.checks}
        results = await asyncio.gather(*(self._documents.check(check, files) for check in checks.values()))
        return dict(zip(checks, results, strict=True))

    @staticmethod
    def _by_checks(item: Requirement, results: dict[str, CheckResult]) -> RequirementVerdict:
        mine = [results[_key(check)] for check in item.checks]
        statuses = {result.status for result in mine}
        evidence = tuple(evidence for result in mine for evidence in result.evidence)
        if "fail" in statuses:
            evidence = tuple(one for result in mine if result.status == "fail" for one in result.evidence)
            return RequirementVerdict(requirement_id=item.id, status="fail", by="check", evidence=evidence)
        if item.settled and statuses == {"pass"}:
            return RequirementVerdict(requirement_id=item.id, status="pass", by="check", evidence=evidence)
        return RequirementVerdict(requirement_id=item.id, status="unknown", evidence=evidence)


def _key(check: Check) -> str:
    return f"{check.name} {sorted(check.params.items())!r}"


def _distinct(defects: Sequence[Defect]) -> list[Defect]:
    kept: list[Defect] = []
    for defect in defects:
        if defect not in kept:
            kept.append(defect)
    return kept


def _conclude(ledger: Ledger, items: Sequence[RequirementVerdict], defects: Sequence[Defect]) -> Verdict:
    texts = {item.id: item for item in ledger.items}
    failed = [item for item in items if item.status == "fail" and texts[item.requirement_id].critical]
    open_items = [item for item in items if item.status == "unknown" and texts[item.requirement_id].critical]
    fatal = [defect for defect in defects if defect.fatal]
    completed = not failed and not fatal
    missing = [f"{texts[item.requirement_id].text}: {_say(item.evidence)}" for item in failed]
    return Verdict(
        completed=completed,
        verified=completed and not open_items and bool(ledger.items),
        reason=_reason(failed, open_items, fatal, len(items)),
        missing_items=tuple(missing),
        suggestions=tuple(dict.fromkeys(fix for fix in map(fix_for, [*fatal, *defects]) if fix)),
        items=tuple(items),
        defects=tuple(defects),
    )


def _reason(
    failed: Sequence[RequirementVerdict], unknown: Sequence[RequirementVerdict], fatal: Sequence[Defect], total: int
) -> str:
    if failed or fatal:
        return f"{len(failed)} of {total} requirements failed; {len(fatal)} serious faults were found in the files."
    if unknown:
        return f"Nothing is known to be wrong, but {len(unknown)} of {total} requirements could not be checked."
    return f"All {total} requirements were checked and hold." if total else "The request named nothing to check."


def _say(evidence: Sequence[Evidence]) -> str:
    return "; ".join(" ".join(part for part in (item.file, item.where, item.says) if part) for item in evidence)


def fix_for(defect: Defect) -> str:
    """The one-line fix of a defect: its hint, with file and place filled in."""
    evidence = defect.evidence
    fields = {"file": evidence.file, "where": evidence.where, "says": evidence.says, **defect.params}
    return hint(defect.code, **fields) or f"{evidence.file} {evidence.where}: {evidence.says or defect.code}".strip()


def badness(verdict: Verdict) -> tuple[int, int]:
    """How bad a result is, for comparing before and after a repair: failed requirements, then fatal defects."""
    failed = sum(item.status == "fail" for item in verdict.items)
    return failed, sum(defect.fatal for defect in verdict.defects)
