from __future__ import annotations

import random
from pathlib import Path

import pytest

from models.repetition import RepetitionWatch, repeating_tail


def stopped_at(text: str, piece: int) -> int | None:
    watch = RepetitionWatch()
    for start in range(0, len(text), piece):
        if watch.feed(text[start : start + piece]):
            return start + piece
    return None


LOOPS = {
    "lines": "print(df.head())\n" * 100,
    "indented lines": "    total += 1\n\n" * 100,
    "newlines": "\n" * 2000,
    "white space": "{\n" + " \t\n" * 900,
    "words": "and the " * 300,
    "digits": "1000" + "0" * 2000,
    "paragraph": ("We look at the data. Then we sum up. " * 3 + "\n") * 30,
    "cells": "| 0 | " * 400,
}


@pytest.mark.parametrize("piece", [1, 7, 400])
@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_stopped_soon(name: str, piece: int) -> None:
    end = stopped_at("Here is my plan.\n" + LOOPS[name], piece)
    assert end is not None
    assert end < 1700


def test_sensible_text_passes(pytestconfig: pytest.Config) -> None:
    numbers = random.Random(7)
    table = "name,amount\n" + "\n".join(f"row {i},{numbers.randint(0, 99)}" for i in range(300))
    ruler = "Title\n" + "=" * 120 + "\n" + "-" * 120 + "\n"
    markdown = "| a | b |\n|---|---|\n" + "".join(f"| {i} | {i * i} |\n" for i in range(200))
    few_equal = "0,0,0\n" * 15
    code = Path(__file__).read_text(encoding="utf-8")
    deep = "if x:\n" + " " * 80 + "y = 1\n"
    for text in (table, ruler, markdown, few_equal, code, deep):
        for piece in (1, 5, 1000):
            assert stopped_at(text, piece) is None


def test_a_long_period_needs_many_repeats() -> None:
    passage = "".join(chr(97 + i % 26) + str(i) for i in range(60))
    assert not repeating_tail(passage * 5)
    assert repeating_tail(passage * 12)
