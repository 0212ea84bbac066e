"""Tool: a fresh, isolated run of one Python script in the workspace."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import msgspec

from engine.protocol.errors import ModelError
from engine.protocol.ports import ToolContext
from engine.protocol.sandbox import Outcome
from engine.protocol.tools import ToolResult, ToolSpec
from tools.compute.code_check import check, clean
from tools.compute.code_mend import mend
from tools.compute.policies import policy_for

_TIMEOUT_S = 120.0
_NOTHING = "The script ran and printed nothing."


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `PythonInterpreter`."""

    code: Annotated[str, msgspec.Meta(description="complete Python script; print what you want to see")]


class PythonInterpreter:
    """Runs a script; nothing is carried over from one call to the next but the files."""

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name="python_interpreter",
            summary="Run a complete Python script in the folder of the files; each call starts afresh.",
            arguments=Arguments,
            effect="write",
            example={"code": "import pandas as pd\nprint(pd.read_csv('data.csv').head())"},
        )

    async def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Run ``arguments.code``.

        Raises:
            ModelError: the script cannot work as it is.
            UserError: the sandbox could not be set up.
        """
        files = await asyncio.to_thread(lambda: [path.name for path in context.workspace.iterdir()])
        code, notes = mend(clean(arguments.code), files)
        check(code, files)
        interpreter = context.interpreter
        if interpreter.prelude is None:
            raise RuntimeError("the interpreter environment has no prelude")
        policy = policy_for(context, _TIMEOUT_S)
        argv = [str(interpreter.python), "-I", "-B", str(interpreter.prelude)]
        try:
            script = code.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ModelError("The script contains characters that are no text.", code="script.syntax") from error
        result = _result(await context.sandbox.run(argv, policy, script), policy.timeout_s)
        return msgspec.structs.replace(result, text="\n".join([" ".join(notes), result.text])) if notes else result


def _result(outcome: Outcome, timeout_s: float) -> ToolResult:
    text = outcome.output.strip("\n")
    if outcome.status == "ok":
        return ToolResult(text=text or _NOTHING)
    reasons = {
        "timeout": (f"The script was ended after {timeout_s:.0f} s: make it faster or do less at a time.", "timeout"),
        "out_of_memory": ("The script needed too much memory: read and handle less at a time.", "out_of_memory"),
        "killed": ("The script was ended because it went too far.", "killed"),
    }
    reason, code = reasons.get(outcome.status, ("", "script.exception"))
    if outcome.status == "denied" and not text:
        reason = "The script was refused something."
    shown = "\n".join(part for part in (text, reason) if part)
    return ToolResult(text=shown or f"The script ended with status {outcome.returncode}.", ok=False, code=code)
