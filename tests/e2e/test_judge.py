"""The judge: right answers pass, and each typical wrong one is told from them."""

from __future__ import annotations

import csv
from pathlib import Path

import docx
import openpyxl
import pandas as pd
import pytest
from PIL import Image

from tests.e2e import solutions
from tests.e2e.generator import KINDS, Case, Kind, make_case
from tests.e2e.judge import judge


def _case(kind: Kind, seed: int, tmp_path: Path) -> tuple[Case, Path]:
    source, out = tmp_path / f"{kind}{seed}" / "source", tmp_path / f"{kind}{seed}" / "out"
    source.mkdir(parents=True)
    out.mkdir()
    return make_case(kind, seed, source), out


def _wrong(case: Case, files: list[Path], because: str) -> None:
    verdict = judge(case, files)
    assert not verdict.right
    assert because in verdict.reasons[0]


@pytest.mark.parametrize("kind", KINDS)
def test_plain_solutions_are_right(kind: Kind, tmp_path: Path) -> None:
    for seed in range(1, 13):
        case, out = _case(kind, seed, tmp_path)
        verdict = judge(case, solutions.solve(case, out))
        assert verdict.right, (seed, verdict)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_wrong(kind: Kind, tmp_path: Path) -> None:
    case, _ = _case(kind, 1, tmp_path)
    _wrong(case, [], "there is no")


def test_another_name_than_the_one_asked_for_is_wrong(tmp_path: Path) -> None:
    case, out = _case("totals_csv", 1, tmp_path)
    [path] = solutions.solve(case, out)
    _wrong(case, [path.rename(out / "other.csv")], "no file named result_totals.csv")


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def _write(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)


@pytest.mark.parametrize("seed", [3, 5, 6])
def test_wrong_totals(seed: int, tmp_path: Path) -> None:
    case, out = _case("totals_csv", seed, tmp_path)
    [path] = solutions.solve(case, out)
    rows = _rows(path)
    _write(path, [row[1:] for row in rows])
    _wrong(case, [path], "")
    _write(path, [*rows[:1], [rows[1][0], str(float(rows[1][1]) + 0.02)], *rows[2:]])
    _wrong(case, [path], f"wrong totals for {rows[1][0]}")
    _write(path, rows[:-1])
    _wrong(case, [path], f"groups are missing: {rows[-1][0]}")
    _write(path, rows[1:])
    _wrong(case, [path], "there is no header")
    _write(path, [*rows, ["Total", "1.0"]])
    _wrong(case, [path], "the grand total is")
    _write(path, [*rows, rows[-1]])
    _wrong(case, [path], "a group appears twice")
    _write(path, [*rows, ["Elsewhere", "3"]])
    _wrong(case, [path], "not one of the groups")
    _write(path, [*rows, ["Total", str(sum(case.totals.values()))]])
    assert judge(case, [path]).notes == ("a total row was added",)


def test_counting_instead_of_summing_is_wrong(tmp_path: Path) -> None:
    case, out = _case("totals_csv", 4, tmp_path)
    [path] = solutions.solve(case, out)
    frame = pd.read_csv(case.attachments[0])
    frame.groupby(case.group)[case.measure].count().to_csv(path)
    _wrong(case, [path], "wrong totals for")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_wrong_workbooks_of_totals(seed: int, tmp_path: Path) -> None:
    case, out = _case("totals_xlsx", seed, tmp_path)
    [path] = solutions.solve(case, out)
    book = openpyxl.load_workbook(path)
    sheet = book.active
    last = sheet.max_row
    formula = sheet.cell(last, 2).value
    sheet.cell(last, 2).value = sum(case.totals.values())
    book.save(path)
    _wrong(case, [path], "the total is a typed value")
    sheet.cell(last, 2).value = formula.replace("B2", "B3")
    book.save(path)
    _wrong(case, [path], "the grand total is")
    sheet.cell(last, 2).value = f"=SUM(B2:B{last})"
    book.save(path)
    _wrong(case, [path], "the grand total is")
    sheet.delete_rows(last)
    book.save(path)
    _wrong(case, [path], "there is no total row")
    path.write_text("# no workbook", encoding="utf-8")
    _wrong(case, [path], "the workbook does not open")


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_wrong_edits(seed: int, tmp_path: Path) -> None:
    case, out = _case("table_edit", seed, tmp_path)
    [path] = solutions.solve(case, out)
    right = path.read_bytes()
    frame = pd.read_excel(path, sheet_name=case.sheet)

    frame.to_excel(path, index=False, sheet_name=case.sheet)
    _wrong(case, [path], f"the sheet {case.other_sheet} is gone")

    rates = pd.read_excel(case.attachments[0], sheet_name=case.other_sheet)
    with pd.ExcelWriter(path) as writer:
        frame.to_excel(writer, index=False, sheet_name=case.sheet)
        rates.to_excel(writer, index=False, sheet_name=case.other_sheet)
    _wrong(case, [path], case.other_sheet)

    for change, because in _spoilers(case):
        path.write_bytes(right)
        book = openpyxl.load_workbook(path)
        change(book)
        book.save(path)
        _wrong(case, [path], because)

    path.write_bytes(case.attachments[0].read_bytes())
    _wrong(case, [path], "the header is")


