"""The report beside the files: what was checked, what was not, and what it took. Markdown, written for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.protocol.ledger import Ledger
from engine.protocol.messages import Usage
from engine.protocol.plan import Checkpoint
from engine.protocol.verdicts import Defect, Evidence, RequirementVerdict, Verdict

MARKS = {"pass": "✓", "fail": "✗", "unknown": "?"}
SAYS = {"pass": "holds", "fail": "does not hold", "unknown": "could not be checked"}


def render_report(
    *,
    request: str,
    answer: str,
    files: Sequence[str],
    ledger: Ledger,
    verdict: Verdict | None,
    checkpoints: Sequence[Checkpoint],
    notes: Sequence[str],
    seconds: float,
    usage: Mapping[str, Usage],
) -> str:
    """Write the report.

    Args:
        request: the person's words.
        answer: the answer.
        files: names of the delivered files.
        ledger: what was asked.
        verdict: the last verification; None in a mode without one.
        checkpoints: how the subtasks ended.
        notes: warnings and defaults that were taken.
        seconds: active time.
        usage: tokens by role.
    """
    calls = sum(one.calls for one in usage.values())
    parts = [
        "# Report",
        f"**Request:** {request.strip()}",
        f"**Answer:** {answer.strip() or 'none'}",
        "**Files:** " + (", ".join(f"`{name}`" for name in files) or "none"),
        _checked(ledger, verdict),
        _section("Faults found", [_fault(defect.code, defect.evidence, defect.fatal) for defect in _defects(verdict)]),
        _section(
            "Steps that failed", [f"{one.subtask_id}: {one.problem}" for one in checkpoints if one.status != "done"]
        ),
        _section("Good to know", list(notes)),
        f"_{seconds / 60:.1f} minutes, {calls} calls of the model._",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def headline(verdict: Verdict | None) -> str:
    """One line about how far the result can be trusted."""
    if verdict is None:
        return "Unverified: this mode does not check the result."
    if verdict.verified:
        return f"Verified: {verdict.reason}"
    return f"Not verified: {verdict.reason}"


def _checked(ledger: Ledger, verdict: Verdict | None) -> str:
    lines = [f"## What was checked\n\n{headline(verdict)}"]
    if verdict is None:
        return lines[0]
    by_id = {item.requirement_id: item for item in verdict.items}
    for requirement in ledger.items:
        item = by_id.get(requirement.id)
        if item is not None:
            lines.append(_item(requirement.text, item))
    return "\n".join([lines[0], "", *lines[1:]])


def _item(text: str, item: RequirementVerdict) -> str:
    said = "; ".join(_place(evidence) for evidence in item.evidence[:3])
    return f"- {MARKS[item.status]} {text} ({SAYS[item.status]})" + (f": {said}" if said else "")


def _place(evidence: Evidence) -> str:
    where = " ".join(part for part in (evidence.file, evidence.where) if part)
    return f"{where}: {evidence.says}" if where and evidence.says else where or evidence.says


def _fault(code: str, evidence: Evidence, fatal: bool) -> str:
    return f"{'serious' if fatal else 'small'}: {_place(evidence) or code}"


def _defects(verdict: Verdict | None) -> tuple[Defect, ...]:
    return () if verdict is None else verdict.defects


def _section(title: str, lines: Sequence[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""
