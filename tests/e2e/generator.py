"""Seeded cases for the end-to-end score: a request in everyday words, its files, and what a right answer contains."""

from __future__ import annotations

import csv
import datetime as dt
import random
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import openpyxl
from openpyxl.styles import Font, PatternFill

from tests.e2e import phrases
from tests.e2e.briefs import Item, make_report
from tests.e2e.pdfwriter import write_pdf
from tests.e2e.worlds import FOREIGN, WORLDS, World, number, shown, styled

Kind = Literal["totals_csv", "totals_xlsx", "brief", "table_edit", "chart"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Cell = str | int | float | dt.datetime | None


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One request with files and what is expected.

    Attributes:
        kind: which of the five.
        seed: the same kind and seed give the same case, byte for byte in text, CSV and PDF.
        request: the words.
        attachments: files in the case's folder.
        names: output file names that the request asks for, by suffix (``".csv"``); missing where it leaves them open.
        group: name of the group column in the source.
        measure: name of the summed or charted column.
        totals: expected value by group (totals, chart).
        header: expected header (table edit).
        rows: expected rows below the header (table edit).
        sheet: the sheet that was to be edited.
        other_sheet: the sheet that must stay as it is.
        items: facts the brief must state.
    """

    kind: Kind
    seed: int
    request: str
    attachments: tuple[Path, ...]
    names: dict[str, str] = {}
    group: str = ""
    measure: str = ""
    totals: dict[str, float] = {}
    header: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    sheet: str = ""
    other_sheet: str = ""
    items: tuple[Item, ...] = ()


class _Table(msgspec.Struct):
    """A generated source table."""

    world: World
    group_words: str
    group: str
    measure: str
    columns: list[str]
    rows: list[list[Cell]]


def make_case(kind: Kind, seed: int, folder: Path) -> Case:
    """Make a case and write its files into `folder`.

    Args:
        kind: one of `KINDS`.
        seed: any whole number.
        folder: an existing folder.
    """
    rng = random.Random(f"{kind}/{seed}")
    if kind == "brief":
        return _brief(rng, seed, folder)
    if kind == "table_edit":
        return _table_edit(rng, seed, folder)
    if kind == "chart":
        return _chart(rng, seed, folder)
    return _totals(kind, rng, seed, folder)


def _totals(kind: Kind, rng: random.Random, seed: int, folder: Path) -> Case:
    table = _table(rng, rng.randrange(30, 401), messy=rng.random() < 0.4)
    path = folder / f"{rng.choice(table.world.stems)}.csv"
    _write_csv(path, table)
    suffix = ".csv" if kind == "totals_csv" else ".xlsx"
    name = _output_name(rng, suffix, ("totals", "summary by group", "result_totals", "总计", "Totals (checked)"))
    template = rng.choice(phrases.TOTALS_CSV if kind == "totals_csv" else phrases.TOTALS_XLSX)
    request = _fill(rng, template, table, path, named=_named(rng, name))
    return Case(
        kind=kind,
        seed=seed,
        request=request,
        attachments=(path,),
        names={suffix: name} if name else {},
        group=table.group,
        measure=table.measure,
        totals=_sums(table),
    )


def _chart(rng: random.Random, seed: int, folder: Path) -> Case:
    summed = rng.random() < 0.35
    table = _table(rng, rng.randrange(30, 401) if summed else 0, messy=False, positive=True)
    path = folder / f"{rng.choice(table.world.stems)}.csv"
    _write_csv(path, table)
    png = _output_name(rng, ".png", ("chart", "bar chart", "图表", "overview (bars)"))
    note = _output_name(rng, ".md", ("note", "largest value", "README_chart"))
    template = rng.choice(phrases.CHART_TOTALS if summed else phrases.CHART)
    request = _fill(rng, template, table, path, chart=_named(rng, png), note=_named(rng, note))
    return Case(
        kind="chart",
        seed=seed,
        request=request,
        attachments=(path,),
        names={name[name.rindex(".") :]: name for name in (png, note) if name},
        group=table.group,
        measure=table.measure,
        totals=_sums(table),
    )


def _brief(rng: random.Random, seed: int, folder: Path) -> Case:
    report = make_report(rng)
    path = folder / f"{rng.choice(('report', 'Project report (final)', '报告', 'committee_paper', report.title))}.pdf"
    write_pdf(path, report.pages)
    items = tuple(rng.sample(report.items, rng.randrange(3, 6)))
    name = _output_name(rng, ".docx", ("brief", "One-page brief", "简报", "brief (board)"))
    words = [f"the {item.name}" for item in items]
    request = rng.choice(phrases.BRIEF).format(
        file=_quoted(rng, path.name), named=_named(rng, name), items=", ".join(words[:-1]) + " and " + words[-1]
    )
    return Case(
        kind="brief",
        seed=seed,
        request=request,
        attachments=(path,),
        names={".docx": name} if name else {},
        items=items,
    )


def _table_edit(rng: random.Random, seed: int, folder: Path) -> Case:
    table = _table(rng, rng.randrange(30, 201), messy=False)
    for row in rng.sample(table.rows, rng.randrange(3, 9)):
        table.rows.insert(rng.randrange(len(table.rows) + 1), list(row))
    path = folder / f"{rng.choice(table.world.stems)}.xlsx"
    sheet = rng.choice(("Data", "Sheet1", "2026", table.world.records.capitalize(), "数据"))
    other = rng.choice(("Notes", "Rates", "Summary", "Info (old)"))
    old = rng.sample(table.columns, 2)
    new = [_new_name(rng, column, table.columns) for column in old]
    _write_workbook(rng, path, table, sheet, other)
    name = _output_name(rng, ".xlsx", ("cleaned", "clean copy", "清理后", "Data (cleaned)"))
    request = rng.choice(phrases.TABLE_EDIT).format(
        file=_quoted(rng, path.name),
        sheet=f'"{sheet}"',
        other=f'"{other}"',
        old1=f'"{old[0]}"',
        new1=f'"{new[0]}"',
        old2=f'"{old[1]}"',
        new2=f'"{new[1]}"',
        named=f" and save the result as {name}" if name else "",
    )
    rename = dict(zip(old, new, strict=True))
    return Case(
        kind="table_edit",
        seed=seed,
        request=request,
        attachments=(path,),
        names={".xlsx": name} if name else {},
        header=tuple(rename.get(column, column) for column in table.columns),
        rows=tuple(dict.fromkeys(tuple(row) for row in table.rows)),
        sheet=sheet,
        other_sheet=other,
    )


def _table(rng: random.Random, count: int, *, messy: bool, positive: bool = False) -> _Table:
    """Invent a table; `count` 0 makes one row per group."""
    world = rng.choice(WORLDS)
    which = rng.randrange(2)
    (group_words, values), (second_words, second_values) = world.groups[which], world.groups[1 - which]
    style = rng.choice(("snake", "camel", "title", "title", "lower", "upper"))
    foreign = rng.random() < 0.25
    group, measure = (
        FOREIGN[words] if foreign and words in FOREIGN else styled(words, style)
        for words in (group_words, world.measure)
    )
    identity, when, second, other = (
        styled(words, style) for words in (world.identity, world.when, second_words, world.other)
    )
    values = tuple(rng.sample(values, rng.randrange(4, len(values) + 1)))
    named: dict[str, list[Cell]] = {}
    length = count or len(values)
    picked = [*values, *rng.choices(values, k=length - len(values))]
    rng.shuffle(picked)
    empty = messy and rng.random() < 0.6
    low, high = world.span
    named[identity] = [1000 + 3 * index for index in range(length)]
    named[when] = [dt.datetime(2026, 1, 1) + dt.timedelta(days=rng.randrange(360)) for _ in range(length)]
    named[group] = list(picked)
    named[second] = [rng.choice(second_values) for _ in range(length)]
    named[other] = [rng.randrange(1, 95) for _ in range(length)]
    named[measure] = [
        None
        if empty and rng.random() < 0.05
        else round(rng.uniform(max(low, high / 6), high), world.decimals)
        if positive
        else number(rng, world, negative=messy)
        for _ in range(length)
    ]
    columns = list(named)
    if count == 0:
        columns = [identity, group, other, measure]
    rest = columns[1:]
    rng.shuffle(rest)
    columns = [columns[0], *rest]
    rows = [[named[column][index] for column in columns] for index in range(length)]
    return _Table(world=world, group_words=group_words, group=group, measure=measure, columns=columns, rows=rows)


def _sums(table: _Table) -> dict[str, float]:
    group, measure = table.columns.index(table.group), table.columns.index(table.measure)
    totals: dict[str, float] = {}
    for row in table.rows:
        value = row[measure]
        totals[str(row[group])] = totals.get(str(row[group]), 0.0) + (
            float(value) if isinstance(value, int | float) else 0.0
        )
    return {name: round(value, 6) for name, value in totals.items()}


def _write_csv(path: Path, table: _Table) -> None:
    measure = table.columns.index(table.measure)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(table.columns)
        for row in table.rows:
            writer.writerow([_csv_cell(cell, table, index == measure) for index, cell in enumerate(row)])


def _csv_cell(cell: Cell, table: _Table, is_measure: bool) -> str:
    if cell is None:
        return ""
    if isinstance(cell, dt.datetime):
        return cell.date().isoformat()
    if is_measure and isinstance(cell, int | float):
        return shown(cell, table.world.decimals)
    return str(cell)


def _write_workbook(rng: random.Random, path: Path, table: _Table, sheet: str, other: str) -> None:
    book = openpyxl.Workbook()
    data = book.active
    data.title = sheet
    data.append(table.columns)
    for row in table.rows:
        data.append(row)
    notes = book.create_sheet(other, rng.choice((0, 1)))
    notes["A1"], notes["B1"], notes["C1"] = "Code", "Rate", "With tax"
    for cell in notes[1]:
        cell.font = Font(bold=True)
        cell.fill = PatternFill("solid", fgColor="FFDDEEFF")
    for index in range(2, rng.randrange(5, 12)):
        notes[f"A{index}"] = f"K{index:02d}"
        notes[f"B{index}"] = round(rng.uniform(0.5, 20), 2)
        notes[f"C{index}"] = f"=B{index}*1.19"
        notes[f"B{index}"].number_format = "0.00"
    notes[f"B{notes.max_row + 1}"] = f"=SUM(B2:B{notes.max_row})"
    notes.column_dimensions["A"].width = 22
    book.active = 0
    book.save(path)


def _new_name(rng: random.Random, column: str, taken: list[str]) -> str:
    plain = column.replace("_", " ")
    options = [f"{plain} (new)", f"our {plain.lower()}", f"{plain.split()[0]}2", f"ref {plain.lower()}", "Bezeichnung"]
    return rng.choice([name for name in options if name not in taken and name != "Bezeichnung"] or ["Bezeichnung"])


def _output_name(rng: random.Random, suffix: str, stems: tuple[str, ...]) -> str:
    return rng.choice(stems) + suffix if rng.random() < 0.55 else ""


def _named(rng: random.Random, name: str) -> str:
    return f" {rng.choice(('named', 'called'))} {_quoted(rng, name)}" if name else ""


def _quoted(rng: random.Random, name: str) -> str:
    return f'"{name}"' if " " in name or rng.random() < 0.3 else name


def _mention(rng: random.Random, column: str, words: str) -> str:
    """A column as a person writes it: its exact name, or (where they are the same words) in plain lower case."""
    if column.isascii() and rng.random() < 0.6:
        return words
    return f'"{column}"' if rng.random() < 0.5 or not column.isascii() else column


def _fill(rng: random.Random, template: str, table: _Table, path: Path, **fields: Any) -> str:
    return template.format(
        measure=_mention(rng, table.measure, table.world.measure),
        group=_mention(rng, table.group, table.group_words),
        file=_quoted(rng, path.name),
        records=table.world.records,
        **fields,
    )
