"""Models by role: every call is journaled, metered, retried within the budget, and fits its window."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from engine.protocol.errors import ModelError, RetryableError, UserError
from engine.protocol.events import MessageAdded, ModelCalled, ModelReplied, Signal, Warned
from engine.protocol.messages import ChatReply, ChatRequest, Message, Sampling
from engine.protocol.ports import ChatModel
from engine.runlog import RunLog
from engine.timing import Timeline

T = TypeVar("T")

OnSignal = Callable[[Signal], None]

BACKOFF_S = (1.0, 4.0, 15.0)
TIME_UP = "The time for this part is used up."


class RoleModels:
    """Calls the model of a role.

    Args:
        log: where calls and replies are kept.
        models: by role; the role ``execute`` stands in for those that are not named.
        sampling: how tokens are drawn at the first attempt.
        timeline: no call outlasts the run's time; see `chat`.
        temperature_step: added for each retry, so that a retry is not the same again.
        on_signal: is told of streamed text.
    """

    def __init__(
        self,
        log: RunLog,
        models: Mapping[str, ChatModel],
        *,
        sampling: Sampling,
        temperature_step: float,
        timeline: Timeline,
        on_signal: OnSignal,
    ) -> None:
        self._log = log
        self._models = models
        self._sampling = sampling
        self._step = temperature_step
        self._on_signal = on_signal
        self._timeline = timeline
        self.model_s = 0.0

    def model(self, role: str) -> ChatModel:
        """The model that serves a role."""
        return self._models.get(role, self._models["execute"])

    async def count(self, role: str, messages: Sequence[Message]) -> int:
        """Tokens of a dialogue, by the count of the role's model.

        Raises:
            UserError: the backend refused or kept failing.
        """
        return await self._with_retries(lambda: self.model(role).count_tokens(messages))

    async def chat(
        self,
        role: str,
        dialogue: str,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        schema: dict[str, Any] | None = None,
        stop: tuple[str, ...] = (),
        retry: int = 0,
        prompt_tokens: int | None = None,
        until_s: float | None = None,
        greedy: bool = False,
    ) -> ChatReply:
        """Ask once and journal call and reply.

        Args:
            role: ``execute``, ``plan``, ``judge`` …
            dialogue: name under which the reply is kept.
            messages: the whole dialogue.
            max_tokens: bound of the reply.
            schema: JSON Schema of the reply, if it must have one.
            stop: strings that end it.
            retry: how often this was asked already; raises the temperature.
            prompt_tokens: tokens of `messages` where they were counted already.
            greedy: always the likeliest token, for questions with one right answer.
            until_s: the call is given up when this many active seconds of the run have passed; None: at the reserve.

        Raises:
            ModelError: the dialogue does not fit the window even so, or the time is used up.
            UserError: the backend refused or kept failing.
        """
        model = self.model(role)
        if prompt_tokens is None:
            prompt_tokens = await self.count(role, messages)
        room = model.context_tokens - prompt_tokens
        if room < 64:
            raise ModelError("The dialogue does not fit the model's window.", code="context.full")
        request = ChatRequest(
            messages=tuple(messages),
            max_tokens=min(max_tokens, room),
            sampling=Sampling(temperature=0.0) if greedy else self._sampled(retry),
            schema=schema,
            stop=stop,
        )
        left_s = min(until_s or float("inf"), self._timeline.repair_until_s) - self._timeline.elapsed_s
        if left_s <= 0:
            raise ModelError(TIME_UP, code="loop.time")
        call = ModelCalled(dialogue=dialogue, role=role, model=model.name, prompt_tokens=prompt_tokens)
        await self._log.record(call)
        reply = await self._in_time(left_s, lambda: model.chat(request, self._on_text))
        await self._log.record(ModelReplied(dialogue=dialogue, role=role, model=model.name, reply=reply))
        return reply

    async def once(self, role: str, dialogue: str, messages: Sequence[Message], **options: Any) -> ChatReply:
        """Like `chat` for a single question, which is journaled too; a reply already there is reused (on resume)."""
        known = self._log.state.last_reply.get(dialogue)
        if known is not None:
            return known.reply
        if not self._log.state.dialogue(dialogue):
            for one in messages:
                await self._log.record(MessageAdded(dialogue=dialogue, role=one.role, content=one.content))
        return await self.chat(role, dialogue, messages, **options)

    def _on_text(self, piece: str) -> None:
        self._on_signal(Signal(kind="text", text=piece))

    async def _in_time(self, left_s: float, work: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(left_s) as limit:
                return await self._with_retries(work)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise ModelError(TIME_UP, code="loop.time") from error

    async def _with_retries(self, work: Callable[[], Awaitable[T]]) -> T:
        for number in range(len(BACKOFF_S) + 1):
            started = time.perf_counter()
            try:
                return await work()
            except RetryableError as error:
                if number == len(BACKOFF_S):
                    raise UserError(
                        "model.unreachable",
                        "The model did not answer after {tries} tries: {detail}",
                        kept="Your files and everything done so far are kept.",
                        todo="Resume the run when the model works again (oneday runs resume).",
                        tries=number + 1,
                        detail=str(error),
                    ) from error
                wait_s = error.after_s if error.after_s is not None else BACKOFF_S[number]
                await self._log.record(
                    Warned(text=f"The model did not answer ({error}); trying again.", code="model.retry")
                )
                await asyncio.sleep(wait_s)
            finally:
                self.model_s += time.perf_counter() - started
        raise AssertionError("unreachable")

    def _sampled(self, retry: int) -> Sampling:
        if not retry or self._sampling.temperature is None:
            return self._sampling
        return msgspec.structs.replace(
            self._sampling, temperature=min(1.2, self._sampling.temperature + retry * self._step)
        )
