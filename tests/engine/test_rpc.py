from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.protocol import rpc
from engine.protocol.errors import UserError

some_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
some_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | some_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(some_text, inner, max_size=3),
    max_leaves=8,
)
some_id = st.integers(-(2**53), 2**53) | some_text
some_raw = st.dictionaries(some_text, some_json, max_size=3).map(rpc.raw)
some_error = st.builds(
    rpc.ErrorBody,
    code=st.integers(-40000, 40000),
    message=some_text,
    data=st.none()
    | st.builds(rpc.UserErrorData, key=some_text, what=some_text, params=st.dictionaries(some_text, some_text)),
)
some_message = st.one_of(
    st.builds(rpc.Request, id=some_id, method=some_text, params=some_raw),
    st.builds(rpc.Notification, method=some_text, params=some_raw),
    st.builds(rpc.Response, id=some_id, result=some_json.map(rpc.raw)),
    st.builds(rpc.Failure, id=st.none() | some_id, error=some_error),
)


@given(some_message)
def test_what_is_sent_is_what_arrives(message: rpc.RpcMessage) -> None:
    line = rpc.encode(message)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert msgspec.json.decode(line)["jsonrpc"] == "2.0"
    assert rpc.decode(line) == message


@given(st.binary(max_size=60) | some_json.map(msgspec.json.encode))
def test_anything_else_is_an_error_of_the_protocol(line: bytes) -> None:
    try:
        message = rpc.decode(line)
    except rpc.RpcError as error:
        assert error.code in (rpc.PARSE_ERROR, rpc.INVALID_REQUEST)
    else:
        assert b"jsonrpc" in line and isinstance(message, rpc.RpcMessage)


@given(some_text, some_text, some_text, some_text)
def test_a_user_error_keeps_all_its_parts(key: str, what: str, kept: str, todo: str) -> None:
    braces = "{what} {0}"
    error = UserError(key, "{w}", kept="{k}", todo="{t}{odd}", w=what, k=kept, t=todo, odd=braces)
    back = rpc.exception(msgspec.json.decode(msgspec.json.encode(rpc.error_body(error)), type=rpc.ErrorBody))
    assert isinstance(back, UserError)
    assert (back.key, back.what, back.kept, back.todo) == (key, what, kept, todo + braces)
    assert back.params == {"w": what, "k": kept, "t": todo, "odd": braces}
    assert str(back) == str(error)


def test_line_feeds_in_raw_parts_do_not_break_the_line() -> None:
    line = rpc.encode(rpc.Notification(method="m", params=msgspec.Raw(b'{\n "a": "x\\ny"\n}')))
    assert line.count(b"\n") == 1
    message = rpc.decode(line)
    assert isinstance(message, rpc.Notification)
    assert msgspec.json.decode(message.params) == {"a": "x\ny"}


def test_too_long_is_refused_both_ways() -> None:
    big = rpc.Notification(method="m", params=rpc.raw("x" * rpc.MAX_MESSAGE_BYTES))
    with pytest.raises(rpc.RpcError):
        rpc.encode(big)
    with pytest.raises(rpc.RpcError):
        rpc.decode(b" " * (rpc.MAX_MESSAGE_BYTES + 1))
    room = rpc.MAX_MESSAGE_BYTES - len(rpc.encode(rpc.Notification(method="m", params=rpc.raw(""))))
    longest = rpc.encode(rpc.Notification(method="m", params=rpc.raw("x" * room)))
    assert len(longest) == rpc.MAX_MESSAGE_BYTES
    rpc.decode(longest)


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b'{"jsonrpc":"1.0","id":1,"method":"m"}',
        b'{"jsonrpc":"2.0","id":null,"method":"m"}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","result":1}',
        b'{"jsonrpc":"2.0","id":1.5,"method":"m"}',
    ],
)
def test_what_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(rpc.RpcError) as caught:
        rpc.decode(line)
    assert caught.value.code == rpc.INVALID_REQUEST


def test_parameters_are_typed() -> None:
    request = rpc.Request(id=1, method="steer", params=rpc.raw({"run_id": "r", "text": 5}))
    with pytest.raises(rpc.RpcError) as caught:
        rpc.params(request, rpc.SteerParams)
    assert caught.value.code == rpc.INVALID_PARAMS
    assert isinstance(rpc.exception(rpc.error_body(caught.value)), rpc.RpcError)
