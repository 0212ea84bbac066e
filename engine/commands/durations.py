"""Durations as people write them."""

from __future__ import annotations

import re

from engine.protocol.errors import UserError

_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(s|min|m|h)")


def seconds(text: str) -> float:
    """Seconds of a duration such as ``20m``, ``90s`` or ``1h30m``.

    Args:
        text: one or more numbers, each with its unit (s, m or min, h).

    Raises:
        UserError: it cannot be read, or is zero.
    """
    tidy = text.replace(" ", "").lower()
    parts = _PART.findall(tidy)
    total = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != tidy or total <= 0:
        raise UserError(
            "budget.unreadable",
            "The time {text!r} cannot be read.",
            kept="Nothing was started.",
            todo="Write it with its unit, such as 20m, 90s or 1h30m.",
            text=text,
        )
    return total
