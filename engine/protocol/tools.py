"""Tools as the harness sees them: their declaration, their result, and what they changed."""

from __future__ import annotations

from typing import Literal

import msgspec

Effect = Literal["read", "write", "send", "ask"]
Trust = Literal["user", "file", "web", "tool"]


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Declaration of a tool.

    Attributes:
        name: as the model writes it.
        summary: one line for the model.
        arguments: the msgspec Struct class that its arguments decode into; field docs via ``msgspec.Meta``.
        effect: ``read`` leaves no trace, ``write`` changes the workspace, ``send`` leaves the computer, ``ask``
            talks to the person. Decides locking, approval and what a resume may repeat.
        example: arguments of a typical call, shown to small models.
    """

    name: str
    summary: str
    arguments: type[msgspec.Struct]
    effect: Effect = "read"
    example: dict[str, object] = {}


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """One changed file of the workspace; hashes are SHA-256 hex, None where there is no such side."""

    name: str
    kind: Literal["added", "modified", "deleted"]
    before: str | None = None
    after: str | None = None
    size_bytes: int = 0


class ChangeSet(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one call changed in the workspace, sorted by name."""

    changes: tuple[FileChange, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Names of files that exist afterwards and are new or different."""
        return tuple(change.name for change in self.changes if change.kind != "deleted")


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool returns; the harness bounds it into an `Observation`.

    Attributes:
        text: complete output for the model, unbounded (the harness cuts it and keeps the whole).
        ok: whether the call did what it was asked.
        code: short name of the failure (``"script.exception"``, ``"timeout"`` …) for hints and statistics.
        trust: where the text comes from; labels only ever go from ``user`` towards ``web``.
    """

    text: str
    ok: bool = True
    code: str = ""
    trust: Trust = "tool"


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """A bounded tool result as it enters the dialogue.

    Attributes:
        tool: name of the tool.
        text: at most the observation's share of the window.
        ok: as in `ToolResult`.
        code: as in `ToolResult`.
        trust: as in `ToolResult`.
        full_output: path below the run folder (``outputs/…``) of the whole text; empty if `text` is all of it.
        changes: what the call changed.
    """

    tool: str
    text: str
    ok: bool = True
    code: str = ""
    trust: Trust = "tool"
    full_output: str = ""
    changes: ChangeSet = ChangeSet()
