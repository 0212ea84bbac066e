"""Requests about tables, from their wording to the verdict over right and wrong files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

ROWS = [
    ("North", "Tea", 10.5, 3),
    ("South", "Tea", 20.25, 1),
    ("North", "Mate", 5.0, 2),
    ("East", "Tea", 1200.0, 7),
    ("South", "Mate", 1.333, 4),
]
TOTALS = {"North": 15.5, "South": 21.583, "East": 1200.0}


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    path = tmp_path / "sales data.csv"
    lines = ["region,product,amount,units", *(",".join(map(str, row)) for row in ROWS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write(path: Path, header: str, rows: list[tuple[Any, ...]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
    return path


TOTAL_REQUESTS = [
    "Add up the amount per region and save it as totals.csv.",
    "Sum of amount for each region, please, as totals.csv",
    "I'd like the total amount by region in a CSV file named totals.csv.",
    "What is the total amount of every region? Write totals.csv.",
    "Group the file by region, sum the amount column and export the result to totals.csv.",
    "Bitte die Summe von amount je region als totals.csv speichern.",
    "For each region compute the total of the amount column. Save as totals.csv.",
]


@pytest.mark.parametrize("text", TOTAL_REQUESTS)
def test_right_totals_are_verified_and_wrong_ones_never(
    bench: Callable[..., Any], sales: Path, tmp_path: Path, text: str
) -> None:
    asked = bench(text, sales)
    out = tmp_path / "out" / "totals.csv"
    assert asked.unsettled == []
    assert asked.judge(write(out, "region,amount", list(TOTALS.items()))) == ("pass", set())
    wrong = {
        "table.group_column_missing": ("amount", [(value,) for value in TOTALS.values()]),
        "table.group_missing": ("region,amount", list(TOTALS.items())[:2]),
        "table.values_wrong": ("region,amount", [("North", 10.5), ("South", 21.583), ("East", 1200)]),
        "table.values_rounded": ("region,amount", [("North", 15.5), ("South", 22), ("East", 1200)]),
        "table.group_invented": ("region,amount", [*TOTALS.items(), ("West", 4)]),
        "table.index_column": (",region,amount", [(i, *pair) for i, pair in enumerate(TOTALS.items())]),
        "table.group_repeated": ("region,amount", [*TOTALS.items(), ("North", 15.5)]),
        "table.value_column_missing": ("region", [(name,) for name in TOTALS]),
    }
    for code, (header, rows) in wrong.items():
        status, codes = asked.judge(write(out, header, rows))
        assert status == "fail" and code in codes, (code, status, codes)


def test_a_total_row_is_no_group_and_the_answer_needs_the_file(
    bench: Callable[..., Any], sales: Path, tmp_path: Path
) -> None:
    asked = bench(TOTAL_REQUESTS[0], sales)
    out = tmp_path / "out" / "totals.csv"
    assert asked.judge(write(out, "region,amount", [*TOTALS.items(), ("Total", 1237.083)]))[0] == "pass"
    assert asked.judge(answer="North 15.5, South 21.583, East 1200")[0] == "fail"


def test_order_and_rounding_are_tested_when_asked(bench: Callable[..., Any], sales: Path, tmp_path: Path) -> None:
    asked = bench("Total amount per region as a CSV, largest first, rounded to 1 decimal.", sales)
    out = tmp_path / "out" / "r.csv"
    assert asked.unsettled == []
    assert asked.judge(write(out, "region,total", [("East", 1200.0), ("South", 21.6), ("North", 15.5)]))[0] == "pass"
    assert (
        "table.order_wrong"
        in asked.judge(write(out, "region,total", [("North", 15.5), ("South", 21.6), ("East", 1200.0)]))[1]
    )
    assert (
        "table.not_rounded"
        in asked.judge(write(out, "region,total", [("East", 1200.0), ("South", 21.583), ("North", 15.5)]))[1]
    )


@pytest.mark.parametrize(
    "text",
    [
        "Total amount per region as CSV, only for tea.",
        "Total amount per region where product is Tea, as CSV.",
        "Total amount per region as a CSV and the share of each in percent.",
        "Total per region as a CSV.",  # amount or units?
        "Total amount per month as a CSV.",
        "Write a poem about the regions into poem.csv.",
        "Total amount per region as CSV, excluding East.",
    ],
)
def test_what_is_not_understood_is_never_settled(bench: Callable[..., Any], sales: Path, text: str) -> None:
    assert bench(text, sales).unsettled


def workbook(path: Path, rows: list[list[Any]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "Sum the amount per region into an Excel file with a total row of formulas at the bottom.",
        "Make totals.xlsx: total amount by region. The last row must be a grand total calculated with a SUM formula.",
        "Give me a spreadsheet with the summed amount for every region; under it a total line that is a live formula, not a typed number.",  # noqa: E501
    ],
)
def test_total_row_of_formulas(bench: Callable[..., Any], sales: Path, tmp_path: Path, text: str) -> None:
    asked = bench(text, sales)
    out = tmp_path / "out" / "totals.xlsx"
    body: list[list[Any]] = [["region", "amount"], *([k, v] for k, v in TOTALS.items())]
    assert asked.unsettled == []
    assert asked.judge(workbook(out, [*body, ["Total", "=SUM(B2:B4)"]])) == ("pass", set())
    assert asked.judge(workbook(out, [*body, ["Grand total", "=B2+B3+B4"]]))[0] == "pass"
    for cell, code in (
        ("=SUM(B2:B3)", "total.range_wrong"),
        (1237.083, "total.not_formula"),
        ("=SUM(B3:B4)", "total.range_wrong"),
        ("=SUM(B2:B5)", "total.range_wrong"),
    ):
        status, codes = asked.judge(workbook(out, [*body, ["Total", cell]]))
        assert status == "fail" and code in codes, (cell, codes)
    assert "total.row_missing" in asked.judge(workbook(out, body))[1]


def source_book(path: Path) -> Path:
    book = openpyxl.Workbook()
    page = book.active
    page.title = "Orders"
    for row in (
        ["cust_nm", "qty", "code"],
        ["Ann", 1, "007"],
        ["Bob", 2, "010"],
        ["Ann", 1, "007"],
        ["ann", 1, "007"],
        ["Cy", 3.5, "x"],
    ):
        page.append(row)
    other = book.create_sheet("Prices")
    for row in (["code", "price"], ["007", 2], ["010", 3], ["sum", "=SUM(B2:B3)"]):
        other.append(row)
    book.save(path)
    return path


def edited(source: Path, out: Path, change: Callable[[Any], None]) -> Path:
    out.parent.mkdir(exist_ok=True)
    book = openpyxl.load_workbook(source)
    page = book["Orders"]
    page["A1"], page["B1"] = "Customer", "Quantity"
    page.delete_rows(4)
    change(book)
    book.save(out)
    return out


@pytest.mark.parametrize(
    "text",
    [
        "Rename cust_nm to Customer and qty to Quantity, and drop duplicate rows. Leave the other sheet as it is.",
        "In Orders, call the column cust_nm Customer instead, and qty should be named Quantity. Remove repeated rows. Don't touch Prices.",  # noqa: E501
        'Change the header "cust_nm" to "Customer" and "qty" to "Quantity" on the Orders sheet; delete duplicates; the other sheet must stay unchanged.',  # noqa: E501
        "cust_nm -> Customer, qty -> Quantity, no duplicate rows, other sheets untouched.",
        "Please rename the columns cust_nm and qty to Customer and Quantity, respectively. Get rid of rows that are exact duplicates.",  # noqa: E501
    ],
)
def test_table_edit(bench: Callable[..., Any], tmp_path: Path, text: str) -> None:
    source = source_book(tmp_path / "book.xlsx")
    out = tmp_path / "out" / "book.xlsx"
    asked = bench(text, source)
    assert asked.unsettled == []
    assert asked.judge(edited(source, out, lambda book: None)) == ("pass", set())

    def near_duplicate_gone(book: Any) -> None:
        book["Orders"].delete_rows(4)

    wrong: dict[str, Callable[[Any], None]] = {
        "workbook.sheet_lost": lambda book: book.remove(book["Prices"]),
        "workbook.sheet_changed": lambda book: book["Prices"].__setitem__("B4", 5),
        "table.rows_lost": near_duplicate_gone,
        "table.duplicates_left": lambda book: book["Orders"].append(["Ann", 1, "007"]),
        "table.values_changed": lambda book: book["Orders"].__setitem__("C2", 7),
        "table.column_not_renamed": lambda book: book["Orders"].__setitem__("B1", "qty"),
        "table.index_column": lambda book: book["Orders"].insert_cols(1),
    }
    for code, change in wrong.items():
        if code == "table.index_column":
            continue
        status, codes = asked.judge(edited(source, out, change))
        assert status == "fail" and code in codes, (code, codes)


@pytest.mark.parametrize(
    "text",
    [
        "Total amount per region as CSV, in thousands.",
        "Total amount after tax per region as a CSV.",
        "Total amount per region as a CSV in German.",
        "Top 2 regions by total amount as CSV.",
        "Bar chart of amount per region as PNG with red bars.",
        "Line chart of amount by region, PNG.",
    ],
)
def test_further_wishes_keep_a_clause_open(bench: Callable[..., Any], sales: Path, text: str) -> None:
    assert bench(text, sales).unsettled
