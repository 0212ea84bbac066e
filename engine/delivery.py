"""Puts finished files where the person wants them: nothing there is overwritten, nothing is lost if it fails."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from engine.protocol.errors import UserError
from engine.protocol.events import Delivered, Warned
from engine.runlog import RunLog
from engine.system.atomic import copy_file, write_atomic
from engine.system.paths import free_name

REPORT_NAME = "oneday-report.md"


def check_out_dir(out_dir: Path) -> None:
    """Make the output folder and see that files can be written there, before any work is done.

    Args:
        out_dir: absolute path.

    Raises:
        UserError: it cannot be made or written to.
    """
    probe = out_dir / f".oneday-{os.getpid()}"
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise UserError(
            "output.unwritable",
            "Results cannot be written to {folder}: {detail}.",
            kept="Nothing was changed and nothing was started.",
            todo="Choose another folder with --out, or make room and give yourself write permission there.",
            folder=out_dir,
            detail=error.strerror or str(error),
        ) from error


class Delivery:
    """Copies deliverables and report to the output folder.

    Args:
        log: the run's history.
        out_dir: where the person wants the files.
        run_root: the run folder, where everything stays in any case.
    """

    def __init__(self, log: RunLog, out_dir: Path, run_root: Path) -> None:
        self._log = log
        self._out_dir = out_dir
        self._run_root = run_root

    async def deliver(self, files: Sequence[Path], report: str) -> Delivered:
        """Deliver; if the output folder fails, the files stay in the run folder and the person is told where.

        Args:
            files: deliverables in the workspace.
            report: Markdown.
        """
        known = self._log.state.delivered
        if known is not None:
            return known
        try:
            delivered = await asyncio.to_thread(self._copy, self._out_dir, files, report)
        except (OSError, UserError) as error:
            fallback = self._run_root / "delivered"
            delivered = await asyncio.to_thread(self._copy, fallback, files, report)
            text = f"Results could not be written to {self._out_dir} ({error}); they are in {fallback}."
            await self._log.record(Warned(text=text, code="output.fallback"))
        await self._log.record(delivered)
        return delivered

    @staticmethod
    def _copy(folder: Path, files: Sequence[Path], report: str) -> Delivered:
        folder.mkdir(parents=True, exist_ok=True)
        placed: dict[str, str] = {}
        for source in files:
            target = folder / free_name(source.name, {entry.name for entry in folder.iterdir()})
            copy_file(source, target)
            placed[source.name] = str(target)
        target = folder / free_name(REPORT_NAME, {entry.name for entry in folder.iterdir()})
        write_atomic(target, report.encode())
        return Delivered(files=placed, report=str(target))
