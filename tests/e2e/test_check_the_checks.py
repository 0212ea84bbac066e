"""The checks on a few seeds: right answers are verified, wrong ones are not; see ``check_the_checks.py`` for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.clauses import split_clauses
from tests.e2e.check_the_checks import explain, measure
from tests.e2e.generator import KINDS, Kind
from tools.checks.items import asked_items
from tools.checks.naming import file_spots


@pytest.mark.parametrize("kind", KINDS)
async def test_right_is_verified_and_wrong_is_not(kind: Kind, tmp_path: Path) -> None:
    outcomes = await measure(kind, 4, tmp_path)
    assert {outcome.variant.right for outcome in outcomes} == {True, False}
    assert not [explain(outcome) for outcome in outcomes if not outcome.as_it_should_be]
    assert not [outcome.variant.name for outcome in outcomes if not outcome.agreed]


async def test_exam_seeds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="final score"):
        await measure("brief", 100, tmp_path)


@pytest.mark.parametrize(
    ("text", "given", "names"),
    [
        ('call it "summary by group.xlsx".', (), ["summary by group.xlsx"]),
        ('From "Solar Panels for Three Schools" make a brief', ("Solar Panels for Three Schools.pdf",), ["Solar Panels for Three Schools.pdf"]),  # noqa: E501
        ("save the result as clean copy.xlsx.", (), ["clean copy.xlsx"]),
        ("save it as an Excel file totals.xlsx", (), ["totals.xlsx"]),
        ("Word (.docx named 简报.docx)", (), ["简报.docx"]),
        ("take festival tickets.csv and write total.csv", ("festival tickets.csv",), ["festival tickets.csv", "total.csv"]),  # noqa: E501
    ],
)  # fmt: skip
def test_file_names(text: str, given: tuple[str, ...], names: list[str]) -> None:
    assert [spot.name for spot in file_spots(text, given)] == names


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Our loans are in loans.csv.", False),
        ("Totals of income per venue as xlsx", True),
        ("I have no time to read the report.", False),
        ("The result has to have two columns.", True),
        ('The sheet "Data" has repeated rows.', False),
    ],
)
def test_statements_ask_for_nothing(text: str, asks: bool) -> None:
    assert [clause.asks for clause in split_clauses(text)] == [asks]


def test_quoted_words_are_not_split() -> None:
    assert len(split_clauses('Write the totals into "list and sum. Note.csv".')) == 1


@pytest.mark.parametrize(
    "text",
    [
        "The points I need are the deadline, the location of the office and the next step.",
        "Don't leave out the deadline, the location of the office and the next step",
        "Give me one page: what it is about, and the deadline, the location of the office and the next step.",
        "for my manager, who wants to know the deadline, the location of the office and the next step.",
    ],
)
def test_items_in_their_own_words(text: str) -> None:
    assert asked_items(text) == ["deadline", "location of the office", "next step"]
