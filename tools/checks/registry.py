"""The door to the checks: what could check a request, and running one check."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

import msgspec

from engine.protocol.documents import CheckFiles, Proposal, RequestView
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult
from tools.checks import (
    chart,
    deliverables,
    facts_from_source,
    group_totals,
    length,
    names_extreme,
    reconcile,
    table_edit,
    total_row,
    unchanged,
)
from tools.checks.base import Offer, unknown
from tools.checks.leftover import backwards, leftover
from tools.checks.reading import adopt
from tools.checks.request import Part, Request, understand
from tools.checks.stopwords import PLAIN
from tools.checks.words import tokens
from tools.inspectors.texts import cannot_open

KINDS: tuple[ModuleType, ...] = (
    deliverables,
    group_totals,
    total_row,
    table_edit,
    unchanged,
    chart,
    names_extreme,
    facts_from_source,
    length,
    reconcile,
)
"""Every check, in the order in which they are shown."""

_TELLS = re.compile(
    r"(?:(?:i|we) (?:have|got|keep|am|are)(?! to\b| ask)|here(?:'s| is| are)|this is|these are|attached (?:is|are)|(?:my|our) \w+ (?:is|are|has)|hello|hi\b"
    r"|(?:the )?(?:file |attached )?[\w .-]+?\.\w{2,5} (?:holds|contains|has|lists|is))(?!.*\b(?:should|must|please|need|want)\b)",
    re.IGNORECASE,
)


FIGURES = frozenset({"group_totals", "total_row_formulas", "names_extreme", "chart"})
OTHER_FIGURES = frozenset({"filter", "derive"})
"""A filter or a derived figure makes other figures right than those of the whole table: no check of these may fail them."""


def propose_checks(view: RequestView) -> list[Proposal]:
    """Checks for a request.

    Args:
        view: the request, its clauses and the profiles of the attachments.

    Returns:
        Proposals; a clause is settled only if every demand found in it is tested by one of them. A check that tests
        part of a clause's demands comes as a partial proposal for it.
    """
    request = understand(view)
    adopt(request)
    for part in request.parts:
        _add_plain_demands(part, request)
        if request.sources and part.demands - {"files", "other"} and (leftover(part, request) or backwards(part)):
            part.demands.add("other")
    offers = [offer for kind in KINDS for offer in kind.propose(request)]
    settled = {part.index for part in request.parts if _is_settled(part, offers)}
    return [proposal for offer in offers for proposal in _proposals(offer, settled, request)]


def _add_plain_demands(part: Part, request: Request) -> None:
    """A clause without a demand is about files only, if all its words are plain; else it asks for something unknown."""
    if part.demands:
        return
    part.demands.add("files")
    if _TELLS.match(part.text.strip()):
        return
    known = {token.stem for profile in request.view.files for token in tokens(profile.name)}
    known |= {token.stem for source in request.sources for token in tokens(source.table.name)}
    for token in tokens(part.bare):
        if token.stem not in known and token.stem not in PLAIN and len(token.stem) > 1 and not token.stem.isdigit():
            part.demands.add("other")
            return


def _is_settled(part: Part, offers: list[Offer]) -> bool:
    tested = {demand for offer in offers for demand in offer.covers.get(part.index, frozenset())}
    return part.demands <= tested


def _proposals(offer: Offer, settled: set[int], request: Request) -> list[Proposal]:
    demands = {part.index: part.demands for part in request.parts}
    clauses = [i for i, tested in sorted(offer.covers.items()) if _concerns(tested, demands.get(i, set()))]
    can_pass = not any("sound" in tested for tested in offer.covers.values())
    whole = tuple(i for i in clauses if i in settled and can_pass)
    rest = tuple(
        i
        for i in clauses
        if i not in settled and not (offer.check.name in FIGURES and demands.get(i, set()) & OTHER_FIGURES)
    )
    made = [Proposal(check=offer.check, clauses=whole)] if whole else []
    return made + ([Proposal(check=offer.check, clauses=rest, partial=True)] if rest else [])


def _concerns(tested: frozenset[str], demands: set[str]) -> bool:
    return bool(tested & demands) or bool(tested & {"files", "drawn", "sound"})


def check_job(params: dict[str, Any]) -> CheckResult:
    """Run one check in a document worker.

    Args:
        params: ``check``: a `Check`; ``files``: a `CheckFiles`; both as plain data or as they are.

    Returns:
        Its result; ``unknown`` where the check does not exist or a file cannot be opened (the inspectors say why).
    """
    check = msgspec.convert(params["check"], Check) if isinstance(params["check"], dict) else params["check"]
    files = msgspec.convert(params["files"], CheckFiles) if isinstance(params["files"], dict) else params["files"]
    kind = next((kind for kind in KINDS if check.name == kind.NAME), None)
    if kind is None:
        return unknown(f"There is no check called {re.sub(r'[^A-Za-z0-9_.-]', '', check.name)}.")
    try:
        result: CheckResult = kind.run(check.params, files)
    except cannot_open() as error:
        if isinstance(error, (TypeError, AttributeError, IndexError)) and not _in_library(error):
            raise
        return unknown(f"A file could not be opened: {type(error).__name__}: {str(error)[:200]}")
    return result


def _in_library(error: BaseException) -> bool:
    """Whether an error comes out of a document library; out of our own code it is a bug, and loud."""
    trace = error.__traceback__
    last = ""
    while trace is not None:
        last = trace.tb_frame.f_globals.get("__name__", "")
        trace = trace.tb_next
    return not last.startswith("tools.")
