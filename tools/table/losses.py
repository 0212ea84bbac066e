"""What a workbook holds that would not survive being loaded and saved."""

from __future__ import annotations

import zipfile
from pathlib import Path

from engine.protocol.errors import ModelError

_PARTS = {
    "xl/charts/": "charts",
    "xl/chartsheets/": "chart sheets",
    "xl/drawings/drawing": "drawings or pictures",
    "xl/media/": "drawings or pictures",
    "xl/diagrams/": "diagrams",
    "xl/pivotTables/": "pivot tables",
    "xl/pivotCache/": "pivot tables",
    "xl/slicers/": "slicers",
    "xl/timelines/": "timelines",
    "xl/vbaProject": "macros",
    "xl/embeddings/": "embedded files",
    "xl/ctrlProps/": "controls",
    "xl/activeX/": "controls",
    "xl/threadedComments/": "discussions",
    "xl/richData/": "pictures or data types in cells",
    "xl/model/": "a data model",
    "xl/connections": "data connections",
    "xl/queryTables/": "data connections",
    "xl/webextensions/": "add-ins",
}


def find_losses(path: Path) -> list[str]:
    """What would be lost, in words; empty if nothing."""
    found: list[str] = []
    with zipfile.ZipFile(path) as package:
        names = package.namelist()
        for start, words in _PARTS.items():
            if any(name.startswith(start) for name in names):
                found.append(words)
        for name in names:
            if name.startswith("xl/worksheets/") and name.endswith(".xml") and b"<extLst" in package.read(name):
                found.append("sparklines or newer conditional formats")
    return list(dict.fromkeys(found))


def refuse_losses(path: Path) -> None:
    """Refuse a workbook of which something would be lost.

    Raises:
        ModelError: with the parts by name.
    """
    losses = find_losses(path)
    if losses:
        raise ModelError(
            f"The workbook holds {', '.join(losses)}, which editing would lose; nothing was changed. "
            "Give output the name of a .csv file to get the edited table alone.",
            code="table.would_lose",
        )
