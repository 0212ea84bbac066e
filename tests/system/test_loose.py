"""Names as models write them."""

from __future__ import annotations

import pytest

from engine.names import RequestNames
from engine.system.loose import loose_find, loose_key


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Start station", "Start station"),
        ("start_station", "Start station"),
        ("START-STATION", "Start station"),
        ("“Start station”", "Start station"),
        ("Ｓｔａｒｔ　station", "Start station"),
        ("net", "net"),
        ("Net", "Net"),
        ("NET", None),
        ("unit price", None),
        ("UNIT PRICE", None),
        ("strasse", "Straße"),
        ("", None),
        ("_", None),
        ("end", None),
    ],
)
def test_the_only_one_like_it(name: str, found: str | None) -> None:
    names = ["Start station", "net", "Net", "unit_price", "unit-price", "Straße", "_x"]
    assert loose_find(name, names) == found


def test_the_key_is_stable() -> None:
    for text in ("İstanbul - 'x'", "ﬁle_№ 5", "表 – 1", "ǰ̣"):
        assert loose_key(loose_key(text)) == loose_key(text)


@pytest.mark.parametrize(
    ("request_text", "name", "spelling"),
    [
        ("Write a note called largest value.md please", "largest_value.md", "largest value.md"),
        ('Save it as "Largest Value.md".', "largest-value.md", "Largest Value.md"),
        ("Save it as Totals (checked).csv.", "totals_(checked).csv", "Totals (checked).csv"),
        ("保存为结果 表.csv。", "结果_表.csv", "结果 表.csv"),
        ("Both a b.csv and a-b.csv", "a_b.csv", "a_b.csv"),
        ("Both a b.csv and a-b.csv", "a b.csv", "a b.csv"),
        ("Save totals.csvx", "to_tals.csv", "to_tals.csv"),
        ("Make subtotals by kind.csv", "totals_by_kind.csv", "totals_by_kind.csv"),
        ('Put "a" into b.csv', "a_into_b.csv", "a_into_b.csv"),
        ("Nothing named", "new_name.csv", "new_name.csv"),
    ],
)
def test_the_spelling_of_the_request(request_text: str, name: str, spelling: str) -> None:
    assert RequestNames(request_text).spelling(name) == spelling
