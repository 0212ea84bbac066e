"""The seams between the engine and what is plugged into it. Protocols only; see the named modules for variants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from engine.protocol.documents import CheckFiles, FileProfile, Inspection, Reading, ReadOptions
from engine.protocol.events import Envelope, Event, RunEnded, Signal
from engine.protocol.ledger import Check
from engine.protocol.messages import Action, ChatReply, ChatRequest, Message
from engine.protocol.sandbox import InterpreterEnv, Outcome, SandboxPolicy
from engine.protocol.tasks import TaskRequest
from engine.protocol.tools import Observation, ToolResult, ToolSpec
from engine.protocol.verdicts import CheckResult
from engine.system.spawn import Child

OnDelta = Callable[[str], None]


class ChatModel(Protocol):
    """A model that answers a dialogue (``models/openai_compatible.py``, ``models/scripted.py``)."""

    @property
    def name(self) -> str: ...

    @property
    def context_tokens(self) -> int:
        """The real window, read from the backend where it tells."""
        ...

    async def chat(self, request: ChatRequest, on_delta: OnDelta | None = None) -> ChatReply:
        """Answer once.

        Args:
            request: the dialogue and limits; it must fit `context_tokens`.
            on_delta: called with each piece of text as it streams in.

        Raises:
            RetryableError: a passing fault; nothing was used of the reply.
            UserError: the backend refused (key, credit, model name).
        """
        ...

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of a dialogue, by the backend's own count where it has one, else a calibrated estimate."""
        ...

    async def aclose(self) -> None:
        """Give back connections (a managed server is released, not necessarily stopped)."""
        ...


class Dialect(Protocol):
    """How actions are written by one family of models (``models/dialects/``)."""

    @property
    def name(self) -> str: ...

    def instructions(self, tools: Sequence[ToolSpec]) -> str:
        """The part of the shared head that lists the tools and tells how to act."""
        ...

    def schema(self, tools: Sequence[ToolSpec]) -> dict[str, Any] | None:
        """JSON Schema for constrained decoding of an action turn; None where free text is better."""
        ...

    def stop(self) -> tuple[str, ...]:
        """Strings that end an action turn."""
        ...

    def decode(self, reply: ChatReply, tools: Sequence[ToolSpec]) -> Action:
        """Turn a reply into one action.

        Raises:
            ModelError: no action, more than allowed, cut in the middle, or not decodable; its text tells the model.
        """
        ...

    def kept(self, reply: ChatReply, tools: Sequence[ToolSpec]) -> str:
        """The part of a reply that enters the dialogue: up to the end of the action that is carried out.

        What a small model writes beyond it (further actions, invented results) would be imitated ever after.
        """
        ...

    def document(self, filename: str, content: str) -> str:
        """The reply that writes a text document, as this dialect writes it."""
        ...

    def observation(self, observation: Observation) -> Message:
        """The message that reports a tool's result."""
        ...


class Sandbox(Protocol):
    """Runs commands confined (``tools/sandbox/``)."""

    @property
    def name(self) -> str: ...

    @property
    def confines(self) -> bool:
        """Whether commands really are confined; if not, each must be approved."""
        ...

    async def spawn(self, argv: Sequence[str], policy: SandboxPolicy, *, stderr: Path | None = None) -> Child:
        """Start confined with pipes on stdin and stdout; stderr is appended to a file or dropped."""
        ...

    async def run(self, argv: Sequence[str], policy: SandboxPolicy, stdin: bytes = b"") -> Outcome:
        """Run to the end or to a limit; nothing of the command is left running afterwards."""
        ...

    async def start(self, argv: Sequence[str], policy: SandboxPolicy) -> BackgroundCommand:
        """Start in the background."""
        ...


class BackgroundCommand(Protocol):
    """A command started in the background."""

    @property
    def running(self) -> bool: ...

    def output(self) -> str:
        """Everything printed so far (bounded as in the policy)."""
        ...

    async def stop(self) -> Outcome:
        """End it with all its children."""
        ...


