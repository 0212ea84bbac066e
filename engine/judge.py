"""Asks a model about one requirement at a time; used only where the profile states a measured precision."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.memory.budget import ContextBudget
from engine.memory.observations import cut_middle
from engine.opening import with_role
from engine.protocol.documents import Inspection
from engine.protocol.errors import ModelError
from engine.protocol.ledger import Requirement
from engine.protocol.messages import Message
from engine.protocol.verdicts import Evidence, RequirementVerdict, Status
from engine.roles import RoleModels
from prompts.loader import render

SCHEMA = {
    "type": "object",
    "properties": {
        "evidence": {"type": "string", "maxLength": 400},
        "verdict": {"type": "string", "enum": ["pass", "fail", "unknown"]},
    },
    "required": ["evidence", "verdict"],
    "additionalProperties": False,
}


class _Said(msgspec.Struct):
    evidence: str
    verdict: Status


class ModelJudge:
    """One question, one verdict.

    Args:
        roles: metered models.
        shared: the messages every dialogue begins with, so that the prefix cache serves the judge too.
        budget: limits.
        attempt: number of the verification; makes dialogue names unique.
    """

    def __init__(self, roles: RoleModels, shared: Sequence[Message], budget: ContextBudget, attempt: int) -> None:
        self._roles = roles
        self._shared = shared
        self._budget = budget
        self._attempt = attempt

    async def __call__(self, requirement: Requirement, inspections: Sequence[Inspection]) -> RequirementVerdict:
        """Judge one requirement; a reply that cannot be read is ``unknown``, never a pass."""
        facts = (
            "\n".join(f"- {one.name}: {msgspec.json.encode(one.facts).decode()}" for one in inspections) or "- no files"
        )
        text = render(
            "roles/judge",
            requirement=requirement.text,
            facts=cut_middle(facts, self._budget.observation_chars, "shortened"),
        )
        try:
            reply = await self._roles.once(
                "judge",
                f"judge.{self._attempt}.{requirement.id}",
                with_role(self._shared, text),
                max_tokens=min(512, self._budget.reply_tokens),
                schema=SCHEMA,
            )
            said = msgspec.json.decode(
                reply.text[reply.text.find("{") : reply.text.rfind("}") + 1].encode(), type=_Said
            )
        except ModelError as error:
            said = _Said(evidence=error.text, verdict="unknown")
        except msgspec.DecodeError:
            said = _Said(evidence="the judge's reply could not be read", verdict="unknown")
        return RequirementVerdict(
            requirement_id=requirement.id,
            status=said.verdict,
            by="judge" if said.verdict != "unknown" else "nobody",
            evidence=(Evidence(says=said.evidence),),
        )
