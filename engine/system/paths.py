"""Folders of the user, and file names that work on Linux, macOS and Windows alike."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Container, Mapping
from pathlib import Path

import msgspec
import platformdirs

HOME_VARIABLE = "ONEDAY_HOME"
_APP = "oneday-desk"
_LONGEST_BYTES = 200
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "123456789¹²³"]
)


class UserFolders(msgspec.Struct, frozen=True, kw_only=True):
    """Where things of one user lie; none is made by looking them up.

    Attributes:
        data: settings and what must be kept.
        cache: what can be made anew.
        models: downloaded models (large; can be fetched anew).
        runs: one folder a run.
    """

    data: Path
    cache: Path
    models: Path
    runs: Path


def user_folders(environ: Mapping[str, str]) -> UserFolders:
    """The folders of this user.

    Args:
        environ: environment variables; ``ONEDAY_HOME`` there puts all folders below itself.
    """
    home = environ.get(HOME_VARIABLE, "")
    if home:
        root = Path(home).expanduser().absolute()
        data, cache = root / "data", root / "cache"
    else:
        data = platformdirs.user_data_path(_APP, appauthor=False)
        cache = platformdirs.user_cache_path(_APP, appauthor=False)
    return UserFolders(data=data, cache=cache, models=cache / "models", runs=data / "runs")


def name_fault(name: str) -> str:
    """Why `name` is not a plain file name on all three systems; empty if it is one."""
    if not name or name in {".", ".."}:
        return "it is empty"
    if _FORBIDDEN.search(name):
        return 'it contains a slash, a control character or one of < > : " \\ | ? *'
    if name != name.strip(" ") or name.endswith("."):
        return "it starts or ends with a space, or ends with a dot"
    if name.split(".")[0].rstrip(" ").lower() in _RESERVED:
        return "it is reserved by Windows"
    if len(name.encode("utf-8", "surrogateescape")) > _LONGEST_BYTES:
        return "it is too long"
    return ""


def safe_name(name: str) -> str:
    """The nearest plain file name: forbidden characters become ``_``, the suffix survives a cut.

    Args:
        name: anything, a path or a title too (only its last part is used).
    """
    last = unicodedata.normalize("NFC", re.split(r"[/\\]", name.rstrip("/\\"))[-1])
    last = _FORBIDDEN.sub("_", last).strip(" ").rstrip(". ")
    if not last:
        return "file"
    if last.split(".")[0].rstrip(" ").lower() in _RESERVED:
        last = "_" + last
    stem, suffix = Path(last).stem, Path(last).suffix
    if len(suffix.encode("utf-8", "surrogateescape")) > 20:
        stem, suffix = last, ""
    room = _LONGEST_BYTES - len(suffix.encode("utf-8", "surrogateescape"))
    cut = stem.encode("utf-8", "surrogateescape")[:room].decode("utf-8", "ignore")
    return cut.rstrip(". ") + suffix if suffix else cut.rstrip(". ")


def free_name(name: str, taken: Container[str]) -> str:
    """`name`, or ``name (2).ext`` and so on, so that it differs from all in `taken`, whatever their case.

    Args:
        name: a plain file name.
        taken: names in use, in lower case (``str.casefold``).
    """
    stem, suffix = Path(name).stem, Path(name).suffix
    candidate, number = name, 1
    while candidate.casefold() in taken:
        number += 1
        candidate = f"{stem} ({number}){suffix}"
    return candidate


def long_path(path: Path) -> str:
    """The path as a string that Windows takes beyond 260 characters; unchanged elsewhere."""
    return extended(str(path.absolute())) if sys.platform == "win32" else str(path)


def extended(absolute: str) -> str:
    r"""An absolute Windows path with the ``\\?\`` prefix; network shares get ``\\?\UNC\``."""
    if absolute.startswith("\\\\?\\"):
        return absolute
    if absolute.startswith("\\\\"):
        return "\\\\?\\UNC\\" + absolute[2:]
    return "\\\\?\\" + absolute
