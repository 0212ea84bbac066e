"""One answer out of the subtasks' answers and files, with what failed named."""

from __future__ import annotations

from collections.abc import Sequence

from engine.memory.budget import ContextBudget
from engine.opening import with_role
from engine.protocol.errors import ModelError
from engine.protocol.messages import Message
from engine.protocol.plan import Checkpoint
from engine.roles import RoleModels
from prompts.loader import render


def plain_answer(checkpoints: Sequence[Checkpoint], files: Sequence[str]) -> str:
    """The answer made by code: the subtasks' own words, the files, and the failures.

    Args:
        checkpoints: how each subtask ended.
        files: the candidate deliverables.
    """
    said = [one.answer.strip() for one in checkpoints if one.answer.strip()]
    failed = [f"{one.subtask_id} was not finished: {one.problem.splitlines()[0]}" for one in checkpoints if one.problem]
    made = f"Made {', '.join(files)}." if files else "No file was made."
    return " ".join([*said, made, *failed])


async def synthesize(
    roles: RoleModels,
    shared: Sequence[Message],
    checkpoints: Sequence[Checkpoint],
    files: Sequence[str],
    budget: ContextBudget,
) -> str:
    """The candidate answer. With one subtask its own words are enough; several are summed up by the model.

    Args:
        roles: metered models.
        shared: the messages every dialogue begins with.
        checkpoints: how each subtask ended.
        files: the candidate deliverables.
        budget: limits.
    """
    if len(checkpoints) < 2:
        return plain_answer(checkpoints, files)
    listed = "\n".join(f"- {one.subtask_id} ({one.status}): {one.answer} {one.problem}".rstrip() for one in checkpoints)
    text = render("roles/synthesize", checkpoints=listed, files=", ".join(files) or "none")
    try:
        reply = await roles.once(
            "synthesize", "synthesize", with_role(shared, text), max_tokens=min(400, budget.reply_tokens)
        )
    except ModelError:  # no room or no time for the model's words
        return plain_answer(checkpoints, files)
    return reply.text.strip() or plain_answer(checkpoints, files)
