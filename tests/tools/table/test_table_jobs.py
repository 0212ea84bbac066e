from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Font, PatternFill
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.table import Table

from engine.protocol.errors import ModelError
from tools.readers.xlsx import load_sheets
from tools.table.aggregating import aggregate_job, reduce
from tools.table.editing import edit_table_job
from tools.table.references import Moves, move_formula


def edit(path: Path, target: Path, **operations: Any) -> dict[str, Any]:
    sheet = operations.pop("sheet", "")
    return edit_table_job({"path": str(path), "target": str(target), "sheet": sheet, "operations": operations})


def aggregate(path: Path, target: Path, **more: Any) -> dict[str, Any]:
    return aggregate_job({"path": str(path), "target": str(target), **more})


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    path = tmp_path / "s.csv"
    path.write_bytes(b"region;qty;price\r\nN;2;1,5\r\nS;1;2\r\nN;2;1,5\r\nW;3;0,1\r\n")
    return path


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A workbook with most things that must survive."""
    made = openpyxl.Workbook()
    data = made.active
    data.title = "Data"
    for row in (["id", "name", "qty", "price", "sum"], [1, "a", 2, 1.5, "=C2*D2"], [2, "b", 1, 2, "=C3*D3"],
                [1, "a", 2, 1.5, "=C4*D4"], [3, "c", 5, 1, "=C5*D5"]):  # fmt: skip
        data.append(row)
    data["B3"].fill = PatternFill("solid", fgColor="FFFF00")
    data["B5"].hyperlink = "https://example.org/c"
    data["D2"].number_format = "0.00"
    data.column_dimensions["B"].width = 33
    data.row_dimensions[5].height = 40
    data.auto_filter.ref = "A1:E5"
    data.conditional_formatting.add("C2:C5", CellIsRule(operator="greaterThan", formula=["3"], font=Font(b=True)))
    data.add_data_validation(DataValidation(type="whole", sqref="C2:C5", formula1="0", operator="greaterThan"))
    other = made.create_sheet("Summary")
    other["A1"], other["B1"] = "total", "=SUM(Data!E2:E5)"
    other["B2"], other["B3"] = "=Data!C5", '=IF(Data!B5="c","B5",0)'
    other.merge_cells("D1:E2")
    made.defined_names["Prices"] = DefinedName("Prices", attr_text="Data!$D$2:$D$5")
    made.save(tmp_path / "b.xlsx")
    return tmp_path / "b.xlsx"


def values(path: Path, sheet: str) -> list[list[Any]]:
    return next(found.rows for found in load_sheets(path) if found.name == sheet)


def test_csv_operations_keep_delimiter_line_ends_and_cells(csv_file: Path, tmp_path: Path) -> None:
    result = edit(
        csv_file, tmp_path / "o.csv", rename={"qty": "Quantity"}, drop_duplicates=True,
        add_columns={"value": "={Quantity}*2", "row": "={row}"}, total_row={"Total": ["Quantity", "price"]},
        sort_by=["-price"],
    )  # fmt: skip
    assert (tmp_path / "o.csv").read_bytes() == (
        b"region;Quantity;price;value;row\r\nS;1;2;2;2\r\nN;2;1,5;4;3\r\nW;3;0,1;6;4\r\nTotal;6;3,6;;\r\n"
    )
    assert result["rows"] == 3 and "dropped 1 duplicate rows" in result["said"]


def test_csv_to_workbook_with_formulas(csv_file: Path, tmp_path: Path) -> None:
    csv_file.write_text("item,n\n=cmd(),1\nb,2\n")
    edit(csv_file, tmp_path / "o.xlsx", total_row={"Total": ["n"]}, add_columns={"double": "=B{row}*2"})
    sheet = openpyxl.load_workbook(tmp_path / "o.xlsx").active
    assert [[cell.value for cell in row] for row in sheet.iter_rows()] == [
        ["item", "n", "double"], ["=cmd()", 1, "=B2*2"], ["b", 2, "=B3*2"], ["Total", "=SUM(B2:B3)", None],
    ]  # fmt: skip
    assert sheet["A2"].data_type == "s"


def test_workbook_rename_and_dedupe_leave_the_rest(book: Path, tmp_path: Path) -> None:
    edit(book, tmp_path / "o.xlsx", rename={"qty": "Quantity", "name": "Item"}, drop_duplicates=True)
    made = openpyxl.load_workbook(tmp_path / "o.xlsx")
    data, other = made["Data"], made["Summary"]
    assert [[cell.value for cell in row] for row in data.iter_rows()] == [
        ["id", "Item", "Quantity", "price", "sum"], [1, "a", 2, 1.5, "=C2*D2"], [2, "b", 1, 2, "=C3*D3"],
        [3, "c", 5, 1, "=C4*D4"],
    ]  # fmt: skip
    assert other["B1"].value == "=SUM(Data!E2:E4)" and other["B2"].value == "=Data!C4"
    assert other["B3"].value == '=IF(Data!B4="c","B5",0)'
    assert [str(area) for area in other.merged_cells.ranges] == ["D1:E2"]
    assert data["B3"].fill.fgColor.rgb == "00FFFF00" and data["D2"].number_format == "0.00"
    assert data["B4"].hyperlink.target == "https://example.org/c" and data["B4"].hyperlink.ref == "B4"
    assert data.column_dimensions["B"].width == 33 and data.row_dimensions[4].height == 40
    assert data.auto_filter.ref == "A1:E4" and made.defined_names["Prices"].attr_text == "Data!$D$2:$D$4"
    assert [str(group.sqref) for group in data.conditional_formatting] == ["C2:C4"]
    assert str(data.data_validations.dataValidation[0].sqref) == "C2:C4"


def test_workbook_columns_move_and_formulas_follow(book: Path, tmp_path: Path) -> None:
    edit(book, tmp_path / "o.xlsx", keep_columns=["sum", "price", "qty"], sort_by=["qty"])
    assert values(tmp_path / "o.xlsx", "Data") == [
        ["sum", "price", "qty"], [2, 2, 1], [3, 1.5, 2], [3, 1.5, 2], [5, 1, 5],
    ]  # fmt: skip
    made = openpyxl.load_workbook(tmp_path / "o.xlsx")
    assert made["Data"]["A2"].value == "=C2*B2" and made["Summary"]["B1"].value == "=SUM(Data!A2:A5)"
    assert made["Summary"]["B3"].value == '=IF(Data!#REF!="c","B5",0)'


def test_workbook_rows_total_and_cells(book: Path, tmp_path: Path) -> None:
    result = edit(
        book, tmp_path / "o.xlsx", sheet="data", add_rows=[[9, "z", 1, 1, "=C{row}*D{row}"]],
        add_columns={"vat": "={sum}*0.2"}, total_row={"Total": ["sum", "vat"]}, set_cells={"B2": "changed"},
    )  # fmt: skip
    rows = values(tmp_path / "o.xlsx", "Data")
    assert rows[5] == [9, "z", 1, 1, 1, 0.2] and rows[6] == ["Total", None, None, None, 14, pytest.approx(2.8)]
    assert rows[1][1] == "changed" and result["notes"] == []
    made = openpyxl.load_workbook(tmp_path / "o.xlsx")
    assert made["Data"]["E7"].value == "=SUM(E2:E6)" and made["Summary"]["B1"].value == "=SUM(Data!E2:E6)"
    assert made["Data"]["E7"].font.b


def test_table_objects_follow(book: Path, tmp_path: Path) -> None:
    made = openpyxl.load_workbook(book)
    made["Data"].auto_filter.ref = None
    made["Data"].add_table(Table(displayName="T1", ref="A1:E5"))
    made.save(book)
    edit(book, tmp_path / "o.xlsx", rename={"name": "Item"}, drop_columns=["id"], drop_duplicates=True)
    table = openpyxl.load_workbook(tmp_path / "o.xlsx")["Data"].tables["T1"]
    assert table.ref == "A1:D4" and [column.name for column in table.tableColumns] == ["Item", "qty", "price", "sum"]


def test_what_would_be_lost_is_refused(book: Path, tmp_path: Path) -> None:
    from openpyxl.chart import BarChart, Reference

    made = openpyxl.load_workbook(book)
    chart = BarChart()
    chart.add_data(Reference(made["Data"], min_col=3, min_row=1, max_row=5))
    made["Summary"].add_chart(chart, "A5")
    made.save(book)
    with pytest.raises(ModelError, match="charts"):
        edit(book, tmp_path / "o.xlsx", rename={"qty": "Q"})
    assert not (tmp_path / "o.xlsx").exists()
    edit(book, tmp_path / "o.csv", rename={"qty": "Q"}, drop_columns=["id"])
    assert (tmp_path / "o.csv").read_text().splitlines()[:2] == ["name,Q,price,sum", "a,2,1.5,3"]


@pytest.mark.parametrize(
    ("operations", "words"),
    [
        ({}, "No operation"),
        ({"rename": {"nope": "x"}}, "columns are: region, qty, price"),
        ({"rename": {"qty": "price"}}, "Two columns"),
        ({"keep_columns": []} | {"drop_columns": ["region", "qty", "price"]}, "No column"),
        ({"add_rows": [[1, 2, 3, 4]]}, "3 columns"),
        ({"set_cells": {"nonsense": 1}}, "like B2"),
        ({"set_cells": {"Z99": 1}}, "outside the table"),
    ],
)
def test_refusals(csv_file: Path, tmp_path: Path, operations: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        edit(csv_file, tmp_path / "o.csv", **operations)


def test_formulas_follow_moves() -> None:
    moves = Moves(sheet="My Data", rows={2: 3, 3: 2}, columns={1: 1, 3: 2}, first_row=2, last_row=4, last_column=3)
    cases = {
        "='My Data'!A2+A2": "='My Data'!A3+A2",
        "=SUM('My Data'!$C$2:$C$4)": "=SUM('My Data'!$B$2:$B$3)",
        "='My Data'!B2": "='My Data'!#REF!",
        "=SUM('My Data'!A:C)": "=SUM('My Data'!A:B)",
        "='My Data'!A4&\"A2\"": "='My Data'!#REF!&\"A2\"",
        "='My Data'!D9": "='My Data'!D9",
    }
    assert {old: move_formula(old, "Else", moves) for old in cases} == cases


def test_sums_are_exact_and_totals_are_formulas(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("region,amount,n\nN,0.1,1\nS,5,2\nN,0.2,n/a\n N ,0.3,4\n")
    result = aggregate(path, tmp_path / "o.csv", group_by=["region"], values=["amount", "n"], total_row="value")
    assert (tmp_path / "o.csv").read_text() == "region,amount,n\nN,0.6,5\nS,5,2\nTotal,5.6,7\n"
    assert result["notes"] == ["1 cells of n are not numbers and were left out, such as 'n/a'."]
    aggregate(path, tmp_path / "o.xlsx", group_by=["Region"], values=["amount"], total_row="formula", sort="-amount")
    sheet = openpyxl.load_workbook(tmp_path / "o.xlsx").active
    assert [[cell.value for cell in row] for row in sheet.iter_rows()] == [
        ["region", "amount"], ["S", 5], ["N", 0.6], ["Total", "=SUM(B2:B3)"],
    ]  # fmt: skip
    assert load_sheets(tmp_path / "o.xlsx")[0].rows[3] == ["Total", 5.6]


def test_other_aggregates(tmp_path: Path, book: Path) -> None:
    assert [reduce([1, "2", 6.0, "", None], how) for how in ("sum", "mean", "count", "min", "max", "median")] == [
        9, 3, 3, 1, 6, 2,
    ]  # fmt: skip
    aggregate(book, tmp_path / "o.csv", group_by=["name"], how="count")
    assert (tmp_path / "o.csv").read_text() == "name,count\na,2\nb,1\nc,1\n"
    aggregate(book, tmp_path / "m.csv", group_by=["name"], values=["sum"], how="mean")
    assert (tmp_path / "m.csv").read_text() == "name,mean of sum\na,3\nb,2\nc,5\n"
    for more, words in (
        ({"values": ["name"]}, "no numbers"),
        ({"values": []}, "values is empty"),
    ):
        with pytest.raises(ModelError, match=words):
            aggregate(book, tmp_path / "x.csv", group_by=["id"], **more)


def test_a_total_row_of_the_source_is_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("region,amount\nN,1\nS,2\nTotal,3\n")
    result = aggregate(path, tmp_path / "o.csv", group_by=["region"], values=["amount"], total_row="value")
    assert (tmp_path / "o.csv").read_text() == "region,amount\nN,1\nS,2\nTotal,3\n"
    assert "total row" in result["notes"][0]
