"""The requirement ledger: what the request asks, item by item, and how each item is checked."""

from __future__ import annotations

from typing import Any

import msgspec


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """A named deterministic check with its parameters (JSON values), run in a document worker.

    Attributes:
        name: a check registered in ``tools/checks``.
        params: its parameters.
        says: the check in words a person understands.
    """

    name: str
    params: dict[str, Any] = {}
    says: str = ""


class Clause(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of the request, split off by code.

    Attributes:
        index: its position, from 0.
        text: the words as they stand in the request.
        negative: it forbids something.
        asks: it asks for something; otherwise it only informs.
    """

    index: int
    text: str
    negative: bool = False
    asks: bool = True


class Requirement(msgspec.Struct, frozen=True, kw_only=True):
    """One atomic requirement.

    Attributes:
        id: ``R1``, ``R2`` …
        text: what must hold.
        words: the source words it comes from.
        source: ``"request"`` or the name of the attachment that states the rule.
        critical: a run is verified only if every critical item passed.
        negative: something that must not happen.
        checks: every one must pass for the item to pass.
        settled: the checks together settle the item; otherwise they can only fail it, and a judge must say more.
    """

    id: str
    text: str
    words: str = ""
    source: str = "request"
    critical: bool = True
    negative: bool = False
    checks: tuple[Check, ...] = ()
    settled: bool = False


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """All requirements of a run, in the order of the request."""

    items: tuple[Requirement, ...] = ()
