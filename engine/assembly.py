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
from engine.protocol.tasks import TaskRequest
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
    base = _base(folder, log, workspace, profile, models, sandbox, interpreter, clock)
    tools = {tool.spec.name: tool for tool in _tools(profile.tools, base.questions)}
    sources = {name: str(workspace.original(name)) for name in log.state.originals}
    look = BoundaryLook(log, base.deliverables, Verifier(base.documents, sources))
    runner = _runner(base)
    run = _run(base, _executor(base, tools, runner, look))
    background = _Background()

    def seconds() -> dict[str, float]:
        return {
            "model": base.roles.model_s,
            "tools": runner.tool_s,
            "checks": look.seconds,
            "disk": log.journal.stats.waited_s,
            "total": base.timeline.elapsed_s,
        }

    async def aclose() -> None:
        for tool in tools.values():
            if isinstance(tool, ClosingTool):
                await tool.aclose()
        await base.documents.aclose()

    return Parts(
        run=run,
        questions=base.questions,
        steering=base.steering,
        signals=base.signals,
        seconds=seconds,
        background=background.add,
        settle=background.wait,
        aclose=aclose,
    )


class _Base(msgspec.Struct, frozen=True, kw_only=True):
    """What most parts of a run need."""

    folder: RunFolder
    log: RunLog
    workspace: Workspace
    profile: ExecutionProfile
    request: TaskRequest
    sandbox: Sandbox
    interpreter: InterpreterEnv
    budget: ContextBudget
    timeline: Timeline
    documents: DocumentPool
    roles: RoleModels
    deliverables: Deliverables
    questions: Questions
    steering: Steering
    signals: list[Callable[[Signal], None]]


def _base(
    folder: RunFolder,
    log: RunLog,
    workspace: Workspace,
    profile: ExecutionProfile,
    models: Mapping[str, ChatModel],
    sandbox: Sandbox,
    interpreter: InterpreterEnv,
    clock: Clock,
) -> _Base:
    request = log.state.request
    assert request is not None
    signals: list[Callable[[Signal], None]] = []

    def tell(signal: Signal) -> None:
        for listener in signals:
            listener(signal)

    timeline = Timeline(clock, request.budget_s or profile.budget_s, log.state.active_s)
    return _Base(
        folder=folder,
        log=log,
        workspace=workspace,
        profile=profile,
        request=request,
        sandbox=sandbox,
        interpreter=interpreter,
        budget=ContextBudget(window_tokens=models["execute"].context_tokens, reply_cap_tokens=profile.reply_tokens),
        timeline=timeline,
        documents=DocumentPool(
            sandbox,
            readable=(folder.workspace, folder.originals, folder.outputs, folder.blobs.root),
            scratch=folder.scratch,
            log=folder.root / "documents.log",
        ),
        roles=RoleModels(
            log,
            models,
            sampling=profile.sampling,
            temperature_step=profile.retry_temperature_step,
            timeline=timeline,
            on_signal=tell,
        ),
        deliverables=Deliverables(log, workspace),
        questions=Questions(log, timeline, attended=request.attended),
        steering=Steering(log, propose_checks),
        signals=signals,
    )


def _runner(base: _Base) -> ToolRunner:
    context = RunToolContext(
        workspace=base.workspace,
        outputs=base.folder.outputs,
        documents=base.documents,
        sandbox=base.sandbox,
        interpreter=base.interpreter,
        budget=base.budget,
        timeline=base.timeline,
        ask=RoleAsk(base.roles, base.budget),
        names=RequestNames(base.request.text),
    )
    store = ObservationStore(base.folder.outputs, base.budget.observation_chars)
    return ToolRunner(base.log, base.workspace, context, store)


def _executor(base: _Base, tools: Mapping[str, Tool], runner: ToolRunner, look: BoundaryLook) -> Executor:
    return Executor(
        log=base.log,
        roles=base.roles,
        dialect=get_dialect(base.profile.dialect),
        tools=tools,
        runner=runner,
        policy=Policy(confined=base.sandbox.confines, attended=base.request.attended),
        questions=base.questions,
        timeline=base.timeline,
        budget=base.budget,
        look=look,
        steering=base.steering.take,
        finish_when_checked=base.profile.finish_when_checked,
    )


def _run(base: _Base, executor: Executor) -> Run:
    log, workspace, timeline, profile = base.log, base.workspace, base.timeline, base.profile
    gather = Gather(log, base.roles)
    return Run(
        log=log,
        workspace=workspace,
        documents=base.documents,
        roles=base.roles,
        subtasks=SubtaskRunner(log, executor, timeline, workspace, gather, max_steps=profile.max_steps),
        repair=Repair(log, executor, workspace, base.deliverables, timeline, max_steps=profile.max_steps),
        deliverables=base.deliverables,
        delivery=Delivery(log, Path(base.request.out_dir), base.folder.root),
        steering=base.steering,
        timeline=timeline,
        budget=base.budget,
        limits=RunLimits(
            max_subtasks=profile.max_subtasks,
            judge_precision=profile.judge_precision,
            routes=profile.plan_by_code,
            tools=profile.tools,
        ),
        propose=propose_checks,
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
