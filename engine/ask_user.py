"""The tool ``ask_user``: the model asks the person where the request leaves a choice that matters."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

import msgspec

from engine.asking import Questions
from engine.protocol.ports import ToolContext
from engine.protocol.tools import ToolResult, ToolSpec


class AskUserArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `AskUser`."""

    question: Annotated[str, msgspec.Meta(description="one short question", min_length=1)]
    options: Annotated[list[str], msgspec.Meta(description="answers to choose from", max_length=8)] = []
    default: Annotated[str, msgspec.Meta(description="what you take if nobody answers")] = ""


class AskUser:
    """Asks the person; where nobody is there, the default is taken and named in the report.

    Args:
        questions: the open questions of the run.
    """

    spec = ToolSpec(
        name="ask_user",
        summary="Ask the person one question, only where the request and the files leave a choice that matters.",
        arguments=AskUserArguments,
        effect="ask",
        example={"question": "Which year is meant?", "options": ["2023", "2024"], "default": "2024"},
    )

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    async def run(self, arguments: Any, context: ToolContext) -> ToolResult:  # noqa: ARG002 - the port's signature
        """Ask and wait for the answer; the same question is asked only once in a run.

        Raises:
            ModelError: nobody is there and there is no default.
        """
        assert isinstance(arguments, AskUserArguments)
        # From the words alone: a run that was cut off while it waited asks under the same name again.
        name = hashlib.sha256(msgspec.json.encode(arguments)).hexdigest()[:16]
        answered = await self._questions.ask(
            f"ask:{name}", arguments.question, tuple(arguments.options), arguments.default
        )
        who = "The person answered" if answered.by == "person" else "Nobody was there, so your default was taken"
        return ToolResult(text=f"{who}: {answered.answer or '(nothing)'}", trust="user")
