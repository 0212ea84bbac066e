"""JSON and JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.protocol.documents import FileProfile, Reading, ReadOptions, Table
from tools.readers.columns import TableFacts
from tools.readers.encodings import read_text
from tools.readers.kinds import ReadProblem
from tools.readers.text import count_words
from tools.readers.windows import present


def read(path: Path, options: ReadOptions) -> Reading:
    """An outline of the structure, then the text."""
    text = _text(path)
    outline = "\n".join(_outline(_parse(path, text)))
    whole = f"{path.name}: JSON\n{outline}\nContent:\n{text}"
    return present(path.name, "json", whole, options)


def profile(path: Path) -> FileProfile:
    """Words, and a table where the file is a list of objects."""
    text = _text(path)
    value = _parse(path, text)
    tables: tuple[Table, ...] = ()
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        headers = list(dict.fromkeys(key for item in value for key in item))
        facts = TableFacts(headers).add_all([_scalar(item.get(key)) for key in headers] for item in value)
        tables = (facts.table(),)
    return FileProfile(
        name=path.name, kind="json", size_bytes=path.stat().st_size, words=count_words(text), tables=tables
    )


def _text(path: Path) -> str:
    try:
        return read_text(path)[0].lstrip("\ufeff")
    except ValueError as error:
        raise ReadProblem("corrupt", "The content is not text.") from error


def _parse(path: Path, text: str) -> Any:
    try:
        if path.suffix.lower() in (".jsonl", ".ndjson"):
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadProblem("corrupt", f"This is not valid JSON: {error}.") from error


def _scalar(value: Any) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _outline(value: Any, path: str = "$", depth: int = 0) -> list[str]:
    if isinstance(value, dict):
        lines = [f"{path}: object with {len(value)} keys: {', '.join(list(map(str, value))[:20])}"]
        if depth < 2:
            for key, item in list(value.items())[:20]:
                if isinstance(item, dict | list):
                    lines += _outline(item, f"{path}.{key}", depth + 1)
        return lines
    if isinstance(value, list):
        lines = [f"{path}: list of {len(value)}"]
        return lines + (_outline(value[0], f"{path}[0]", depth + 1) if value and depth < 3 else [])
    return [f"{path}: {type(value).__name__}"]
