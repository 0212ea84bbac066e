"""What pool and worker say to each other.

In a module of its own: the worker runs as ``__main__``, where annotations of a class could not be looked up.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Request(msgspec.Struct, frozen=True):
    """A job to do."""

    id: int
    job: str
    params: dict[str, Any] = {}


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """How the job ended.

    Attributes:
        id: as in the request.
        status: ``ok``; ``model`` or ``user`` for the errors of these names; ``memory`` or ``crash`` otherwise.
        value: the job's JSON value.
        key: key of a `UserError`, code of a `ModelError`, name of another exception.
        text: what happened.
        kept: as in `UserError`.
        todo: as in `UserError`.
    """

    id: int
    status: str = "ok"
    value: Any = None
    key: str = ""
    text: str = ""
    kept: str = ""
    todo: str = ""
