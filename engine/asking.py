"""Questions to the person: asked, journaled, answered by them or by the default."""

from __future__ import annotations

import asyncio

from engine.protocol.errors import ModelError
from engine.protocol.events import QuestionAnswered, QuestionAsked
from engine.runlog import RunLog
from engine.timing import Timeline


class Questions:
    """Open questions of a run.

    Args:
        log: where questions and answers are kept, so that a resumed run does not ask twice.
        timeline: stands still while the person is waited for.
        attended: somebody can answer; otherwise the default is taken at once and named in the report.
    """

    def __init__(self, log: RunLog, timeline: Timeline, *, attended: bool) -> None:
        self._log = log
        self._timeline = timeline
        self._attended = attended
        self._waiting: dict[str, asyncio.Future[str]] = {}

    async def ask(
        self,
        question_id: str,
        question: str,
        options: tuple[str, ...] = (),
        default: str = "",
        *,
        approval: bool = False,
    ) -> QuestionAnswered:
        """Ask and wait; nothing runs on by default after a time-out.

        Args:
            question_id: unique in the run; an answer already journaled for it is reused.
            question: in words.
            options: answers to choose from; empty for free text.
            default: what an unattended run takes; approvals have none.
            approval: consent for an action rather than a choice.

        Raises:
            ModelError: nobody is there and there is no default.
        """
        known = self._log.state.answers.get(question_id)
        if known is not None:
            return known
        # Made first: whoever hears of the question may answer at once.
        future = self._waiting.setdefault(question_id, asyncio.get_running_loop().create_future())
        await self._log.record(
            QuestionAsked(
                question_id=question_id,
                question=question,
                options=options,
                default=default,
                kind="approval" if approval else "question",
            )
        )
        if not self._attended:
            if approval or not default:
                self._waiting.pop(question_id)
                raise ModelError(
                    "Nobody is there to answer. Decide yourself and say so in the answer.", code="ask.nobody"
                )
            answered = QuestionAnswered(question_id=question_id, answer=default, by="default")
        else:
            with self._timeline.held():
                answered = QuestionAnswered(question_id=question_id, answer=await future, by="person")
        del self._waiting[question_id]
        await self._log.record(answered)
        return answered

    def answer(self, question_id: str, answer: str) -> None:
        """Give the person's answer; one for a question that is not open is ignored."""
        future = self._waiting.get(question_id)
        if future is not None and not future.done():
            future.set_result(answer)
