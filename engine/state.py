"""The state of a run: a fold over its events, the same while it runs, on resume and in every face."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from engine.protocol.events import (
    ActionRefused,
    Delivered,
    DialogueRewritten,
    Envelope,
    Event,
    LedgerSet,
    MessageAdded,
    ModeChosen,
    ModelCalled,
    ModelReplied,
    PhaseEntered,
    PlanSet,
    QuestionAnswered,
    QuestionAsked,
    RepairEnded,
    RunCreated,
    RunEnded,
    RunResumed,
    RunStatus,
    SnapshotRestored,
    SnapshotTaken,
    StageEntered,
    Steered,
    SubtaskEnded,
    SubtaskStarted,
    Synthesized,
    ToolIntended,
    ToolReturned,
    Verified,
    Warned,
)
from engine.protocol.ledger import Ledger
from engine.protocol.messages import Message, Usage
from engine.protocol.plan import Checkpoint, Plan
from engine.protocol.tasks import Mode, TaskRequest


class RunState(msgspec.Struct, kw_only=True):
    """Everything known about a run. Only `apply` changes it; everybody else reads.

    Attributes:
        run_id: the run; empty before the first event.
        seq: number of the newest event folded in.
        created_at: ISO 8601 UTC time of the first event.
        request: the request as given.
        originals: blob (SHA-256) of each attachment's pristine copy by name.
        version: program version that created the run.
        mode: mode chosen; None before that.
        mode_reasons: why.
        ledger: the newest ledger; None before there is one.
        plan: the newest plan; None before there is one.
        checkpoints: by subtask id, in the order they were left.
        attempts: newest attempt begun by subtask id.
        dialogues: messages by dialogue name, exactly as the model saw them.
        pending_intent: a `ToolIntended` without its `ToolReturned`, by call id.
        pending_call: a `ModelCalled` without its `ModelReplied`, by dialogue.
        last_reply: newest `ModelReplied` by dialogue.
        steps: tool results so far by dialogue.
        refusals: actions refused so far by dialogue.
        verifications: all `Verified`, in order.
        repairs: all `RepairEnded`, in order.
        snapshots: files (name → blob) by snapshot name.
        restored: names of the snapshots gone back to, in order.
        synthesized: newest candidate answer.
        delivered: the delivery; None before it.
        ended: the newest `RunEnded`; None while at work, and again after a resume.
        usage: sum of all model calls by role.
        asked: all questions by id.
        open_questions: unanswered questions by id, in the order they were asked.
        answers: answers by question id.
        steering: messages of the person during the run, with their sequence numbers.
        warnings: all `Warned`, in order.
        stage: newest stage entered; empty before the first.
        stage_attempt: its attempt.
        stages: all stages entered, in order.
        phase: newest time phase; empty before the first.
        active_s: seconds at work: time between events of one engine session, so that a pause or a crash costs nothing;
            nor does waiting for an answer.
        sessions: engine sessions so far.
    """

    run_id: str = ""
    seq: int = 0
    created_at: str = ""
    request: TaskRequest | None = None
    originals: dict[str, str] = {}
    version: str = ""
    mode: Mode | None = None
    mode_reasons: tuple[str, ...] = ()
    ledger: Ledger | None = None
    plan: Plan | None = None
    checkpoints: dict[str, Checkpoint] = {}
    attempts: dict[str, int] = {}
    dialogues: dict[str, list[Message]] = {}
    pending_intent: dict[str, ToolIntended] = {}
    pending_call: dict[str, ModelCalled] = {}
    last_reply: dict[str, ModelReplied] = {}
    steps: dict[str, int] = {}
    refusals: dict[str, int] = {}
    verifications: list[Verified] = []
    repairs: list[RepairEnded] = []
    snapshots: dict[str, dict[str, str]] = {}
    restored: list[str] = []
    synthesized: Synthesized | None = None
    delivered: Delivered | None = None
    ended: RunEnded | None = None
    usage: dict[str, Usage] = {}
    asked: dict[str, QuestionAsked] = {}
    open_questions: dict[str, QuestionAsked] = {}
    answers: dict[str, QuestionAnswered] = {}
    steering: list[tuple[int, str]] = []
    warnings: list[Warned] = []
    stage: str = ""
    stage_attempt: int = 0
    stages: list[StageEntered] = []
    phase: str = ""
    active_s: float = 0.0
    sessions: int = 0
    _last_at: float | None = None

    @property
    def status(self) -> RunStatus | None:
        """How the run ended; None while it is at work (or was cut off)."""
        return self.ended.status if self.ended else None

    @property
    def over(self) -> bool:
        """Whether it ended for good: not at work, not paused."""
        return self.ended is not None and self.ended.status != "paused"

    @property
    def open_question(self) -> QuestionAsked | None:
        """The oldest unanswered question."""
        return next(iter(self.open_questions.values()), None)

    def dialogue(self, name: str) -> tuple[Message, ...]:
        """Messages of a dialogue; empty if it never began."""
        return tuple(self.dialogues.get(name, ()))

    def apply(self, envelope: Envelope, event: Event) -> None:
        """Fold in the next event; the cost does not depend on how many came before.

        Args:
            envelope: its envelope; numbers must rise.
            event: the event.

        Raises:
            ValueError: the event was folded in already, or a rewrite names messages that do not exist.
        """
        if envelope.seq <= self.seq:
            raise ValueError(f"Event {envelope.seq} comes after event {self.seq}.")
        self.seq = envelope.seq
        self._count_time(envelope.at, event)
        self._apply(envelope, event)

    def _count_time(self, at: str, event: Event) -> None:
        now = datetime.fromisoformat(at).timestamp()
        if isinstance(event, RunCreated | RunResumed):
            self.sessions += 1
        elif self._last_at is not None and self.ended is None and not self.open_questions:
            self.active_s += max(0.0, now - self._last_at)  # a clock that is set back takes nothing away
        self._last_at = now

    def _apply(self, envelope: Envelope, event: Event) -> None:
        match event:
            case MessageAdded():
                message = Message(role=event.role, content=event.content, extra=event.extra)
                self.dialogues.setdefault(event.dialogue, []).append(message)
            case DialogueRewritten():
                self.dialogues[event.dialogue] = rewritten(self.dialogues.get(event.dialogue, []), event)
            case ModelCalled():
                self.pending_call[event.dialogue] = event
            case ModelReplied():
                self.pending_call.pop(event.dialogue, None)
                self.last_reply[event.dialogue] = event
                self.usage[event.role] = self.usage.get(event.role, Usage()) + event.reply.usage
            case ToolIntended():
                self.pending_intent[event.call_id] = event
            case ToolReturned():
                intent = self.pending_intent.pop(event.call_id, None)
                if intent is not None:
                    self.steps[intent.dialogue] = self.steps.get(intent.dialogue, 0) + 1
            case ActionRefused():
                self.refusals[event.dialogue] = self.refusals.get(event.dialogue, 0) + 1
            case SubtaskStarted():
                self.attempts[event.subtask_id] = event.attempt
            case SubtaskEnded():
                self.checkpoints[event.checkpoint.subtask_id] = event.checkpoint
            case _:
                self._apply_run(envelope, event)

    def _apply_run(self, envelope: Envelope, event: Event) -> None:
        match event:
            case RunCreated():
                self.run_id, self.created_at = envelope.run_id, envelope.at
                self.request, self.originals, self.version = event.request, event.originals, event.version
            case ModeChosen():
                self.mode, self.mode_reasons = event.mode, event.reasons
            case LedgerSet():
                self.ledger = event.ledger
            case PlanSet():
                self.plan = event.plan
            case StageEntered():
                self.stage, self.stage_attempt = event.stage, event.attempt
                self.stages.append(event)
            case PhaseEntered():
                self.phase = event.phase
            case RunEnded():
                self.ended = event
            case RunResumed():
                self.ended = None
            case _:
                self._apply_result(envelope, event)

    def _apply_result(self, envelope: Envelope, event: Event) -> None:
        match event:
            case QuestionAsked():
                self.asked[event.question_id] = self.open_questions[event.question_id] = event
            case QuestionAnswered():
                self.open_questions.pop(event.question_id, None)
                self.answers[event.question_id] = event
            case Steered():
                self.steering.append((envelope.seq, event.text))
            case Synthesized():
                self.synthesized = event
            case SnapshotTaken():
                self.snapshots[event.name] = event.files
            case SnapshotRestored():
                self.restored.append(event.name)
            case Verified():
                self.verifications.append(event)
            case RepairEnded():
                self.repairs.append(event)
            case Delivered():
                self.delivered = event
            case Warned():
                self.warnings.append(event)
            case _:
                raise AssertionError(f"No fold for {type(event).__name__}.")


def rewritten(messages: list[Message], event: DialogueRewritten) -> list[Message]:
    """A dialogue after compression or pruning.

    The survivors stay in the order of `keep`; the summary becomes a user message before the first survivor whose old
    index is `summary_before` or higher.

    Args:
        messages: the dialogue before.
        event: what stays.

    Raises:
        ValueError: an index is not in the dialogue or `keep` does not rise.
    """
    keep = event.keep
    if any(index < 0 or index >= len(messages) for index in keep) or list(keep) != sorted(set(keep)):
        raise ValueError(f"A rewrite of {event.dialogue} keeps {keep} of {len(messages)} messages.")
    kept = [messages[index] for index in keep]
    if event.summary:
        place = sum(1 for index in keep if index < event.summary_before)
        kept.insert(place, Message(role="user", content=event.summary))
    return kept


def fold(events: Iterable[tuple[Envelope, Event]]) -> RunState:
    """Fold events, such as those of `Journal.read`, into the state of their run.

    Args:
        events: in order.
    """
    state = RunState()
    for envelope, event in events:
        state.apply(envelope, event)
    return state
