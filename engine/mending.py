"""Mends the slip that small models make most: the right call with the result under another name than was asked for.

Measured: names with blanks come back in snake case, and a workbook that was asked for is written as CSV. Where a step
makes one file and the request says which, there is nothing to guess.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.deliverables import DELIVERABLES, ENDINGS, Need, kind_of_name, needs_of
from engine.protocol.plan import Subtask

NAME_FIELDS = ("output", "filename")


def mend_output(
    arguments: dict[str, Any], scope: Subtask | None, fields: tuple[str, ...]
) -> tuple[dict[str, Any], str]:
    """Give a call's result the name or the ending that the request asks for.

    Args:
        arguments: as the model sent them.
        scope: the step at work.
        fields: the argument names the tool knows.

    Returns:
        The arguments, and a note for the model; unchanged and empty where the step makes several files or none.
    """
    field = next((name for name in NAME_FIELDS if name in fields), "")
    wanted = _only_need(scope)
    if not field or wanted is None:
        return arguments, ""
    given = str(arguments.get(field) or "")
    right = wanted.name or _with_ending(given, wanted.kinds)
    if not right or right == given:
        return arguments, ""
    return {**arguments, field: right}, f"(The result is called {right}, as the request asks.)"


def _only_need(scope: Subtask | None) -> Need | None:
    checks = [check for check in scope.checks if check.name == DELIVERABLES] if scope is not None else []
    wanted = needs_of(checks)
    return wanted[0] if len(wanted) == 1 else None


def _with_ending(given: str, kinds: tuple[str, ...]) -> str:
    if not given or not kinds or kind_of_name(given) in kinds:
        return given
    return Path(given).stem + ENDINGS.get(kinds[0], f".{kinds[0]}")
