"""What checks and judges say about deliverables."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Status = Literal["pass", "fail", "unknown"]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Where to look: a file, a place in it (page, cell, line), and what is there."""

    file: str = ""
    where: str = ""
    says: str = ""


class Defect(msgspec.Struct, frozen=True, kw_only=True):
    """A fault in a deliverable, found by code.

    Attributes:
        code: stable name such as ``"table.columns_lost"``; ``prompts/hints/<code>.md`` holds its fix.
        evidence: where it is.
        fatal: the deliverable cannot be accepted (missing, empty, corrupt, wrong); otherwise a warning.
        params: values for the hint's fields.
    """

    code: str
    evidence: Evidence = Evidence()
    fatal: bool = True
    params: dict[str, Any] = {}


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one named check."""

    status: Status
    evidence: tuple[Evidence, ...] = ()
    defects: tuple[Defect, ...] = ()


class RequirementVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one ledger item holds, who says so (a check or a model judge), and the evidence."""

    requirement_id: str
    status: Status
    by: Literal["check", "judge", "nobody"] = "nobody"
    evidence: tuple[Evidence, ...] = ()


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verifier's answer about all deliverables.

    Attributes:
        completed: nothing critical failed and no deliverable has a fatal defect.
        verified: every critical item *passed*, by a check or a judge that the profile vouches for.
        reason: one or two sentences.
        missing_items: what is missing, in words.
        suggestions: what a repair should do.
        items: one verdict for each requirement.
        defects: everything the inspectors and checks found.
    """

    completed: bool
    verified: bool
    reason: str = ""
    missing_items: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    items: tuple[RequirementVerdict, ...] = ()
    defects: tuple[Defect, ...] = ()
