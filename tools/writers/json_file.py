"""JSON, checked before it is written."""

from __future__ import annotations

import json
from pathlib import Path

from engine.protocol.errors import ModelError
from tools.writers.registry import Written, encode


def write(content: str, target: Path, title: str, encoding: str) -> Written:
    """Write the content as given, if it is JSON.

    Raises:
        ModelError: it is not; the place of the fault is told.
    """
    del title
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelError(
            f"The content is not valid JSON: {error}. Correct it and write again.", code="write.json"
        ) from (error)
    target.write_bytes(encode(content.strip() + "\n", encoding))
    return Written(rows=len(value) if isinstance(value, list) else 0)
