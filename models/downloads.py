"""Fetches model files into the cache folder: resumable, verified, one at a time, never half under the final name."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import filelock
import msgspec

from engine.protocol.errors import UserError
from models.catalog import Catalog, CatalogEntry, LocalFile, Source
from models.partial import Partial, sha256_of
from models.sources import FetchOptions, Progress, SourceFailed, take

_RESERVE_BYTES = 256 << 20  # room for one part beside the file, and for the system
_LOCK_POLL_S = 0.2
State = Literal["ready", "unverified", "partial", "corrupt"]


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """A model in the cache folder.

    Attributes:
        name: as in the catalogue.
        path: the file (the half one while `state` is ``partial``).
        size_bytes: bytes there.
        state: ``ready`` (verified and unchanged since), ``unverified``, ``partial`` or ``corrupt`` (wrong size).
    """

    name: str
    path: Path
    size_bytes: int
    state: State


def _silent(_done: int, _total: int, _text: str) -> None:
    return


async def fetch(
    entry: CatalogEntry,
    cache_dir: Path,
    progress: Progress = _silent,
    *,
    local: Path | None = None,
    options: FetchOptions | None = None,
) -> Path:
    """Have the file of a model in the cache folder; returns at once where it already is.

    Args:
        entry: what.
        cache_dir: folder of model files; made if missing.
        progress: called with bytes done, bytes in all, and words.
        local: a copy of the file on this computer, used before every other source.
        options: see `FetchOptions`.

    Raises:
        UserError: not enough room, no source could be reached, or the folder cannot be written.
    """
    options = options or FetchOptions()
    final = cache_dir / entry.file_name
    try:
        await asyncio.to_thread(cache_dir.mkdir, parents=True, exist_ok=True)
        async with _locked(final, progress):
            if await asyncio.to_thread(_ready, entry, final):
                return final
            sources: Sequence[Source] = entry.sources
            if local is not None:
                sources = (LocalFile(path=str(local)), *sources)
            await _complete(entry, final, sources, progress, options)
    except OSError as error:
        raise UserError(
            "download.disk",
            "The model {name} could not be written to {folder}: {reason}.",
            kept="What was fetched so far is kept and will be continued.",
            todo="Make room there or allow writing, then fetch it again.",
            name=entry.name,
            folder=str(cache_dir),
            reason=str(error.strerror or error),
        ) from error
    return final


async def _complete(
    entry: CatalogEntry, final: Path, sources: Sequence[Source], progress: Progress, options: FetchOptions
) -> None:
    partial = Partial(final)
    await asyncio.to_thread(partial.load)
    _check_room(entry, final.parent, partial.size_bytes, options)
    reasons: list[str] = []
    for source in sources:
        try:
            await _take_verified(source, entry, partial, progress, options)
        except SourceFailed as failure:
            reasons.append(str(failure))
            progress(partial.size_bytes, entry.size_bytes, f"Did not work: {failure}")
            continue
        partial.publish()
        _mark(entry, final)
        progress(entry.size_bytes, entry.size_bytes, f"{entry.name} is ready")
        return
    raise UserError(
        "download.unreachable",
        "The model {name} could not be fetched ({reasons}).",
        kept="{done:,} of {total:,} bytes are kept and will be continued.",
        todo="Check the network and fetch it again, or copy the file from another computer and name it: "
        "oneday models fetch {name} --from FILE.",
        name=entry.name,
        reasons="; ".join(reasons) or "it has no source",
        done=partial.size_bytes,
        total=entry.size_bytes,
    )


async def _take_verified(
    source: Source, entry: CatalogEntry, partial: Partial, progress: Progress, options: FetchOptions
) -> None:
    """Complete and verify; a wrong file that was continued is fetched once more from its beginning."""
    for fresh in (False, True):
        resumed = partial.size_bytes > 0
        if partial.size_bytes < entry.size_bytes:
            await take(source, entry, partial, progress, options)
        progress(partial.size_bytes, entry.size_bytes, f"Verifying {entry.name}")
        size = partial.size_bytes
        if size < entry.size_bytes:
            raise SourceFailed(f"the transfer ended at {size:,} of {entry.size_bytes:,} bytes")
        if size == entry.size_bytes and await asyncio.to_thread(sha256_of, partial.path) == entry.sha256:
            return
        partial.keep([])
        if fresh or not resumed:
            break
    raise SourceFailed("the file there is not the right one (its checksum differs), so it was thrown away")


def _check_room(entry: CatalogEntry, folder: Path, have_bytes: int, options: FetchOptions) -> None:
    needed = entry.size_bytes - have_bytes + _RESERVE_BYTES
    free = options.free_bytes(folder)
    if free < needed:
        raise UserError(
            "download.no_room",
            "The model {name} needs {needed:,} more bytes in {folder}, but only {free:,} are free.",
            kept="Nothing was changed; what was fetched before is kept.",
            todo="Free {missing:,} bytes, then fetch it again.",
            name=entry.name,
            needed=needed,
            folder=str(folder),
            free=free,
            missing=needed - free,
        )


@asynccontextmanager
async def _locked(final: Path, progress: Progress) -> AsyncIterator[None]:
    """Hold the lock of one download; a second program waits and is told who holds it."""
    lock = filelock.FileLock(final.with_name(f".{final.name}.lock"), thread_local=False)
    holder = final.with_name(f".{final.name}.holder")
    while True:
        try:
            lock.acquire(blocking=False)
            break
        except filelock.Timeout:
            progress(0, 0, f"{_holder(holder)} is fetching this model; waiting for it")
            await asyncio.sleep(_LOCK_POLL_S)
    try:
        holder.write_text(f"Process {os.getpid()}", encoding="utf-8")
        yield
    finally:
        lock.release()


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") or "Another process"
    except FileNotFoundError:
        return "Another process"


def _mark_path(final: Path) -> Path:
    return final.with_name(f".{final.name}.verified")


def _mark(entry: CatalogEntry, final: Path) -> None:
    """Remember that this very file was verified, so that a start need not hash a gigabyte."""
    facts = final.stat()
    mark = {"sha256": entry.sha256, "size_bytes": facts.st_size, "mtime_ns": facts.st_mtime_ns}
    _mark_path(final).write_text(json.dumps(mark), encoding="utf-8")


def _is_marked(entry: CatalogEntry, final: Path) -> bool:
    facts = final.stat()
    expected = {"sha256": entry.sha256, "size_bytes": facts.st_size, "mtime_ns": facts.st_mtime_ns}
    try:
        return bool(json.loads(_mark_path(final).read_text(encoding="utf-8")) == expected)
    except (FileNotFoundError, ValueError):
        return False


def _ready(entry: CatalogEntry, final: Path) -> bool:
    """Whether the final file is there and right; a wrong one is moved aside."""
    if not final.exists():
        return False
    if _is_marked(entry, final):
        return True
    return _verify(entry, final) is None


def _verify(entry: CatalogEntry, final: Path) -> Path | None:
    """Hash the file; gives the place a wrong one was moved to, None where it is right."""
    if final.stat().st_size == entry.size_bytes and sha256_of(final) == entry.sha256:
        _mark(entry, final)
        return None
    number = 1
    while (aside := final.with_name(f"{final.name}.corrupt-{number}")).exists():
        number += 1
    final.replace(aside)
    _mark_path(final).unlink(missing_ok=True)
    return aside


async def verify(entry: CatalogEntry, cache_dir: Path) -> None:
    """Hash a model file; a wrong one is moved aside, so that it can be looked at and is never used.

    Args:
        entry: what.
        cache_dir: folder of model files.

    Raises:
        UserError: it is missing or was wrong.
    """
    final = cache_dir / entry.file_name
    if not final.exists():
        raise UserError(
            "model.missing",
            "The model {name} is not on this computer.",
            todo="Fetch it: oneday models fetch {name}.",
            name=entry.name,
        )
    aside = await asyncio.to_thread(_verify, entry, final)
    if aside is not None:
        raise UserError(
            "model.corrupt",
            "The file of the model {name} is damaged.",
            kept="It was moved to {aside}.",
            todo="Fetch it again: oneday models fetch {name}.",
            name=entry.name,
            aside=str(aside),
        )


def list_installed(catalog: Catalog, cache_dir: Path) -> list[Installed]:
    """What of the catalogue is in the cache folder; looks at sizes and marks, hashes nothing.

    Args:
        catalog: the catalogue.
        cache_dir: folder of model files; may be missing.
    """
    found = []
    for entry in catalog.models:
        final = cache_dir / entry.file_name
        half = Partial(final).path
        if final.exists():
            size = final.stat().st_size
            state: State = "ready" if _is_marked(entry, final) else "unverified"
            state = state if size == entry.size_bytes else "corrupt"
            found.append(Installed(name=entry.name, path=final, size_bytes=size, state=state))
        elif half.exists():
            found.append(Installed(name=entry.name, path=half, size_bytes=half.stat().st_size, state="partial"))
    return found


async def remove(entry: CatalogEntry, cache_dir: Path) -> int:
    """Remove a model with its half file, record and mark.

    Args:
        entry: what.
        cache_dir: folder of model files.

    Returns:
        Bytes freed.

    Raises:
        UserError: it is being fetched at this moment.
    """
    final = cache_dir / entry.file_name
    if not await asyncio.to_thread(cache_dir.is_dir):
        return 0
    async with _locked(final, _refuse):
        return await asyncio.to_thread(_remove, final)


def _refuse(_done: int, _total: int, text: str) -> None:
    raise UserError("download.busy", "The model cannot be removed now: {text}.", todo="Try again later.", text=text)


def _remove(final: Path) -> int:
    partial = Partial(final)
    freed = 0
    for path in (final, partial.path):
        if path.exists():
            freed += path.stat().st_size
            path.unlink()
    partial.discard()
    _mark_path(final).unlink(missing_ok=True)
    return freed
