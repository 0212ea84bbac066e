"""The baseline: one call for one script in a fenced block, run once under the same confinement. No repair, no check."""

from __future__ import annotations

import csv
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import openpyxl
import pdfplumber

from engine.protocol.messages import ChatRequest, Message
from engine.system.spawn import spawn

_HEAD_LINES = 6
_MOST_CHARS = 9000
_REPLY_TOKENS = 1500
_RUN_S = 120.0
_PYTHON = ("python", "python3", "py", "")

RULES = (
    "You write Python for work on files. The files are in the current folder; write results there. pandas, openpyxl, "
    "python-docx, pdfplumber and matplotlib are installed. Write one script in a fenced block that does what is asked."
)


class BareResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one pass of the baseline left behind.

    Attributes:
        files: new or changed files in the folder.
        seconds: for the call and the script.
        calls: model calls, always 1.
        note: why there is nothing, if so; else the last line the script printed.
    """

    files: tuple[Path, ...]
    seconds: float
    calls: int = 1
    note: str = ""


async def bare_loop(request: str, attachments: Sequence[Path], folder: Path, profile: str) -> BareResult:
    """Ask once, run once.

    Args:
        request: the words.
        attachments: the files; they are copied.
        folder: an empty folder for the copies and the results.
        profile: name of the execution profile whose model answers.

    Raises:
        UserError: the model cannot be opened.
    """
    copies = [Path(shutil.copy2(path, folder / path.name)) for path in attachments]
    before = {path.name: path.read_bytes() for path in copies}
    prompt = "\n\n".join([*(_head(path) for path in copies), f"Request: {request}"])
    started = time.monotonic()
    reply = await _ask(prompt, profile)
    script = fenced(reply)
    note = "the reply has no fenced block"
    if script is not None:
        note = await _run(script, folder)
    seconds = time.monotonic() - started
    files = tuple(_changed(folder, before))
    return BareResult(files=files, seconds=seconds, note=note)


def _changed(folder: Path, before: dict[str, bytes]) -> list[Path]:
    """Files in the folder that are new or differ from `before`."""
    return [path for path in sorted(folder.iterdir()) if path.is_file() and before.get(path.name) != path.read_bytes()]


def fenced(reply: str) -> str | None:
    """The first fenced block of a reply that is Python or names no language; one cut at the end counts too."""
    language: str | None = None
    lines: list[str] = []
    for line in reply.splitlines():
        fence = re.match(r"[ \t]*```(\w*)[ \t]*$", line)
        if fence is None:
            lines.append(line)
        elif language is None:
            language, lines = fence.group(1).lower(), []
        else:
            if language in _PYTHON:
                return "\n".join(lines) + "\n"
            language = None
    return "\n".join(lines) + "\n" if language in _PYTHON else None


async def _ask(prompt: str, profile_name: str) -> str:
    from engine.system.paths import user_folders
    from models.profile import load_profile
    from models.provider import open_model

    folders = user_folders(os.environ)
    profile = load_profile(profile_name, folders.data / "profiles")
    model = await open_model(profile, "execute", folders.models, lambda _done, _total, _text: None)
    try:
        messages = (Message(role="system", content=RULES), Message(role="user", content=prompt))
        request = ChatRequest(messages=messages, max_tokens=_REPLY_TOKENS, sampling=profile.sampling)
        return (await model.chat(request)).text
    finally:
        await model.aclose()


async def _run(script: str, folder: Path) -> str:
    """Run it with the installed command's own confinement; gives the last line of what it printed."""
    argv = [
        command(),
        "sandbox",
        "run",
        "--folder",
        str(folder),
        "--timeout",
        str(_RUN_S),
        "--",
        sys.executable,
        "-c",
        script,
    ]
    child = await spawn(argv, merge_stderr=True)
    child.stdin.close()
    output = await child.stdout.read()
    await child.wait()
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""


def command() -> str:
    """The installed ``oneday`` of this Python.

    Raises:
        FileNotFoundError: it is not installed.
    """
    found = shutil.which("oneday", path=str(Path(sys.executable).parent)) or shutil.which("oneday")
    if found is None:
        raise FileNotFoundError("the command oneday is not installed in this environment")
    return found


def _head(path: Path) -> str:
    """What the model sees of a file: columns and first rows, or the text as far as it fits."""
    if path.suffix == ".pdf":
        with pdfplumber.open(path) as pdf:
            text = "\n\n".join(page.extract_text() for page in pdf.pages)
        return f"Text of {path.name}:\n{text[:_MOST_CHARS]}"
    if path.suffix == ".xlsx":
        parts = [f"Workbook {path.name}"]
        for sheet in openpyxl.load_workbook(path).worksheets:
            rows = sheet.iter_rows(max_row=_HEAD_LINES, values_only=True)
            parts.append(
                f"Sheet {sheet.title}:\n"
                + "\n".join(", ".join("" if c is None else str(c) for c in row) for row in rows)
            )
        return "\n".join(parts)
    with path.open(encoding="utf-8", newline="") as stream:
        lines = [",".join(row) for _, row in zip(range(_HEAD_LINES), csv.reader(stream), strict=False)]
    return f"First lines of {path.name}:\n" + "\n".join(lines)
