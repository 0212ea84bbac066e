"""Execution profiles: everything that depends on which model does the work, as data."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from engine.protocol.errors import UserError
from engine.protocol.messages import Sampling
from engine.protocol.tasks import Mode

BUILT_IN = Path(__file__).with_name("profiles")

Backend = Literal["llama_cpp", "openai", "scripted"]
Seconds = Annotated[float, msgspec.Meta(gt=0)]


class ExecutionProfile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to work with one model on one kind of computer.

    Attributes:
        name: the file's name without ``.toml``.
        summary: one line for people.
        backend: ``llama_cpp`` (a server of our own), ``openai`` (any compatible address) or ``scripted``.
        model: name in the catalogue (``llama_cpp``) or at the service (``openai``).
        base_url: address of the service with its version part, for ``openai``.
        api_key_env: environment variable that holds the key, for ``openai``; empty where none is needed.
        window: tokens of context to use.
        dialect: name in ``models/dialects/registry.py``.
        tools: names of the tools shown to the model.
        max_subtasks: most steps of a plan, 1 to 6.
        parallel_subtasks: most steps at work at a time.
        thinking: whether the model's thinking is switched on; None for models without the switch.
        sampling: how tokens are drawn.
        retry_temperature_step: added to the temperature with each retry of the same call.
        retries: how often a reply that cannot be used is asked for again.
        first_token_timeout_s: limit until the first generated token (reading a long prompt takes a small CPU minutes).
        idle_timeout_s: limit between two tokens.
        connect_timeout_s: limit for opening a connection.
        load_timeout_s: limit for starting a local server.
        default_mode: mode of a request that names none.
        roles: other models for single roles: role name to catalogue or service name.
        judge_precision: measured share of this model's "pass" judgements that were right; None: not measured, so
            its judgement alone never makes a run verified.
        reply_tokens: most tokens of one reply.
        threads: CPU threads for a local server; 0 for the physical cores.
        budget_s: default total time of a run.
        max_steps: most model turns of one attempt at a subtask; small models that need many are lost already.
        finish_when_checked: end an attempt as soon as code has checked every requirement, without asking the model.
        plan_by_code: where the checks tell what is to be made, plan one step for each with the one tool that fits.
            Measured: a small model that may choose between a typed tool and a script takes the script and fails.
    """

    name: str
    backend: Backend
    model: str
    dialect: str
    tools: tuple[str, ...]
    window: Annotated[int, msgspec.Meta(ge=1024)]
    first_token_timeout_s: Seconds
    idle_timeout_s: Seconds
    summary: str = ""
    base_url: str = ""
    api_key_env: str = ""
    max_subtasks: Annotated[int, msgspec.Meta(ge=1, le=6)] = 3
    parallel_subtasks: Annotated[int, msgspec.Meta(ge=1, le=8)] = 1
    thinking: bool | None = None
    sampling: Sampling = Sampling()
    retry_temperature_step: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.2
    retries: Annotated[int, msgspec.Meta(ge=0, le=10)] = 3
    connect_timeout_s: Seconds = 10.0
    load_timeout_s: Seconds = 300.0
    default_mode: Mode = Mode.AUTO
    roles: dict[str, str] = {}
    judge_precision: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    reply_tokens: Annotated[int, msgspec.Meta(ge=64)] = 1024
    threads: Annotated[int, msgspec.Meta(ge=0)] = 0
    budget_s: Seconds = 2400.0
    max_steps: Annotated[int, msgspec.Meta(ge=1)] = 200
    finish_when_checked: bool = False
    plan_by_code: bool = False

    def model_for(self, role: str) -> str:
        """The model of a role.

        Args:
            role: such as ``executor`` or ``verifier``.
        """
        return self.roles.get(role, self.model)


def list_profiles(user_dir: Path | None) -> list[str]:
    """Names of all profiles, sorted; a person's own hides a built-in one of the same name.

    Args:
        user_dir: folder of the person's own profiles; may be missing.
    """
    return sorted({path.stem for folder in _folders(user_dir) for path in folder.glob("*.toml")})


def load_profile(name: str, user_dir: Path | None) -> ExecutionProfile:
    """Read a profile and what it extends.

    Args:
        name: without ``.toml``.
        user_dir: folder of the person's own profiles; may be missing.

    Raises:
        UserError: there is no such profile, or its file has a fault (the file and the field are named).
    """
    path = _find(name, user_dir)
    fields = _merged(path, user_dir, ())
    fields["name"] = name
    try:
        profile = msgspec.convert(fields, ExecutionProfile)
    except msgspec.ValidationError as error:
        raise _fault(path, str(error)) from error
    if profile.backend == "openai" and not profile.base_url:
        raise _fault(path, "base_url is missing; the backend openai needs an address")
    if profile.reply_tokens * 2 > profile.window:
        raise _fault(path, "reply_tokens is more than half of window")
    return profile


def _folders(user_dir: Path | None) -> list[Path]:
    return [folder for folder in (user_dir, BUILT_IN) if folder is not None and folder.is_dir()]


def _find(name: str, user_dir: Path | None, *, below: Path | None = None) -> Path:
    """The file of a profile; `below` is a file that extends its own name and so means the built-in one."""
    for folder in _folders(user_dir):
        path = folder / f"{name}.toml"
        if f"{name}.toml" in {entry.name for entry in folder.iterdir()} and path != below:
            return path
    raise UserError(
        "profile.unknown",
        "There is no profile {name}.",
        todo="Use one of: {names}.",
        name=name,
        names=", ".join(list_profiles(user_dir)),
    )


def _merged(path: Path, user_dir: Path | None, seen: tuple[Path, ...]) -> dict[str, Any]:
    if path in seen:
        raise _fault(path, "extends leads back to itself")
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _fault(path, str(error)) from error
    parent = fields.pop("extends", None)
    if parent is None:
        return fields
    if not isinstance(parent, str):
        raise _fault(path, "extends must be the name of a profile")
    base = _merged(_find(parent, user_dir, below=path), user_dir, (*seen, path))
    for name, value in fields.items():
        old = base.get(name)
        base[name] = {**old, **value} if isinstance(old, dict) and isinstance(value, dict) else value
    return base


def _fault(path: Path, reason: str) -> UserError:
    return UserError(
        "profile.invalid",
        "The profile {path} cannot be used: {reason}.",
        todo="Correct that field in the file.",
        path=str(path),
        reason=reason.rstrip(".").replace("`", ""),
    )
