"""JSON-RPC 2.0 between the engine and its faces: one message a line, at most 1 MiB; bigger things are paths."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec

from engine.protocol.errors import UserError
from engine.protocol.events import Envelope, RunEnded, Signal
from engine.protocol.tasks import TaskRequest

_P = TypeVar("_P")

MAX_MESSAGE_BYTES = 1 << 20

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
USER_ERROR = -32000
"""Error codes; `USER_ERROR` (ours) carries a `UserErrorData`."""


class RpcError(Exception):
    """A message breaks the protocol.

    Args:
        code: one of the codes above.
        text: what is wrong.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class UserErrorData(msgspec.Struct, frozen=True, kw_only=True):
    """A `UserError` on its way: the sentences are filled in already; `params` serve translations, as text."""

    key: str
    what: str
    kept: str = ""
    todo: str = ""
    params: dict[str, str] = {}


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The ``error`` member of a failed response."""

    code: int
    message: str
    data: UserErrorData | None = None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A call that is answered under its `id`."""

    id: int | str
    method: str
    params: msgspec.Raw = msgspec.Raw(b"{}")


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is not answered."""

    method: str
    params: msgspec.Raw = msgspec.Raw(b"{}")


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a call."""

    id: int | str
    result: msgspec.Raw


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The error of a call; `id` is None where the call could not be read."""

    id: int | str | None
    error: ErrorBody


RpcMessage = Request | Notification | Response | Failure


class StartParams(msgspec.Struct, frozen=True, kw_only=True):
    """``start``: begin a run; answered by `Started`."""

    request: TaskRequest


class RunParams(msgspec.Struct, frozen=True, kw_only=True):
    """``resume`` (answered by `Started`), ``pause``, ``show_run``: about one run."""

    run_id: str


class AnswerParams(msgspec.Struct, frozen=True, kw_only=True):
    """``answer``: answer a question of a run."""

    run_id: str
    question_id: str
    answer: str


class SteerParams(msgspec.Struct, frozen=True, kw_only=True):
    """``steer``: a message to a run at work."""

    run_id: str
    text: str


class ReadFileParams(msgspec.Struct, frozen=True, kw_only=True):
    """``read_file``: a piece of a file below a run folder (name with ``/``); answered by `FilePiece`."""

    run_id: str
    name: str
    offset: int = 0
    limit: int = 512 * 1024


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """A run is at work: its id and the absolute path of its folder."""

    run_id: str
    folder: str


class FilePiece(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of a file (base64 on the wire), its whole size, and whether this is its end."""

    data: bytes
    size_bytes: int
    end: bool


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the list.

    Attributes:
        run_id: its id.
        folder: absolute path.
        created_at: ISO 8601 UTC time; empty where it cannot be read.
        title: the beginning of the request.
        status: as the run ended; ``open`` if it never did (at work, or cut off); ``corrupt`` if it cannot be read.
        deliverables: paths of finished files.
        problem: why it cannot be read, for ``corrupt``.
    """

    run_id: str
    folder: str
    created_at: str = ""
    title: str = ""
    status: Literal["verified", "unverified", "failed", "paused", "open", "corrupt"] = "open"
    deliverables: tuple[str, ...] = ()
    problem: str = ""


class EventsParams(msgspec.Struct, frozen=True, kw_only=True):
    """``read_events``: events on disk after a number; answered by `EventPage`."""

    run_id: str
    after_seq: int = 0


class EventPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some events in order, and whether these are the last."""

    envelopes: tuple[Envelope, ...]
    end: bool


class EventNote(msgspec.Struct, frozen=True, kw_only=True):
    """``event``: an event was journaled. A body over 4 KiB is a blob in the run folder."""

    envelope: Envelope


class SignalNote(msgspec.Struct, frozen=True, kw_only=True):
    """``signal``: passing news; may be missing under load."""

    run_id: str
    signal: Signal


class EndedNote(msgspec.Struct, frozen=True, kw_only=True):
    """``ended``: a run is no longer at work here; `ended` or, if it broke, `error`."""

    run_id: str
    ended: RunEnded | None = None
    error: ErrorBody | None = None


class _Wire(msgspec.Struct, kw_only=True):
    jsonrpc: Literal["2.0"]
    id: int | str | msgspec.UnsetType | None = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: ErrorBody | msgspec.UnsetType = msgspec.UNSET


