"""The door to the inspectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.protocol.documents import Inspection
from tools.inspectors import documents, images, plain, tables, workbooks
from tools.inspectors.base import Found, fault
from tools.inspectors.texts import cannot_open, kind_of

INSPECTORS: dict[str, Callable[[Path], Found]] = {
    "csv": tables.inspect,
    "xlsx": workbooks.inspect,
    "docx": documents.inspect_docx,
    "pptx": documents.inspect_pptx,
    "pdf": documents.inspect_pdf,
    "markdown": plain.inspect_text,
    "text": plain.inspect_text,
    "json": plain.inspect_json,
    "html": plain.inspect_html,
    "image": images.inspect,
}
"""Inspectors by kind of file."""

_ZIP, _OLE, _PDF = b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF"
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"RIFF", b"II*\x00", b"MM\x00*")


def inspect_job(params: dict[str, Any]) -> Inspection:
    """Inspect one file, in a document worker.

    Args:
        params: ``path`` of the file.
    """
    return inspect(Path(params["path"]))


def inspect(path: Path) -> Inspection:
    """What is in a file and what is wrong with it; a file that is not there or cannot be opened is a defect too.

    Args:
        path: the file.
    """
    name, kind = path.name, kind_of(path.name)
    if not path.is_file():
        return _broken(name, kind, "file.missing", "It is not there.", wanted=name)
    size = path.stat().st_size
    if size == 0:
        return _broken(name, kind, "file.empty", "It has 0 bytes.")
    with path.open("rb") as stream:
        head = stream.read(2048)
    actual = _wrong_content(kind, head)
    if actual:
        return _broken(name, kind, "file.wrong_content", f"It holds {actual}.", actual=actual)
    if kind not in INSPECTORS:
        return Inspection(name=name, kind=kind, facts={"size_bytes": size})
    try:
        facts, defects = INSPECTORS[kind](path)
    except cannot_open() as error:
        says = f"{type(error).__name__}: {str(error)[:200]}"
        return _broken(name, kind, "file.cannot_open", says)
    return Inspection(name=name, kind=kind, facts={"size_bytes": size, **facts}, defects=tuple(defects))


def _broken(name: str, kind: str, code: str, says: str, **params: Any) -> Inspection:
    return Inspection(name=name, kind=kind, opens=False, defects=(fault(code, name, "", says, True, **params),))


def _wrong_content(kind: str, head: bytes) -> str:
    """What a file holds instead of what its name says; empty where they agree or nothing is known."""
    texts = ("csv", "markdown", "text", "json", "html")
    if kind in texts:
        found = {_ZIP: "an Office or ZIP file", _PDF: "a PDF", _OLE: "an old Office file", b"\x89PNG": "a picture"}
        actual = next((what for mark, what in found.items() if head.startswith(mark)), "")
        wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
        return actual or ("binary data" if b"\x00" in head and not wide else "")
    if kind in ("xlsx", "docx", "pptx"):
        if head.startswith(_ZIP):
            return ""
        return "an old or encrypted Office file" if head.startswith(_OLE) else "no Office file"
    if kind == "pdf":
        return "" if _PDF in head else "no PDF"
    if kind == "image":
        return "" if head.startswith(_PICTURES) else "no picture"
    return ""
