from __future__ import annotations

from pathlib import Path

import pytest

from engine.protocol.documents import Reading, ReadOptions
from tools.readers.columns import kind_of_value, parse_number
from tools.readers.registry import profile_job, read_job
from tools.readers.text import count_words
from tools.readers.windows import page_numbers, window


def read(path: Path, **options: object) -> Reading:
    return read_job({"path": str(path), "options": options})


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "地区,销售额\n北京,1200\n上海,3400.5\n广州,560\n"),
        ("cp932", "地域,売上\n東京,1200\n大阪,3400\nとうほく,5\n"),
        ("gb18030", "姓名,部门\n张伟,财务\n李娜,市场\n"),
        ("big5", "地區,銷售額\n台北,1200\n高雄,3400\n這裡,1\n"),
        ("cp949", "지역,매출\n서울,1200\n부산에서,3400\n이천,1\n"),
        ("cp1252", "name,ort\nMüller,Köln\nGroß,Düsseldorf\n"),
        ("utf-16", "region,amount\nNord,1\nSüd,2\n"),
        ("utf-8-sig", "region,amount\nSüd,2\n"),
        ("cp1252", "région,montant\nÎle-de-France,12\nRhône,13\nForêt,2\n"),
        ("utf-8", "région,montant\n東京,12\n"),
    ],
)
def test_encodings_of_tables(tmp_path: Path, encoding: str, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    reading = read(path)
    for word in text.replace("\n", ",").split(","):
        assert word in reading.text


def test_preview_of_a_table_is_short_and_exact(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text("name;price;when\nA;12,5;2024-01-02\nB;7,25;2024-01-03\nA;12,5;2024-01-02\nC;;2024-02-01\n")
    assert read(path).text == (
        "sales.csv: 4 rows, 3 columns (delimiter ';'; 1 duplicate rows)\n"
        "name (text, 3 distinct, e.g. A; B; C)\n"
        "price (number with decimal comma, 2 distinct, 1 empty, e.g. 12,5; 7,25)\n"
        "when (date, 3 distinct, e.g. 2024-01-02; 2024-01-03; 2024-02-01)\n"
        "First 3 rows:\nname;price;when\nA;12,5;2024-01-02\nB;7,25;2024-01-03\nA;12,5;2024-01-02\n"
    )


def test_parts_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "n.csv"
    path.write_text("a,b,c\n" + "".join(f"{i},x{i},y\n" for i in range(1, 1001)))
    assert read(path, range="B3:B4").text.splitlines()[1:] == ["b", "x2", "x3"]
    found = read(path, search="x77").text
    assert "12 rows hold" not in found and "77,x77,y" in found and "779,x779,y" in found
    first = read(path, offset=6, max_chars=100)
    assert first.text.startswith("1,x1,y") and len(first.text) <= 100 and first.truncated
    assert "offset=" in first.more


def test_kinds_and_numbers() -> None:
    assert [kind_of_value(v) for v in ("007", "1,234.5", "12,5", "5%", "2024-05-01", "yes", "x", " ", 3, True)] == [
        "text", "number", "number", "number", "date", "bool", "text", "empty", "number", "bool",
    ]  # fmt: skip
    assert parse_number("1.234,5") == 1234.5
    assert parse_number("1,234") == 1234
    assert parse_number("-0.5") == -0.5
    assert parse_number("12a") is None
    assert parse_number("50%") == 0.5


def test_text_is_read_on_to_its_end_without_loss(tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    text = "".join(f"# Heading {i}\n\nSome words of chapter {i}.\n" for i in range(300))
    path.write_text(text)
    got, offset = "", 0
    while True:
        reading = read(path, max_chars=1000, offset=offset)
        got += reading.text
        offset += len(reading.text)
        if not reading.truncated:
            break
    assert got == text
    profile = profile_job({"path": str(path)})
    assert profile.headings[1] == "Heading 1" and profile.words == count_words(text)


def test_search_in_text(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("one\ntwo\nThree\nfour\nfive\n")
    assert read(path, search="three").text == "1 lines hold 'three':\n2: two\n3: Three\n4: four"
    assert "No line holds" in read(path, search="zzz").text


def test_words_of_chinese_text() -> None:
    assert count_words("你好 world, it's 3.5") == 5


def test_json_and_html(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"a": 1, "b": {"c": 2}}, {"a": 2}]')
    assert "list of 2" in read(tmp_path / "a.json").text
    assert profile_job({"path": str(tmp_path / "a.json")}).tables[0].rows == 2
    (tmp_path / "bad.json").write_text("{")
    assert read(tmp_path / "bad.json").problem == "corrupt"
    (tmp_path / "p.html").write_text(
        "<html><head><title>T</title><style>x{}</style></head><body><h1>Head</h1><p>Hello <b>you</b><script>evil()"
        "</script><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table></body></html>"
    )
    text = read(tmp_path / "p.html").text
    assert "# Head" in text and "Hello you" in text and "| 1 | 2 |" in text and "evil" not in text


def test_pictures(tmp_path: Path) -> None:
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (30, 20)).save(tmp_path / "p.jpg", exif=exif)
    assert read(tmp_path / "p.jpg").text == (
        "p.jpg: JPEG picture, 30 x 20 pixels, mode RGB, to be turned for viewing (EXIF orientation 6)"
    )
    (tmp_path / "cut.png").write_bytes(b"\x89PNG\r\n\x1a\n cut")
    assert read(tmp_path / "cut.png").problem == "corrupt"


def test_workbook_values_are_computed_where_there_are_none(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Data 1"
    for row in (["Report 2024"], [], ["item", "qty", "price", "sum"], ["a", 2, 1.5, "=B4*C4"], ["b", 3, 2, "=B5*C5"]):
        sheet.append(row)
    book.create_sheet("Other").append(["x"])
    book.save(tmp_path / "w.xlsx")
    text = read(tmp_path / "w.xlsx").text
    assert "Sheet 'Data 1': 2 rows, 4 columns (header in row 3; 2 formulas, values computed)" in text
    assert "a,2,1.5,3\nb,3,2,6" in text and "D4: =B4*C4" in text and "Sheet 'Other'" in text
    assert "4: a,2,1.5,3 [=B4*C4]" in read(tmp_path / "w.xlsx", sheet="data 1", range="A4:D4").text
    tables = profile_job({"path": str(tmp_path / "w.xlsx")}).tables
    assert [(c.name, c.kind) for c in tables[0].columns] == [
        ("item", "text"), ("qty", "number"), ("price", "number"), ("sum", "number"),
    ]  # fmt: skip


def test_a_workbook_of_the_strict_variant_is_not_called_empty(tmp_path: Path) -> None:
    import zipfile

    import openpyxl

    plain, strict = tmp_path / "p.xlsx", tmp_path / "s.xlsx"
    openpyxl.Workbook().save(plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(strict, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith(("workbook.xml", "workbook.xml.rels")):
                old, new = b"schemas.openxmlformats.org/officeDocument/2006/", b"purl.oclc.org/ooxml/officeDocument/"
                data = data.replace(old, new)
            target.writestr(name, data)
    assert read(strict).problem == "unsupported"
    assert read(plain).problem == ""


def test_presentation(tmp_path: Path) -> None:
    import pptx

    deck = pptx.Presentation()
    for number in (1, 2, 3):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Title {number}"
        slide.placeholders[1].text = f"Point {number}"
        slide.notes_slide.notes_text_frame.text = f"Say {number}"
    deck.save(str(tmp_path / "d.pptx"))
    text = read(tmp_path / "d.pptx", pages="2-3").text
    assert "## Slide 2: Title 2\n- Point 2\nNotes: Say 2" in text and "Title 1" not in text
    assert profile_job({"path": str(tmp_path / "d.pptx")}).headings == ("Title 1", "Title 2", "Title 3")


def test_pdf_pages_and_scans(tmp_path: Path) -> None:
    import matplotlib

    matplotlib.use("pdf")
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure
    from PIL import Image

    with PdfPages(tmp_path / "p.pdf") as pages:
        for number in (1, 2, 3):
            figure = Figure()
            figure.text(0.1, 0.5, f"Words of page {number}")
            pages.savefig(figure)
    text = read(tmp_path / "p.pdf", pages="2").text
    assert "Words of page 2" in text and "page 1" not in text
    assert profile_job({"path": str(tmp_path / "p.pdf")}).pages == 3
    Image.new("RGB", (30, 20)).save(tmp_path / "scan.pdf")
    assert read(tmp_path / "scan.pdf").problem == "no_text_layer"
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.7 nothing more")
    assert read(tmp_path / "bad.pdf").problem == "corrupt"


def test_windows_and_pages() -> None:
    assert window("abc", 0, 3) == ("abc", False)
    assert window("a\n" * 100, 0, 51) == ("a\n" * 25, True)
    assert page_numbers("1,3-5", 4) == [1, 3, 4]
    assert page_numbers("2-", 4) == [2, 3, 4]


def test_options_default() -> None:
    assert ReadOptions().max_chars == 10_000


_CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpus"


@pytest.mark.slow
@pytest.mark.skipif(not _CORPUS.is_dir(), reason="no corpus here")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["csv", "tsv", "xlsx", "docx", "pptx", "pdf", "html", "json", "png", "jpg", "gif"])
def test_every_real_file_is_read_or_refused_with_a_reason(kind: str) -> None:
    files = sorted((_CORPUS / kind).iterdir())
    assert files
    for path in files:
        reading, profile = read(path), profile_job({"path": str(path)})
        assert reading.problem == profile.problem, path.name
        assert reading.problem or reading.text or not profile.words, path.name
        assert len(reading.text) <= 10_000
