"""A bench for checks: makes profiles, splits a request into clauses, proposes and runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.protocol.documents import CheckFiles, Column, FileProfile, Proposal, RequestView, Table
from engine.protocol.ledger import Clause
from tools.checks.registry import check_job, propose_checks
from tools.inspectors.grids import is_blank, read_grids
from tools.inspectors.numbers import number
from tools.inspectors.texts import kind_of, read_text


def _kind(cells: list[Any]) -> str:
    filled = [cell for cell in cells if not is_blank(cell)]
    if filled and all(number(cell) is not None for cell in filled):
        return "number"
    if filled and all(hasattr(c, "isoformat") or re.fullmatch(r"\d{4}-\d\d-\d\d", str(c)) for c in filled):
        return "date"
    return "text"


def profile(path: Path) -> FileProfile:
    tables = []
    for grid in read_grids(path):
        columns = tuple(
            Column(name=name, kind=_kind(grid.column(i)), distinct=len(set(map(str, grid.column(i)))))  # type: ignore[arg-type]
            for i, name in enumerate(grid.header)
        )
        rows = [tuple(map(str, row)) for row in grid.rows]
        tables.append(Table(name=grid.name, columns=columns, rows=len(rows), duplicate_rows=len(rows) - len(set(rows))))
    words = 0 if tables else len(read_text(path).split())
    return FileProfile(name=path.name, kind=kind_of(path.name), tables=tuple(tables), words=words)


def clauses(text: str) -> tuple[Clause, ...]:
    pieces = re.split(
        r"(?<=[.!?])\s+|;\s*|\n+|, and (?=(?:add|save|write|name|drop|remove|make|sort|leave|keep|put)\b)|,? then ",
        text,
    )
    return tuple(
        Clause(index=i, text=piece, negative=bool(re.search(r"\b(?:not|don't|never)\b", piece)))
        for i, piece in enumerate(p for p in pieces if p and p.strip())
    )


class Bench:
    """One request with its sources; `judge` gives the verdict over given results."""

    def __init__(self, text: str, *sources: Path) -> None:
        self.view = RequestView(text=text, clauses=clauses(text), files=tuple(profile(path) for path in sources))
        self.sources = {path.name: str(path) for path in sources}
        self.proposals = propose_checks(self.view)

    @property
    def unsettled(self) -> list[str]:
        settled = {index for p in self.proposals if not p.partial for index in p.clauses}
        return [clause.text for clause in self.view.clauses if clause.asks and clause.index not in settled]

    def names(self) -> set[str]:
        return {proposal.check.name for proposal in self.proposals}

    def judge(self, *results: Path, answer: str = "") -> tuple[str, set[str]]:
        files = CheckFiles(sources=self.sources, deliverables={p.name: str(p) for p in results}, answer=answer)
        plain = msgspec.to_builtins(files)
        found = [(p, check_job({"check": msgspec.to_builtins(p.check), "files": plain})) for p in self.proposals]
        codes = {defect.code for _, result in found for defect in result.defects}
        if any(result.status == "fail" for _, result in found):
            return "fail", codes
        sure = all(result.status == "pass" for p, result in found if not p.partial)
        return ("pass" if sure and not self.unsettled else "unknown"), codes


@pytest.fixture
def bench() -> Callable[..., Bench]:
    return Bench


__all__ = ["Bench", "Proposal"]
