"""Reading a run's events, the tables, and the baseline's parsing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.bare_loop import fenced
from tests.e2e.runlog import read_run
from tests.e2e.score import tables


def _line(kind: str, **body: Any) -> str:
    return json.dumps({"seq": 1, "run_id": "r", "at": "", "type": kind, "body": body})


def _call(dialogue: str, prompt: int, evaluated: int, text: str) -> list[str]:
    usage = {"calls": 1, "prompt_tokens": prompt, "evaluated_tokens": evaluated, "completion_tokens": 7}
    return [
        _line("ModelCalled", dialogue=dialogue, role="execute", model="m"),
        _line("ModelReplied", dialogue=dialogue, role="execute", model="m", reply={"text": text, "usage": usage}),
    ]


def test_a_run_is_read() -> None:
    lines = [
        _line("MessageAdded", dialogue="d", role="user", content="x" * 94),
        *_call("d", 100, 100, "reply"),
        _line("MessageAdded", dialogue="d", role="assistant", content="reply"),
        _line("MessageAdded", dialogue="d", role="user", content="y" * 76),
        *_call("d", 200, 90, "done"),
        _line("RepairEnded", attempt=1, kept=True),
        _line("Delivered", files={"a.csv": "/out/a.csv"}),
        _line("RunEnded", status="verified", seconds={"model": 2.0}),
    ]
    facts = read_run(lines)
    assert (facts.status, facts.files, facts.calls, facts.repairs) == ("verified", ["/out/a.csv"], 2, 1)
    assert (facts.prompt_tokens, facts.evaluated_tokens, facts.completion_tokens) == (300, 190, 14)
    # 101 characters, then 101 + 17 known and 83 new ones of 201.
    assert facts.new_tokens == pytest.approx(100 + 200 * 83 / 201)


def test_a_rewritten_dialogue_is_new_from_where_it_differs() -> None:
    lines = [
        _line("MessageAdded", dialogue="d", role="user", content="a" * 43),
        _line("MessageAdded", dialogue="d", role="assistant", content="b" * 37),
        _line("MessageAdded", dialogue="d", role="user", content="c" * 43),
        *_call("d", 150, 150, ""),
        _line("DialogueRewritten", dialogue="d", keep=[0, 2], summary="", summary_before=0),
        *_call("d", 100, 50, ""),
    ]
    facts = read_run(lines)
    # Two messages of one role in a row go out as one: 50 characters are known, 45 of 95 are new.
    assert facts.new_tokens == pytest.approx(150 + 100 * 45 / 95)


@pytest.mark.parametrize(
    ("reply", "script"),
    [
        ("Sure:\n```python\nprint(1)\n```\nDone.\n```sh\nls\n```", "print(1)\n"),
        ("```sh\nls\n```\n```py\nx = 2\n```", "x = 2\n"),
        ("```\nx = 3\n```", "x = 3\n"),
        ("```python\nx = 4\n", "x = 4\n"),
        ("I cannot do that.", None),
    ],
)
def test_the_first_python_block_counts(reply: str, script: str | None) -> None:
    assert fenced(reply) == script


def _row(way: str, seed: int, right: bool, **more: Any) -> dict[str, Any]:
    return {
        "way": way,
        "kind": "chart",
        "seed": seed,
        "profile": "p",
        "right": right,
        "seconds": 2.0,
        "calls": 1,
        **more,
    }


def test_tables() -> None:
    ours = {"repairs": 0, "new_tokens": 100, "evaluated_tokens": 110}
    text = tables(
        [
            _row("ours", 1, True, verified=True, **ours),
            _row("ours", 2, False, verified=True, **ours),
            _row("ours", 3, True, verified=False, **ours),
            _row("bare", 1, False),
            _row("bare", 4, True),
        ]
    )
    assert "Solved: ours 2 of 3, bare loop 1 of 2." in text
    assert "| right | 1 | 1 |" in text
    assert "| wrong | 1 | 0 |" in text
    assert "| chart | 1 | right | 2.0 | 1 | 0 | wrong | 2.0 |" in text
    assert "| chart | 4 | – | – | – | – | right | 2.0 |" in text
    assert "ratio 1.10" in text
