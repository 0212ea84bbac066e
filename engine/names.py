"""Names of files: what a model may call a file, what a new file may be called, names for attachments."""

from __future__ import annotations

import difflib
import os
import re
import unicodedata
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from engine.manifest import IGNORED_FOLDERS
from engine.protocol.errors import ModelError
from engine.system.loose import loose_find, spelled_in
from engine.system.paths import name_fault

MAX_NAME_BYTES = 255
"""What file systems take."""
_LONGEST_PATH_BYTES = 2000

_USUAL_FOLDERS = re.compile(r"(?:sandbox:)?/?(?:workspace|mnt/data)/")
"""Where models believe files to lie; the workspace is what they mean."""

_RESERVED = frozenset(("outputs", "originals", *IGNORED_FOLDERS))


def folded(name: str) -> str:
    """What two names have in common that some file systems hold to be one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def free_name(name: str, taken: Iterable[str]) -> str:
    """`name`, or ``stem (2).ext``, ``stem (3).ext`` … where it is taken (upper and lower case being one).

    Args:
        name: the wanted name; bytes that are no text are replaced.
        taken: names already in use.
    """
    name = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    used = {folded(other) for other in taken}
    path = PurePosixPath(name)
    stem, suffix = path.stem, path.suffix
    number = 1
    candidate = _short(stem, suffix)
    while folded(candidate) in used:
        number += 1
        candidate = _short(stem, f" ({number}){suffix}")
    return candidate


def relative_name(name: str, root: Path) -> str:
    """A name as a model writes it, relative to the workspace with ``/`` between folders.

    Blanks and quotes around it, ``./`` or ``/workspace/`` before it and the workspace's own path are taken off.

    Args:
        name: what the model wrote.
        root: the workspace.

    Raises:
        ModelError: empty, or it leads out of the workspace.
    """
    sizes = [len(part.encode("utf-8", "surrogatepass")) for part in re.split(r"[/\\]", name)]
    if max(sizes) > MAX_NAME_BYTES or sum(sizes) > _LONGEST_PATH_BYTES:
        raise ModelError("That name is longer than any file's. Use a short, plain name.", code="file.name")
    text = name if (root / name).is_file() and name else name.strip().strip("\"'`").strip()
    if "\x00" in text or not text or text.encode("utf-8", "replace").decode() != text:
        raise ModelError("Give the name of a file; this one is empty or not a name.", code="file.name")
    if text.startswith(str(root) + os.sep):
        text = text[len(str(root)) + 1 :]
    usual = _USUAL_FOLDERS.match(text)
    if usual and not (root / usual[0].strip("/")).is_dir():
        text = text[usual.end() :]
    parts = _parts(text, root)
    if text.startswith(("/", "~")) or Path(text).is_absolute() or re.match(r"[A-Za-z]:[\\/]", text) or ".." in parts:
        raise ModelError(
            f"{name!r} lies outside the workspace. Use the plain name of a file in the workspace.", code="file.outside"
        )
    if not parts:
        raise ModelError(f"{name!r} is a folder. Name a file in it.", code="file.name")
    return "/".join(parts)


def nearest(name: str, existing: Collection[str]) -> str | None:
    """The one file that a name means which no file has exactly; None where there is none or more than one.

    Args:
        name: the cleaned name.
        existing: names of all files; those in folders with ``/``.
    """
    found = loose_find(name, existing)
    if found is None and "/" in name:
        # a folder that does not exist before the name of a file that does
        found = loose_find(PurePosixPath(name).name, [other for other in existing if "/" not in other])
    return found


class RequestNames:
    """File names as the person wrote them; small models write underscores for blanks.

    Args:
        text: the request.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def spelling(self, name: str) -> str:
        """`name` as it stands in the request; as it is where it does not stand there, or not in one way only."""
        return spelled_in(name, self._text) or name


def check_target(name: str, existing: Collection[str], wanted: str) -> None:
    """Refuse a name that a new file must not have; a name that exists already is always fine.

    Args:
        name: the cleaned name.
        existing: names in the workspace root.
        wanted: what the model wrote, for the error.

    Raises:
        ModelError: it has a folder in it, is reserved, could not exist on every system, is too long, or differs
            from an existing name in upper and lower case only.
    """
    if name in existing:
        return
    if "/" in name or "\\" in name:
        raise ModelError(
            f"{wanted!r} has a folder in it. New files go into the workspace root: use {PurePosixPath(name).name!r}.",
            code="file.not_plain",
        )
    fault = "it is reserved" if folded(name) in {folded(reserved) for reserved in _RESERVED} else name_fault(name)
    if fault:
        raise ModelError(f"{wanted!r} cannot be the name of a new file: {fault}. Choose another.", code="file.name")
    twin = next((other for other in existing if folded(other) == folded(name)), None)
    if twin is not None:
        raise ModelError(
            f"There is a file {twin!r} already, which some computers hold to be the same name. "
            f"Write {twin!r} to change it, or choose a name that differs in more than upper and lower case.",
            code="file.case",
        )


def missing(name: str, existing: Collection[str]) -> ModelError:
    """The error for a file that is not there, with the nearest names."""
    by_fold = {folded(other): other for other in existing}
    stems = {folded(PurePosixPath(other).name): other for other in existing}
    near = [
        *(by_fold[found] for found in difflib.get_close_matches(folded(name), by_fold, n=3, cutoff=0.5)),
        *(
            stems[found]
            for found in difflib.get_close_matches(folded(PurePosixPath(name).name), stems, n=3, cutoff=0.6)
        ),
    ]
    names = list(dict.fromkeys(near)) or sorted(existing)[:10]
    if not names:
        return ModelError(f"There is no file {name!r}; the workspace is empty.", code="file.missing")
    what = "Did you mean" if near else "There are"
    listed = ", ".join(repr(other) for other in names)
    return ModelError(f"There is no file {name!r}. {what}: {listed}{'?' if near else '.'}", code="file.missing")


def _parts(text: str, root: Path) -> list[str]:
    # A backslash is a separator on Windows, and in the paths models write; elsewhere it may be part of a name.
    plain = text if (root / text).is_file() and os.sep == "/" else text.replace("\\", "/")
    return [part for part in plain.split("/") if part not in ("", ".")]


def _short(stem: str, ending: str) -> str:
    room = MAX_NAME_BYTES - len(ending.encode())
    if room < 1:  # an ending longer than any name
        stem, ending, room = stem + ending, "", MAX_NAME_BYTES
    cut = stem.encode()[:room].decode("utf-8", "ignore")
    return cut + ending
