"""The plan: one to six ordered subtasks and what each of them left behind."""

from __future__ import annotations

from typing import Literal

import msgspec

from engine.protocol.errors import ModelError
from engine.protocol.ledger import Check

MAX_SUBTASKS = 6


class Subtask(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a plan.

    Attributes:
        id: ``task_1`` … ``task_6``.
        title: a few words.
        description: what to do and what to leave as result.
        dependencies: ids of the subtasks whose results this one needs.
        tools: the only tools shown at first; empty for all. Small models act well with one or two.
        checks: the checks that settle this subtask; none where only the whole result can be judged.
    """

    id: str
    title: str
    description: str = ""
    dependencies: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Ordered subtasks; `origin` says who wrote them."""

    subtasks: tuple[Subtask, ...]
    origin: Literal["model", "code", "user"] = "model"


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """What a finished subtask passes on: never its trace.

    Attributes:
        subtask_id: whose result this is.
        status: ``done``, ``failed`` after the last attempt, or ``skipped`` because it came to depend on a failure.
        answer: short answer in words.
        files: names of result files in the workspace root.
        problem: what went wrong, for a failed or skipped subtask.
    """

    subtask_id: str
    status: Literal["done", "failed", "skipped"]
    answer: str = ""
    files: tuple[str, ...] = ()
    problem: str = ""


def ordered(plan: Plan, *, limit: int = MAX_SUBTASKS) -> Plan:
    """Check a plan and put its subtasks into an order that respects their dependencies.

    Args:
        plan: subtasks in any order.
        limit: most subtasks allowed.

    Returns:
        The plan with subtasks sorted; ties keep the given order.

    Raises:
        ModelError: no subtask, too many, a doubled or unknown id, or a cycle.
    """
    ids = [subtask.id for subtask in plan.subtasks]
    if not 1 <= len(ids) <= limit:
        raise ModelError(f"A plan has 1 to {limit} subtasks; this one has {len(ids)}.", code="plan.size")
    if len(set(ids)) != len(ids):
        raise ModelError("Each subtask needs an id of its own.", code="plan.ids")
    unknown = {dep for subtask in plan.subtasks for dep in subtask.dependencies} - set(ids)
    if unknown:
        raise ModelError(f"Unknown dependencies: {', '.join(sorted(unknown))}.", code="plan.dependencies")
    done: list[Subtask] = []
    waiting = list(plan.subtasks)
    while waiting:
        finished = {subtask.id for subtask in done}
        ready = next((subtask for subtask in waiting if finished.issuperset(subtask.dependencies)), None)
        if ready is None:
            raise ModelError("The dependencies of the subtasks form a cycle.", code="plan.cycle")
        waiting.remove(ready)
        done.append(ready)
    return msgspec.structs.replace(plan, subtasks=tuple(done))