class Documents(Protocol):
    """Reads, inspects and checks files in sandboxed worker processes (``tools/documents/pool.py``)."""

    async def read(self, path: Path, options: ReadOptions | None = None) -> Reading: ...

    async def profile(self, path: Path) -> FileProfile: ...

    async def inspect(self, path: Path) -> Inspection: ...

    async def check(self, check: Check, files: CheckFiles) -> CheckResult: ...

    @property
    def scratch(self) -> Path:
        """The one folder the workers may write to; whoever asked for a file moves it on from there."""
        ...

    async def job(self, name: str, params: Mapping[str, Any]) -> Any:
        """Run any registered job (a writer, an edit) with JSON parameters; gives its JSON result.

        Args:
            name: a job of ``tools/documents/jobs.py``.
            params: JSON values; paths as strings: to be read (inside what the pool was given) or in `scratch`.

        Raises:
            ModelError: the job refused its parameters.
            UserError: the file cannot be handled.
        """
        ...

    async def aclose(self) -> None: ...


class Ask(Protocol):
    """How a tool asks a model: rendered, metered, journaled and labelled by the engine."""

    async def __call__(self, prompt_name: str, variables: Mapping[str, str], role: str) -> str: ...


class ToolContext(Protocol):
    """What a tool may use."""

    @property
    def workspace(self) -> Path:
        """The folder a tool may change."""
        ...

    @property
    def outputs(self) -> Path:
        """Folder with the full outputs of earlier calls, readable as ``outputs/…``."""
        ...

    @property
    def sandbox(self) -> Sandbox: ...

    @property
    def interpreter(self) -> InterpreterEnv: ...

    @property
    def documents(self) -> Documents: ...

    @property
    def observation_chars(self) -> int:
        """How much of a result the model will see."""
        ...

    @property
    def time_left_s(self) -> float:
        """Seconds a tool call may still take; no call outlives the reserve of the run."""
        ...

    @property
    def ask(self) -> Ask: ...

    def resolve(self, name: str) -> Path:
        """A file the model named, as an absolute path inside the workspace or ``outputs/``.

        Raises:
            ModelError: outside, or not there (nearest names are offered).
        """
        ...

    def target(self, name: str) -> Path:
        """Where a new or changed file goes: a plain name in the workspace root.

        Raises:
            ModelError: not a plain name, or a reserved one.
        """
        ...


class Tool(Protocol):
    """One tool (``tools/<group>/<name>.py``), registered in ``tools/registry.py``."""

    @property
    def spec(self) -> ToolSpec: ...

    async def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Do it.

        Args:
            arguments: an instance of ``spec.arguments``.
            context: what it may use.

        Raises:
            ModelError: the arguments make no sense; the model is told.
        """
        ...


@runtime_checkable
class ClosingTool(Protocol):
    """What a tool offers besides if it keeps something beyond a call (a command in the background); most do not."""

    async def aclose(self) -> None:
        """Let go of it: the run is over or paused. The tool is not used afterwards."""
        ...


class Clock(Protocol):
    """Time, injected so that tests need not wait."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Seconds that never jump."""
        ...


class RunHandle(Protocol):
    """A run at work, as a face (window, command line, library) holds it."""

    @property
    def run_id(self) -> str: ...

    @property
    def folder(self) -> Path:
        """The run folder: journal, workspace, outputs, blobs."""
        ...

    def subscribe(self, on_event: Callable[[Envelope, Event], None], on_signal: Callable[[Signal], None]) -> None:
        """Be told of each event after it was journaled (past ones first, in order) and of signals."""
        ...

    async def result(self) -> RunEnded:
        """Wait for the end; a pause ends it too, with status ``paused``."""
        ...

    async def pause(self) -> None:
        """Stop within two seconds; the run can be resumed. Safe to call twice."""
        ...

    def answer(self, question_id: str, answer: str) -> None:
        """Answer a `QuestionAsked`."""
        ...

    def steer(self, text: str) -> None:
        """Send a message that is taken up at the next step."""
        ...


class Engine(Protocol):
    """What the faces use; composed in ``engine/app.py``."""

    async def start(self, request: TaskRequest) -> RunHandle:
        """Begin a run.

        Raises:
            UserError: an attachment, the output folder, the profile or the model cannot be used.
        """
        ...

    async def resume(self, run_id: str) -> RunHandle:
        """Take up a paused or crashed run.

        Raises:
            UserError: no such run, it is over, or another engine holds it.
        """
        ...

    async def aclose(self) -> None:
        """Pause what runs, end every child."""
        ...
