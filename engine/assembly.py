"""Wires one run: every collaborator is made here and handed to the constructor of whoever needs it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine.ask_user import AskUser
from engine.asking import Questions
from engine.deliverables import Deliverables
from engine.delivery import Delivery
from engine.executor import Executor
from engine.gather import Gather
from engine.looking import BoundaryLook
from engine.memory.budget import ContextBudget
from engine.memory.observations import ObservationStore
from engine.names import RequestNames
from engine.policy import Policy
from engine.protocol.events import Signal
from engine.protocol.ports import ChatModel, Clock, ClosingTool, Sandbox, Tool
from engine.protocol.sandbox import InterpreterEnv
from engine.repair import Repair
from engine.roles import RoleModels
from engine.run import Run, RunLimits
from engine.runfolder import RunFolder
from engine.runlog import RunLog
from engine.steering import Steering
from engine.subtasks import SubtaskRunner
from engine.timing import Timeline
from engine.tool_runner import ToolRunner
from engine.toolcontext import RoleAsk, RunToolContext
from engine.verifier import Verifier
from engine.workspace import Workspace
from models.dialects.registry import get_dialect
from models.profile import ExecutionProfile
from tools.checks.registry import propose_checks
from tools.documents.pool import DocumentPool
from tools.registry import load_tools

_log = logging.getLogger(__name__)


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """A wired run and what its handle needs of it.

    Attributes:
        run: ready to execute.
        questions: takes the person's answers.
        steering: takes the person's messages.
        signals: told of streamed text and progress.
        seconds: where the time went so far.
        background: keeps a small task of the handle until it is done.
        settle: waits for those tasks.
        aclose: ends background commands and the document workers.
    """

    run: Run
    questions: Questions
    steering: Steering
    signals: list[Callable[[Signal], None]]
    seconds: Callable[[], dict[str, float]]
    background: Callable[[Coroutine[Any, Any, None]], None]
    settle: Callable[[], Coroutine[Any, Any, None]]
    aclose: Callable[[], Coroutine[Any, Any, None]]


def assemble(
    *,
    folder: RunFolder,
    log: RunLog,
    workspace: Workspace,
    profile: ExecutionProfile,
    models: Mapping[str, ChatModel],
    sandbox: Sandbox,
    interpreter: InterpreterEnv,
    clock: Clock,
) -> Parts:
    """Wire a run.

    Args:
        folder: its folder.
        log: its history; the request is in it.
        workspace: its files.
        profile: how to work with this model.
        models: by role, with ``execute`` at least.
        sandbox: where commands and document workers run.
        interpreter: the Python for scripts.
        clock: source of time.
    """
    request = log.state.request
    assert request is not None
    signals: list[Callable[[Signal], None]] = []

    def tell(signal: Signal) -> None:
        for listener in signals:
            listener(signal)

    budget = ContextBudget(window_tokens=models["execute"].context_tokens, reply_cap_tokens=profile.reply_tokens)
    timeline = Timeline(clock, request.budget_s or profile.budget_s, log.state.active_s)
    documents = DocumentPool(
        sandbox,
        readable=(folder.workspace, folder.originals, folder.outputs, folder.blobs.root),
        scratch=folder.scratch,
        log=folder.root / "documents.log",
    )
    roles = RoleModels(
        log,
        models,
        sampling=profile.sampling,
        temperature_step=profile.retry_temperature_step,
        timeline=timeline,
        on_signal=tell,
    )
    deliverables = Deliverables(log, workspace)
    sources = {name: str(workspace.original(name)) for name in log.state.originals}
    look = BoundaryLook(log, deliverables, Verifier(documents, sources))
    questions = Questions(log, timeline, attended=request.attended)
    steering = Steering(log, propose_checks)
    tools = {tool.spec.name: tool for tool in _tools(profile.tools, questions)}
    context = RunToolContext(
        workspace=workspace,
        outputs=folder.outputs,
        documents=documents,
        sandbox=sandbox,
        interpreter=interpreter,
        budget=budget,
        timeline=timeline,
        ask=RoleAsk(roles, budget),
        names=RequestNames(request.text),
    )
    runner = ToolRunner(log, workspace, context, ObservationStore(folder.outputs, budget.observation_chars))
    executor = Executor(
        log=log,
        roles=roles,
        dialect=get_dialect(profile.dialect),
        tools=tools,
        runner=runner,
        policy=Policy(confined=sandbox.confines, attended=request.attended),
        questions=questions,
        timeline=timeline,
        budget=budget,
        look=look,
        steering=steering.take,
        finish_when_checked=profile.finish_when_checked,
    )
    run = Run(
        log=log,
        workspace=workspace,
        documents=documents,
        roles=roles,
        subtasks=SubtaskRunner(log, executor, timeline, workspace, Gather(log, roles), max_steps=profile.max_steps),
        repair=Repair(log, executor, workspace, deliverables, timeline, max_steps=profile.max_steps),
        deliverables=deliverables,
        delivery=Delivery(log, Path(request.out_dir), folder.root),
        steering=steering,
        timeline=timeline,
        budget=budget,
        limits=RunLimits(
            max_subtasks=profile.max_subtasks,
            judge_precision=profile.judge_precision,
            routes=profile.plan_by_code,
            tools=profile.tools,
        ),
        propose=propose_checks,
    )
    background = _Background()

    def seconds() -> dict[str, float]:
        return {
            "model": roles.model_s,
            "tools": runner.tool_s,
            "checks": look.seconds,
            "disk": log.journal.stats.waited_s,
            "total": timeline.elapsed_s,
        }

    async def aclose() -> None:
        for tool in tools.values():
            if isinstance(tool, ClosingTool):
                await tool.aclose()
        await documents.aclose()

    return Parts(
        run=run,
        questions=questions,
        steering=steering,
        signals=signals,
        seconds=seconds,
        background=background.add,
        settle=background.wait,
        aclose=aclose,
    )


def _tools(names: Sequence[str], questions: Questions) -> Iterator[Tool]:
    """The tools of a profile in its order; the one that needs the engine is made here."""
    for name in names:
        if name == AskUser.spec.name:
            yield AskUser(questions)
        else:
            yield from load_tools([name])


class _Background:
    """Small tasks that must be over before the run is. One that fails is logged; the run ends all the same."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)

    async def wait(self) -> None:
        for outcome in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(outcome, BaseException):
                _log.error("A message of the person could not be taken up.", exc_info=outcome)
