"""Which files of the workspace are results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.protocol.ledger import Check, Ledger
from engine.runlog import RunLog
from engine.workspace import Workspace

DELIVERABLES = "deliverables"
KINDS = {
    "md": "markdown",
    "txt": "text",
    "htm": "html",
    "tsv": "csv",
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "bmp", "webp", "svg"), "image"),
}
ENDINGS = {"markdown": ".md", "text": ".txt", "image": ".png"}
"""Ending of a kind where it is not the kind's own name."""
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
        kept = [name for name in await self.changed() if Path(name).suffix.lower() not in INTERMEDIATE]
        wanted = {kind for need in needs(self._log.state.ledger or Ledger()) for kind in need.kinds}
        asked = [name for name in kept if kind_of_name(name) in wanted]
        return tuple(asked or kept)

    async def changed(self) -> tuple[str, ...]:
        """Names of all files in the workspace root that are new or differ from the attachment of that name."""
        originals = self._log.state.originals
        manifest = await self._workspace.manifest()
        return tuple(
            name
            for name, digest in manifest.hashes().items()
            if originals.get(name) != digest and "/" not in name and not name.startswith(".")
        )

    def paths(self, names: tuple[str, ...]) -> list[Path]:
        """Their absolute paths."""
        return [self._workspace.root / name for name in names]


class Need(msgspec.Struct, frozen=True):
    """A file that is asked for: the kinds that would do, and its name where one is said."""

    kinds: tuple[str, ...]
    name: str = ""


def needs(ledger: Ledger) -> list[Need]:
    """The files that the ``deliverables`` checks of a ledger ask for; none where no check says."""
    return needs_of([check for item in ledger.items for check in item.checks if check.name == DELIVERABLES])


def needs_of(checks: Sequence[Check]) -> list[Need]:
    """The files that some ``deliverables`` checks ask for, each once."""
    found = [
        msgspec.convert(need, Need)
        for check in checks
        for need in check.params.get("needs", ())
        if check.name == DELIVERABLES
    ]
    return [need for index, need in enumerate(found) if need not in found[:index]]


def kind_of_name(name: str) -> str:
    """Kind of a file by its ending, as in `FileProfile.kind`."""
    suffix = Path(name).suffix.lower().lstrip(".")
    return KINDS.get(suffix, suffix or "unknown")
