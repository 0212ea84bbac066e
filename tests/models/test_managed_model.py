"""The managed server with the real 0.5B model: skipped unless its file is in the normal cache folder."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import platformdirs
import psutil
import pytest

from engine.protocol.errors import RetryableError, UserError
from engine.protocol.messages import ChatRequest, Message, Sampling
from engine.system.spawn import spawn
from models.catalog import load_catalog
from models.downloads import fetch
from models.errors import ContextExceeded
from models.openai_compatible import ClientSettings, OpenAICompatibleModel
from models.servers.managed import ManagedServer, ServerSettings

MODEL = "qwen2.5-coder-0.5b"


def ask(text: str, max_tokens: int = 24, **fields: Any) -> ChatRequest:
    sampling = Sampling(temperature=0.0, seed=1)
    return ChatRequest(
        messages=(Message(role="user", content=text),), max_tokens=max_tokens, sampling=sampling, **fields
    )


async def model_file() -> Path:
    cache = Path(platformdirs.user_cache_dir("oneday-desk", appauthor=False)) / "models"
    entry = load_catalog().entry(MODEL)
    if not (cache / entry.file_name).exists() and os.environ.get("ONEDAY_TEST_FETCH") != "1":
        pytest.skip(f"{entry.file_name} is not in the cache folder")
    return await fetch(entry, cache)


def server_for(path: Path, folder: Path, **changes: Any) -> ManagedServer:
    values: dict[str, Any] = {"model": path, "name": MODEL, "context_tokens": 2048, "load_timeout_s": 100.0}
    return ManagedServer(ServerSettings(**{**values, **changes}), folder, lambda text: None)


def client_for(server: ManagedServer) -> OpenAICompatibleModel:
    settings = ClientSettings(
        model=MODEL, context_tokens=4096, first_token_timeout_s=100, idle_timeout_s=60, connect_timeout_s=5,
        flavour="llama_cpp",
    )  # fmt: skip
    return OpenAICompatibleModel(settings, server.endpoint)


def state_files(folder: Path) -> list[Path]:
    return list(folder.glob("*.json"))


async def gone(pid: int) -> None:
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110 - not our child
        await asyncio.sleep(0.02)


async def answered(model: OpenAICompatibleModel) -> str:
    """A reply, got as the harness gets it: after a passing fault it is asked again."""
    for _ in range(5):
        try:
            return (await model.chat(ask("Say hi.", 4))).text
        except RetryableError:
            await asyncio.sleep(0.2)
    return ""


@pytest.mark.model
@pytest.mark.processes
async def test_replies_counts_limits_and_cancelling(tmp_path: Path) -> None:
    server = server_for(await model_file(), tmp_path)
    model = client_for(server)
    await model.probe()
    assert model.context_tokens == 2048
    pieces: list[str] = []
    plain = await model.chat(ask("Name three colours."), pieces.append)
    assert plain.text
    assert "".join(pieces) == plain.text
    assert plain.usage.prompt_tokens == await model.count_tokens(ask("Name three colours.").messages)
    again = await model.chat(ask("Name three colours."))
    assert again.usage.evaluated_tokens < plain.usage.evaluated_tokens
    assert again.usage.cached_tokens > 0
    cut = await model.chat(ask("Count to one hundred.", max_tokens=5))
    assert cut.finish == "length"
    number = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3, "maximum": 7}}, "required": ["n"]}
    bound = await model.chat(ask("Say hello.", schema={**number, "additionalProperties": False}))
    assert 3 <= json.loads(bound.text)["n"] <= 7
    with pytest.raises(ContextExceeded) as caught:
        await model.chat(ask("word " * 3000))
    assert caught.value.context_tokens == 2048
    begun = asyncio.Event()
    task = asyncio.create_task(model.chat(ask("Write a long story.", 1500), lambda piece: begun.set()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await model.chat(ask("Say hi.", 4))).text  # the only slot is free again
    pid = server.pid
    assert pid is not None
    await model.aclose()
    await server.aclose()
    await gone(pid)


@pytest.mark.model
@pytest.mark.processes
async def test_a_killed_server_is_started_again_a_bounded_number_of_times(tmp_path: Path) -> None:
    server = server_for(await model_file(), tmp_path, max_restarts=1)
    model = client_for(server)
    assert (await model.chat(ask("Say hi.", 4))).text
    begun = asyncio.Event()
    task = asyncio.create_task(model.chat(ask("Write a long story.", 1500), lambda piece: begun.set()))
    await begun.wait()
    killed = server.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    with pytest.raises(RetryableError):
        await task
    assert await answered(model)
    os.kill(server.pid, signal.SIGKILL)
    await gone(server.pid)
    with pytest.raises((UserError, RetryableError)):
        for _ in range(3):
            await model.chat(ask("Say hi.", 4))
    await model.aclose()
    await server.aclose()


@pytest.mark.model
@pytest.mark.processes
async def test_two_share_one_server_and_the_second_takes_over(tmp_path: Path) -> None:
    path = await model_file()
    first, second = server_for(path, tmp_path), server_for(path, tmp_path)
    assert await first.endpoint() == await second.endpoint()
    assert first.owned
    assert not second.owned
    (state,) = state_files(tmp_path)
    if sys.platform != "win32":
        assert state.stat().st_mode & 0o777 == 0o600
    await first.aclose()
    model = client_for(second)
    assert (await model.chat(ask("Say hi.", 4))).text
    assert second.owned
    await model.aclose()
    await second.aclose()
    assert not state.exists()


PARENT = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from models.servers.managed import ManagedServer, ServerSettings
async def main():
    settings = ServerSettings(model=Path(sys.argv[2]), name="m", context_tokens=2048, load_timeout_s=100)
    server = ManagedServer(settings, Path(sys.argv[3]), lambda text: None)
    await server.endpoint()
    print(server.pid, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.mark.model
@pytest.mark.processes
async def test_a_killed_parent_leaves_no_server(tmp_path: Path) -> None:
    path = await model_file()
    root = str(Path(__file__).parents[2])
    parent = await spawn([sys.executable, "-c", PARENT, root, str(path), str(tmp_path)])
    pid = int(await parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    await parent.wait()
    await gone(pid)
    server = server_for(path, tmp_path)  # the lock is free and the old state does not mislead
    await server.endpoint()
    assert server.owned
    await server.aclose()


@pytest.mark.processes
async def test_a_damaged_model_file_is_explained(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF" + bytes(1000))
    server = server_for(bad, tmp_path / "state")
    with pytest.raises(UserError) as caught:
        await server.endpoint()
    assert "GGUF" in caught.value.what
    assert "models verify" in caught.value.todo
    assert not server.owned
    await server.aclose()
