"""A local HTTP server that plays what a test tells it, down to the bytes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

Handler = Callable[["Exchange"], Awaitable[None]]


class Exchange:
    """One request and the connection to answer it on."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes, writer: asyncio.StreamWriter) -> None:
        self.path, self.headers, self.body, self._writer = path, headers, body, writer

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def reply(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    async def begin_stream(self) -> None:
        await self.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")

    async def event(self, value: Any) -> None:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        await self.send(f"data: {text}\n\n".encode())

    async def delta(self, finish: str | None = None, **fields: Any) -> None:
        await self.event({"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


class FakeServer:
    """Listens on a free port; each request takes the next handler, or the one for its path."""

    def __init__(self) -> None:
        self.handlers: list[Handler] = []
        self.by_path: dict[str, Handler] = {}
        self.seen: list[Exchange] = []
        self.url = ""

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.split("\r\n")
            headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines if line)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            exchange = Exchange(first.split()[1], headers, body, writer)
            self.seen.append(exchange)
            handler = self.by_path.get(exchange.path) or (self.handlers.pop(0) if self.handlers else None)
            if handler is None:
                await exchange.reply(404, b'{"error":{"message":"File Not Found","type":"not_found_error","code":404}}')
            else:
                await handler(exchange)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


@pytest.fixture
async def fake() -> AsyncIterator[FakeServer]:
    server = FakeServer()
    listener = await asyncio.start_server(server.accept, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    yield server
    listener.close()
    await listener.wait_closed()
