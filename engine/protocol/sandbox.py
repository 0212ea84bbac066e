"""Running a command that we do not trust."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

OutcomeStatus = Literal["ok", "failed", "timeout", "out_of_memory", "killed", "denied"]


class InterpreterEnv(msgspec.Struct, frozen=True, kw_only=True):
    """The Python that scripts of the model run with, computed by the entry point.

    Attributes:
        python: interpreter executable.
        read_only_paths: what must be visible for it to start and import its packages.
        hidden_paths: what must look empty although it lies in `read_only_paths` (our own packages in a pip install).
        environment: complete environment variables (an allow-list, never the host's).
        prelude: path of a file run before each script (so that ``plt.show()`` saves a picture).
    """

    python: Path
    read_only_paths: tuple[Path, ...] = ()
    hidden_paths: tuple[Path, ...] = ()
    environment: dict[str, str] = {}
    prelude: Path | None = None


class SandboxPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What a command may touch and use.

    Attributes:
        workspace: the one folder it may write to; also its working directory.
        read_only_paths: further paths it may read.
        hidden_paths: folders or files that look empty although they lie in a readable path.
        environment: complete environment variables.
        network: whether it may reach the network.
        timeout_s: wall clock limit.
        memory_bytes: address space limit of each process.
        file_bytes: largest file it may write.
        processes: most processes or threads at a time.
        output_bytes: most output kept; the rest is read and dropped.
    """

    workspace: Path
    read_only_paths: tuple[Path, ...] = ()
    hidden_paths: tuple[Path, ...] = ()
    environment: dict[str, str] = {}
    network: bool = False
    timeout_s: float = 60.0
    memory_bytes: int = 2 << 30
    file_bytes: int = 512 << 20
    processes: int = 128
    output_bytes: int = 4 << 20


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a sandboxed command ended.

    Attributes:
        status: what happened.
        returncode: exit status; negative for a signal.
        output: standard output and error, interleaved, decoded with replacement.
        seconds: wall time.
    """

    status: OutcomeStatus
    returncode: int
    output: str
    seconds: float = 0.0
