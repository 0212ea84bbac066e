"""What the model may do without asking."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from engine.protocol.tools import ToolSpec

RUNS_CODE = frozenset({"python_interpreter", "execute_command"})


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """Allow, ask the person (with `question`), or refuse (with `reason` for the model)."""

    kind: Literal["allow", "ask", "refuse"]
    question: str = ""
    reason: str = ""


class Policy:
    """Decides about one action.

    Args:
        confined: commands really run in a sandbox here.
        attended: somebody is there to answer. `--yes` makes a run unattended for questions, but it never approves
            unconfined commands nor anything that leaves the computer.
    """

    def __init__(self, *, confined: bool, attended: bool) -> None:
        self._confined = confined
        self._attended = attended

    def decide(self, spec: ToolSpec, arguments: dict[str, Any]) -> Decision:
        """Judge an action whose arguments have been validated."""
        unconfined = spec.name in RUNS_CODE and not self._confined
        if not unconfined and spec.effect != "send":
            return Decision(kind="allow")
        if not self._attended:
            return Decision(kind="refuse", reason=f"{spec.name} needs a person's consent here, and nobody is there.")
        literal = "\n".join(f"{name}: {value}" for name, value in arguments.items())
        why = (
            "No sandbox works on this computer, so this would run with your own rights."
            if unconfined
            else "This sends something out of your computer."
        )
        return Decision(kind="ask", question=f"Allow {spec.name}?\n{why}\n{literal}")
