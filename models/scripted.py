"""A model that plays replies from a JSON file; for tests and demonstrations without any model.

The file is a list of replies, or an object ``{"replies": […], "roles": {"planner": […]}}``. A reply is a string or an
object::

    {"text": "…", "finish": "stop", "delay_s": 0.2, "match": {"role": "executor", "last": "text in the last message"}}

A call takes the first reply of its role's queue, else of the common queue, whose ``match`` fits (or that has none).
With ``"repeat": true`` a reply is not used up.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from engine.protocol.errors import UserError
from engine.protocol.messages import ChatReply, ChatRequest, FinishReason, Message, Usage
from engine.protocol.ports import OnDelta
from models.tokens import TokenEstimator

_PIECE_CHARS = 24


class Match(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a reply fits: the role that asks, and a text that its last message holds; empty fits all."""

    role: str = ""
    last: str = ""


class ScriptedReply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One reply of a script; see the module."""

    text: str
    reasoning: str = ""
    finish: FinishReason = "stop"
    delay_s: float = 0.0
    match: Match = Match()
    repeat: bool = False


class _File(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    replies: list[str | ScriptedReply] = []
    roles: dict[str, list[str | ScriptedReply]] = {}


class Script:
    """The replies that are left, shared by the models of all roles of a run.

    Args:
        replies: the common queue.
        roles: queues of single roles.
        label: what errors call it.
        used: calls already answered, by role, when a run is taken up again: that many replies are skipped at the
            front of the role's own queue, or of the common one where the role has none.
    """

    def __init__(
        self,
        replies: Sequence[str | ScriptedReply] = (),
        roles: Mapping[str, Sequence[str | ScriptedReply]] | None = None,
        *,
        label: str = "the script",
        used: Mapping[str, int] | None = None,
    ) -> None:
        self._common = [_reply(entry) for entry in replies]
        self._roles = {role: [_reply(entry) for entry in entries] for role, entries in (roles or {}).items()}
        self._label = label
        self.calls = 0
        for role, count in (used or {}).items():
            self._skip(role, self._roles.get(role, self._common), count)

    def _skip(self, role: str, queue: list[ScriptedReply], count: int) -> None:
        once = [entry for entry in queue if not entry.repeat and entry.match.role in ("", role)][:count]
        for entry in once:
            queue.remove(entry)
        self.calls += len(once)

    @classmethod
    def load(cls, path: Path, *, used: Mapping[str, int] | None = None) -> Script:
        """Read a script.

        Args:
            path: the JSON file.
            used: see the class.

        Raises:
            UserError: it is not there, or not a script.
        """
        try:
            raw = path.read_bytes()
            parsed = msgspec.json.decode(raw, type=list[str | ScriptedReply] | _File)
        except (OSError, msgspec.MsgspecError) as error:
            raise UserError(
                "script.unreadable",
                "The script {path} cannot be read: {reason}.",
                todo="Give a JSON file holding a list of replies.",
                path=str(path),
                reason=str(error),
            ) from error
        file = parsed if isinstance(parsed, _File) else _File(replies=parsed)
        return cls(file.replies, file.roles, label=str(path), used=used)

    def next(self, role: str, last: str) -> ScriptedReply:
        """Take the reply for a call.

        Args:
            role: who asks.
            last: content of the last message.

        Raises:
            UserError: no reply is left that fits.
        """
        self.calls += 1
        for queue in (self._roles.get(role, []), self._common):
            for index, entry in enumerate(queue):
                if entry.match.role in ("", role) and entry.match.last in last:
                    return entry if entry.repeat else queue.pop(index)
        raise UserError(
            "script.exhausted",
            "{label} has no reply left for call {call} (role {role}), whose last message begins: {last}",
            todo="Add a reply for it.",
            label=self._label,
            call=self.calls,
            role=role or "none",
            last=last[:200],
        )


class ScriptedModel:
    """`ChatModel` that answers from a `Script`.

    Args:
        script: shared by all roles.
        role: the role this model answers for.
        context_tokens: the window it claims.
    """

    def __init__(self, script: Script, role: str = "", *, context_tokens: int = 8192) -> None:
        self._script = script
        self._role = role
        self._context_tokens = context_tokens
        self._estimator = TokenEstimator()

    @property
    def name(self) -> str:
        return "scripted"

    @property
    def context_tokens(self) -> int:
        return self._context_tokens

    async def chat(self, request: ChatRequest, on_delta: OnDelta | None = None) -> ChatReply:
        """Play the next reply; see `engine.protocol.ports.ChatModel`."""
        started = time.monotonic()
        reply = self._script.next(self._role, request.messages[-1].content if request.messages else "")
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        if on_delta is not None:
            for start in range(0, len(reply.text), _PIECE_CHARS):
                on_delta(reply.text[start : start + _PIECE_CHARS])
        prompt = self._estimator.messages(request.messages)
        usage = Usage(
            calls=1,
            prompt_tokens=prompt,
            completion_tokens=self._estimator.text(reply.text),
            evaluated_tokens=prompt,
            seconds=time.monotonic() - started,
        )
        return ChatReply(text=reply.text, reasoning=reply.reasoning, finish=reply.finish, usage=usage)

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        return self._estimator.messages(messages)

    async def aclose(self) -> None:
        """Nothing to give back."""


def _reply(entry: str | ScriptedReply) -> ScriptedReply:
    return ScriptedReply(text=entry) if isinstance(entry, str) else entry
