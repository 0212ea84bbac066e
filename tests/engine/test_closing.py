"""What a tool keeps beyond a call ends with the run."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import psutil
import pytest

from engine.app import open_engine
from engine.protocol.tasks import Mode, TaskRequest

pytestmark = pytest.mark.processes


def running(mark: str) -> list[int]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if any(mark in part for part in process.info["cmdline"] or []):
            found.append(process.pid)
    return found


async def test_commands_in_the_background_end_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEDAY_HOME", str(tmp_path / "home"))
    mark = uuid.uuid4().hex
    command = f"echo started > note.txt; sleep 600; : {mark}"
    steps = (
        {"tool": "execute_command", "arguments": {"command": command, "background": True}},
        {"tool": "finish", "arguments": {"answer": "Hello, it runs.", "files": []}},
    )
    script = tmp_path / "replies.json"
    script.write_text(json.dumps([json.dumps(step) for step in steps]), encoding="utf-8")
    engine = await open_engine(runs=tmp_path / "runs", script=script)
    seen: list[int] = []
    try:
        request = TaskRequest(text="Say hello.", out_dir=str(tmp_path / "out"), mode=Mode.DIRECT, profile="scripted")
        run = await engine.start(request)
        run.subscribe(lambda _, event: seen.append(len(running(mark))), lambda _: None)
        ended = await run.result()
        assert ended.status != "paused", ended
        assert max(seen) > 0 and running(mark) == []
    finally:
        await engine.aclose()