def _spoilers(case: Case) -> list[tuple[object, str]]:
    def unbold(book: openpyxl.Workbook) -> None:
        book[case.other_sheet]["A1"].font = openpyxl.styles.Font(bold=False)

    def duplicate(book: openpyxl.Workbook) -> None:
        book[case.sheet].append(list(case.rows[0]))

    def lost(book: openpyxl.Workbook) -> None:
        book[case.sheet].delete_rows(5)

    def changed(book: openpyxl.Workbook) -> None:
        book[case.sheet]["A3"].value = "x"

    def column(book: openpyxl.Workbook) -> None:
        book[case.sheet].cell(2, len(case.header) + 1).value = 1

    return [
        (unbold, "has lost its format"),
        (duplicate, f"there are {len(case.rows) + 1} rows"),
        (lost, f"there are {len(case.rows) - 1} rows"),
        (changed, "row 3 is"),
        (column, "columns that were not there"),
    ]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_wrong_briefs(seed: int, tmp_path: Path) -> None:
    case, out = _case("brief", seed, tmp_path)
    [path] = solutions.solve(case, out)

    def spoil(change: object) -> None:
        solutions.solve(case, out)
        document = docx.Document(str(path))
        change(document)
        document.save(str(path))

    spoil(lambda document: document.add_paragraph("It will save 4,711 EUR."))
    _wrong(case, [path], "figures that are not in the source: 4711")
    spoil(lambda document: setattr(document.paragraphs[-1], "text", ""))
    _wrong(case, [path], f"missing: {case.items[-1].name}")
    spoil(lambda document: document.add_paragraph("word " * 500))
    _wrong(case, [path], "words")
    spoil(lambda document: setattr(document.paragraphs[0], "style", document.styles["Normal"]))
    _wrong(case, [path], "no heading")
    spoil(lambda document: document.add_paragraph("## Next"))
    _wrong(case, [path], "raw Markdown")
    spoil(lambda document: document.add_paragraph("Signed by [Your Name]."))
    _wrong(case, [path], "placeholder")


@pytest.mark.parametrize("seed", [2, 4, 5])
def test_wrong_charts_and_notes(seed: int, tmp_path: Path) -> None:
    case, out = _case("chart", seed, tmp_path)
    chart, note = solutions.solve(case, out)
    right = note.read_text(encoding="utf-8")
    best, second = sorted(case.totals, key=lambda name: -case.totals[name])[:2]
    note.write_text(f"The largest is {second} with {case.totals[second]}.", encoding="utf-8")
    _wrong(case, [chart, note], f"the note does not name {best}")
    note.write_text(f"The largest is {best} with {case.totals[best] + 1.5}.", encoding="utf-8")
    _wrong(case, [chart, note], "the note does not give")
    text = f"The largest is {second}. After it comes {best} with {case.totals[best]}."
    note.write_text(text, encoding="utf-8")
    _wrong(case, [chart, note], "the note names another")
    note.write_text(right, encoding="utf-8")
    _chart(case, chart, drop=1)
    _wrong(case, [chart, note], f"there are {len(case.totals) - 1} ")
    Image.new("RGB", (640, 480), "white").save(chart)
    _wrong(case, [chart, note], "blank")
    Image.new("RGB", (100, 480), "red").save(chart)
    _wrong(case, [chart, note], "only 100")
    chart.write_bytes(b"no picture")
    _wrong(case, [chart, note], "does not open")


@pytest.mark.parametrize("style", ["lying", "colours", "legend"])
def test_charts_of_other_looks_are_right(style: str, tmp_path: Path) -> None:
    for seed in (2, 3, 5, 8):
        case, out = _case("chart", seed, tmp_path)
        chart, note = solutions.solve(case, out)
        _chart(case, chart, style=style)
        verdict = judge(case, [chart, note])
        assert verdict.right, (seed, verdict)


def _chart(case: Case, path: Path, *, drop: int = 0, style: str = "") -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5))
    axes = figure.subplots()
    labels, values = list(case.totals)[drop:], list(case.totals.values())[drop:]
    if style == "lying":
        axes.barh(labels, values)
    elif style == "colours":
        axes.bar(labels, values, color=[f"C{index}" for index in range(len(labels))])
    else:
        axes.bar(labels, values, label="value")
    if style == "legend":
        axes.legend()
    figure.tight_layout()
    figure.savefig(path)
