"""Lowers a msgspec Struct class to the subset of JSON Schema that a backend really enforces.

References are inlined, the order of the fields is kept (a model fills them in that order), and what the backend
would silently skip is refused here, loudly, instead of being believed later.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Backend = Literal["llama_cpp", "openai"]

MAX_ITEMS = 64
"""Bound of an array that declares none: without one a small model may go on until the token limit."""
_LLAMA_MAX_REPEAT = 2000  # longest bounded repetition that its grammar takes

_DROPPED = {"title", "default", "examples"}  # say nothing about which values are valid
_COMMON = {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "description"}
_ENFORCED: dict[Backend, set[str]] = {
    "llama_cpp": _COMMON
    | {"minLength", "maxLength", "pattern", "minItems", "maxItems", "minimum", "maximum", "prefixItems"},
    "openai": _COMMON | {"minItems", "maxItems", "minimum", "maximum", "pattern"},
}


class SchemaRefused(TypeError):
    """A declaration that the backend would not enforce; a mistake in our own code, so not meant for people."""


def lower(cls: type[msgspec.Struct], backend: Backend) -> dict[str, Any]:
    """JSON Schema of a Struct class for constrained decoding.

    Args:
        cls: a Struct class made of strings, numbers, booleans, literals, optional values, lists and other Structs.
        backend: who has to enforce it.

    Raises:
        SchemaRefused: part of the declaration would not be enforced.
    """
    (schema,), components = msgspec.json.schema_components([cls], ref_template="#/{name}")
    return _Lowering(backend, components).node(schema, cls.__name__, ())


class _Lowering:
    def __init__(self, backend: Backend, components: dict[str, Any]) -> None:
        self._backend = backend
        self._components = components

    def node(self, schema: dict[str, Any], where: str, seen: tuple[str, ...]) -> dict[str, Any]:
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/")
            if name in seen:
                raise SchemaRefused(f"{where}: {name} contains itself; recursion is not enforced")
            return self.node(self._components[name], where, (*seen, name))
        kept = {key: value for key, value in schema.items() if key not in _DROPPED}
        self._refuse(kept, where)
        if kept.get("type") == "object":
            return self._object(kept, where, seen)
        if "anyOf" in kept:
            options = [self.node(option, where, seen) for option in kept["anyOf"]]
            return {**kept, "anyOf": options}
        if kept.get("type") == "array":
            return self._array(kept, where, seen)
        if not any(key in kept for key in ("type", "enum", "const")):
            raise SchemaRefused(f"{where}: a value of any kind cannot be enforced; give it a type")
        return kept

    def _refuse(self, schema: dict[str, Any], where: str) -> None:
        unknown = sorted(set(schema) - _ENFORCED[self._backend])
        if unknown:
            raise SchemaRefused(f"{where}: {', '.join(unknown)} is not enforced by {self._backend}")
        if self._backend != "llama_cpp":
            return
        if "pattern" in schema:
            if "minLength" in schema or "maxLength" in schema:
                raise SchemaRefused(f"{where}: beside a pattern llama_cpp does not enforce a length")
            if not (schema["pattern"].startswith("^") and schema["pattern"].endswith("$")):
                raise SchemaRefused(f"{where}: llama_cpp needs a pattern from ^ to $")
        if ("minimum" in schema or "maximum" in schema) and schema.get("type") != "integer":
            raise SchemaRefused(f"{where}: llama_cpp enforces bounds of integers only")
        if max(schema.get("maxLength", 0), schema.get("maxItems", 0)) > _LLAMA_MAX_REPEAT:
            raise SchemaRefused(f"{where}: llama_cpp takes bounds up to {_LLAMA_MAX_REPEAT}")

    def _object(self, schema: dict[str, Any], where: str, seen: tuple[str, ...]) -> dict[str, Any]:
        if schema.get("additionalProperties") not in (None, False) or "properties" not in schema:
            raise SchemaRefused(f"{where}: a mapping with free keys is not enforced; use a list of records")
        properties = {name: self.node(value, f"{where}.{name}", seen) for name, value in schema["properties"].items()}
        required = schema.get("required", [])
        if self._backend == "openai":  # strict mode wants every field; an optional one may then be null
            properties = {name: value if name in required else _nullable(value) for name, value in properties.items()}
            required = list(properties)
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def _array(self, schema: dict[str, Any], where: str, seen: tuple[str, ...]) -> dict[str, Any]:
        lowered = dict(schema)
        if "prefixItems" in schema:
            if schema.get("items") not in (None, False):
                raise SchemaRefused(f"{where}: a tuple with further items is not enforced")
            lowered["prefixItems"] = [self.node(item, f"{where}[]", seen) for item in schema["prefixItems"]]
            lowered.pop("items", None)
            return lowered
        if "items" not in schema:
            raise SchemaRefused(f"{where}: a list of anything cannot be enforced; give its items a type")
        lowered["items"] = self.node(schema["items"], f"{where}[]", seen)
        lowered.setdefault("maxItems", MAX_ITEMS)
        return lowered


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    options = schema.get("anyOf", [schema])
    if {"type": "null"} in options:
        return schema
    return {"anyOf": [*options, {"type": "null"}]}
