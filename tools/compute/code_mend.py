"""Mends two slips of small models in a script before it is run: names of files slightly wrong, imports left out."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

from engine.system.loose import loose_find
from tools.compute.code_check import reads_file

_IMPORTS = {
    "pd": "import pandas as pd",
    "np": "import numpy as np",
    "plt": "import matplotlib.pyplot as plt",
    "openpyxl": "import openpyxl",
    "load_workbook": "from openpyxl import load_workbook",
    "Workbook": "from openpyxl import Workbook",
    "docx": "import docx",
    "Document": "from docx import Document",
    "Presentation": "from pptx import Presentation",
    "pdfplumber": "import pdfplumber",
    "Path": "from pathlib import Path",
    "csv": "import csv",
    "json": "import json",
    "math": "import math",
    "os": "import os",
    "re": "import re",
}
"""Names that mean one thing only, and where they come from."""


def mend(code: str, files: Sequence[str]) -> tuple[str, list[str]]:
    """The script with file names and imports mended; everything else stays byte for byte.

    A name of a file is replaced where no such file exists, exactly one is like it, and the script reads it before it
    could have written it. Imports are put into one line at the top.

    Args:
        code: the cleaned script.
        files: names in the workspace root.

    Returns:
        the script, and what was changed as sentences. A script that is no Python is given back as it is.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return code, []
    notes: list[str] = []
    changes = list(_file_changes(tree, files, notes))
    missing = _missing_imports(tree)
    if missing:
        changes.append((*_import_place(tree, code), "; ".join(missing) + "\n"))
        notes.append(f"The script lacked {'; '.join(missing)}; it was added as one line.")
    return _replaced(code, changes), notes


Place = tuple[int, int]
"""Line from 1, and byte offset in it, as the parser counts them."""
Change = tuple[Place, Place, str]


def _file_changes(tree: ast.Module, files: Sequence[str], notes: list[str]) -> Iterator[Change]:
    constants = list(_texts(tree))
    read = _read_constants(tree)
    for name in dict.fromkeys(str(node.value) for node in constants if node in read):
        same = sorted((node for node in constants if node.value == name), key=lambda node: _start(node))
        found = _meant(name, files)
        if found is None or same[0] not in read:
            continue
        for node in same:
            yield _start(node), _end(node), repr(found)
        notes.append(f"There is no file {name!r}; it was taken for {found!r}.")


def _meant(name: str, files: Sequence[str]) -> str | None:
    if name in files or "://" in name:
        return None
    found = loose_find(name.removeprefix("./"), files)
    parts = re.split(r"[/\\]", name)
    if found is None and len(parts) > 1 and parts[0] not in files and ".." not in parts:
        found = loose_find(parts[-1], files)
    return found


def _texts(node: ast.AST) -> Iterator[ast.Constant]:
    """String constants; not the pieces of f-strings, which have no place of their own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child
        elif not isinstance(child, ast.JoinedStr):
            yield from _texts(child)


def _read_constants(tree: ast.Module) -> set[ast.Constant]:
    """Constants that a reading call gets, by itself or by a variable that is only ever this constant."""
    assigned: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    assigned.setdefault(target.id, []).append(node.value)
    found: set[ast.Constant] = set()
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and reads_file(call) and call.args:
            first = call.args[0]
            values = assigned.get(first.id, []) if isinstance(first, ast.Name) else [first]
            if len(values) == 1 and isinstance(values[0], ast.Constant) and isinstance(values[0].value, str):
                found.add(values[0])
    return found


def _missing_imports(tree: ast.Module) -> list[str]:
    used: dict[str, None] = {}
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                used[node.id] = None
            else:
                bound.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
            if "*" in names:
                return []  # nobody can tell what this brings
            bound.update(names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            bound.add(node.name)
    return [line for name, line in _IMPORTS.items() if name in used and name not in bound]


def _import_place(tree: ast.Module, code: str) -> tuple[Place, Place]:
    """Before the first statement that is neither the docstring nor an import from the future."""
    for number, node in enumerate(tree.body):
        text = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not text and not future:
            first = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))])
            return (first, 0), (first, 0)
    last = len(_lines(code))
    return (last, 0), (last, 0)


def _start(node: ast.Constant) -> Place:
    return node.lineno, node.col_offset


def _end(node: ast.Constant) -> Place:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _lines(code: str) -> list[bytes]:
    """Lines as the parser counts them: only line feeds and carriage returns end one."""
    return re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", code.encode("utf-8", "surrogatepass"))


def _replaced(code: str, changes: Sequence[Change]) -> str:
    if not changes:
        return code
    lines = _lines(code)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    data = b"".join(lines)
    for (row, column), (end_row, end_column), text in sorted(changes, reverse=True):
        first, last = starts[row - 1] + column, starts[end_row - 1] + end_column
        data = data[:first] + text.encode("utf-8") + data[last:]
    return data.decode("utf-8", "surrogatepass")
