"""The client against a local server with reply shapes as real servers send them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from engine.protocol.errors import RetryableError, UserError
from engine.protocol.messages import ChatRequest, Message, Sampling
from models.errors import ContextExceeded
from models.openai_compatible import ClientSettings, Endpoint, OpenAICompatibleModel

HELLO = (Message(role="user", content="Hello"),)
REQUEST = ChatRequest(messages=HELLO, max_tokens=50)


@pytest.fixture
def connect(fake: Any) -> Callable[..., OpenAICompatibleModel]:
    def build(**changes: Any) -> OpenAICompatibleModel:
        values: dict[str, Any] = {
            "model": "m",
            "context_tokens": 4096,
            "first_token_timeout_s": 30.0,
            "idle_timeout_s": 30.0,
            "connect_timeout_s": 5.0,
            "flavour": "llama_cpp",
        }

        async def endpoint() -> Endpoint:
            return Endpoint(url=fake.url, api_key="secret")

        return OpenAICompatibleModel(ClientSettings(**{**values, **changes}), endpoint)

    return build


async def ordinary(exchange: Any) -> None:
    """What llama.cpp sends, with its timings in the last chunk."""
    await exchange.begin_stream()
    await exchange.delta(role="assistant", content=None)
    for piece in ("Gr", "ün \u2028", "\x85!"):
        await exchange.delta(content=piece)
    await exchange.delta("stop")
    usage = {"prompt_tokens": 21, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 20}}
    await exchange.event({"choices": [], "usage": usage, "timings": {"cache_n": 20, "prompt_n": 1}})
    await exchange.event("[DONE]")


async def test_a_streamed_reply_with_usage(fake: Any, connect: Any) -> None:
    fake.handlers = [ordinary]
    model, pieces = connect(), []
    request = ChatRequest(
        messages=HELLO,
        max_tokens=50,
        sampling=Sampling(temperature=0.2, top_k=20),
        schema={"type": "object"},
        schema_name="plan",
        stop=("END",),
    )
    reply = await model.chat(request, pieces.append)
    await model.aclose()
    assert (reply.text, reply.finish) == ("Grün \u2028\x85!", "stop")
    assert "".join(pieces) == reply.text
    usage = reply.usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens) == (1, 21, 3)
    assert (usage.cached_tokens, usage.evaluated_tokens) == (20, 1)
    sent = fake.seen[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == "Bearer secret"
    body = sent.json
    assert body["stream_options"] == {"include_usage": True}
    assert (body["temperature"], body["top_k"], body["stop"], body["max_tokens"]) == (0.2, 20, ["END"], 50)
    assert body["response_format"]["json_schema"] == {"name": "plan", "schema": {"type": "object"}, "strict": True}
    assert "seed" not in body


async def test_an_ordinary_service_gets_no_fields_of_llama_cpp(fake: Any, connect: Any) -> None:
    fake.handlers = [ordinary]
    model = connect(flavour="openai", max_tokens_field="max_completion_tokens")
    await model.chat(ChatRequest(messages=HELLO, max_tokens=7, sampling=Sampling(top_k=5, top_p=0.5)))
    await model.aclose()
    body = fake.seen[0].json
    assert body["max_completion_tokens"] == 7
    assert body["top_p"] == 0.5
    assert not {"top_k", "cache_prompt", "max_tokens"} & set(body)


async def test_unknown_fields_are_kept_and_replayed_verbatim(fake: Any, connect: Any) -> None:
    async def answer(exchange: Any) -> None:
        await exchange.begin_stream()
        await exchange.delta(reasoning_content="I ")
        await exchange.delta(reasoning_content="think")
        call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"a"'}}
        await exchange.delta(tool_calls=[{**call, "extra_content": {"google": {"thought_signature": "s=="}}}])
        await exchange.delta(tool_calls=[{"index": 0, "function": {"arguments": ": 1}"}}])
        await exchange.delta("tool_calls", annotations=[{"x": 1}])
        await exchange.event("[DONE]")

    fake.handlers = [answer, ordinary]
    model = connect()
    reply = await model.chat(REQUEST)
    assert reply.reasoning == "I think"
    assert reply.finish == "tool_calls"
    call = reply.extra["tool_calls"][0]
    assert call["function"] == {"name": "read", "arguments": '{"a": 1}'}
    assert call["extra_content"] == {"google": {"thought_signature": "s=="}}
    assert reply.usage.completion_tokens > 0  # estimated, as no usage came
    again = Message(role="assistant", content=reply.text, extra=reply.extra)
    await model.chat(ChatRequest(messages=(*HELLO, again, *HELLO), max_tokens=5))
    await model.aclose()
    sent = fake.seen[1].json["messages"][1]
    assert sent["tool_calls"] == [call]
    assert sent["annotations"] == [{"x": 1}]
    assert sent["reasoning_content"] == "I think"


async def test_a_reply_that_came_unstreamed(fake: Any, connect: Any) -> None:
    async def answer(exchange: Any) -> None:
        choice = {"message": {"role": "assistant", "content": "All at once"}, "finish_reason": "length"}
        await exchange.reply(200, json.dumps({"choices": [choice]}).encode())

    fake.handlers = [answer]
    model = connect()
    reply = await model.chat(REQUEST)
    await model.aclose()
    assert (reply.text, reply.finish) == ("All at once", "length")


async def test_a_stream_without_an_end_is_asked_again(fake: Any, connect: Any) -> None:
    async def broken(exchange: Any) -> None:
        await exchange.begin_stream()
        await exchange.delta(content="Half")

    fake.handlers = [broken]
    model = connect()
    with pytest.raises(RetryableError, match="broke off"):
        await model.chat(REQUEST)
    await model.aclose()


@pytest.mark.parametrize("endless", ["same again\n", "\n", "na na ", "1000, "])
async def test_a_reply_that_repeats_is_stopped_and_the_stream_closed(fake: Any, connect: Any, endless: str) -> None:
    closed = asyncio.Event()

    async def answer(exchange: Any) -> None:
        await exchange.begin_stream()
        try:
            while True:
                await exchange.delta(content=endless)
        except ConnectionError:
            closed.set()

    fake.handlers = [answer]
    model = connect()
    reply = await model.chat(REQUEST)
    assert reply.finish == "repetition"
    assert len(reply.text) < 5000
    await closed.wait()
    await model.aclose()


async def test_time_outs_come_from_the_settings(fake: Any, connect: Any) -> None:
    forever = asyncio.Event()

    async def silent(exchange: Any) -> None:
        await exchange.begin_stream()
        await exchange.delta(role="assistant", content=None)  # proves nothing yet
        await exchange.send(b": ping\n\n")
        await forever.wait()

    async def stalls(exchange: Any) -> None:
        await exchange.begin_stream()
        await exchange.delta(content="One")
        await forever.wait()

    fake.handlers = [silent, stalls]
    model = connect(first_token_timeout_s=0.1, idle_timeout_s=30.0)
    with pytest.raises(RetryableError, match="did not begin"):
        await model.chat(REQUEST)
    await model.aclose()
    model = connect(first_token_timeout_s=30.0, idle_timeout_s=0.1)
    with pytest.raises(RetryableError, match="in the middle"):
        await model.chat(REQUEST)
    await model.aclose()
    forever.set()


async def test_cancelling_closes_the_stream(fake: Any, connect: Any) -> None:
    begun, closed = asyncio.Event(), asyncio.Event()

    async def answer(exchange: Any) -> None:
        await exchange.begin_stream()
        try:
            for number in range(10**9):
                await exchange.delta(content=f"{number} and so on ")
                begun.set()
        except ConnectionError:
            closed.set()

    fake.handlers = [answer]
    model = connect()
    task = asyncio.create_task(model.chat(REQUEST))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await closed.wait()
    await model.aclose()


ERRORS = [
    (401, b'{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}', "model.key"),
    (402, b'{"error":{"message":"Insufficient Balance"}}', "model.credit"),
    (403, b'{"error":"not yours"}', "model.forbidden"),
    (404, b'{"error":{"message":"no such model"}}', "model.unknown"),
    (429, b'{"error":{"message":"quota","type":"insufficient_quota"}}', "model.credit"),
    (400, b'{"error":{"message":"failed to parse grammar"}}', "model.refused"),
    (502, b"<!DOCTYPE html><title>Sign in</title>", "model.not_an_api"),
]


@pytest.mark.parametrize(("status", "body", "key"), ERRORS)
async def test_refusals_are_for_the_person(fake: Any, connect: Any, status: int, body: bytes, key: str) -> None:
    async def answer(exchange: Any) -> None:
        await exchange.reply(status, body)

    fake.handlers = [answer]
    model = connect()
    with pytest.raises(UserError) as caught:
        await model.chat(REQUEST)
    await model.aclose()
    assert caught.value.key == key
    assert caught.value.todo


async def test_a_web_page_with_status_200_is_noticed(fake: Any, connect: Any) -> None:
    async def answer(exchange: Any) -> None:
        await exchange.reply(200, b"<html>Welcome</html>", kind="text/html")

    fake.handlers = [answer]
    model = connect()
    with pytest.raises(UserError, match="web page"):
        await model.chat(REQUEST)
    await model.aclose()


async def test_a_busy_service_says_when_to_come_back(fake: Any, connect: Any) -> None:
    async def busy(exchange: Any) -> None:
        await exchange.reply(429, b'{"error":{"message":"slow down"}}', Retry_After="7")

    async def failed(exchange: Any) -> None:
        text = "The model produced output that does not match the expected peg-native format"
        await exchange.reply(500, json.dumps({"error": {"message": text, "code": 500}}).encode())

    fake.handlers = [busy, failed]
    model = connect()
    with pytest.raises(RetryableError) as caught:
        await model.chat(REQUEST)
    assert caught.value.after_s == 7.0
    with pytest.raises(RetryableError, match="peg-native"):
        await model.chat(REQUEST)
    await model.aclose()


async def test_an_error_inside_the_stream(fake: Any, connect: Any) -> None:
    async def answer(exchange: Any) -> None:
        await exchange.begin_stream()
        await exchange.event({"error": {"code": 500, "message": "out of memory"}})

    fake.handlers = [answer]
    model = connect()
    with pytest.raises(RetryableError, match="out of memory"):
        await model.chat(REQUEST)
    await model.aclose()


async def test_a_prompt_that_is_too_long_is_a_typed_error(fake: Any, connect: Any) -> None:
    async def answer(exchange: Any) -> None:
        error = {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 4030, "n_ctx": 2048}
        await exchange.reply(400, json.dumps({"error": error}).encode())

    fake.handlers = [answer]
    model = connect()
    with pytest.raises(ContextExceeded) as caught:
        await model.chat(REQUEST)
    await model.aclose()
    assert (caught.value.prompt_tokens, caught.value.context_tokens) == (4030, 2048)


async def test_nobody_listens(connect: Any, fake: Any) -> None:
    fake.url = "http://127.0.0.1:9"  # the discard port: nothing of ours listens there
    model = connect()
    with pytest.raises(RetryableError):
        await model.chat(REQUEST)
    await model.aclose()


async def test_tokens_counted_by_the_server_its_older_way_and_by_estimate(fake: Any, connect: Any) -> None:
    async def counted(exchange: Any) -> None:
        await exchange.reply(200, b'{"input_tokens": 21}')

    fake.by_path = {"/v1/chat/completions/input_tokens": counted}
    model = connect()
    assert await model.count_tokens(HELLO) == 21
    await model.aclose()

    async def rendered(exchange: Any) -> None:
        await exchange.reply(200, b'{"prompt": "<user>Hello"}')

    async def tokens(exchange: Any) -> None:
        assert exchange.json["content"] == "<user>Hello"
        await exchange.reply(200, b'{"tokens": [1, 2, 3]}')

    fake.by_path = {"/apply-template": rendered, "/tokenize": tokens}
    model = connect()
    assert await model.count_tokens(HELLO) == 3
    await model.aclose()
    fake.by_path = {}
    model = connect()
    asked = len(fake.seen)
    assert 4 < await model.count_tokens(HELLO) < 12
    await model.count_tokens(HELLO)
    assert len(fake.seen) == asked + 2  # it learned that this server cannot count
    await model.aclose()


async def test_a_wrong_key_is_not_hidden_by_an_estimate(fake: Any, connect: Any) -> None:
    async def refuse(exchange: Any) -> None:
        await exchange.reply(401, b'{"error":{"message":"Invalid API Key"}}')

    fake.handlers = [refuse]
    model = connect()
    with pytest.raises(UserError):
        await model.count_tokens(HELLO)
    await model.aclose()


async def test_the_estimate_learns_from_usage(fake: Any, connect: Any) -> None:
    words = Message(role="user", content="abcd " * 400)  # 2,000 characters

    async def answer(exchange: Any) -> None:
        await exchange.begin_stream()
        await exchange.delta("stop", content="ok")
        await exchange.event({"choices": [], "usage": {"prompt_tokens": 404, "completion_tokens": 1}})

    model = connect(flavour="openai")
    before = await model.count_tokens((words,))
    for _ in range(8):
        fake.handlers = [answer]
        await model.chat(ChatRequest(messages=(words,), max_tokens=5))
    after = await model.count_tokens((words,))
    await model.aclose()
    assert before > 500
    assert abs(after - 404) < 25


async def test_the_window_is_read_from_the_server(fake: Any, connect: Any) -> None:
    async def props(exchange: Any) -> None:
        await exchange.reply(200, b'{"default_generation_settings": {"n_ctx": 2048}}')

    fake.by_path = {"/props": props}
    model = connect()
    assert model.context_tokens == 4096
    await model.probe()
    assert model.context_tokens == 2048
    await model.aclose()
