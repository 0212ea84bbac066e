"""Request → one to six subtasks."""

from __future__ import annotations

import msgspec

from engine.protocol.errors import ModelError
from engine.protocol.ledger import Ledger
from engine.protocol.plan import Plan, Subtask, ordered
from engine.protocol.tasks import Mode

LONG_REQUEST_WORDS = 150
MANY_REQUIREMENTS = 8

PLAN_SCHEMA = {
    "type": "object",
    "properties": {
        "subtasks": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "title": {"type": "string"},
                    "description": {"type": "string"},
                    "dependencies": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["id", "title", "description", "dependencies"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["subtasks"],
    "additionalProperties": False,
}


def choose_mode(asked: Mode, text: str, ledger: Ledger, kinds_out: int, edits: bool) -> tuple[Mode, tuple[str, ...]]:
    """Settle ``auto``: it starts at ``verify`` and adds decomposition on signals of risk.

    Args:
        asked: the mode of the request.
        text: the request.
        ledger: its requirements.
        kinds_out: how many kinds of deliverable it names.
        edits: it changes an existing file.

    Returns:
        A mode other than ``auto``, and the reasons in words.
    """
    if asked is not Mode.AUTO:
        return asked, ("asked for",)
    signals = [
        reason
        for reason, holds in (
            ("several kinds of deliverable", kinds_out > 2),
            ("changes an existing file and makes others", edits and kinds_out > 1),
            ("many requirements", len(ledger.items) > MANY_REQUIREMENTS),
            ("a long request", len(text.split()) > LONG_REQUEST_WORDS),
        )
        if holds
    ]
    return (Mode.FULL, tuple(signals)) if signals else (Mode.VERIFY, ("a short task with few requirements",))


def single(text: str) -> Plan:
    """The deterministic plan: the whole request as one subtask."""
    title = " ".join(text.split())
    title = title if len(title) <= 80 else f"{title[:79]}…"
    return Plan(subtasks=(Subtask(id="task_1", title=title, description="Do what the request asks."),), origin="code")


def parse_plan(reply: str, limit: int) -> Plan:
    """Decode and check a planner's reply.

    Args:
        reply: JSON text as in `PLAN_SCHEMA`.
        limit: most subtasks the profile allows.

    Raises:
        ModelError: not JSON, wrong shape, or not a plan that can be followed.
    """
    start, end = reply.find("{"), reply.rfind("}")
    try:
        raw = msgspec.json.decode(reply[start : end + 1].encode(), type=_RawPlan)
    except msgspec.DecodeError as error:
        raise ModelError(
            f"The plan could not be read: {error}. Send only the JSON object.", code="plan.not_json"
        ) from None
    subtasks = tuple(Subtask(**msgspec.structs.asdict(one)) for one in raw.subtasks)
    return ordered(Plan(subtasks=subtasks, origin="model"), limit=limit)


class _RawSubtask(msgspec.Struct):
    id: str
    title: str
    description: str = ""
    dependencies: tuple[str, ...] = ()


class _RawPlan(msgspec.Struct):
    subtasks: tuple[_RawSubtask, ...]
