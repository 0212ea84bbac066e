"""What lies in a workspace: a cheap rescan that hashes only what changed, and the difference of two scans."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from engine.protocol.tools import ChangeSet, FileChange
from engine.system.atomic import sha256_file

IGNORED_FOLDERS = frozenset(
    ("__pycache__", ".matplotlib", ".cache", ".config", ".local", ".ipynb_checkpoints", ".mypy_cache", ".pytest_cache")
)
"""Folders that programs litter and nobody asked for; they are not part of the work."""

_FRESH_NS = 50_000_000
"""A file changed less than this before a scan is hashed again by the next: clocks of file systems tick coarsely."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One file: its SHA-256, size, and what a rescan compares (times in nanoseconds since the epoch)."""

    sha256: str
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    scanned_ns: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """All files of a workspace.

    Attributes:
        files: by name, relative to the workspace with ``/`` between folders, sorted.
        skipped: names that are not part of the work, and why: ``link``, ``special``, ``name``, ``unreadable``.
    """

    files: dict[str, Entry] = {}
    skipped: dict[str, str] = {}

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over names and contents: equal manifests mean an equal workspace."""
        lines = (f"{entry.sha256} {name}\n" for name, entry in self.files.items())
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def hashes(self) -> dict[str, str]:
        """SHA-256 (hex) by name."""
        return {name: entry.sha256 for name, entry in self.files.items()}


def scan(root: Path, known: Mapping[str, Entry]) -> Manifest:
    """Look at every file below `root`. Links are never followed.

    Args:
        root: the workspace.
        known: entries of an earlier scan; files with the same size, times and inode are not hashed again.

    Raises:
        OSError: `root` itself cannot be listed.
    """
    files: dict[str, Entry] = {}
    skipped: dict[str, str] = {}
    for name, item in _walk(root, ""):
        reason = _unfit(name, item)
        if reason:
            skipped[name.encode("utf-8", "backslashreplace").decode()] = reason
            continue
        try:
            files[name] = _entry(Path(item.path), item, known.get(name))
        except FileNotFoundError:
            continue  # gone since it was listed
        except OSError:
            skipped[name] = "unreadable"
    return Manifest(files=dict(sorted(files.items())), skipped=dict(sorted(skipped.items())))


def difference(before: Mapping[str, str], after: Mapping[str, str], sizes: Mapping[str, Entry]) -> ChangeSet:
    """What changed between two states.

    Args:
        before: SHA-256 by name.
        after: SHA-256 by name.
        sizes: entries of the state after.
    """
    changes = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        size = sizes[name].size_bytes if name in sizes else 0
        if old is None:
            changes.append(FileChange(name=name, kind="added", after=new, size_bytes=size))
        elif new is None:
            changes.append(FileChange(name=name, kind="deleted", before=old))
        else:
            changes.append(FileChange(name=name, kind="modified", before=old, after=new, size_bytes=size))
    return ChangeSet(changes=tuple(changes))


def _walk(folder: Path | str, prefix: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as items:
        listed = sorted(items, key=lambda item: item.name)
    for item in listed:
        name = prefix + item.name
        if not item.is_dir(follow_symlinks=False) or _is_junction(item):
            yield name, item
        elif item.name not in IGNORED_FOLDERS:
            try:
                yield from _walk(item.path, name + "/")
            except PermissionError:
                yield name, item


def _unfit(name: str, item: os.DirEntry[str]) -> str:
    if item.is_symlink() or _is_junction(item):
        return "link"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "name"
    if item.is_dir(follow_symlinks=False):
        return "unreadable"
    return "" if item.is_file(follow_symlinks=False) else "special"


def _is_junction(item: os.DirEntry[str]) -> bool:
    """Windows: a folder that is really another one elsewhere."""
    if os.name != "nt":
        return False
    attributes: int = getattr(item.stat(follow_symlinks=False), "st_file_attributes", 0)
    return bool(attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT) and item.is_dir(follow_symlinks=False)


def _entry(path: Path, item: os.DirEntry[str], known: Entry | None) -> Entry:
    # On Windows the listing carries no inode, so the file itself is asked.
    found = path.lstat() if os.name == "nt" else item.stat(follow_symlinks=False)
    if known is not None and _unchanged(known, found):
        return known
    now = time.time_ns()
    return Entry(
        sha256=sha256_file(path),
        size_bytes=found.st_size,
        mtime_ns=found.st_mtime_ns,
        ctime_ns=found.st_ctime_ns,
        inode=found.st_ino,
        scanned_ns=now,
    )


def _unchanged(known: Entry, found: os.stat_result) -> bool:
    same = (known.size_bytes, known.mtime_ns, known.ctime_ns, known.inode) == (
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_ino,
    )
    return same and max(known.mtime_ns, known.ctime_ns) < known.scanned_ns - _FRESH_NS and stat.S_ISREG(found.st_mode)
