"""What every check is made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from engine.protocol.documents import CheckFiles
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult, Defect, Evidence


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A check together with the demands it tests, by clause.

    Attributes:
        check: the check with its parameters.
        covers: demand names (see `request.py`) by clause index; the registry calls a clause settled only if
            every demand found in it is covered by some offer.
    """

    check: Check
    covers: dict[int, frozenset[str]] = {}


Run = Callable[[dict[str, Any], CheckFiles], CheckResult]


def passed(*evidence: Evidence) -> CheckResult:
    """The check holds."""
    return CheckResult(status="pass", evidence=evidence)


def failed(*defects: Defect) -> CheckResult:
    """The check does not hold; the defects say why."""
    return CheckResult(status="fail", evidence=tuple(defect.evidence for defect in defects), defects=defects)


def unknown(says: str, file: str = "") -> CheckResult:
    """The check cannot tell."""
    return CheckResult(status="unknown", evidence=(Evidence(file=file, says=says),))


def defect(code: str, file: str = "", where: str = "", says: str = "", **params: Any) -> Defect:
    """A fatal defect; `file` is also a field of its hint."""
    return Defect(
        code=code, evidence=Evidence(file=file, where=where, says=says), params={"file": file, "says": says, **params}
    )


def pick(files: CheckFiles, kinds: tuple[str, ...], name: str = "") -> list[tuple[str, Path]]:
    """Deliverables a check may look at.

    Args:
        files: the files of the run.
        kinds: file kinds that would do, most wanted first.
        name: the very name asked for; then only that file counts.
    """
    from tools.inspectors.texts import kind_of

    if name:
        return [(key, Path(path)) for key, path in files.deliverables.items() if key.lower() == name.lower()]
    found = [(key, Path(path)) for key, path in sorted(files.deliverables.items()) if kind_of(key) in kinds]
    return sorted(found, key=lambda item: kinds.index(kind_of(item[0])))
