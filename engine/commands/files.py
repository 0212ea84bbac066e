"""``oneday read`` and ``oneday check``: what a model sees of a file, and what the inspectors say about one."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from engine.commands.following import run_async
from engine.commands.screen import Screen, human_size
from engine.protocol.documents import FileProfile, Inspection, Reading, ReadOptions
from engine.protocol.errors import UserError

if TYPE_CHECKING:
    from tools.documents.pool import DocumentPool

READ_CHARS = 10_000


@click.command()
@click.argument("file")
@click.option("--pages", default="", metavar="A-B", help="Pages or slides, such as 3-5.")
@click.option("--sheet", default="", metavar="NAME", help="Sheet of a workbook.")
@click.option("--range", "cells", default="", metavar="A1:F40", help="Cells of a sheet.")
@click.option("--search", default="", metavar="TEXT", help="Only passages with this text.")
@click.option("--offset", default=0, metavar="N", help="Characters to skip.")
@click.option("--chars", default=READ_CHARS, show_default=True, metavar="N", help="Most characters to show.")
@click.option("--json", "as_json", is_flag=True, help="Print the reading as JSON.")
def read(file: str, pages: str, sheet: str, cells: str, search: str, offset: int, chars: int, as_json: bool) -> None:
    """Show what a model would see of FILE."""
    options = ReadOptions(max_chars=chars, pages=pages, sheet=sheet, range=cells, search=search, offset=offset)
    reading = run_async(_read(_there(file), options))
    if as_json:
        click.echo(msgspec.json.encode(reading))
        sys.exit(1 if reading.problem else 0)
    if reading.problem:
        raise UserError(
            f"read.{reading.problem}",
            "{name} cannot be read: {detail}",
            kept="The file was not touched.",
            name=reading.name,
            detail=reading.detail or reading.problem,
        )
    screen = Screen()
    screen.say(reading.text, wrap=False)
    if reading.truncated:
        screen.say(f"\n{reading.more}", style="yellow")


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one report a line as JSON.")
def check(files: tuple[str, ...], as_json: bool) -> None:
    """Check finished FILES for faults.

    Exit status 1 if a file has a fault that makes it unusable.
    """
    reports = run_async(_inspect([_there(file) for file in files]))
    screen = Screen()
    for inspection, profile in reports:
        if as_json:
            click.echo(msgspec.json.encode(inspection))
        else:
            _tell(screen, inspection, profile)
    faulty = any(defect.fatal for inspection, _ in reports for defect in inspection.defects)
    sys.exit(1 if faulty or any(not inspection.opens for inspection, _ in reports) else 0)


def _tell(screen: Screen, inspection: Inspection, profile: FileProfile) -> None:
    fine = inspection.opens and not inspection.defects
    word = "no fault found" if fine else "opens" if inspection.opens else "does not open"
    size = human_size(profile.size_bytes)
    screen.say(f"{inspection.name} ({inspection.kind}, {size}): {word}", style="green" if fine else "bold")
    for table in profile.tables:
        name = f"{table.name}: " if table.name else ""
        columns = ", ".join(column.name for column in table.columns)
        screen.say(f"  {name}{table.rows} rows; columns {columns}")
    for defect in inspection.defects:
        place = " ".join(part for part in (defect.evidence.where, defect.evidence.says) if part)
        words = defect.code.replace(".", ": ").replace("_", " ")
        level = "fault" if defect.fatal else "note"
        screen.say(f"  {level}: {words}{f' ({place})' if place else ''}", style="red" if defect.fatal else "yellow")


def _there(file: str) -> Path:
    path = Path(file).absolute()
    if path.is_dir():
        raise UserError(
            "file.folder", "{path} is a folder.", kept="Nothing was changed.", todo="Name a file in it.", path=path
        )
    if not path.exists():
        raise UserError(
            "file.missing", "There is no file {path}.", kept="Nothing was changed.", todo="Check the name.", path=path
        )
    return path


@contextlib.asynccontextmanager
async def _documents(paths: Sequence[Path]) -> AsyncIterator[DocumentPool]:
    from engine.commands.setting_up import confinement
    from tools.documents.pool import DocumentPool

    box, _ = await confinement()
    with tempfile.TemporaryDirectory(prefix="oneday-") as scratch:
        async with DocumentPool(box, readable=paths, scratch=Path(scratch)) as pool:
            yield pool


async def _read(path: Path, options: ReadOptions) -> Reading:
    async with _documents([path]) as documents:
        return await documents.read(path, options)


async def _inspect(paths: Sequence[Path]) -> list[tuple[Inspection, FileProfile]]:
    async with _documents(paths) as documents:
        return [(await documents.inspect(path), await documents.profile(path)) for path in paths]
