"""Files that are either whole or not there, copies that cost nothing where the disk can share, and hashes."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from engine.protocol.errors import UserError

_CHUNK = 1 << 20
_FICLONE = 0x40049409
_CANNOT_CLONE = frozenset(
    [errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EBADF, errno.EPERM]
)


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that appears under its name only when the block has ended well and the disk has it.

    Args:
        path: final name; an existing file is replaced. Its folder must be there.

    Raises:
        OSError: it could not be written; the old file, if any, is untouched.
    """
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_atomic(path: Path, data: bytes) -> None:
    """Write `data` under `path`, whole or not at all; raises as `atomic_file`."""
    with atomic_file(path) as file:
        file.write(data)


def copy_file(source: Path, target: Path) -> None:
    """Copy the content, sharing the blocks where the file system can; the target appears only when whole.

    Args:
        source: a file.
        target: final name; an existing file is replaced.

    Raises:
        OSError: it could not be read or written.
        UserError: ``disk.full``, the disk has no room for it.
    """
    with source.open("rb") as original:
        size = os.fstat(original.fileno()).st_size
        with atomic_file(target) as copy:
            if not _cloned(original, copy):
                require_free_disk(target.parent, size)
                _pour(original, copy, source)


def sha256_file(path: Path) -> str:
    """SHA-256 of the content as hex, read in pieces.

    Raises:
        OSError: it could not be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_free_disk(folder: Path, need_bytes: int, *, spare_bytes: int = 64 << 20) -> None:
    """See that the disk of `folder` has room for `need_bytes`, with some to spare.

    Raises:
        UserError: ``disk.full`` with the figures.
    """
    free = shutil.disk_usage(folder).free
    if free < need_bytes + spare_bytes:
        raise UserError(
            "disk.full",
            "The disk of {folder} has {free_mb} MB free, and {need_mb} MB are needed.",
            kept="Nothing was changed.",
            todo="Free some space, or choose a folder on another disk.",
            folder=str(folder),
            free_mb=free >> 20,
            need_mb=(need_bytes + spare_bytes) >> 20,
        )


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power cut; nothing to do on Windows, which has no such call."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network and overlay file systems refuse to sync a folder; the file itself is on disk by then.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _pour(original: IO[bytes], copy: IO[bytes], source: Path) -> None:
    while True:
        try:
            chunk = original.read(_CHUNK)
        except OSError as error:  # which of the two files failed is told only by the name
            raise OSError(error.errno, error.strerror, str(source)) from error
        if not chunk:
            return
        copy.write(chunk)


def _cloned(original: IO[bytes], copy: IO[bytes]) -> bool:
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        fcntl.ioctl(copy.fileno(), _FICLONE, original.fileno())
    except OSError as error:
        if error.errno not in _CANNOT_CLONE:
            raise
        return False
    return True
