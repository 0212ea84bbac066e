"""What a person asks for."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Mode(StrEnum):
    """Which modules run around the executor (spec: direct, decompose, verify, full; auto chooses)."""

    AUTO = "auto"
    DIRECT = "direct"
    DECOMPOSE = "decompose"
    VERIFY = "verify"
    FULL = "full"

    @property
    def decomposes(self) -> bool:
        return self in (Mode.DECOMPOSE, Mode.FULL)

    @property
    def verifies(self) -> bool:
        return self in (Mode.VERIFY, Mode.FULL)


class TaskRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request with its files.

    Attributes:
        text: the person's own words, kept verbatim for the whole run.
        attachments: absolute paths of files to work on; they are only ever read.
        out_dir: absolute path of the folder that finished files are put into.
        mode: see `Mode`.
        profile: name of an execution profile.
        budget_s: total time in seconds; None takes the tier's default.
        attended: whether somebody is there to answer questions and approvals.
    """

    text: str
    attachments: tuple[str, ...] = ()
    out_dir: str = ""
    mode: Mode = Mode.AUTO
    profile: str = ""
    budget_s: float | None = None
    attended: bool = False
