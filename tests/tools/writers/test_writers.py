from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.protocol.documents import Reading
from engine.protocol.errors import ModelError
from tools.readers.registry import read_job
from tools.writers.registry import Written, unfenced, write_job

_BRIEF = """# Brief 简报

Intro with **bold**, *italic* and `code`.

## Points

1. first
2. second

- a
    - nested
- b

1. again first

| item | amount |
| --- | ---: |
| A | 1.5 |
| B | 2 |

> a quote
"""


def write(path: Path, content: str, **more: Any) -> Written:
    return write_job({"content": content, "target": str(path), **more})


def read(path: Path) -> Reading:
    return read_job({"path": str(path), "options": {}})


def test_docx_has_real_styles(tmp_path: Path) -> None:
    import docx
    from docx.oxml.ns import qn

    written = write(tmp_path / "b.docx", _BRIEF, title="Brief 简报")
    assert written.pages == 1 and written.words > 20
    document = docx.Document(str(tmp_path / "b.docx"))
    styles = [(p.style.name, p.text) for p in document.paragraphs if p.text]
    assert styles[0] == ("Heading 1", "Brief 简报")
    assert (
        ("List Number", "first") in styles and ("List Bullet 2", "nested") in styles and ("Quote", "a quote") in styles
    )
    runs = {run.text: run for run in document.paragraphs[1].runs}
    assert runs["bold"].bold and runs["italic"].italic and not runs["bold"].italic
    assert [[c.text for c in row.cells] for row in document.tables[0].rows] == [
        ["item", "amount"],
        ["A", "1.5"],
        ["B", "2"],
    ]
    fonts = document.styles["Normal"].element.rPr.rFonts
    assert fonts.get(qn("w:eastAsia"))
    numbers = {p.text: p._p.pPr.numPr.numId.val for p in document.paragraphs if p.style.name == "List Number"}
    assert numbers["first"] == numbers["second"] != numbers["again first"]
    assert "# Brief 简报" in read(tmp_path / "b.docx").text and "| A | 1.5 |" in read(tmp_path / "b.docx").text


def test_docx_title_is_not_doubled_but_added_where_it_is_missing(tmp_path: Path) -> None:
    write(tmp_path / "a.docx", "Only text.", title="The title")
    assert read(tmp_path / "a.docx").text == "# The title\n\nOnly text."


def test_xlsx_cells_are_typed_and_formulas_work(tmp_path: Path) -> None:
    import openpyxl

    content = (
        "# Sales\n\n| item | n | when | code |\n|---|---|---|---|\n"
        "| a | 1.5 | 2024-01-02 | 007 |\n| **Total** | =SUM(B2:B2) | | |\n"
    )
    assert write(tmp_path / "t.xlsx", content).notes == ()
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx")["Sales"]
    assert [cell.value for cell in sheet[2]][:2] == ["a", 1.5]
    assert sheet["C2"].is_date and sheet["D2"].value == "007" and sheet["B3"].value == "=SUM(B2:B2)"
    assert sheet["A1"].font.b and sheet.freeze_panes == "A2" and sheet["A3"].value == "Total"
    assert "Total,1.5" in read(tmp_path / "t.xlsx").text


def test_xlsx_tells_of_formulas_that_fail_and_of_ragged_rows(tmp_path: Path) -> None:
    notes = write(tmp_path / "t.xlsx", "a,b\n1,=A2/0\n").notes
    assert notes == ("The formula =A2/0 in B2 of 'Sheet1' gives #DIV/0!.",)
    with pytest.raises(ModelError, match="Row 2 has 3 cells"):
        write(tmp_path / "r.xlsx", "a,b\n1,2,3\n")


def test_csv_json_html_text(tmp_path: Path) -> None:
    assert write(tmp_path / "t.csv", "| a | b |\n|---|---|\n| x, y | 2 |\n").rows == 1
    assert (tmp_path / "t.csv").read_text() == 'a,b\n"x, y",2\n'
    write(tmp_path / "j.json", '```json\n{"a": 1}\n```')
    assert json.loads((tmp_path / "j.json").read_text()) == {"a": 1}
    with pytest.raises(ModelError, match=r"not valid JSON.*line 1"):
        write(tmp_path / "bad.json", "{'a': 1}")
    assert not (tmp_path / "bad.json").exists()
    write(tmp_path / "p.html", "# Head\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", title="T & T")
    page = (tmp_path / "p.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "<title>T &amp; T</title>" in page and "<td>1</td>" in page
    assert write(tmp_path / "q.html", "<html><body><img src='http://x/y.png'></body></html>").notes
    write(tmp_path / "n.md", "Text.", title="Note")
    assert (tmp_path / "n.md").read_text() == "# Note\n\nText.\n"
    write(tmp_path / "g.txt", "你好", encoding="gb18030")
    assert (tmp_path / "g.txt").read_bytes().decode("gb18030") == "你好\n"


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be written"):
        write(tmp_path / "x.pdf", "text")
    with pytest.raises(ModelError, match="no encoding"):
        write(tmp_path / "x.txt", "text", encoding="utf-99")
    with pytest.raises(ModelError, match="has no"):
        write(tmp_path / "x.txt", "你", encoding="latin-1")


def test_fences() -> None:
    assert unfenced("```csv\na,b\n```") == "a,b\n"
    assert unfenced("```\na\n```\ntext\n```\nb\n```") == "```\na\n```\ntext\n```\nb\n```"
