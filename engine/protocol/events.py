"""Events of a run: frozen, typed, durable; and signals, which are not.

The run is the fold over its events (`engine/state.py`). To add a type, define it here and add it to `Event`; to
change one, raise its entry in `VERSIONS` and add an upcaster in ``engine/migrations``.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from engine.protocol.ledger import Ledger
from engine.protocol.messages import ChatReply, Role, Usage
from engine.protocol.plan import Checkpoint, Plan
from engine.protocol.tasks import Mode, TaskRequest
from engine.protocol.tools import ChangeSet, Observation
from engine.protocol.verdicts import Verdict

RunStatus = Literal["verified", "unverified", "failed", "paused"]


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag=True, tag_field="type"):
    """Base: the class name is the type written to the journal."""


class RunCreated(_Event, frozen=True, kw_only=True):
    """First event: the request as given, and the blob (SHA-256) of each attachment's pristine copy by name."""

    request: TaskRequest
    originals: dict[str, str] = {}
    version: str = ""


class ModeChosen(_Event, frozen=True, kw_only=True):
    """Which modules will run, and why (for ``auto``, the risk signals found)."""

    mode: Mode
    reasons: tuple[str, ...] = ()


class LedgerSet(_Event, frozen=True, kw_only=True):
    """The requirement ledger, new or changed; `cause` is ``request``, ``attachment`` or ``steering``."""

    ledger: Ledger
    cause: str = "request"


class PlanSet(_Event, frozen=True, kw_only=True):
    """The plan, new or changed."""

    plan: Plan
    reason: str = ""


class StageEntered(_Event, frozen=True, kw_only=True):
    """A stage of the run began (``plan``, ``execute``, ``synthesize``, ``verify``, ``repair``, ``deliver``)."""

    stage: str
    attempt: int = 1


class PhaseEntered(_Event, frozen=True, kw_only=True):
    """A time phase began: ``explore``, ``implement``, ``validate`` or ``reserve``."""

    phase: str
    elapsed_s: float
    budget_s: float


class SubtaskStarted(_Event, frozen=True, kw_only=True):
    """An attempt at a subtask began; it starts a dialogue of its own."""

    subtask_id: str
    title: str
    attempt: int = 1


class SubtaskEnded(_Event, frozen=True, kw_only=True):
    """A subtask left its checkpoint."""

    checkpoint: Checkpoint


class MessageAdded(_Event, frozen=True, kw_only=True):
    """A message was appended to dialogue `dialogue` (the fold of these is the dialogue, byte for byte).

    `extra` holds provider fields to be replayed verbatim.
    """

    dialogue: str
    role: Role
    content: str
    extra: dict[str, Any] = {}


class DialogueRewritten(_Event, frozen=True, kw_only=True):
    """Compression or pruning: the only way a dialogue is not append-only. `keep` lists surviving indices in order;
    `summary` (if any) stands before the message that was at `summary_before`."""

    dialogue: str
    keep: tuple[int, ...]
    summary: str = ""
    summary_before: int = 0
    reason: str = ""


class ModelCalled(_Event, frozen=True, kw_only=True):
    """A call is about to be made: an attempt without a following `ModelReplied` is asked again on resume."""

    dialogue: str
    role: str
    model: str
    prompt_tokens: int = 0


class ModelReplied(_Event, frozen=True, kw_only=True):
    """The whole raw reply, kept even where it could not be decoded."""

    dialogue: str
    role: str
    model: str
    reply: ChatReply


class ToolIntended(_Event, frozen=True, kw_only=True):
    """A tool is about to run. `before` is the workspace manifest's hash, so that a resume can tell what happened."""

    call_id: str
    dialogue: str
    tool: str
    arguments: dict[str, Any]
    effect: str
    thought: str = ""
    before: str = ""


class ToolReturned(_Event, frozen=True, kw_only=True):
    """The tool's bounded result."""

    call_id: str
    observation: Observation
    seconds: float = 0.0


class ActionRefused(_Event, frozen=True, kw_only=True):
    """Policy, decoding or loop control did not let an action through; `text` is what the model was told."""

    dialogue: str
    code: str
    text: str


