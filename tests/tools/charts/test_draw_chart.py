"""Charts that the program draws, held against the check that measures pictures."""

from __future__ import annotations

import csv
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from engine.protocol.documents import CheckFiles
from engine.protocol.errors import ModelError
from tools.charts.draw_chart import DrawChart, DrawChartArguments
from tools.charts.drawing import draw
from tools.charts.figures import chart_figures_job
from tools.checks import chart as check
from tools.compute.interpreter_env import interpreter_env
from tools.documents.pool import DocumentPool
from tools.inspectors.bars import find_bars, load
from tools.sandbox.probe import choose_sandbox


def table(folder: Path, figures: dict[str, float], name: str = "stock list.csv") -> Path:
    path = folder / name
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["Warehouse", "Pieces on hand"])
        for label, value in figures.items():
            # two rows of a group, so that there is something to add up
            writer.writerow([label, value - 1])
            writer.writerow([label, 1])
    return path


def drawn(source: Path, target: Path, **wish: Any) -> dict[str, Any]:
    wish = {"kind": "bar", "x": "Warehouse", "y": "Pieces on hand", **wish}
    figures = chart_figures_job({"path": str(source), **wish})
    assert draw({**figures, "kind": wish["kind"], "title": "", "target": str(target)}) == ""
    return figures


def measured(source: Path, target: Path) -> str:
    params = {
        "source": source.name,
        "sheet": "",
        "groups": ["Warehouse"],
        "values": ["Pieces on hand"],
        "ops": ["sum"],
        "file": target.name,
    }
    files = CheckFiles(sources={source.name: str(source)}, deliverables={target.name: str(target)})
    return check.run(params, files).status


@pytest.mark.parametrize(
    ("count", "kind"),
    [*((count, "bar") for count in (1, 2, 3, 12, 26, 40)), *((count, "barh") for count in (1, 15, 40))],
)
def test_bars_are_as_long_as_their_figures(tmp_path: Path, count: int, kind: str) -> None:
    figures = {f"Long name of warehouse {n} (north)": 40.0 + (n * 37) % 101 * 7.25 for n in range(count)}
    source, target = table(tmp_path, figures), tmp_path / "c.png"
    drawn(source, target, kind=kind)
    assert measured(source, target) == "pass"
    wrong = table(tmp_path, {label: 900.0 - value / 2 for label, value in figures.items()}, "other.csv")
    if count > 1:
        assert measured(wrong, target) == "fail"


def test_equal_bars_and_a_tiny_one(tmp_path: Path) -> None:
    for number, figures in enumerate(
        ({f"W{n}": 50.0 for n in range(40)}, {f"W{n}": 50.0 for n in range(6)}, {"A": 9000.0, "B": 250.5, "C": 4000.0})
    ):
        source, target = table(tmp_path, figures, f"{number}.csv"), tmp_path / f"{number}.png"
        drawn(source, target)
        assert measured(source, target) == "pass", number


def test_negative_figures_are_drawn_below_the_line(tmp_path: Path) -> None:
    source, target = table(tmp_path, {"A": 40.0, "B": -20.0, "C": 30.0}), tmp_path / "c.png"
    drawn(source, target)
    assert measured(source, target) == "unknown"  # the check does not measure below zero
    pixels = load(target).astype(int)
    teal = (abs(pixels - [15, 118, 110]).max(axis=2) < 12).any(axis=0)
    starts = int((teal[1:] & ~teal[:-1]).sum())
    assert starts == 3


def test_order_and_top(tmp_path: Path) -> None:
    source, target = table(tmp_path, {"A": 40.0, "B": 90.0, "C": 65.0, "D": 5.0}), tmp_path / "c.png"
    made = drawn(source, target, sort="-value", top=3)
    assert (made["labels"], made["values"], made["of"]) == (["B", "C", "A"], [90, 65, 40], 4)
    lengths = find_bars(load(target)).lengths
    assert len(lengths) == 3 and lengths[0] > lengths[1] > lengths[2]
    assert drawn(source, target, sort="label")["labels"] == ["A", "B", "C", "D"]
    assert made["extremes"] == "Largest: B with 90. Smallest: A with 40."


@pytest.mark.parametrize("kind", ["line", "pie", "scatter"])
def test_other_kinds_are_not_blank(tmp_path: Path, kind: str) -> None:
    source, target = tmp_path / "p.csv", tmp_path / "c.png"
    source.write_text("year,Price ($)\n2021,3\n2022,4.5\n2023,4\n", encoding="utf-8")
    figures = chart_figures_job({"path": str(source), "x": "year", "y": "Price ($)", "kind": kind, "how": "none"})
    draw({**figures, "kind": kind, "title": "Price $a$ _b_", "target": str(target)})
    pixels = load(target).astype(int)
    assert pixels.shape == (1000, 1600, 3)
    assert (abs(pixels - [15, 118, 110]).max(axis=2) < 12).sum() > 200


def test_counts_empty_labels_and_refusals(tmp_path: Path) -> None:
    source = tmp_path / "p.csv"
    source.write_text("kind,size\na,-1\n,2\na,x\n", encoding="utf-8")
    made = chart_figures_job({"path": str(source), "x": "kind", "how": "count"})
    assert (made["labels"], made["texts"]) == (["a", "(empty)"], ["2", "1"])
    for wish, words in (
        ({"x": "kind"}, "y is empty"),
        ({"x": "kind", "y": "kind"}, "holds no numbers"),
        ({"x": "kind", "y": "size", "kind": "scatter"}, "two number columns"),
        ({"x": "kind", "y": "size", "kind": "pie"}, "negative"),
        ({"x": "colour", "y": "size"}, "columns are: kind, size"),
    ):
        with pytest.raises(ModelError, match=words):
            chart_figures_job({"path": str(source), **wish})


@pytest.fixture
async def context(tmp_path: Path) -> AsyncIterator[Any]:
    workspace = tmp_path / "work space"
    workspace.mkdir()
    interpreter = await interpreter_env(tmp_path / "cache")
    sandbox = await choose_sandbox(tmp_path / "probe", interpreter)
    async with DocumentPool(sandbox, readable=(workspace,), scratch=tmp_path / "scratch") as documents:
        yield SimpleNamespace(
            workspace=workspace,
            outputs=tmp_path / "outputs",
            documents=documents,
            sandbox=sandbox,
            interpreter=interpreter,
            time_left_s=60.0,
            resolve=lambda name: workspace / name,
            target=lambda name: workspace / name,
        )


@pytest.mark.processes
async def test_the_tool_draws_in_the_sandbox(context: Any) -> None:
    source = table(context.workspace, {"North 'A'": 12.5, 'South "B"': 30.0})
    arguments = msgspec.convert(DrawChart.spec.example | {"y": "Pieces on hand"}, DrawChartArguments)
    result = await DrawChart().run(arguments, context)
    assert result.text == (
        "Wrote pieces by warehouse.png: bar chart of Pieces on hand (sum) by Warehouse, 2 bars.\n"
        "Largest: South \"B\" with 30. Smallest: North 'A' with 12.5.\n"
        "North 'A': 12.5\nSouth \"B\": 30"
    )
    assert measured(source, context.workspace / "pieces by warehouse.png") == "pass"
    assert sorted(path.name for path in context.workspace.iterdir()) == ["pieces by warehouse.png", "stock list.csv"]
    with pytest.raises(ModelError, match="png"):
        await DrawChart().run(msgspec.structs.replace(arguments, output="c.pdf"), context)