def encode(message: RpcMessage) -> bytes:
    """A message as one line, with its line feed.

    Raises:
        RpcError: it is longer than `MAX_MESSAGE_BYTES`.
    """
    members: dict[str, Any] = {"jsonrpc": "2.0"}
    for name in message.__struct_fields__:
        members[name] = getattr(message, name)
    line = msgspec.json.encode(members)
    if b"\n" in line:  # raw parts come as somebody wrote them; inside strings a line feed is always escaped
        line = msgspec.json.format(line, indent=-1)
    if len(line) + 1 > MAX_MESSAGE_BYTES:
        raise RpcError(INTERNAL_ERROR, f"A message of {len(line)} bytes is too long; the limit is {MAX_MESSAGE_BYTES}.")
    return line + b"\n"


def decode(line: bytes) -> RpcMessage:
    """Read one line.

    Raises:
        RpcError: too long, no JSON, or no message of JSON-RPC 2.0 (batches are not taken).
    """
    if len(line) > MAX_MESSAGE_BYTES:
        raise RpcError(INVALID_REQUEST, f"The message is longer than {MAX_MESSAGE_BYTES} bytes.")
    try:
        wire = msgspec.json.decode(line, type=_Wire)
    except msgspec.ValidationError as error:
        raise RpcError(INVALID_REQUEST, str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RpcError(PARSE_ERROR, str(error)) from error
    return _classified(wire)


def params(message: Request | Notification, kind: type[_P]) -> _P:
    """The typed parameters of a message.

    Raises:
        RpcError: they do not fit.
    """
    return _typed(message.params, kind, INVALID_PARAMS)


def result(message: Response, kind: type[_P]) -> _P:
    """The typed result of a call.

    Raises:
        RpcError: it does not fit.
    """
    return _typed(message.result, kind, INTERNAL_ERROR)


def raw(value: object) -> msgspec.Raw:
    """A value as the JSON of a message's `params` or `result`."""
    return msgspec.Raw(msgspec.json.encode(value))


def error_body(error: Exception) -> ErrorBody:
    """The error object for an exception; a `UserError` keeps all its parts."""
    if isinstance(error, UserError):
        texts = {name: str(value) for name, value in error.params.items()}
        data = UserErrorData(key=error.key, what=error.what, kept=error.kept, todo=error.todo, params=texts)
        return ErrorBody(code=USER_ERROR, message=str(error), data=data)
    if isinstance(error, RpcError):
        return ErrorBody(code=error.code, message=error.text)
    return ErrorBody(code=INTERNAL_ERROR, message=f"{type(error).__name__}: {error}")


def exception(body: ErrorBody) -> UserError | RpcError:
    """The exception for an error object."""
    if body.data is None:
        return RpcError(body.code, body.message)
    data = body.data
    error = UserError(data.key, "{_what}", kept="{_kept}", todo="{_todo}", **_sentences(data))
    error.params = dict(data.params)
    return error


def _sentences(data: UserErrorData) -> dict[str, object]:
    # The sentences are filled in already; braces in them (in a file name, say) must not be read as fields again.
    return {"_what": data.what, "_kept": data.kept, "_todo": data.todo}


def _typed(value: msgspec.Raw, kind: type[_P], code: int) -> _P:
    try:
        return msgspec.json.decode(value, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RpcError(code, str(error)) from error


def _classified(wire: _Wire) -> RpcMessage:
    unset = msgspec.UNSET
    if wire.method is not unset and wire.result is unset and wire.error is unset:
        arguments = msgspec.Raw(b"{}") if isinstance(wire.params, msgspec.UnsetType) else wire.params
        if wire.id is unset:
            return Notification(method=str(wire.method), params=arguments)
        if isinstance(wire.id, int | str):
            return Request(id=wire.id, method=str(wire.method), params=arguments)
    elif wire.method is unset and isinstance(wire.error, ErrorBody) and wire.result is unset:
        if not isinstance(wire.id, msgspec.UnsetType):
            return Failure(id=wire.id, error=wire.error)
    elif isinstance(wire.id, int | str) and wire.method is unset and wire.error is unset:
        return _response(wire.id, wire.result)
    raise RpcError(INVALID_REQUEST, "Neither a request, a notification nor a response.")


def _response(identity: int | str, result: msgspec.Raw | msgspec.UnsetType) -> Response:
    if isinstance(result, msgspec.UnsetType):
        raise RpcError(INVALID_REQUEST, "Neither a request, a notification nor a response.")
    return Response(id=identity, result=result)
