"""A file that is being fetched: what is there is recorded in chunks with their hashes, so that it can be resumed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import msgspec

_READ_BYTES = 1 << 20


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded stretch of the file: its length and SHA-256 hex."""

    size_bytes: int
    sha256: str


class Partial:
    """The half file beside the final one (``NAME.partial``) and its record (``NAME.partial.json``).

    Only recorded chunks count: what a broken connection or a killed process left behind them is cut off.

    Args:
        final: path that the whole file will have.
    """

    def __init__(self, final: Path) -> None:
        self.final = final
        self.path = final.with_name(final.name + ".partial")
        self._record_path = final.with_name(final.name + ".partial.json")
        self.chunks: list[Chunk] = []

    @property
    def size_bytes(self) -> int:
        """Bytes that are recorded."""
        return sum(chunk.size_bytes for chunk in self.chunks)

    def load(self) -> None:
        """Read the record, verify the chunks against the file, and cut off everything behind the last good one."""
        recorded = self._recorded()
        good: list[Chunk] = []
        if self.path.exists():
            with self.path.open("rb") as file:
                for chunk in recorded:
                    if _hash_of(file, chunk.size_bytes) != chunk.sha256:
                        break
                    good.append(chunk)
        self.keep(good)

    def _recorded(self) -> list[Chunk]:
        try:
            return msgspec.json.decode(self._record_path.read_bytes(), type=list[Chunk])
        except (FileNotFoundError, msgspec.MsgspecError):
            return []  # nothing recorded, or torn by a crash: begin again

    def keep(self, chunks: list[Chunk]) -> None:
        """Forget everything but these first chunks.

        Args:
            chunks: a beginning of `chunks`.
        """
        self.chunks = list(chunks)
        if self.path.exists():
            os.truncate(self.path, self.size_bytes)
            self._record()

    def align(self, part_bytes: int) -> int:
        """Cut back to a whole number of parts.

        Args:
            part_bytes: length of a part.

        Returns:
            How many parts are there.
        """
        chunks = list(self.chunks)
        while sum(chunk.size_bytes for chunk in chunks) % part_bytes:
            chunks.pop()
        if len(chunks) != len(self.chunks):
            self.keep(chunks)
        return self.size_bytes // part_bytes

    def append(self, pieces: Iterable[bytes]) -> int:
        """Write a chunk and record it once it is on disk.

        Args:
            pieces: its bytes.

        Returns:
            Its length.
        """
        digest, size = hashlib.sha256(), 0
        self.path.touch()
        with self.path.open("r+b") as file:
            file.seek(self.size_bytes)
            file.truncate()
            for piece in pieces:
                file.write(piece)
                digest.update(piece)
                size += len(piece)
            file.flush()
            os.fsync(file.fileno())
        self.chunks.append(Chunk(size_bytes=size, sha256=digest.hexdigest()))
        self._record()
        return size

    def _record(self) -> None:
        fresh = self._record_path.with_name(self._record_path.name + ".new")
        fresh.write_bytes(msgspec.json.encode(self.chunks))
        fresh.replace(self._record_path)

    def publish(self) -> None:
        """Give the whole file its final name; the caller has verified it."""
        self.path.replace(self.final)
        self._record_path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove the half file and its record."""
        self.path.unlink(missing_ok=True)
        self._record_path.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, hex.

    Args:
        path: the file.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _hash_of(file: BinaryIO, size_bytes: int) -> str:
    digest, left = hashlib.sha256(), size_bytes
    while left:
        piece = file.read(min(left, _READ_BYTES))
        if not piece:
            return ""
        digest.update(piece)
        left -= len(piece)
    return digest.hexdigest()
