"""Copies and small writes that are on disk when the call returns; for blobs and the workspace."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_CHUNK = 1 << 20
_FICLONE = 0x40049409  # linux/fs.h


@contextlib.contextmanager
def temporary_beside(target: Path) -> Iterator[Path]:
    """A name for a new file in the folder of `target`; whatever is left under it afterwards is removed."""
    temporary = target.parent / f".{secrets.token_hex(8)}.part"
    try:
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            make_writable(temporary)
            temporary.unlink()


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file and wait for the disk.

    Raises:
        FileExistsError: it exists.
        OSError: it cannot be written.
    """
    with path.open("xb") as file:
        file.write(data)
        _sync(file)


def copy_hashing(source: Path, target: Path) -> str:
    """Copy `source` to the new file `target` (as a reflink where the file system can) and wait for the disk.

    Returns:
        SHA-256 (hex) of the bytes in `target`.

    Raises:
        OSError: one cannot be read, or the other cannot be written.
    """
    with source.open("rb") as reader, target.open("x+b") as writer:
        if _reflink(reader, writer):
            digest = hashlib.file_digest(writer, "sha256")
        else:
            digest = hashlib.sha256()
            while chunk := reader.read(_CHUNK):
                digest.update(chunk)
                writer.write(chunk)
        _sync(writer)
    return digest.hexdigest()


def hash_file(path: Path) -> str:
    """SHA-256 (hex) of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_folder(folder: Path) -> None:
    """Make renames in a folder survive a power cut (nothing to do on Windows)."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_read_only(path: Path) -> None:
    """Take write permission from everybody."""
    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)


def make_writable(path: Path) -> None:
    """Give the owner write permission (Windows cannot remove or replace read-only files)."""
    path.chmod(stat.S_IMODE(path.stat().st_mode) | stat.S_IWUSR)


def _sync(file: BinaryIO) -> None:
    file.flush()
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(file.fileno(), fcntl.F_FULLFSYNC)  # fsync alone leaves data in the drive's cache on macOS
    else:
        os.fsync(file.fileno())


def _reflink(reader: BinaryIO, writer: BinaryIO) -> bool:
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        fcntl.ioctl(writer.fileno(), _FICLONE, reader.fileno())
    except OSError:  # not the same file system, or one that cannot share blocks: a plain copy follows
        return False
    return True
