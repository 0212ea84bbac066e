"""File kinds by name, and the problems a file can have before it is parsed. Standard library only."""

from __future__ import annotations

import os
import stat
from pathlib import Path

KINDS = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv",
    ".xlsx": "xlsx", ".xlsm": "xlsx", ".xltx": "xlsx",
    ".docx": "docx", ".docm": "docx", ".dotx": "docx",
    ".pptx": "pptx", ".pptm": "pptx", ".ppsx": "pptx",
    ".pdf": "pdf",
    ".md": "markdown", ".markdown": "markdown",
    ".json": "json", ".jsonl": "json", ".ndjson": "json", ".ipynb": "json", ".geojson": "json",
    ".html": "html", ".htm": "html", ".xhtml": "html",
    ".png": "image", ".jpg": "image", ".jpeg": "image", ".gif": "image", ".bmp": "image", ".webp": "image",
    ".tif": "image", ".tiff": "image",
}  # fmt: skip
"""Kind by suffix; any other file is looked at and is ``text`` or ``unknown``."""

STREAMED = {"csv", "text", "markdown"}
"""Kinds of which a head is read however large the file is."""

MOST_BYTES = 200 << 20
"""Largest file of a kind that must be parsed as a whole."""

PROBLEMS = {
    "missing": "There is no file of this name.",
    "folder": "This is a folder, not a file.",
    "unreadable": "The file cannot be opened for reading: the system does not permit it.",
    "empty": "The file is empty (0 bytes).",
    "too_large": "The file is too large to be parsed as a whole (limit {limit} MB).",
    "unsupported": "This kind of file cannot be read.",
    "corrupt": "The file is damaged or is not what its name says.",
    "encrypted": "The file is protected by a password.",
    "no_text_layer": "The pages are pictures: there is no text in this file.",
    "timeout": "Reading took too long and was stopped.",
}


class ReadProblem(Exception):
    """A file that cannot be read, with its typed reason (a key of `PROBLEMS`)."""

    def __init__(self, problem: str, detail: str = "") -> None:
        self.problem = problem
        self.detail = detail or PROBLEMS[problem]
        super().__init__(self.detail)


def kind_of(path: Path) -> str:
    """Kind by suffix; ``text`` where the suffix says nothing."""
    return KINDS.get(path.suffix.lower(), "text")


def first_problem(path: Path) -> ReadProblem | None:
    """What is wrong with a file before anybody parses it; None if nothing is."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ReadProblem("missing")
    except OSError as error:
        return ReadProblem("unreadable", f"{PROBLEMS['unreadable']} ({error.strerror})")
    if stat.S_ISDIR(status.st_mode):
        return ReadProblem("folder")
    if not stat.S_ISREG(status.st_mode):
        return ReadProblem("unsupported", "This is not an ordinary file.")
    if not os.access(path, os.R_OK):
        return ReadProblem("unreadable")
    if status.st_size == 0:
        return ReadProblem("empty")
    if status.st_size > MOST_BYTES and kind_of(path) not in STREAMED:
        return ReadProblem("too_large", PROBLEMS["too_large"].format(limit=MOST_BYTES >> 20))
    return None
