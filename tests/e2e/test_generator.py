"""The generator: the same seed gives the same case, and what it says is true of the files."""

from __future__ import annotations

import csv
from pathlib import Path

import openpyxl
import pdfplumber
import pytest

from tests.e2e.generator import KINDS, Case, Kind, make_case


def _case(kind: Kind, seed: int, folder: Path) -> Case:
    folder.mkdir()
    return make_case(kind, seed, folder)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_case(kind: Kind, tmp_path: Path) -> None:
    for seed in range(1, 6):
        one, two = _case(kind, seed, tmp_path / f"a{seed}"), _case(kind, seed, tmp_path / f"b{seed}")
        assert one.request == two.request
        assert [one.totals, one.rows, one.items, one.names] == [two.totals, two.rows, two.items, two.names]
        if kind != "table_edit":  # a workbook has the time of its making in it
            assert one.attachments[0].read_bytes() == two.attachments[0].read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_seeds_differ(kind: Kind, tmp_path: Path) -> None:
    requests = {_case(kind, seed, tmp_path / str(seed)).request for seed in range(1, 25)}
    assert len(requests) >= 20


def test_totals_are_those_of_the_file(tmp_path: Path) -> None:
    for seed in range(1, 15):
        case = _case("totals_csv", seed, tmp_path / str(seed))
        sums: dict[str, float] = {}
        with case.attachments[0].open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                sums[row[case.group]] = sums.get(row[case.group], 0.0) + float(row[case.measure] or 0)
        assert sums.keys() == case.totals.keys()
        assert all(abs(sums[name] - value) < 1e-4 for name, value in case.totals.items())


def test_the_largest_value_is_the_only_one(tmp_path: Path) -> None:
    for seed in range(1, 150):
        totals = sorted(_case("chart", seed, tmp_path / str(seed)).totals.values())
        assert totals[-1] - totals[-2] > 0.05


def test_workbooks_have_duplicates_and_two_sheets(tmp_path: Path) -> None:
    for seed in range(1, 8):
        case = _case("table_edit", seed, tmp_path / str(seed))
        book = openpyxl.load_workbook(case.attachments[0])
        assert sorted(book.sheetnames) == sorted((case.sheet, case.other_sheet))
        assert book[case.sheet].max_row - 1 > len(case.rows)
        header = [cell.value for cell in book[case.sheet][1]]
        assert sum(before != after for before, after in zip(header, case.header, strict=True)) == 2
        assert len(set(case.header)) == len(case.header)


def test_reports_have_three_pages_with_their_facts(tmp_path: Path) -> None:
    for seed in range(1, 15):
        case = _case("brief", seed, tmp_path / str(seed))
        with pdfplumber.open(case.attachments[0]) as pdf:
            assert len(pdf.pages) == 3
            text = " ".join(" ".join((page.extract_text() or "").split()) for page in pdf.pages)
        assert 3 <= len(case.items) <= 5
        for item in case.items:
            assert item.value in text
            assert item.sentence in text
