"""Whole runs in this process: real tools, sandbox, document workers and journal; only the model plays a script."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from engine.app import ActiveRun, AppEngine, open_engine
from engine.protocol.events import Envelope, Event, RunEnded, Signal
from engine.protocol.tasks import Mode, TaskRequest

E = TypeVar("E")

ORDERS = "region,item,amount\nNorth,apple,10.5\nSouth,pear,4\nNorth,plum,1.25\nEast,apple,7\n"
TOOLS = ["aggregate_table", "edit_table", "write_to_file", "read_file", "python_interpreter", "execute_command"]
REQUEST = "Add up the amount for each region and save the totals as totals.csv with the columns region and amount."


def script_block(*lines: str) -> str:
    """A reply with one Python script."""
    return "Now the script.\n\n```python\n" + "\n".join(lines) + "\n```"


def call(tool: str, **arguments: object) -> str:
    """A reply with one JSON call."""
    return json.dumps({"tool": tool, "arguments": arguments}, ensure_ascii=False)


def finish(answer: str = "Done.", *files: str) -> str:
    """The reply that ends an attempt."""
    return call("finish", answer=answer, files=list(files))


class Watcher:
    """Events and signals of one run, and waiting for them."""

    def __init__(self, handle: ActiveRun) -> None:
        import asyncio

        self.events: list[Event] = []
        self.signals: list[Signal] = []
        self._news = asyncio.Event()
        handle.subscribe(self._on_event, self.signals.append)

    def _on_event(self, _envelope: Envelope, event: Event) -> None:
        self.events.append(event)
        self._news.set()

    def of(self, kind: type[E]) -> list[E]:
        """All events of a type."""
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, kind: type[E], fits: Callable[[E], bool] = lambda _: True) -> E:
        """The first event of a type that fits, now or later."""
        while True:
            self._news.clear()
            found = next((event for event in self.of(kind) if fits(event)), None)
            if found is not None:
                return found
            await self._news.wait()


class Desk:
    """A user's home with an engine that plays scripts.

    Args:
        home: ``ONEDAY_HOME``.
        folder: where attachments lie and results go.
    """

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder
        self.out = folder / "out"
        self._engines: list[AppEngine] = []
        self._scripts = 0
        self.profile("desk", tools=TOOLS)

    def file(self, name: str, text: str = ORDERS) -> Path:
        """An attachment."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def profile(self, name: str, **fields: object) -> str:
        """A profile of the person's own that extends ``scripted``."""
        folder = self.home / "data" / "profiles"
        folder.mkdir(parents=True, exist_ok=True)
        lines = ['extends = "scripted"', *(f"{key} = {json.dumps(value)}" for key, value in fields.items())]
        (folder / f"{name}.toml").write_text("\n".join(lines), encoding="utf-8")
        return name

    def script(self, replies: Sequence[Any] | dict[str, Any]) -> Path:
        """A script file."""
        self._scripts += 1
        path = self.folder / f"replies-{self._scripts}.json"
        path.write_text(json.dumps(replies, ensure_ascii=False), encoding="utf-8")
        return path

    async def engine(self, replies: Sequence[Any] | dict[str, Any]) -> AppEngine:
        """An engine that plays these replies; closed at the end of the test."""
        engine = await open_engine(script=self.script(replies))
        self._engines.append(engine)
        return engine

    def request(self, text: str = REQUEST, *files: Path, **fields: Any) -> TaskRequest:
        """A request, in mode verify unless said otherwise."""
        given = {"mode": Mode.VERIFY, "profile": "desk", **fields}
        return TaskRequest(text=text, attachments=tuple(str(path) for path in files), out_dir=str(self.out), **given)

    async def run(
        self, replies: Sequence[Any] | dict[str, Any], text: str = REQUEST, *files: Path, **fields: Any
    ) -> tuple[RunEnded, Watcher]:
        """A whole run; by default of a small CSV."""
        engine = await self.engine(replies)
        handle = await engine.start(self.request(text, *(files or (self.file("orders.csv"),)), **fields))
        watcher = Watcher(handle)
        ended = await handle.result()
        return ended, watcher

    def report(self) -> str:
        """The newest report beside the results."""
        return max(self.out.glob("oneday-report*.md"), key=lambda path: path.stat().st_mtime_ns).read_text("utf-8")

    async def aclose(self) -> None:
        for engine in self._engines:
            await engine.aclose()


@pytest.fixture(scope="session")
def warm_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all tests of a session: its cache holds what scripts need to start quickly."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
async def desk(warm_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    """See `Desk`."""
    monkeypatch.setenv("ONEDAY_HOME", str(warm_home))
    desk = Desk(warm_home, tmp_path)
    yield desk
    await desk.aclose()
