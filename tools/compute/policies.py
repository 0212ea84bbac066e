"""The sandbox policy of a tool call: the script interpreter's paths, the workspace, the time that is left."""

from __future__ import annotations

from engine.protocol.errors import ModelError
from engine.protocol.ports import ToolContext
from engine.protocol.sandbox import SandboxPolicy

_LEAST_S = 1.0


def policy_for(context: ToolContext, timeout_s: float) -> SandboxPolicy:
    """What a command of the model may touch: the workspace, and to read the interpreter and earlier outputs.

    Args:
        context: of the tool call.
        timeout_s: wall clock limit wished for; it is cut to what the run has left.

    Raises:
        ModelError: ``timeout``, no time is left.
    """
    left = context.time_left_s
    if left < _LEAST_S:
        raise ModelError("No time is left to run anything: finish with what there is.", code="timeout")
    interpreter = context.interpreter
    outputs = (context.outputs,) if context.outputs.exists() else ()
    return SandboxPolicy(
        workspace=context.workspace,
        read_only_paths=(*interpreter.read_only_paths, *outputs),
        hidden_paths=interpreter.hidden_paths,
        environment=interpreter.environment,
        timeout_s=min(timeout_s, left),
    )
