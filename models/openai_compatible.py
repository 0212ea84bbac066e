"""A model behind any OpenAI-compatible ``/v1/chat/completions``: hosted, llama.cpp, vLLM, Ollama and others."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

import httpx
import msgspec

from engine.protocol.errors import RetryableError
from engine.protocol.messages import ChatReply, ChatRequest, FinishReason, Message
from engine.protocol.ports import OnDelta
from models.accumulator import ReplyAccumulator
from models.http import error_from, new_client, sse_data
from models.repetition import RepetitionWatch
from models.tokens import TokenEstimator

Flavour = Literal["llama_cpp", "openai"]


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a backend listens; an address without a path gets ``/v1`` added."""

    url: str
    api_key: str = ""


class ClientSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to talk to one backend.

    Attributes:
        model: model name sent with each request.
        context_tokens: the window, where the backend does not tell its own.
        first_token_timeout_s: limit until the first generated token.
        idle_timeout_s: limit between two tokens.
        connect_timeout_s: limit for opening a connection.
        flavour: ``llama_cpp`` uses its further endpoints and sampling fields.
        max_tokens_field: name of the field that bounds the reply.
        extra_body: fields added to each request.
    """

    model: str
    context_tokens: int
    first_token_timeout_s: float
    idle_timeout_s: float
    connect_timeout_s: float
    flavour: Flavour = "openai"
    max_tokens_field: str = "max_tokens"
    extra_body: dict[str, Any] = {}


async def _nothing() -> None:
    return


class OpenAICompatibleModel:
    """`ChatModel` over HTTP.

    Args:
        settings: see `ClientSettings`.
        endpoint: gives the present address (a managed server may have moved after a restart).
    """

    def __init__(self, settings: ClientSettings, endpoint: Callable[[], Awaitable[Endpoint]]) -> None:
        self._settings = settings
        self._endpoint = endpoint
        self._on_close: Callable[[], Awaitable[None]] = _nothing
        self._client: httpx.AsyncClient | None = None
        self._context_tokens = settings.context_tokens
        self._estimator = TokenEstimator()
        self._counts_tokens = settings.flavour == "llama_cpp"

    @property
    def name(self) -> str:
        return self._settings.model

    @property
    def context_tokens(self) -> int:
        return self._context_tokens

    def call_on_close(self, action: Callable[[], Awaitable[None]]) -> None:
        """Have `aclose` also do this, once.

        Args:
            action: such as ending the server that belongs to this model alone.
        """
        self._on_close = action

    async def probe(self) -> None:
        """Read the real window from llama.cpp's ``/props``; elsewhere the setting stays.

        Raises:
            RetryableError: the server does not answer.
            UserError: it does not accept the key.
        """
        if self._settings.flavour != "llama_cpp":
            return
        response = await self._plain("GET", "/props")
        if response is None:
            return
        settings = response.json().get("default_generation_settings") or {}
        if isinstance(settings.get("n_ctx"), int):
            self._context_tokens = settings["n_ctx"]

    async def chat(self, request: ChatRequest, on_delta: OnDelta | None = None) -> ChatReply:
        """Answer once; see `engine.protocol.ports.ChatModel`.

        Raises:
            ContextExceeded: the prompt does not fit.
        """
        endpoint = await self._endpoint()
        started = time.monotonic()
        reply = ReplyAccumulator()
        limit_s = self._settings.first_token_timeout_s
        try:
            async with asyncio.timeout(limit_s) as limit:
                repeated = await self._stream(endpoint, request, reply, limit, on_delta)
        except TimeoutError as error:
            what = "stopped in the middle of its reply" if reply.text else "did not begin to answer in time"
            raise RetryableError(f"The model {what}.") from error
        except httpx.TransportError as error:
            raise RetryableError(f"The connection to the model broke: {error or type(error).__name__}") from error
        finish: FinishReason | None = "repetition" if repeated else reply.finish
        if finish is None:
            raise RetryableError("The reply of the model broke off before its end.")
        usage = reply.tokens(time.monotonic() - started)
        if usage.prompt_tokens:
            self._estimator.learn(request.messages, usage.prompt_tokens)
        else:
            usage = self._estimated(request, reply, usage)
        text, reasoning = "".join(reply.text), "".join(reply.reasoning)
        return ChatReply(text=text, reasoning=reasoning, finish=finish, usage=usage, extra=reply.extra)

    def _estimated(self, request: ChatRequest, reply: ReplyAccumulator, usage: Any) -> Any:
        prompt = self._estimator.messages(request.messages)
        done = self._estimator.text("".join(reply.text) + "".join(reply.reasoning))
        return msgspec.structs.replace(usage, prompt_tokens=prompt, completion_tokens=done)

    async def _stream(
        self,
        endpoint: Endpoint,
        request: ChatRequest,
        reply: ReplyAccumulator,
        limit: asyncio.Timeout,
        on_delta: OnDelta | None,
    ) -> bool:
        """Fill `reply`; tells whether it was stopped because it repeats. Leaving closes the stream at once."""
        url = f"{_v1(endpoint.url)}/chat/completions"
        client = self._http(endpoint)
        async with client.stream("POST", url, json=self._body(request), headers=_headers(endpoint)) as response:
            if response.status_code != 200 or "text/html" in response.headers.get("content-type", ""):
                body = (await response.aread()).decode("utf-8", errors="replace")
                raise error_from(response.status_code, response.headers, body, url=url, model=self.name)
            if "text/event-stream" not in response.headers.get("content-type", "text/event-stream"):
                reply.take(self._decoded((await response.aread()).decode("utf-8", errors="replace"), url))
                return False
            watch = RepetitionWatch()
            async for data in sse_data(response):
                if data == "[DONE]":
                    break
                piece, alive = reply.take(self._decoded(data, url))
                if alive:
                    limit.reschedule(asyncio.get_running_loop().time() + self._settings.idle_timeout_s)
                if piece and on_delta is not None:
                    on_delta(piece)
                if piece and watch.feed(piece):
                    return True
        return False

    def _decoded(self, data: str, url: str) -> dict[str, Any]:
        try:
            chunk = json.loads(data)
        except ValueError as error:
            raise RetryableError("The model server sent something that is not JSON.") from error
        if not isinstance(chunk, dict):
            raise RetryableError("The model server sent something that is not a reply.")
        if chunk.get("error"):
            problem = chunk["error"]
            code = problem.get("code") if isinstance(problem, dict) else None
            raise error_from(code if isinstance(code, int) else 500, {}, data, url=url, model=self.name)
        return chunk

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        llama = self._settings.flavour == "llama_cpp"
        common = ("temperature", "top_p", "seed")
        names = (*common, "top_k", "min_p", "repeat_penalty") if llama else common
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [_message(message) for message in request.messages],
            self._settings.max_tokens_field: request.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        sampling = {name: getattr(request.sampling, name) for name in names}
        body.update({name: value for name, value in sampling.items() if value is not None})
        if request.stop:
            body["stop"] = list(request.stop)
        if request.schema is not None:
            form = {"name": request.schema_name, "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if llama:
            body["cache_prompt"] = True
        return {**body, **self._settings.extra_body}

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        if self._counts_tokens:
            counted = await self._counted([_message(message) for message in messages])
            if counted is not None:
                return counted
            self._counts_tokens = False
        return self._estimator.messages(messages)

    async def _counted(self, messages: list[dict[str, Any]]) -> int | None:
        """llama.cpp's own count: one call where it knows it, two calls on older servers, else None."""
        body = {"messages": messages, "model": self.name, **self._settings.extra_body}
        response = await self._plain("POST", "/v1/chat/completions/input_tokens", body)
        if response is not None:
            return int(response.json()["input_tokens"])
        rendered = await self._plain("POST", "/apply-template", body)
        if rendered is None:
            return None
        text = {"content": rendered.json()["prompt"], "add_special": True}
        response = await self._plain("POST", "/tokenize", text)
        return None if response is None else len(response.json()["tokens"])

    async def _plain(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response | None:
        """Ask one of llama.cpp's own endpoints; None where this server does not have it."""
        endpoint = await self._endpoint()
        url = endpoint.url.rstrip("/").removesuffix("/v1") + path
        try:
            async with asyncio.timeout(self._settings.first_token_timeout_s):
                response = await self._http(endpoint).request(method, url, json=body, headers=_headers(endpoint))
        except (TimeoutError, httpx.TransportError) as error:
            raise RetryableError(f"The model server does not answer: {error or type(error).__name__}") from error
        if response.status_code in (404, 405, 501):
            return None
        if response.status_code != 200:
            raise error_from(response.status_code, response.headers, response.text, url=url, model=self.name)
        return response

    def _http(self, endpoint: Endpoint) -> httpx.AsyncClient:
        if self._client is None:
            self._client = new_client(endpoint.url, connect_timeout_s=self._settings.connect_timeout_s)
        return self._client

    async def aclose(self) -> None:
        """Close connections and release the server; safe to call twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
        on_close, self._on_close = self._on_close, _nothing
        await on_close()


def _v1(url: str) -> str:
    """Add the version part to a bare address; an address that already has a path is taken as it is."""
    url = url.rstrip("/")
    return url if "/" in url.partition("://")[2] else f"{url}/v1"


def _headers(endpoint: Endpoint) -> dict[str, str]:
    return {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}


def _message(message: Message) -> dict[str, Any]:
    """A message as it is sent: fields kept from the provider's own reply go back unchanged."""
    return {"role": message.role, "content": message.content, **message.extra}
