"""Bounds what a tool returned; the whole of it stays in the run folder and can be read from there."""

from __future__ import annotations

from pathlib import Path

from engine.protocol.tools import ChangeSet, Observation, ToolResult

TAIL_SHARE = 0.35
"""Of a cut text this much is its end: errors and totals stand there."""


class ObservationStore:
    """Writes full outputs and gives bounded observations.

    Args:
        folder: the run's ``outputs`` folder.
        limit_chars: most characters of one observation.
    """

    def __init__(self, folder: Path, limit_chars: int) -> None:
        self._folder = folder
        self._limit = limit_chars

    def bound(self, tool: str, call_id: str, result: ToolResult, changes: ChangeSet) -> Observation:
        """Make the observation of one call.

        Args:
            tool: its name.
            call_id: unique within the run; names the output file.
            result: what the tool returned.
            changes: what the call changed in the workspace.
        """
        text, full = result.text, ""
        if len(text) > self._limit:
            full = f"outputs/{call_id}.txt"
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / f"{call_id}.txt").write_text(text, "utf-8")
            text = cut_middle(text, self._limit, f"all of it: read_file {full}")
        return Observation(
            tool=tool,
            text=text,
            ok=result.ok,
            code=result.code,
            trust=result.trust,
            full_output=full,
            changes=changes,
        )


def cut_middle(text: str, limit: int, note: str) -> str:
    """Keep the beginning and the end of a text, with a visible mark between them.

    Args:
        text: any text.
        limit: most characters of the result.
        note: put into the mark.
    """
    if len(text) <= limit:
        return text
    mark = f"\n[… {len(text) - limit} characters left out; {note} …]\n"
    room = max(0, limit - len(mark))
    tail = int(room * TAIL_SHARE)
    return text[: room - tail] + mark + (text[-tail:] if tail else "")
