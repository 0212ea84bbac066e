"""Reads the events that ``oneday run --json`` prints: calls, repairs, verdict, tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec


class RunFacts(msgspec.Struct, kw_only=True):
    """What the events of one run say.

    Attributes:
        status: ``verified``, ``unverified``, ``failed``, ``paused``; empty if the run never ended.
        reason: in words.
        files: delivered files, absolute paths.
        calls: model calls.
        repairs: repair attempts.
        evaluated_tokens: prompt tokens the server computed, by its own timings.
        new_tokens: prompt tokens beyond the longest prefix that the slot already held (by share of characters).
        prompt_tokens: of all prompts.
        completion_tokens: of all replies.
        seconds: where the time went, as the run tells.
    """

    status: str = ""
    reason: str = ""
    files: list[str] = []
    calls: int = 0
    repairs: int = 0
    evaluated_tokens: int = 0
    new_tokens: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: dict[str, float] = {}


def read_run(lines: Iterable[str]) -> RunFacts:
    """Fold the lines of one run.

    Args:
        lines: what the command printed on standard output.

    Raises:
        ValueError: a line is no JSON object.
    """
    facts = RunFacts()
    slot = _Slot()
    for line in lines:
        if not line.strip():
            continue
        envelope = json.loads(line)
        body: dict[str, Any] = envelope["body"]
        match envelope["type"]:
            case "MessageAdded" | "DialogueRewritten":
                slot.message(envelope["type"], body)
            case "ModelCalled":
                slot.called(body)
            case "ModelReplied":
                _reply(facts, slot, body)
            case "RepairEnded":
                facts.repairs += 1
            case "Delivered":
                facts.files = list(body["files"].values())
            case "RunEnded":
                facts.status, facts.reason = body["status"], body.get("reason", "")
                facts.seconds = body.get("seconds", {})
    return facts


def _reply(facts: RunFacts, slot: _Slot, body: dict[str, Any]) -> None:
    usage = body["reply"].get("usage", {})
    facts.calls += 1
    facts.prompt_tokens += usage.get("prompt_tokens", 0)
    facts.completion_tokens += usage.get("completion_tokens", 0)
    facts.evaluated_tokens += usage.get("evaluated_tokens", 0)
    facts.new_tokens += usage.get("prompt_tokens", 0) * slot.new_share()
    slot.replied(body["reply"].get("text", ""))


class _Slot:
    """The one slot of the server: which text it holds, and how much of the next prompt is new to it."""

    def __init__(self) -> None:
        self._dialogues: dict[str, list[tuple[str, str]]] = {}
        self._held = ""
        self._prompt = ""

    def message(self, kind: str, body: dict[str, Any]) -> None:
        messages = self._dialogues.setdefault(body["dialogue"], [])
        if kind == "MessageAdded":
            messages.append((body["role"], body["content"]))
            return
        kept: list[tuple[str, str]] = []
        summary = body.get("summary", "")
        before = body.get("summary_before", 0)
        placed = not summary
        for index in body["keep"]:
            if not placed and index >= before:
                kept.append(("user", summary))
                placed = True
            kept.append(messages[index])
        if not placed:
            kept.append(("user", summary))
        self._dialogues[body["dialogue"]] = kept

    def called(self, body: dict[str, Any]) -> None:
        parts: list[str] = []
        last = ""
        for role, content in self._dialogues.get(body["dialogue"], []):
            # Two messages of one role in a row go out as one.
            parts.append(f"\n\n{content}" if role == last == "user" else f"<{role}>\n{content}")
            last = role
        self._prompt = "".join(parts)

    def new_share(self) -> float:
        """Share of the prompt beyond what the slot holds; at least one character is always computed."""
        if not self._prompt:
            return 1.0
        same = 0
        for ours, theirs in zip(self._prompt, self._held, strict=False):
            if ours != theirs:
                break
            same += 1
        return max(1, len(self._prompt) - same) / len(self._prompt)

    def replied(self, text: str) -> None:
        self._held = f"{self._prompt}<assistant>\n{text}"
