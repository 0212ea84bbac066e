"""A document worker: one JSON request a line in, one JSON reply a line out, until its stdin is closed.

It runs confined (see `tools.documents.pool`) and imports a format's library when a job first needs it.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import traceback
from typing import IO

import msgspec

from engine.protocol.errors import ModelError, UserError
from tools.documents.wire import Reply, Request


def main() -> None:
    """Serve requests until stdin is closed."""
    requests, replies = _private_streams()
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, lines), daemon=True).start()
    _send(replies, Reply(id=0))
    while True:
        _send(replies, answer(msgspec.json.decode(lines.get(), type=Request)))


def answer(request: Request) -> Reply:
    """Do one job; every end of it becomes a reply."""
    from tools.documents.jobs import find_job

    try:
        value = msgspec.to_builtins(find_job(request.job)(request.params))
        return Reply(id=request.id, value=value)
    except ModelError as error:
        return Reply(id=request.id, status="model", key=error.code, text=error.text)
    except UserError as error:
        return Reply(id=request.id, status="user", key=error.key, text=error.what, kept=error.kept, todo=error.todo)
    except MemoryError:
        return Reply(id=request.id, status="memory", key="MemoryError", text="it needs more memory than a job may use")
    except Exception as error:  # noqa: BLE001 - the border of the process: parsers fail in every way there is
        traceback.print_exc(file=sys.stderr)
        return Reply(id=request.id, status="crash", key=type(error).__name__, text=str(error)[:500])


def _send(replies: IO[bytes], reply: Reply) -> None:
    replies.write(msgspec.json.encode(reply) + b"\n")
    replies.flush()


def _receive(requests: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Pass lines on; end the process, even in the middle of a job, when the other side has gone."""
    for line in requests:
        lines.put(line)
    os._exit(0)


def _private_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the protocol for ourselves: afterwards fd 0 reads nothing and what is printed goes to stderr."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


if __name__ == "__main__":
    main()
