"""Upcasters: how bodies of older journals are read today.

Each changed event type gets a file of its own here and a line in `UPCASTERS`. An upcaster takes the JSON body
(a dict with its ``type`` tag) at one version and gives the body at the next; it never touches anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]

UPCASTERS: Mapping[tuple[str, int], Upcaster] = {}
"""From (type, version) to the function that gives the body at version + 1."""


def upcast(
    body: dict[str, Any], type_name: str, version: int, target: int, upcasters: Mapping[tuple[str, int], Upcaster]
) -> dict[str, Any]:
    """Lift a body step by step to the version of today.

    Args:
        body: the JSON body as written.
        type_name: its event type.
        version: the version it was written at.
        target: the version wanted.
        upcasters: see `UPCASTERS`.

    Raises:
        LookupError: a step is missing.
    """
    for step in range(version, target):
        try:
            lift = upcasters[type_name, step]
        except KeyError:
            raise LookupError(f"No upcaster for {type_name} from version {step}.") from None
        body = lift(body)
    return body
