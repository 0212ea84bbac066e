"""Clauses of the request → requirements → checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.clauses import split_clauses
from engine.protocol.documents import FileProfile, Proposal, RequestView
from engine.protocol.ledger import Check, Clause, Ledger, Requirement

Proposer = Callable[[RequestView], list[Proposal]]


def build_ledger(text: str, files: Sequence[FileProfile], propose: Proposer) -> Ledger:
    """Make the requirement ledger of a request.

    Args:
        text: the request, verbatim.
        files: facts of the attachments.
        propose: gives the named checks that the words and the files allow (``tools/checks``).

    Returns:
        One requirement for each clause that asks for something or that a check accounts for. An item passes by its
        checks only if one of them settles the clause; partial checks can only fail it.
    """
    clauses = split_clauses(text)
    proposals = propose(RequestView(text=text, clauses=clauses, files=tuple(files)))
    items: list[Requirement] = []
    for clause in clauses:
        mine = [proposal for proposal in proposals if clause.index in proposal.clauses]
        if mine or clause.asks:
            items.append(_requirement(f"R{len(items) + 1}", clause, mine))
    general = [proposal for proposal in proposals if not proposal.clauses]
    if general:
        whole = Clause(index=len(clauses), text="The result agrees with the files it was made from")
        items.append(_requirement(f"R{len(items) + 1}", whole, general))
    return Ledger(items=tuple(items))


def _requirement(identity: str, clause: Clause, proposals: Sequence[Proposal]) -> Requirement:
    settled = any(not proposal.partial for proposal in proposals)
    return Requirement(
        id=identity,
        text=clause.text,
        words=clause.text,
        critical=clause.asks or settled,
        negative=clause.negative,
        checks=_distinct([proposal.check for proposal in proposals]),
        settled=settled,
    )


def _distinct(checks: Sequence[Check]) -> tuple[Check, ...]:
    kept: list[Check] = []
    for check in checks:
        if check not in kept:
            kept.append(check)
    return tuple(kept)


GENERIC = frozenset({"deliverables", "reconcile"})
"""Checks that say nothing the request does not say itself."""


def describe(ledger: Ledger) -> str:
    """The ledger as the model sees it below the request: what the words were understood to mean, item by item.

    The items' own words stand in the request already and are not repeated.
    """
    lines = []
    for item in ledger.items:
        says = " ".join(check.says for check in item.checks if check.says and check.name not in GENERIC)
        if says or item.source != "request":
            lines.append(f"- {item.id}: {says or item.text}")
    return "\n".join(lines)
