from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from models.schema import MAX_ITEMS, SchemaRefused, lower


class Part(msgspec.Struct, kw_only=True):
    title: Annotated[str, Meta(max_length=80, description="short")]
    kind: Literal["a", "b"] = "a"


class Whole(msgspec.Struct, kw_only=True):
    zebra: str
    apple: Annotated[int, Meta(ge=1, le=6)]
    parts: list[Part]
    note: str | None = None


class Node(msgspec.Struct):
    children: list[Node]


def test_references_are_inlined_and_the_order_kept() -> None:
    schema = lower(Whole, "llama_cpp")
    assert list(schema["properties"]) == ["zebra", "apple", "parts", "note"]
    assert schema["required"] == ["zebra", "apple", "parts"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["apple"] == {"type": "integer", "minimum": 1, "maximum": 6}
    parts = schema["properties"]["parts"]
    assert parts["maxItems"] == MAX_ITEMS
    assert parts["items"]["properties"]["title"] == {"type": "string", "maxLength": 80, "description": "short"}
    assert "$ref" not in str(schema)


def test_strict_services_require_every_field() -> None:
    class Loose(msgspec.Struct, kw_only=True):
        name: str
        note: str = ""

    schema = lower(Loose, "openai")
    assert schema["required"] == ["name", "note"]
    assert schema["properties"]["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


def one(annotation: Any) -> type[msgspec.Struct]:
    return msgspec.defstruct("One", [("value", annotation)])


@pytest.mark.parametrize(
    "annotation",
    [
        Any,
        dict[str, int],
        list[Any],
        list,
        Annotated[int, Meta(multiple_of=7)],
        Annotated[float, Meta(ge=0)],
        Annotated[str, Meta(pattern="[a-c]+")],
        Annotated[str, Meta(pattern="^[a-c]+$", max_length=9)],
        Annotated[str, Meta(max_length=5000)],
        Node,
    ],
)
def test_what_llama_cpp_would_not_enforce_is_refused(annotation: Any) -> None:
    with pytest.raises(SchemaRefused, match="value"):
        lower(one(annotation), "llama_cpp")


def test_what_it_does_enforce_passes() -> None:
    for annotation in (bool, float, tuple[str, int], Annotated[str, Meta(pattern="^[a-c]+$")], str | int):
        assert "value" in lower(one(annotation), "llama_cpp")["properties"]
