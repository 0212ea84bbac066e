"""Window-side client and the real engine in a process of its own, over stdio; only the model plays a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.client import EngineClient
from engine.protocol.errors import UserError
from engine.protocol.events import Envelope, Event, LedgerSet, QuestionAsked, RunEnded, Signal, ToolIntended
from engine.protocol.tasks import Mode, TaskRequest
from engine.system.spawn import role_argv, spawn

pytestmark = pytest.mark.processes

ORDERS = "region,item,amount\nNorth,apple,10.5\nSouth,pear,4\nNorth,plum,1.25\nEast,apple,7\n"
REQUEST = "Add up the amount for each region and save the totals as totals.csv with the columns region and amount."
ASK = json.dumps({"tool": "ask_user", "arguments": {"question": "Which kind?", "options": ["sum"], "default": "sum"}})
SLOW = "```python\nimport time\ntime.sleep(0.4)\nprint('looked')\n```"
LONG = "```python\nimport time\ntime.sleep(40)\n```"
RIGHT = (
    "```python\nimport pandas as pd\n"
    'table = pd.read_csv("orders.csv").groupby("region", as_index=False)["amount"].sum()\n'
    'table.to_csv("totals.csv", index=False)\nprint(table)\n```'
)


class Window:
    """A client with its engine, and what it heard."""

    def __init__(self, client: EngineClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.events: list[Event] = []
        self.signals: list[Signal] = []
        self._news = asyncio.Event()

    def request(self, *, attended: bool = False) -> TaskRequest:
        orders = self.folder / "orders.csv"
        orders.write_text(ORDERS, encoding="utf-8")
        return TaskRequest(
            text=REQUEST,
            attachments=(str(orders),),
            out_dir=str(self.folder / "out"),
            mode=Mode.VERIFY,
            profile="window",
            attended=attended,
        )

    async def begin(self, *, attended: bool = False) -> str:
        started = await self.client.start(self.request(attended=attended))
        self.client.subscribe(started.run_id, self._on_event, self.signals.append)
        return started.run_id

    def _on_event(self, _envelope: Envelope, event: Event) -> None:
        self.events.append(event)
        self._news.set()

    async def until(self, kind: type[Event]) -> Event:
        while True:
            self._news.clear()
            found = next((event for event in self.events if isinstance(event, kind)), None)
            if found is not None:
                return found
            await self._news.wait()


async def open_window(folder: Path, *replies: object) -> Window:
    """An engine of the real role with a script, and its client."""
    script = folder / "replies.json"
    script.write_text(json.dumps(replies), encoding="utf-8")
    argv = role_argv("engine", ["--runs", str(folder / "runs"), "--option", f"script={script}"])
    return Window(EngineClient(await spawn(argv, stderr=folder / "log.txt")), folder)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    profiles = tmp_path / "home" / "data" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "window.toml").write_text('extends = "scripted"\ntools = ["ask_user", "python_interpreter"]\n')
    monkeypatch.setenv("ONEDAY_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
async def windows(home: Path) -> AsyncIterator[list[Window]]:
    opened: list[Window] = []
    yield opened
    for window in opened:
        await window.client.aclose()


async def test_start_answer_steer_and_result(home: Path, windows: list[Window]) -> None:
    window = await open_window(home, ASK, SLOW, RIGHT, {"text": RIGHT, "repeat": True})
    windows.append(window)
    run_id = await window.begin(attended=True)
    asked = await window.until(QuestionAsked)
    assert isinstance(asked, QuestionAsked)
    await window.client.answer(run_id, asked.question_id, "sum")
    await window.until(ToolIntended)
    await window.client.steer(run_id, "Thanks, go on.")
    ended = await window.client.result(run_id)
    assert ended.status == "verified", ended
    await window.until(RunEnded)
    assert "11.75" in (home / "out" / "totals.csv").read_text()
    assert [event.cause for event in window.events if isinstance(event, LedgerSet)] == ["request", "steering"]
    assert window.signals and all(signal.kind for signal in window.signals)
    (listed,) = await window.client.list_runs()
    assert listed.status == "verified" and listed.deliverables == (str(home / "out" / "totals.csv"),)


async def test_pause_and_resume(home: Path, windows: list[Window]) -> None:
    window = await open_window(home, SLOW, {"text": RIGHT, "delay_s": 60})
    windows.append(window)
    run_id = await window.begin()
    await window.until(ToolIntended)
    await window.client.pause(run_id)
    assert (await window.client.result(run_id)).status == "paused"
    await window.client.aclose()
    second = await open_window(home, SLOW, RIGHT)
    windows.append(second)
    await second.client.resume(run_id)
    assert (await second.client.result(run_id)).status == "verified"


async def test_a_killed_engine_is_noticed_and_the_run_goes_on_in_the_next(home: Path, windows: list[Window]) -> None:
    window = await open_window(home, LONG)
    windows.append(window)
    run_id = await window.begin()
    await window.until(ToolIntended)
    waiting = asyncio.ensure_future(window.client.result(run_id))
    await window.client._child.stop(grace_s=0.0)
    with pytest.raises(UserError) as caught:
        await waiting
    assert caught.value.key == "engine.gone"
    second = await open_window(home, LONG)
    windows.append(second)
    (listed,) = await second.client.list_runs()
    assert listed.status == "open"
    await second.client.resume(run_id)
    await second.client.pause(run_id)
    assert (await second.client.result(run_id)).status == "paused"


async def test_what_cannot_be_started_is_told_whole(home: Path, windows: list[Window]) -> None:
    window = await open_window(home, RIGHT)
    windows.append(window)
    request = window.request()
    (home / "orders.csv").unlink()
    with pytest.raises(UserError) as caught:
        await window.client.start(request)
    assert caught.value.key == "attachment.missing" and caught.value.todo
    assert await window.client.list_runs() == ()
