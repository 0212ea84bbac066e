"""A run, stage by stage: look at the request and its files, plan, execute, synthesize, verify, repair, deliver.

Start reading here. Every stage first asks the state whether it is done already, so that a resumed run enters at the top
and falls through to where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.deliverables import Deliverables, needs
from engine.delivery import Delivery
from engine.judge import ModelJudge
from engine.ledger import Proposer, build_ledger
from engine.memory.budget import ContextBudget
from engine.opening import file_messages, preview_files, shared_messages, with_role
from engine.planner import PLAN_SCHEMA, choose_mode, parse_plan, single
from engine.protocol.documents import FileProfile
from engine.protocol.errors import ModelError
from engine.protocol.events import (
    ActionRefused,
    LedgerSet,
    ModeChosen,
    PlanSet,
    RunEnded,
    RunStatus,
    StageEntered,
    Synthesized,
    Verified,
)
from engine.protocol.ledger import Ledger
from engine.protocol.messages import Message
from engine.protocol.plan import Checkpoint, Plan
from engine.protocol.ports import Documents
from engine.protocol.tasks import Mode, TaskRequest
from engine.protocol.verdicts import Verdict
from engine.repair import Repair
from engine.report import headline, render_report
from engine.roles import RoleModels
from engine.routes import plan_by_routes
from engine.runlog import RunLog
from engine.state import RunState
from engine.steering import Steering
from engine.subtasks import SubtaskRunner
from engine.synthesizer import plain_answer, synthesize
from engine.timing import Timeline
from engine.verifier import TRUSTED_JUDGE_PRECISION, Verifier
from engine.workspace import Workspace
from prompts.loader import render

PLAN_TRIES = 3


class RunLimits:
    """What the execution profile says about this run.

    Args:
        max_subtasks: most steps of a plan.
        judge_precision: measured precision of the model as judge; None if not measured.
        routes: plan by code where the ledger allows it.
        tools: names of the tools of the profile.
    """

    def __init__(self, *, max_subtasks: int, judge_precision: float | None, routes: bool, tools: Sequence[str]) -> None:
        self.max_subtasks = max_subtasks
        self.routes = routes
        self.tools = tuple(tools)
        self.judge = judge_precision is not None and judge_precision >= TRUSTED_JUDGE_PRECISION


class Run:
    """One run from request to delivery; `engine/app.py` puts it together.

    Args:
        log: the run's history.
        workspace: its files.
        documents: document workers.
        roles: metered models.
        subtasks: runs the plan.
        repair: mends what was found wrong.
        deliverables: finds result files.
        delivery: puts them where the person wants them.
        steering: messages of the person.
        timeline: the run's time.
        budget: limits that follow from the window.
        limits: what the profile says.
        propose: compiles requirements to checks.
    """

    def __init__(
        self,
        *,
        log: RunLog,
        workspace: Workspace,
        documents: Documents,
        roles: RoleModels,
        subtasks: SubtaskRunner,
        repair: Repair,
        deliverables: Deliverables,
        delivery: Delivery,
        steering: Steering,
        timeline: Timeline,
        budget: ContextBudget,
        limits: RunLimits,
        propose: Proposer,
    ) -> None:
        self._log = log
        self._workspace = workspace
        self._documents = documents
        self._roles = roles
        self._subtasks = subtasks
        self._repair = repair
        self._deliverables = deliverables
        self._delivery = delivery
        self._steering = steering
        self._timeline = timeline
        self._budget = budget
        self._limits = limits
        self._propose = propose
        self._shared: tuple[Message, ...] = ()

    async def execute(self) -> RunEnded:
        """Go through the stages; gives the end, which the caller journals.

        Raises:
            UserError: the person must do something; the run can be resumed.
        """
        request = self._request
        profiles = [await self._documents.profile(path) for path in self._attachments()]
        self._steering.files = tuple(profiles)
        ledger = await self._ledger(request, profiles)
        mode = await self._mode(request, ledger)
        previews = await preview_files(self._documents, self._attachments(), self._budget)
        files = file_messages(previews)
        self._shared = shared_messages(files, request.text, ledger, self._budget)
        plan = await self._plan(request, mode)
        await self._enter("execute")
        checkpoints = await self._subtasks.run(plan, files, self._shared)
        answer, names = await self._synthesize(checkpoints)
        verdict = None
        if mode.verifies:
            await self._enter("verify")
            verdict = await self._repair.run(await self._first_verdict(), self._shared, self._verify)
            names = await self._deliverables.candidates()
            answer = answer if self._same_files(names) else plain_answer(checkpoints, names)
        return await self._deliver(request, answer, names, verdict, checkpoints)

    @property
    def _request(self) -> TaskRequest:
        assert self._log.state.request is not None
        return self._log.state.request

    def _attachments(self) -> list[Path]:
        """Pristine copies: a resumed run sees the files as they were given."""
        return [self._workspace.original(name) for name in self._log.state.originals]

    async def _enter(self, stage: str) -> None:
        if self._log.state.stage != stage:
            await self._log.record(StageEntered(stage=stage))

    async def _ledger(self, request: TaskRequest, profiles: Sequence[FileProfile]) -> Ledger:
        if self._log.state.ledger is None:
            await self._enter("plan")
            await self._log.record(LedgerSet(ledger=build_ledger(request.text, profiles, self._propose)))
        assert self._log.state.ledger is not None
        return self._log.state.ledger

    async def _mode(self, request: TaskRequest, ledger: Ledger) -> Mode:
        if self._log.state.mode is None:
            checks = {check.name for item in ledger.items for check in item.checks}
            mode, reasons = choose_mode(request.mode, request.text, ledger, len(needs(ledger)), "table_edit" in checks)
            await self._log.record(ModeChosen(mode=mode, reasons=reasons))
        assert self._log.state.mode is not None
        return self._log.state.mode

    async def _plan(self, request: TaskRequest, mode: Mode) -> Plan:
        if self._log.state.plan is None:
            plan = await self._make_plan(request, mode)
            await self._log.record(PlanSet(plan=plan))
        assert self._log.state.plan is not None
        return self._log.state.plan

    async def _make_plan(self, request: TaskRequest, mode: Mode) -> Plan:
        routed = plan_by_routes(self._log.state.ledger or Ledger(), self._limits.tools) if self._limits.routes else None
        if routed is not None and len(routed.subtasks) <= self._limits.max_subtasks:
            return routed
        return await self._ask_for_plan(request) if mode.decomposes else single(request.text)

    async def _ask_for_plan(self, request: TaskRequest) -> Plan:
        limit = self._limits.max_subtasks
        text = render("roles/plan", limit=limit)
        for number in range(PLAN_TRIES):
            name = f"plan.{number + 1}"
            try:
                reply = await self._roles.once(
                    "plan",
                    name,
                    with_role(self._shared, text),
                    max_tokens=self._budget.reply_tokens,
                    schema=PLAN_SCHEMA,
                    retry=number,
                )
                return parse_plan(reply.text, limit)
            except ModelError as error:
                await self._log.record(ActionRefused(dialogue=name, code=error.code, text=error.text))
                text = f"{render('roles/plan', limit=limit)}\n{error.text}"
        return single(request.text)

    async def _synthesize(self, checkpoints: Sequence[Checkpoint]) -> tuple[str, tuple[str, ...]]:
        known = self._log.state.synthesized
        if known is None:
            await self._enter("synthesize")
            changed = await self._deliverables.changed()
            declared = [name for one in checkpoints for name in one.files if name in changed]
            files = tuple(dict.fromkeys([*declared, *await self._deliverables.candidates()]))
            answer = await synthesize(self._roles, self._shared, checkpoints, files, self._budget)
            known = Synthesized(answer=answer, files=files)
            await self._log.record(known)
        return known.answer, known.files

    async def _first_verdict(self) -> Verdict:
        """The verdict before all repairs; a run cut off during one must not judge half mended files as the first."""
        known = [one.verdict for one in self._log.state.verifications if one.attempt == 0]
        return known[0] if known else await self._verify(0)

    async def _verify(self, attempt: int) -> Verdict:
        ledger = self._log.state.ledger or Ledger()
        names = await self._deliverables.candidates()
        judge = ModelJudge(self._roles, self._shared, self._budget, attempt) if self._limits.judge else None
        verifier = Verifier(self._documents, self._sources(), judge)
        answer = self._log.state.synthesized.answer if self._log.state.synthesized else ""
        verdict = await verifier.verify(ledger, self._deliverables.paths(names), answer)
        await self._log.record(Verified(verdict=verdict, attempt=attempt))
        return verdict

    def _same_files(self, files: tuple[str, ...]) -> bool:
        known = self._log.state.synthesized
        return known is not None and set(known.files) == set(files)

    def _sources(self) -> dict[str, str]:
        return {path.name: str(path) for path in self._attachments()}

    async def _deliver(
        self,
        request: TaskRequest,
        answer: str,
        files: tuple[str, ...],
        verdict: Verdict | None,
        checkpoints: Sequence[Checkpoint],
    ) -> RunEnded:
        await self._enter("deliver")
        state = self._log.state
        failed = [one for one in checkpoints if one.status != "done"]
        report = render_report(
            request=request.text,
            answer=answer,
            files=files,
            ledger=state.ledger or Ledger(),
            verdict=verdict,
            checkpoints=checkpoints,
            notes=[one.text for one in state.warnings] + _defaults_taken(state),
            seconds=self._timeline.elapsed_s,
            usage=state.usage,
        )
        await self._delivery.deliver(self._deliverables.paths(files), report)
        status: RunStatus = "unverified"
        nothing_made = not files and bool(needs(state.ledger or Ledger()))
        if nothing_made or (not files and (failed or not answer.strip())):
            status = "failed"
        elif verdict is not None and verdict.verified:  # whatever failed on the way, the files were checked
            status = "verified"
        return RunEnded(status=status, reason=headline(verdict), answer=answer, usage=state.usage)


def _defaults_taken(state: RunState) -> list[str]:
    return [
        f"Nobody was there to ask “{state.asked[name].question}”, so this was assumed: {one.answer}"
        for name, one in state.answers.items()
        if one.by == "default"
    ]
