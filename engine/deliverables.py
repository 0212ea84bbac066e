"""Which files of the workspace are results."""

from __future__ import annotations

from pathlib import Path

from engine.protocol.ledger import Ledger
from engine.runlog import RunLog
from engine.workspace import Workspace

INTERMEDIATE = frozenset({".py", ".pyc", ".log", ".tmp", ".ipynb", ".pkl", ".lock"})


class Deliverables:
    """Finds candidate deliverables: what is new or different from the attachments.

    Args:
        log: knows the attachments and the ledger.
        workspace: where the files lie.
    """

    def __init__(self, log: RunLog, workspace: Workspace) -> None:
        self._log = log
        self._workspace = workspace

    async def candidates(self) -> tuple[str, ...]:
        """Names of files in the workspace root that are new or changed.

        Where the ledger names the kinds of file that are asked for, others are intermediate and left out.
        """
        originals = self._log.state.originals
        manifest = await self._workspace.manifest()
        changed = [
            name
            for name, digest in manifest.hashes().items()
            if originals.get(name) != digest and "/" not in name and not name.startswith(".")
        ]
        kept = [name for name in changed if Path(name).suffix.lower() not in INTERMEDIATE]
        wanted = wanted_suffixes(self._log.state.ledger or Ledger())
        asked = [name for name in kept if Path(name).suffix.lower() in wanted]
        return tuple(asked or kept)

    def paths(self, names: tuple[str, ...]) -> list[Path]:
        """Their absolute paths."""
        return [self._workspace.root / name for name in names]


def wanted_suffixes(ledger: Ledger) -> frozenset[str]:
    """Endings of the files that the ``deliverables`` checks of a ledger ask for; empty where none says."""
    suffixes: set[str] = set()
    for item in ledger.items:
        for check in item.checks:
            if check.name == "deliverables":
                suffixes.update(str(suffix).lower() for suffix in check.params.get("suffixes", ()))
    return frozenset(suffixes)
