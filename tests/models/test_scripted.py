from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.protocol.errors import UserError
from engine.protocol.messages import ChatRequest, Message
from models.scripted import Script, ScriptedModel


def ask(text: str) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), max_tokens=10)


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


async def test_replies_are_consumed_in_order_and_running_out_names_the_call(tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", ["one", {"text": "two", "finish": "length", "reasoning": "hm"}])
    model, pieces = ScriptedModel(Script.load(path), "executor", context_tokens=999), []
    first = await model.chat(ask("a"), pieces.append)
    assert (first.text, first.finish, "".join(pieces)) == ("one", "stop", "one")
    assert first.usage.calls == 1
    assert first.usage.prompt_tokens == await model.count_tokens(ask("a").messages)
    second = await model.chat(ask("b"))
    assert (second.text, second.finish, second.reasoning) == ("two", "length", "hm")
    with pytest.raises(UserError) as caught:
        await model.chat(ask("what now"))
    assert "call 3" in caught.value.what
    assert "executor" in caught.value.what
    assert "what now" in caught.value.what
    assert model.context_tokens == 999
    await model.aclose()


async def test_roles_matches_and_repeats(tmp_path: Path) -> None:
    script = Script.load(
        write(
            tmp_path / "s.json",
            {
                "replies": [
                    {"text": "judge", "match": {"role": "verifier"}, "repeat": True},
                    {"text": "mend", "match": {"last": "failed"}},
                    "plain",
                    "last",
                ],
                "roles": {"planner": ["plan"]},
            },
        )
    )
    planner, verifier, executor = (ScriptedModel(script, role) for role in ("planner", "verifier", "executor"))
    assert (await planner.chat(ask("x"))).text == "plan"
    assert (await executor.chat(ask("x"))).text == "plain"
    assert (await verifier.chat(ask("x"))).text == "judge"
    assert (await verifier.chat(ask("x"))).text == "judge"
    assert (await executor.chat(ask("it failed: x"))).text == "mend"
    assert (await planner.chat(ask("x"))).text == "last"
    with pytest.raises(UserError):
        await executor.chat(ask("x"))


async def test_a_run_taken_up_again_skips_what_was_used(tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", {"replies": ["1", "2", "3"], "roles": {"planner": ["a", "b"]}})
    script = Script.load(path, used={"planner": 1, "executor": 1, "repair": 1})
    assert (await ScriptedModel(script, "planner").chat(ask("x"))).text == "b"
    assert (await ScriptedModel(script, "executor").chat(ask("x"))).text == "3"
    assert script.calls == 5


@pytest.mark.parametrize("content", ["{", '[{"txt": "x"}]', '[{"text": "x", "finish": "boom"}]', '{"reply": []}'])
def test_a_faulty_script_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "faulty.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        Script.load(path)
    assert "faulty.json" in caught.value.what
