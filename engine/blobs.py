"""Content-addressed files of a run: written once, named by their SHA-256, checked on reading."""

from __future__ import annotations

import hashlib
import re
import shutil
import stat
import uuid
from pathlib import Path

from engine.protocol.errors import UserError
from engine.system.atomic import atomic_file, copy_file, sha256_file, sync_folder

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")


class Blobs:
    """A folder of blobs, in 256 subfolders by the first two digits of their hash.

    All methods block on the disk: call them from a worker thread (`asyncio.to_thread`), as `Workspace` and the
    journal's writer do. They may be called from several threads at once.

    Args:
        root: the folder; made when the first blob is put.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def put_bytes(self, data: bytes) -> str:
        """Store bytes; on disk when this returns.

        Returns:
            The SHA-256 in hex.

        Raises:
            OSError: the disk is full or cannot be written; nothing half is left under the final name.
        """
        digest = hashlib.sha256(data).hexdigest()
        place = self._place(digest)
        if self._stored(place, len(data)):
            return digest
        self._prepare(place)
        _allow_replacing(place)
        with atomic_file(place) as file:
            file.write(data)
        make_read_only(place)
        return digest

    def put_file(self, source: Path) -> str:
        """Store a copy of a file (a reflink where the file system can); on disk when this returns.

        The hash is that of the bytes that were stored, even if the source changes meanwhile.

        Raises:
            OSError: the source cannot be read or the disk cannot be written.
        UserError: ``disk.full``.
        """
        incoming = self.root / "incoming" / uuid.uuid4().hex
        incoming.parent.mkdir(parents=True, exist_ok=True)
        try:
            copy_file(source, incoming)
            digest = sha256_file(incoming)
            place = self._place(digest)
            if not self._stored(place, incoming.stat().st_size):
                self._prepare(place)
                _allow_replacing(place)
                incoming.replace(place)
                make_read_only(place)
                sync_folder(place.parent)
        finally:
            incoming.unlink(missing_ok=True)
        return digest

    def has(self, digest: str) -> bool:
        """Whether the blob is there (its content is not checked)."""
        return self._place(digest).is_file()

    def path(self, digest: str) -> Path:
        """Where the blob lies, for those that only read; its content is not checked.

        Raises:
            UserError: it is not there.
        """
        place = self._place(digest)
        if not place.is_file():
            raise UserError(
                "blob.missing",
                "A stored file of this run is missing ({digest}).",
                kept="Everything else in the run folder is untouched.",
                todo="Restore the run folder from a backup, or start the task again.",
                digest=digest,
            )
        return place

    def get(self, digest: str) -> bytes:
        """Read a blob whole and check it.

        Raises:
            UserError: it is missing or its content is not what was stored.
        """
        data = self.path(digest).read_bytes()
        if hashlib.sha256(data).hexdigest() != digest:
            raise _corrupt(digest)
        return data

    def copy_to(self, digest: str, target: Path) -> None:
        """Copy a blob to a new, writable file and check it on the way; a file already there is replaced at once.

        Args:
            digest: which blob.
            target: where; its folder must exist.

        Raises:
            UserError: the blob is missing or its content is not what was stored; `target` is left as it was.
            OSError: the disk is full or `target` cannot be written.
        """
        source = self.path(digest)
        part = target.with_name(f".{uuid.uuid4().hex}.part")
        try:
            copy_file(source, part)
            if sha256_file(part) != digest:
                raise _corrupt(digest)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def link_to(self, digest: str, target: Path) -> None:
        """Place the blob at `target` for reading only: a hard link where possible, else a copy.

        Raises:
            UserError: the blob is missing.
            FileExistsError: `target` exists.
            OSError: the disk is full or `target` cannot be written.
        """
        source = self.path(digest)
        try:
            target.hardlink_to(source)
        except FileExistsError:
            raise
        except (OSError, NotImplementedError):  # a file system without hard links
            shutil.copyfile(source, target)
            make_read_only(target)

    def _place(self, digest: str) -> Path:
        if not _DIGEST.match(digest):
            raise ValueError(f"Not a SHA-256 in hex: {digest!r}")
        return self.root / digest[:2] / digest

    def _stored(self, place: Path, size: int) -> bool:
        # A file of another size was cut or tampered with: storing again mends it.
        return place.is_file() and place.stat().st_size == size

    def _prepare(self, place: Path) -> None:
        if not place.parent.is_dir():
            place.parent.mkdir(parents=True, exist_ok=True)
            sync_folder(self.root)


def make_read_only(path: Path) -> None:
    """Take write permission from everybody."""
    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)


def _allow_replacing(place: Path) -> None:
    if place.exists():  # of a wrong size; Windows does not replace read-only files
        place.chmod(stat.S_IMODE(place.stat().st_mode) | stat.S_IWUSR)


def _corrupt(digest: str) -> UserError:
    return UserError(
        "blob.corrupt",
        "A stored file of this run was changed from outside or is damaged ({digest}).",
        kept="The damaged copy was not used; everything else in the run folder is untouched.",
        todo="Restore the run folder from a backup, or start the task again.",
        digest=digest,
    )
