"""Each defect in made files that have it, and none in files that do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import msgspec
import openpyxl
import pptx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from tools.inspectors.bars import same_shape
from tools.inspectors.formulas import summed_rows
from tools.inspectors.numbers import figures, number
from tools.inspectors.registry import inspect, inspect_job

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpus"


def codes(path: Path) -> set[str]:
    found = inspect_job({"path": str(path)})
    assert msgspec.json.encode(found)
    return {defect.code for defect in found.defects}


def text(name: str, content: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_text(content, encoding="utf-8")
        return path

    return make


def book(*rows: list[Any], empty_sheet: bool = False) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        made = openpyxl.Workbook()
        for row in rows:
            made.active.append(row)
        if empty_sheet:
            made.create_sheet("Later")
        made.save(folder / "book.xlsx")
        return folder / "book.xlsx"

    return make


def word(*paragraphs: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        made = docx.Document()
        for paragraph in paragraphs:
            made.add_paragraph(paragraph)
        made.save(str(folder / "text.docx"))
        return folder / "text.docx"

    return make


def deck(*titles: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        made = pptx.Presentation()
        for title in titles:
            slide = made.slides.add_slide(made.slide_layouts[5])
            slide.shapes.title.text = title
        made.save(str(folder / "deck.pptx"))
        return folder / "deck.pptx"

    return make


def picture(size: tuple[int, int], drawn: bool) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        made = Image.new("RGB", size, "white")
        if drawn:
            ImageDraw.Draw(made).rectangle((4, 4, 40, 40), fill="navy")
        made.save(folder / "picture.png")
        return folder / "picture.png"

    return make


BAD: list[tuple[str, Callable[[Path], Path]]] = [
    ("file.empty", text("a.csv", "")),
    ("file.empty", text("a.md", "  \n\n")),
    ("file.empty", text("a.json", "{}")),
    ("file.empty", book()),
    ("file.wrong_content", text("a.pdf", "no pdf at all")),
    ("file.wrong_content", text("a.xlsx", "region,total\nNorth,3\n")),
    ("file.wrong_content", text("a.png", "no picture")),
    ("file.cannot_open", text("a.pdf", "%PDF-1.4\ncut")),
    ("table.index_column", text("a.csv", ",region,total\n0,N,3\n1,S,4\n")),
    ("table.index_column", text("b.csv", "Unnamed: 0,region\n0,N\n1,S\n")),
    ("table.ragged_rows", text("a.csv", "a,b\n1,2\n1,2,3\n4,5\n6,7\n")),
    ("table.column_empty", text("a.csv", "a,b\n1,NaN\n2,NaN\n")),
    ("table.no_rows", text("a.csv", "a,b\n")),
    ("table.header_repeated", text("a.csv", "a,a\n1,2\n")),
    ("formula.error", book(["a"], ["=B1/0"], ["=NOSUCH(1)"])),
    ("formula.includes_itself", book(["a"], [1], [2], ["=SUM(A2:A4)"])),
    ("formula.range_misses", book(["a"], [1], [2], [3], ["=SUM(A2:A3)"])),
    ("formula.range_misses", book(["a"], [1], [2], [3], ["=SUM(A3:A4)"])),
    ("workbook.sheet_empty", book(["a"], [1], empty_sheet=True)),
    ("table.text_numbers", book(["a"], ["1.5"], ["2.5"], ["3.25"])),
    ("document.no_text", word("", "  ")),
    ("document.markdown_left", word("# Heading", "Some **bold** words.")),
    ("text.placeholder", word("Dear [Name], thank you.")),
    ("text.placeholder", text("a.md", "Lorem ipsum dolor sit amet.")),
    ("text.placeholder", text("a.txt", "The budget is TBD.")),
    ("text.cut", text("a.md", "The budget was approved by the council and the")),
    ("deck.no_slides", deck()),
    ("deck.slide_empty", deck("")),
    ("json.invalid", text("a.json", '{"a": 1')),
    ("text.cut", text("a.html", "<html><body><p>Hello")),
    ("page.resource_missing", text("a.html", "<html><body>x<img src='no.png'></body></html>")),
    ("document.no_text", text("a.html", "<html><body></body></html>")),
    ("image.blank", picture((300, 200), False)),
    ("image.tiny", picture((8, 8), False)),
]
GOOD: list[Callable[[Path], Path]] = [
    text("sales 2024 “Nord” 北.csv", "region,total\nNord,3\nSüd,4.5\n"),
    text("a.csv", "a;b\n1,5;2\n2,5;3\n"),
    text("a.md", "# Note\n\nThe largest region is North with 1,200.\n\n- one\n- two"),
    text("a.json", json.dumps({"a": [1]})),
    text("a.html", "<html><body><p>Hello.</p></body></html>"),
    book(["region", "total"], ["N", 1], ["S", 2], ["Total", "=SUM(B2:B3)"]),
    book(["code"], ["007"], ["008"], ["009"]),
    word("Budget", "The budget is 5,000 EUR; the deadline is 3 May."),
    deck("Results"),
    picture((300, 200), True),
]


@pytest.mark.parametrize(("code", "make"), BAD)
def test_defect_is_found(tmp_path: Path, code: str, make: Callable[[Path], Path]) -> None:
    assert code in codes(make(tmp_path))


@pytest.mark.parametrize("make", GOOD)
def test_healthy_files_have_none(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    assert codes(make(tmp_path)) == set()


def test_a_missing_file_is_a_defect(tmp_path: Path) -> None:
    assert codes(tmp_path / "no.csv") == {"file.missing"}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus beside the project")
def test_few_false_alarms_in_the_corpus() -> None:
    files = sorted(p for kind in ("csv", "tsv", "html", "json", "png", "pptx") for p in (CORPUS / kind).iterdir())
    fatal = [path.name for path in files if any(defect.fatal for defect in inspect(path).defects)]
    assert len(files) > 70 and len(fatal) <= 10, fatal


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2))
def test_numbers_survive_their_formats(value: Any) -> None:
    assert number(f"{value:,}") == number(str(value)) == value
    assert number(f"${abs(value):,}") == abs(value)
    assert any(figure.value == abs(value) for figure in figures(f"It was {abs(value):,} EUR in all."))


@given(st.integers(2, 500), st.integers(0, 500))
def test_ranges_of_sums(first: int, more: int) -> None:
    assert summed_rows(f"=SUM(B{first}:B{first + more})", 2) == set(range(first, first + more + 1))
    assert summed_rows(f"=SUM(C{first}:C{first + more})", 2) is None


@given(st.lists(st.integers(20, 400), min_size=2, max_size=8), st.floats(0.01, 1000))
def test_bars_in_proportion(lengths: list[int], scale: float) -> None:
    assert same_shape(lengths, [length * scale for length in reversed(lengths)])
    assert not same_shape(lengths, [length * scale for length in lengths[1:]])
