"""Puts finished files where the person wants them: nothing there is overwritten, nothing is lost if it fails."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from engine.protocol.errors import UserError
from engine.protocol.events import Delivered, Warned
from engine.runlog import RunLog
from engine.system.atomic import copy_file, sha256_file, write_atomic
from engine.system.paths import free_name
from engine.workspace import disk_errors

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
        try:
            probe.write_bytes(b"")
        finally:
            probe.unlink(missing_ok=True)
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
        with disk_errors(self._run_root):
            kept = await asyncio.to_thread(self._keep, report)
        try:
            delivered = await asyncio.to_thread(self._copy, self._out_dir, files, kept)
        except (OSError, UserError) as error:
            fallback = self._run_root / "delivered"
            with disk_errors(self._run_root):
                delivered = await asyncio.to_thread(self._copy, fallback, files, kept)
            text = f"Results could not be written to {self._out_dir} ({error}); they are in {fallback}."
            await self._log.record(Warned(text=text, code="output.fallback"))
        await self._log.record(delivered)
        return delivered

    def _keep(self, report: str) -> Path:
        """The report in the run folder; one that is there already, from before the run was cut off, stays."""
        path = self._run_root / "report.md"
        if not path.exists():
            write_atomic(path, report.encode())
        return path

    @staticmethod
    def _copy(folder: Path, files: Sequence[Path], report: Path) -> Delivered:
        folder.mkdir(parents=True, exist_ok=True)
        placed = {source.name: str(_place(source, source.name, folder)) for source in files}
        return Delivered(files=placed, report=str(_place(report, REPORT_NAME, folder)))


def _place(source: Path, name: str, folder: Path) -> Path:
    """Copy a file under a free name; one of the same content under that name is taken for it.

    So a delivery that was cut off and is done again leaves no doubles.
    """
    existing = {entry.name.casefold(): entry for entry in folder.iterdir()}
    taken: set[str] = set()
    while (found := existing.get(free_name(name, taken).casefold())) is not None:
        if _same(source, found):
            return found
        taken.add(found.name.casefold())
    target = folder / free_name(name, taken)
    copy_file(source, target)
    return target


def _same(one: Path, other: Path) -> bool:
    if not other.is_file() or one.stat().st_size != other.stat().st_size:
        return False
    return sha256_file(one) == sha256_file(other)
