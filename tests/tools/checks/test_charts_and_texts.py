"""Charts, notes and briefs: from the wording of the request to the verdict over right and wrong results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest

DATA = [("Oslo", 40, 3), ("Bergen", 15, 9), ("Oslo", 62, 1), ("Tromso", 33, 5), ("Bodo", 8, 2), ("Bergen", 11, 4)]
TOTALS = {"Oslo": 102, "Bergen": 26, "Tromso": 33, "Bodo": 8}
GOOD_NOTE = "# Sales\n\nOslo has the largest total with 102 units.\n"


@pytest.fixture
def cities(tmp_path: Path) -> Path:
    path = tmp_path / "cities.csv"
    path.write_text("city,units,visits\n" + "".join(f"{a},{b},{c}\n" for a, b, c in DATA), encoding="utf-8")
    return path


def draw(path: Path, figures: dict[str, float], style: str = "bar", **options: Any) -> Path:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    path.parent.mkdir(exist_ok=True)
    figure, axes = pyplot.subplots(figsize=options.pop("figsize", (6.4, 4.8)))
    made = getattr(axes, style)(list(figures), list(figures.values()), **options)
    if options.get("edgecolor"):
        axes.bar_label(made)
        axes.grid(axis="y")
    axes.set_title("Units per city")
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
    return path


def note(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


REQUESTS = [
    "Draw a bar chart of total units by city as chart.png and write a Markdown note naming the city with the largest total and its value.",  # noqa: E501
    "Plot the units per city as a bar chart (PNG). Also write a short note in Markdown that says which city has the highest total and how much it is.",  # noqa: E501
    "Make a bar graph that shows the summed units for each city, saved as PNG, plus a .md note stating the largest value.",  # noqa: E501
]


@pytest.mark.parametrize("text", REQUESTS)
def test_chart_and_note(bench: Callable[..., Any], cities: Path, tmp_path: Path, text: str) -> None:
    asked = bench(text, cities)
    chart, text_file = tmp_path / "out" / "chart.png", tmp_path / "out" / "note.md"
    assert asked.unsettled == []
    assert asked.judge(draw(chart, TOTALS), note(text_file, GOOD_NOTE)) == ("pass", set())
    raw = {f"{i}": float(row[1]) for i, row in enumerate(DATA)}
    overlaid = {"Oslo": 62.0, "Bergen": 15.0, "Tromso": 33.0, "Bodo": 8.0}
    visits = {"Oslo": 4.0, "Bergen": 13.0, "Tromso": 9.0, "Bodo": 2.0}
    for figures, code in (
        (raw, "chart.bar_count"),
        (overlaid, "chart.heights_wrong"),
        (visits, "chart.heights_wrong"),
        ({}, "chart.heights_wrong"),
    ):
        status, codes = asked.judge(draw(chart, figures), text_file)
        assert status != "pass" and (code in codes or not figures), (figures, codes)
    draw(chart, TOTALS)
    for wrong, code in (
        ("Tromso has the largest total with 33 units.", "note.extreme_wrong"),
        ("Oslo has the largest total with 62 units.", "note.value_wrong"),
        ("The chart shows the largest values by city.", "note.extreme_wrong"),
        ("The smallest is Oslo, the largest is Bodo with 102.", "note.extreme_wrong"),
        ("Largest value: 102", "note.extreme_wrong"),
    ):
        status, codes = asked.judge(chart, note(text_file, wrong))
        assert status == "fail" and code in codes, (wrong, status, codes)


@pytest.mark.parametrize(
    "good",
    [
        "The city with the highest total is **Oslo** (102).",
        "Highest total: Oslo with 102.00 units",
        "## Result\n\n- Largest city: Oslo\n- Value: 102\n",
        "Oslo leads with 102 units, ahead of Tromso with 33. The smallest is Bodo with 8.",
        "| city | units |\n|---|---|\n| Oslo | 102 |\n| Bodo | 8 |\n\nThe top city is Oslo at 102 units, followed by Tromso.",  # noqa: E501
    ],
)
def test_notes_in_other_words(bench: Callable[..., Any], cities: Path, tmp_path: Path, good: str) -> None:
    asked = bench(REQUESTS[0], cities)
    chart = draw(tmp_path / "out" / "chart.png", TOTALS)
    assert asked.judge(chart, note(tmp_path / "out" / "note.md", good)) == ("pass", set())


@pytest.mark.parametrize(
    ("style", "options"),
    [
        ("barh", {}),
        ("bar", {"color": ["red", "green", "#1f77b4", "orange"]}),
        ("bar", {"color": "#4c72b0", "edgecolor": "black"}),
        ("bar", {"figsize": (14, 8), "width": 0.5}),
        ("barh", {"color": "teal", "figsize": (8, 3)}),
        ("bar", {"color": "gray"}),
    ],
)
def test_charts_of_many_looks(
    bench: Callable[..., Any], cities: Path, tmp_path: Path, style: str, options: dict[str, Any]
) -> None:
    asked = bench(REQUESTS[0], cities)
    chart = draw(tmp_path / "out" / "chart.png", TOTALS, style, **options)
    assert asked.judge(chart, note(tmp_path / "out" / "note.md", GOOD_NOTE)) == ("pass", set())


def test_a_blank_chart_fails(bench: Callable[..., Any], cities: Path, tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "out" / "chart.png"
    path.parent.mkdir()
    Image.new("RGB", (640, 480), "white").save(path)
    status, codes = bench(REQUESTS[0], cities).judge(path, note(tmp_path / "out" / "note.md", GOOD_NOTE))
    assert status == "fail" and "chart.blank" in codes


REPORT = """Harbour Bridge Renewal: Status Report
1. Overview
The Harbour Bridge renewal replaces the deck of the bridge. The project lead is Maria Lindqvist. Work started on 3 March 2025.
2. Budget
The approved budget is EUR 2,450,000. By June the project had spent EUR 1,310,500, which is 53.5 percent of the budget.
3. Schedule
The deadline for reopening the bridge is 30 September 2026. The project runs two weeks late because of steel deliveries.
4. Risks
The main risk is the price of steel, which rose by 12 percent. A second risk is high water in spring.
5. Next steps
The bridge deck will be welded in July. The city council decides on the reserve of EUR 150,000 on 14 August 2025.
"""  # noqa: E501
GOOD_BRIEF = [
    "Harbour Bridge Renewal: Brief",
    "The project renews the deck of the Harbour Bridge under the project lead Maria Lindqvist.",
    "The approved budget is EUR 2.45 million; EUR 1,310,500 (53.5%) is spent.",
    "The deadline for reopening is September 30, 2026. The project is two weeks late because of steel deliveries.",
    "Main risk: the price of steel, up 12%.",
]
BRIEFS = [
    "Write a one-page brief in Word about the attached report. Include the budget, the deadline and the project lead.",
    "Summarise report.txt in a Word document of at most one page. It must mention the total budget, the deadline and the main risk.",  # noqa: E501
    "Create a brief of no more than one page as a .docx file; cover the budget, the deadline and the name of the project lead. Do not invent any numbers.",  # noqa: E501
]


def brief(path: Path, paragraphs: list[str]) -> Path:
    path.parent.mkdir(exist_ok=True)
    document = docx.Document()
    document.add_heading(paragraphs[0], 0)
    for paragraph in paragraphs[1:]:
        document.add_paragraph(paragraph)
    document.save(str(path))
    return path


@pytest.mark.parametrize("text", BRIEFS)
def test_brief(bench: Callable[..., Any], tmp_path: Path, text: str) -> None:
    source = tmp_path / "report.txt"
    source.write_text(REPORT, encoding="utf-8")
    out = tmp_path / "out" / "brief.docx"
    asked = bench(text, source)
    assert asked.unsettled == []
    assert asked.judge(brief(out, GOOD_BRIEF)) == ("pass", set())
    no_deadline = [p for p in GOOD_BRIEF if "deadline" not in p]
    invented = [*GOOD_BRIEF, "The bridge carries 48,000 cars each day."]
    wrong_budget = [p.replace("2.45 million", "2.54 million").replace("1,310,500", "1,301,500") for p in GOOD_BRIEF]
    wrong_date = [p.replace("September 30", "October 30") for p in GOOD_BRIEF]
    for paragraphs, code in (
        (no_deadline, "brief.item_missing"),
        (invented, "brief.figure_invented"),
        (wrong_budget, "brief.figure_invented"),
        (wrong_date, "brief.figure_invented"),
        ([GOOD_BRIEF[0], "See the report."], "brief.too_little"),
        (
            [
                *GOOD_BRIEF,
                *(
                    ["The bridge deck will be welded, and the steel of the project is delivered to the harbour. " * 8]
                    * 8
                ),
            ],
            "text.too_long",
        ),
        (
            [
                "Cats",
                "Cats are small animals that sleep a lot and like to play with wool, and they are kept by many people all over the world in houses and flats.",  # noqa: E501
            ],
            "brief.off_topic",
        ),
    ):
        status, codes = asked.judge(brief(out, paragraphs))
        assert status == "fail" and code in codes, (code, status, codes)


def test_lines_broken_by_the_page_and_items_in_other_words(bench: Callable[..., Any], tmp_path: Path) -> None:
    source = tmp_path / "report.txt"
    source.write_text(
        REPORT.replace("reopening the bridge is", "reopening the bridge over the whole harbour is\n"), encoding="utf-8"
    )
    out = brief(tmp_path / "out" / "brief.docx", GOOD_BRIEF)
    assert bench(BRIEFS[0], source).judge(out)[0] == "pass"
    other = bench("Write a one-page brief in Word. Include the budget and the postal zone.", source)
    assert other.judge(out)[0] == "unknown"
