"""Dialects by name; each is imported when it is asked for."""

from __future__ import annotations

import importlib

from engine.protocol.errors import UserError
from engine.protocol.ports import Dialect

_DIALECTS = {
    "code_block": ("models.dialects.code_block", "CodeBlock"),
    "json_action": ("models.dialects.json_action", "JsonAction"),
}
"""Name to module and class. A new dialect is one file and one line here."""


def dialect_names() -> tuple[str, ...]:
    """All names, sorted."""
    return tuple(sorted(_DIALECTS))


def get_dialect(name: str) -> Dialect:
    """The dialect of that name.

    Args:
        name: as in a profile.

    Raises:
        UserError: there is none.
    """
    if name not in _DIALECTS:
        raise UserError(
            "dialect.unknown",
            "There is no dialect {name}.",
            todo="Use one of: {names}.",
            name=name,
            names=", ".join(dialect_names()),
        )
    module, attribute = _DIALECTS[name]
    dialect: Dialect = getattr(importlib.import_module(module), attribute)()
    return dialect
