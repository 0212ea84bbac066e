"""What was to stay as it was: a delivered copy of an attachment equals the attachment."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from engine.protocol.documents import CheckFiles
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult, Defect, Evidence
from tools.checks.base import Offer, defect, failed, passed
from tools.checks.other_sheets import other_sheets
from tools.checks.request import Request
from tools.inspectors.texts import kind_of

NAME = "unchanged"
_FILE = re.compile(r"\b(?:original|source|input|attach\w*|data|csv|raw|file|workbook)\b|原", re.IGNORECASE)


def propose(request: Request) -> list[Offer]:
    """Offered for "do not change the original" where nothing in the attachment itself is to be edited."""
    if request.having("rename") or request.having("dedupe") or request.having("dropcol"):
        return []
    parts = [part for part in request.having("keep") if _FILE.search(part.text)]
    names = [profile.name for profile in request.view.files]
    if not parts or not names:
        return []
    said = [name for name in names if any(name.lower() in part.text.lower() for part in parts)] or names
    check = Check(name=NAME, params={"files": said}, says=f"{', '.join(said)}: not changed.")
    return [Offer(check=check, covers={part.index: frozenset({"keep"}) for part in parts})]


def run(params: dict[str, Any], files: CheckFiles) -> CheckResult:
    """Compare delivered files that bear an attachment's name with the attachment.

    Args:
        params: ``files``: names of attachments that must not change.
        files: the files.
    """
    defects: list[Defect] = []
    for name in params["files"]:
        if name not in files.deliverables or name not in files.sources:
            continue
        before, after = Path(files.sources[name]), Path(files.deliverables[name])
        if _digest(before) == _digest(after):
            continue
        if kind_of(name) == "xlsx":
            defects.extend(other_sheets(before, after, set(), name))
        else:
            defects.append(defect("file.changed", name, "", f"{name} was to stay as it was."))
    return failed(*defects) if defects else passed(Evidence(says="The attachments are as they were."))


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