class QuestionAsked(_Event, frozen=True, kw_only=True):
    """The person is asked; `kind` is ``question`` or ``approval``."""

    question_id: str
    question: str
    options: tuple[str, ...] = ()
    default: str = ""
    kind: Literal["question", "approval"] = "question"


class QuestionAnswered(_Event, frozen=True, kw_only=True):
    """The answer, and whether the person or the default gave it."""

    question_id: str
    answer: str
    by: Literal["person", "default"] = "person"


class Steered(_Event, frozen=True, kw_only=True):
    """The person sent a message during the run."""

    text: str


class Synthesized(_Event, frozen=True, kw_only=True):
    """The candidate answer and deliverables."""

    answer: str
    files: tuple[str, ...] = ()


class SnapshotTaken(_Event, frozen=True, kw_only=True):
    """Workspace files (name → blob SHA-256) at a point that can be gone back to."""

    name: str
    files: dict[str, str]


class SnapshotRestored(_Event, frozen=True, kw_only=True):
    """The workspace was set back to a snapshot."""

    name: str
    reason: str = ""


class Verified(_Event, frozen=True, kw_only=True):
    """The verifier's verdict; `attempt` 0 is the first verification, 1… after repairs."""

    verdict: Verdict
    attempt: int = 0


class RepairEnded(_Event, frozen=True, kw_only=True):
    """A repair attempt was kept or thrown away."""

    attempt: int
    kept: bool
    reason: str = ""
    changes: ChangeSet = ChangeSet()


class Delivered(_Event, frozen=True, kw_only=True):
    """Final files, by name in the workspace and absolute path where they were put, and the report's path."""

    files: dict[str, str]
    report: str = ""


class Warned(_Event, frozen=True, kw_only=True):
    """Something the person should know that stopped nothing."""

    text: str
    code: str = ""


class RunEnded(_Event, frozen=True, kw_only=True):
    """The run is over (or paused). `usage` is by role; `seconds` says where the time of this engine session went
    (``model``, ``tools``, ``disk``, ``total``)."""

    status: RunStatus
    reason: str = ""
    answer: str = ""
    usage: dict[str, Usage] = {}
    seconds: dict[str, float] = {}


class RunResumed(_Event, frozen=True, kw_only=True):
    """An engine took the run up again after a pause or a crash."""

    after_seq: int


Event = (
    RunCreated | ModeChosen | LedgerSet | PlanSet | StageEntered | PhaseEntered | SubtaskStarted | SubtaskEnded
    | MessageAdded | DialogueRewritten | ModelCalled | ModelReplied | ToolIntended | ToolReturned | ActionRefused
    | QuestionAsked | QuestionAnswered | Steered | Synthesized | SnapshotTaken | SnapshotRestored | Verified
    | RepairEnded | Delivered | Warned | RunEnded | RunResumed
)  # fmt: skip

VERSIONS: dict[str, int] = {}
"""Body version by type; a type that is not listed is at version 1."""

MUST_SYNC = (RunCreated, ModelReplied, ToolIntended, ToolReturned, QuestionAnswered, Steered, Delivered, RunEnded)
"""Types whose append returns only when they are on disk; the others ride along with the next of these."""


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """What surrounds each event in the journal; decoded before its body.

    Attributes:
        seq: 1, 2, … without gaps within a run.
        run_id: the run.
        at: ISO 8601 UTC time.
        subtask_id: subtask at work, empty outside.
        attempt: its attempt, from 1; 0 outside.
        type: name of the event class.
        version: version of the body.
        body: JSON of the event, or of ``{"blob": sha256}`` where it was over 4 KiB.
    """

    seq: int
    run_id: str
    at: str
    type: str
    body: msgspec.Raw
    subtask_id: str = ""
    attempt: int = 0
    version: int = 1


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """Passing news (streamed text, progress): never stored, may be dropped under load.

    Attributes:
        kind: ``text`` (streamed model text), ``progress`` or ``note``.
        text: words for a person, or the piece of text.
        done: how much is done, in `unit`; `total` 0 means unknown.
    """

    kind: Literal["text", "progress", "note"]
    text: str = ""
    done: float = 0.0
    total: float = 0.0
    unit: str = ""
