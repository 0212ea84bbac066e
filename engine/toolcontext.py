"""What a tool may use during one run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.memory.budget import ContextBudget
from engine.names import RequestNames, relative_name
from engine.protocol.messages import Message
from engine.protocol.ports import Ask, Documents, Sandbox
from engine.protocol.sandbox import InterpreterEnv
from engine.timing import Timeline
from prompts.loader import render

if TYPE_CHECKING:
    from engine.roles import RoleModels
    from engine.workspace import Workspace


class RunToolContext:
    """The `ToolContext` of a run.

    Args:
        workspace: the one place tools may change.
        outputs: folder with full outputs of earlier calls.
        documents: document workers.
        sandbox: where commands run.
        interpreter: the Python for scripts.
        budget: limits that follow from the window.
        timeline: the run's time.
        ask: how a tool asks a model.
        names: how the person spells files.
    """

    def __init__(
        self,
        *,
        workspace: Workspace,
        outputs: Path,
        documents: Documents,
        sandbox: Sandbox,
        interpreter: InterpreterEnv,
        budget: ContextBudget,
        timeline: Timeline,
        ask: Ask,
        names: RequestNames,
    ) -> None:
        self._workspace = workspace
        self._names = names
        self._budget = budget
        self._timeline = timeline
        self.outputs = outputs
        self.documents = documents
        self.sandbox = sandbox
        self.interpreter = interpreter
        self.ask = ask

    @property
    def workspace(self) -> Path:
        return self._workspace.root

    @property
    def observation_chars(self) -> int:
        return self._budget.observation_chars

    @property
    def time_left_s(self) -> float:
        return self._timeline.action_left_s

    def resolve(self, name: str) -> Path:
        return self._workspace.resolve(name)

    def target(self, name: str) -> Path:
        plain = relative_name(name, self.workspace)
        return self._workspace.target(plain if (self.workspace / plain).exists() else self._names.spelling(plain))


class RoleAsk:
    """`Ask` over the run's models: each question is a short dialogue of its own, kept in the journal.

    Args:
        roles: the metered models.
        budget: bounds the reply.
    """

    def __init__(self, roles: RoleModels, budget: ContextBudget) -> None:
        self._roles = roles
        self._budget = budget
        self._count = 0

    async def __call__(self, prompt_name: str, variables: Mapping[str, str], role: str) -> str:
        self._count += 1
        message = Message(role="user", content=render(prompt_name, **variables))
        reply = await self._roles.chat(
            role, f"ask:{role}:{self._count}", (message,), max_tokens=self._budget.reply_tokens
        )
        return reply.text
