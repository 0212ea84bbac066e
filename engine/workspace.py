"""The one folder a run may change: attachments, the lock, change sets, snapshots, names."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import shutil
import stat
import sys
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.blobs import Blobs
from engine.manifest import IGNORED_FOLDERS, Entry, Manifest, difference, scan
from engine.names import check_target, free_name, missing, nearest, relative_name
from engine.protocol.errors import ModelError, UserError
from engine.protocol.tools import ChangeSet
from engine.runfolder import RunFolder
from engine.system.atomic import require_free_disk, sync_folder


class Mutation:
    """One state-changing call, as `Workspace.mutation` hands it out.

    Attributes:
        before: the workspace when the lock was taken.
        drift: what had changed since the last look although no call held the lock (the person's own edits, say).
        changes: what this call changed; filled when the block is left, also by an exception.
        after: the workspace when the block was left.
    """

    def __init__(self, before: Manifest, drift: ChangeSet) -> None:
        self.before = before
        self.drift = drift
        self.changes = ChangeSet()
        self.after = before


class Workspace:
    """The workspace of a run; used in one event loop, files are handled in worker threads.

    Args:
        folder: the run.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._blobs: Blobs = folder.blobs
        self._lock = asyncio.Lock()
        self._known: dict[str, Entry] = {}
        self._looked = False

    @property
    def root(self) -> Path:
        """The folder itself."""
        return self._folder.workspace

    @property
    def outputs(self) -> Path:
        """Full outputs of earlier calls."""
        return self._folder.outputs

    async def attach(self, attachments: Sequence[str | Path]) -> dict[str, str]:
        """Put copies of files into the workspace root, each under its own name, and keep a pristine copy of each.

        Of equal names the later ones become ``data (2).csv``. The files themselves are only read, once.

        Args:
            attachments: absolute paths.

        Returns:
            SHA-256 of each pristine copy by name (for `RunCreated.originals`), in the given order.

        Raises:
            UserError: a file is missing, a folder, no ordinary file or unreadable, or the disk has no room. Nothing
                of this call is left in the workspace then.
        """
        async with self._lock:
            return await asyncio.to_thread(self._attach, [Path(attachment) for attachment in attachments])

    def original(self, name: str) -> Path:
        """Pristine copy of an attachment, readable only.

        Raises:
            KeyError: no attachment has that name.
        """
        path = self._folder.originals / name
        if not path.is_file():
            raise KeyError(name)
        return path

    async def manifest(self) -> Manifest:
        """All files now; only what changed since the last look is hashed."""
        async with self._lock:
            return (await self._look())[0]

    @contextlib.asynccontextmanager
    async def mutation(self) -> AsyncIterator[Mutation]:
        """Hold the workspace lock around a state-changing call and learn what it changed.

        ``async with workspace.mutation() as m: …`` and afterwards ``m.changes``. Not re-entrant: inside, use neither
        `manifest` nor another `mutation`.
        """
        async with self._lock:
            mutation = Mutation(*await self._look())
            try:
                yield mutation
            finally:
                look = asyncio.ensure_future(self._look())
                try:
                    await _settled(look)
                finally:
                    mutation.after, mutation.changes = look.result()

    async def snapshot(self, names: Iterable[str] | None = None) -> dict[str, str]:
        """Keep the files of the workspace as blobs.

        Args:
            names: only these; None for all.

        Returns:
            SHA-256 by name, for `SnapshotTaken.files`.

        Raises:
            UserError: the disk is full.
            KeyError: a name is not in the workspace.
        """
        async with self._lock:
            manifest, _ = await self._look()
            wanted = list(manifest.files) if names is None else list(names)
            hashes = {name: manifest.files[name].sha256 for name in wanted}
            with disk_errors(self._folder.root):
                return await asyncio.to_thread(self._store, hashes)

    async def restore(self, files: Mapping[str, str]) -> ChangeSet:
        """Set the workspace back. What is displaced (changed and added files, links) goes to the run's trash folder.

        Args:
            files: SHA-256 by name, as `snapshot` gave it.

        Returns:
            What changed by it.

        Raises:
            UserError: a blob is missing or damaged (nothing was changed then), or the disk is full.
        """
        async with self.mutation() as mutation:
            with disk_errors(self._folder.root):
                await _settled(asyncio.ensure_future(asyncio.to_thread(self._restore, mutation.before, dict(files))))
        return mutation.changes

    def resolve(self, name: str) -> Path:
        """A file that a model named, as an absolute path inside the workspace or ``outputs/``.

        A name that differs from exactly one file in case, blanks, underscores, hyphens or quotes only means that file,
        on every system; so does the name of a file with a folder before it that is not there.

        Raises:
            ModelError: outside, a link, a folder, or not there (the nearest names are offered).
        """
        relative = relative_name(name, self.root)
        if relative.startswith("outputs/"):
            found = _inside(self.outputs, relative.removeprefix("outputs/"))
            if found is not None:
                return found
        found = _inside(self.root, relative)
        if found is not None:
            return found
        existing = self._names()
        meant = nearest(relative, existing)
        if meant is not None:
            return self.outputs / meant.removeprefix("outputs/") if meant.startswith("outputs/") else self.root / meant
        raise missing(relative, existing)

    def target(self, name: str) -> Path:
        """Where a new or changed file goes: a plain name in the workspace root.

        Raises:
            ModelError: not a plain name, reserved, not possible on every system, a folder, or a link.
        """
        relative = relative_name(name, self.root)
        existing = {item.name for item in self.root.iterdir()}
        check_target(relative, existing, name)
        path = self.root / relative
        if path.is_symlink():
            raise ModelError(f"{relative!r} is a link, which is never followed. Choose another name.", code="file.link")
        if path.is_dir():
            raise ModelError(f"{relative!r} is a folder. Choose another name.", code="file.folder")
        return path

    def _names(self) -> list[str]:
        outputs = (f"outputs/{item.name}" for item in self.outputs.iterdir() if item.is_file())
        return [*scan_names(self.root), *outputs]

    async def _look(self) -> tuple[Manifest, ChangeSet]:
        before = {name: entry.sha256 for name, entry in self._known.items()}
        manifest = await asyncio.to_thread(scan, self.root, self._known)
        changes = difference(before, manifest.hashes(), manifest.files) if self._looked else ChangeSet()
        self._known = manifest.files
        self._looked = True
        return manifest, changes

    def _attach(self, sources: list[Path]) -> dict[str, str]:
        sizes = [_attachable(source) for source in sources]
        # The pristine blob and the working copy. Where the disk shares blocks less would do, but that is not known yet.
        require_free_disk(self._folder.root, 2 * sum(sizes))
        taken = [item.name for item in self.root.iterdir()] + [item.name for item in self._folder.originals.iterdir()]
        placed: dict[str, str] = {}
        try:
            for source in sources:
                name = free_name(source.name, [*taken, *placed])
                placed[name] = self._place(source, name)
        except BaseException:
            for name in placed:
                (self.root / name).unlink(missing_ok=True)
                _remove_read_only(self._folder.originals / name)
            raise
        sync_folder(self._folder.originals)
        sync_folder(self.root)
        return placed

    def _place(self, source: Path, name: str) -> str:
        try:
            digest = self._blobs.put_file(source)
        except OSError as error:
            if error.filename is not None and Path(str(error.filename)) == source:
                raise _unreadable(source, error) from error
            raise _disk_error(self._folder.root, error) from error
        with disk_errors(self._folder.root):
            self._blobs.link_to(digest, self._folder.originals / name)
            try:
                self._blobs.copy_to(digest, self.root / name)
            except BaseException:
                _remove_read_only(self._folder.originals / name)
                raise
        return digest

    def _store(self, hashes: dict[str, str]) -> dict[str, str]:
        stored = {}
        for name, digest in hashes.items():
            stored[name] = digest if self._blobs.has(digest) else self._blobs.put_file(self.root / name)
        return stored

    def _restore(self, now: Manifest, files: dict[str, str]) -> None:
        current = now.hashes()
        wanted = {name: digest for name, digest in files.items() if current.get(name) != digest}
        stage = self._folder.scratch / f"restore-{time.time_ns()}"
        stage.mkdir(parents=True)
        try:
            # Everything is copied and checked before the first file is moved.
            staged = {name: stage / str(number) for number, name in enumerate(wanted)}
            for name, digest in wanted.items():
                self._blobs.copy_to(digest, staged[name])
            links = [name for name, reason in now.skipped.items() if reason in ("link", "special")]
            self._displace([*links, *(name for name, digest in current.items() if files.get(name) != digest)], staged)
            for name, copy in staged.items():
                place = self.root / name
                place.parent.mkdir(parents=True, exist_ok=True)
                copy.rename(place)
        finally:
            shutil.rmtree(stage)

    def _displace(self, names: list[str], coming: Iterable[str]) -> None:
        """Move files to the trash folder, and folders that stand where a file will come."""
        trash = self._folder.trash / str(time.time_ns())
        for name in names:
            if (self.root / name).is_symlink() or (self.root / name).exists():
                _move(self.root / name, trash / name)
        _remove_empty_folders(self.root)
        for name in coming:
            if (self.root / name).is_dir():
                _move(self.root / name, trash / name)


def scan_names(root: Path) -> list[str]:
    """Names of all files of a workspace, as in `Manifest.files`, without reading any."""
    found = []
    for path in root.rglob("*"):
        relative = path.relative_to(root)
        if _inside(root, relative.as_posix()) is not None:
            found.append(relative.as_posix())
    return sorted(found)


@contextlib.contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turn failures to write below a run folder into an error for the person."""
    try:
        yield
    except OSError as error:
        raise _disk_error(folder, error) from error


async def _settled(task: asyncio.Future[Any]) -> None:
    """Wait for a task that must not be left half done: a cancellation is passed on only after it ended."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()


def _attachable(source: Path) -> int:
    """Size of an attachment in bytes.

    Raises:
        UserError: it is missing, a folder, no ordinary file, or cannot be looked at.
    """
    try:
        found = source.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UserError(
            "attachment.missing",
            "There is no file {path}.",
            kept="Nothing was started.",
            todo="Check the name, or attach the file from where it lies now.",
            path=source,
        ) from error
    except OSError as error:
        raise _unreadable(source, error) from error
    if stat.S_ISDIR(found.st_mode):
        raise UserError(
            "attachment.folder",
            "{path} is a folder, not a file.",
            kept="Nothing was started.",
            todo="Attach the files in it.",
            path=source,
        )
    if not stat.S_ISREG(found.st_mode):
        raise UserError(
            "attachment.special",
            "{path} is not an ordinary file.",
            kept="Nothing was started.",
            todo="Attach an ordinary file.",
            path=source,
        )
    return found.st_size


def _unreadable(source: Path, error: OSError) -> UserError:
    return UserError(
        "attachment.unreadable",
        "The file {path} cannot be read: {detail}.",
        kept="The file is untouched.",
        todo="Close it in other programs, or give yourself permission to read it.",
        path=source,
        detail=error.strerror or str(error),
    )


def _disk_error(folder: Path, error: OSError) -> UserError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return UserError(
            "workspace.disk_full",
            "The disk that holds {folder} is full.",
            kept="Your own files are untouched, and nothing of the run is lost.",
            todo="Free some space, then resume the run.",
            folder=folder,
        )
    return UserError(
        "workspace.disk_error",
        "A file in {folder} cannot be written: {detail}.",
        kept="Your own files are untouched, and nothing of the run is lost.",
        todo="Check the disk and your permissions, then resume the run.",
        folder=folder,
        detail=str(error),
    )


def _inside(root: Path, relative: str) -> Path | None:
    """The ordinary file at a relative name spelled exactly so, with no link on the way; None where there is none."""
    path = root
    parts = relative.split("/")
    for number, part in enumerate(parts):
        if part in IGNORED_FOLDERS and number < len(parts) - 1:
            return None
        path = path / part
        if path.is_symlink() or not _spelled_so(path):
            return None
    return path if path.is_file() else None


def _spelled_so(path: Path) -> bool:
    """Whether the folder lists exactly this name (Windows and macOS open others too)."""
    if not path.exists():
        return False
    return sys.platform == "linux" or path.name in {item.name for item in path.parent.iterdir()}


def _move(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    source.rename(place)


def _remove_empty_folders(root: Path) -> None:
    for folder in sorted((path for path in root.rglob("*") if path.is_dir() and not path.is_symlink()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def _remove_read_only(path: Path) -> None:
    if path.exists():
        if sys.platform == "win32":  # elsewhere the folder decides, and the blob shares these permissions
            path.chmod(stat.S_IWUSR)
        path.unlink()
