"""Which reader reads which kind; the worker's jobs ``read`` and ``profile``."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Protocol, cast

import msgspec

from engine.protocol.documents import FileProfile, Reading, ReadOptions
from tools.readers.kinds import ReadProblem, first_problem, kind_of

READERS = {
    "csv": "tools.readers.delimited",
    "xlsx": "tools.readers.xlsx",
    "docx": "tools.readers.docx",
    "pptx": "tools.readers.pptx",
    "pdf": "tools.readers.pdf",
    "markdown": "tools.readers.text",
    "text": "tools.readers.text",
    "json": "tools.readers.json_file",
    "html": "tools.readers.html",
    "image": "tools.readers.image",
}
"""Kind → module with ``read(path, options) -> Reading`` and ``profile(path) -> FileProfile``."""


class Reader(Protocol):
    """What a reader module offers; both raise `ReadProblem`."""

    def read(self, path: Path, options: ReadOptions) -> Reading: ...

    def profile(self, path: Path) -> FileProfile: ...


def reader_for(path: Path) -> Reader:
    """The reader of a file's kind."""
    return cast(Reader, importlib.import_module(READERS[kind_of(path)]))


def read_job(params: dict[str, Any]) -> Reading:
    """Read a file.

    Args:
        params: ``path``, and ``options`` as in `ReadOptions`.
    """
    path = Path(params["path"])
    options = msgspec.convert(params.get("options", {}), ReadOptions)
    try:
        _refuse(path)
        return reader_for(path).read(path, options)
    except ReadProblem as problem:
        return Reading(name=path.name, kind=kind_of(path), problem=problem.problem, detail=problem.detail)


def profile_job(params: dict[str, Any]) -> FileProfile:
    """Profile a file.

    Args:
        params: ``path``.
    """
    path = Path(params["path"])
    try:
        _refuse(path)
        return reader_for(path).profile(path)
    except ReadProblem as problem:
        size = path.stat().st_size if path.is_file() else 0
        return FileProfile(name=path.name, kind=kind_of(path), size_bytes=size, problem=problem.problem)


def _refuse(path: Path) -> None:
    problem = first_problem(path)
    if problem is not None:
        raise problem
