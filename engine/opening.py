"""The first messages of a dialogue: one head shared by all roles, then the request, the files, and the role."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from engine.ledger import describe
from engine.memory.budget import ContextBudget
from engine.memory.observations import cut_middle
from engine.protocol.documents import Reading, ReadOptions
from engine.protocol.ledger import Ledger
from engine.protocol.messages import Message
from engine.protocol.plan import Checkpoint, Subtask
from engine.protocol.ports import Documents
from prompts.loader import render


async def preview_files(documents: Documents, files: Sequence[Path], budget: ContextBudget) -> str:
    """What the model sees of the attachments before its first step; all files share one budget.

    Args:
        documents: reads them.
        files: absolute paths in the workspace.
        budget: limits.
    """
    if not files:
        return "(no files)"
    share = min(budget.preview_chars, budget.parser_chars // len(files))
    options = ReadOptions(max_chars=max(200, share))
    readings = await asyncio.gather(*(documents.read(path, options) for path in files))
    return "\n\n".join(_section(reading) for reading in readings)


def _section(reading: Reading) -> str:
    if reading.problem:
        return f"## {reading.name}\n(cannot be read: {reading.detail or reading.problem})"
    return f"## {reading.name}\n{reading.text}" + (f"\n({reading.more})" if reading.truncated and reading.more else "")


def file_messages(previews: str) -> tuple[Message, ...]:
    """The head and the files: the prefix of everything a run asks a model.

    Args:
        previews: see `preview_files`.
    """
    return (
        Message(role="system", content=render("head")),
        Message(role="user", content=f"Today is {date.today():%Y-%m-%d}.\n\n# Files\n{previews}"),
    )


def shared_messages(
    files: Sequence[Message], request: str, ledger: Ledger, budget: ContextBudget
) -> tuple[Message, ...]:
    """The prefix that every role's dialogue begins with, byte for byte: head, files, request, ledger.

    The files come first, so that questions about them alone share the prefix too, and the request stands close to the
    step.

    Args:
        files: see `file_messages`.
        request: the person's words.
        ledger: the first ledger.
        budget: limits; a request over its share is shortened here and stands whole in ``outputs/request.txt``.
    """
    asked = cut_middle(request.strip(), budget.request_chars, "all of it: read_file outputs/request.txt")
    checks = cut_middle(describe(ledger), budget.request_chars, "more requirements in the request")
    return with_role(files, f"# Request\n{asked}\n\n# What must hold\n{checks or '(as asked)'}")


def with_role(shared: Sequence[Message], text: str) -> tuple[Message, ...]:
    """Put a role's instruction at the end of the last user message (two user messages in a row break templates)."""
    place = max(index for index, message in enumerate(shared) if message.role == "user")
    last = shared[place]
    changed = Message(role=last.role, content=f"{last.content}\n\n{text}", extra=last.extra)
    return (*shared[:place], changed, *shared[place + 1 :])


def execute_text(
    subtask: Subtask,
    earlier: Sequence[Checkpoint],
    *,
    problem: str = "",
    how: str,
    tools: str,
    alone: bool,
) -> str:
    """The role text of an executor.

    Args:
        subtask: what to do now.
        earlier: checkpoints it builds on.
        problem: what went wrong in the attempt before; empty at first.
        how: how this kind of work is done (``prompts/routes``).
        tools: the dialect's description of the tools of this step. They stand here and not in the head, because a
            small model that sees a tool uses it.
        alone: it is the only subtask, so that its title would repeat the request.
    """
    lines = [f"- {one.answer} {', '.join(one.files)}".rstrip() for one in earlier]
    text = render(
        "roles/execute",
        title="Do what the request asks." if alone and not subtask.tools else subtask.title,
        description=subtask.description,
        earlier="Results so far:\n" + "\n".join(lines) if lines else "",
        how=f"{render('roles/retry', problem=problem)}\n{how}" if problem else how,
        tools=tools,
    )
    return re.sub(r"\n{3,}", "\n\n", text)
