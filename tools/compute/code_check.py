"""Looks at a script before it is run, for faults that running it would only show later or worse."""

from __future__ import annotations

import ast
import difflib
import re
import warnings
from collections.abc import Iterator, Sequence

from engine.protocol.errors import ModelError

_FENCE = re.compile(r"```[\w+-]*[ \t]*\r?\n(.*?)(?:\r?\n```|\Z)", re.S)
_READERS = frozenset(["read_csv", "read_excel", "read_json", "read_table", "read_parquet", "ExcelFile"]).union(
    ["load_workbook", "Document", "Presentation", "open"]
)
_FILE_NAME = re.compile(r"^(?:\./)?[^/\\:*?\"<>|\n]+\.[A-Za-z0-9]{1,5}$")
_INSTALL = re.compile(r"^\s*[!%]\s*pip\b|\bpip3?['\", ]+install\b", re.M)


def clean(code: str) -> str:
    """The script without a code fence or a lone first line ``python``."""
    fenced = _FENCE.search(code) if code.lstrip().startswith("```") else None
    text = fenced.group(1) if fenced else code
    first, _, rest = text.lstrip("\n").partition("\n")
    return rest if first.strip().lower() in {"python", "python3", "py"} and rest else text


def check(code: str, files: Sequence[str]) -> None:
    """Refuse a script that cannot work.

    Args:
        code: the cleaned script.
        files: names of the files in the workspace.

    Raises:
        ModelError: what is wrong and what to send instead.
    """
    if not code.strip():
        raise ModelError("The script is empty: send the complete code.", code="script.empty")
    if _INSTALL.search(code):
        raise ModelError(
            "Nothing can be installed here. pandas, openpyxl, docx, pptx, pdfplumber, PIL and matplotlib are there.",
            code="script.install",
        )
    tree = _parse(code)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if any(isinstance(call.func, ast.Name) and call.func.id == "input" for call in calls):
        raise ModelError("Nobody can answer input(): put the values into the script.", code="script.input")
    _check_files(code, calls, files)


def _parse(code: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError) as error:
        number = getattr(error, "lineno", None)
        lines = code.splitlines()
        shown = f" Line {number}: {lines[number - 1].strip()}" if number and number <= len(lines) else ""
        reason = getattr(error, "msg", None) or str(error)
        raise ModelError(f"The script is not valid Python: {reason}.{shown}", code="script.syntax") from error


def _check_files(code: str, calls: Sequence[ast.Call], files: Sequence[str]) -> None:
    known = {name.casefold() for name in files}
    for name in _read_names(calls):
        plain = name.removeprefix("./")
        # A name that occurs twice may be written by the script itself before it is read.
        if plain.casefold() in known or code.count(name) > 1:
            continue
        near = difflib.get_close_matches(plain, files, n=3, cutoff=0.4)
        there = ", ".join(near or sorted(files)[:20]) or "none"
        raise ModelError(f"There is no file {plain} here. Files: {there}", code="script.missing_file")


def _read_names(calls: Sequence[ast.Call]) -> Iterator[str]:
    for call in calls:
        if not reads_file(call):
            continue
        first = call.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str) and _FILE_NAME.match(first.value):
            yield first.value


def reads_file(call: ast.Call) -> bool:
    """Whether a call reads the file that its first argument names."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if function not in _READERS or not call.args:
        return False
    return function != "open" or (isinstance(call.func, ast.Name) and _reads(call))


def _reads(call: ast.Call) -> bool:
    modes = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
    mode = modes[0].value if modes and isinstance(modes[0], ast.Constant) else ("r" if not modes else "w")
    return isinstance(mode, str) and not set(mode) & set("wax+")
