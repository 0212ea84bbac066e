"""Where each dialogue stands, folded from the events: what a resumed run has to do next."""

from __future__ import annotations

from typing import Literal

import msgspec

from engine.protocol.events import Event, MessageAdded, ModelCalled, ModelReplied, ToolIntended, ToolReturned
from engine.protocol.messages import ChatReply
from engine.protocol.tools import Observation

Position = Literal["new", "ask", "replied", "act", "intended", "returned"]


class Cursor(msgspec.Struct):
    """The position of one dialogue.

    Attributes:
        at: ``ask`` the model next (a half reply counts for nothing), keep what it ``replied``, ``act`` on the kept
            reply, recover an ``intended`` call without result, or report one that ``returned``.
        reply: newest reply.
        intent: newest intent.
        observation: its result.
        replies: replies of the model so far.
    """

    at: Position = "new"
    reply: ChatReply = ChatReply(text="")
    intent: ToolIntended | None = None
    observation: Observation | None = None
    replies: int = 0


class Cursors:
    """Cursors of all dialogues of a run by name."""

    def __init__(self) -> None:
        self._cursors: dict[str, Cursor] = {}
        self._dialogue_of: dict[str, str] = {}

    def __getitem__(self, dialogue: str) -> Cursor:
        return self._cursors.setdefault(dialogue, Cursor())

    def apply(self, event: Event) -> None:
        """Fold in the next event."""
        match event:
            case MessageAdded():
                cursor = self[event.dialogue]
                if event.role == "assistant" and cursor.at != "replied":
                    cursor.reply = ChatReply(text=event.content)  # a first step written by code
                cursor.at = "act" if event.role == "assistant" else "ask"
            case ModelCalled():
                self[event.dialogue].at = "ask"
            case ModelReplied():
                cursor = self[event.dialogue]
                cursor.at, cursor.reply = "replied", event.reply
                cursor.replies += 1
            case ToolIntended():
                cursor = self[event.dialogue]
                cursor.at, cursor.intent, cursor.observation = "intended", event, None
                self._dialogue_of[event.call_id] = event.dialogue
            case ToolReturned():
                cursor = self[self._dialogue_of.get(event.call_id, "")]
                cursor.at, cursor.observation = "returned", event.observation
            case _:
                pass
