"""The typed tools, given right arguments, make what the judge of the end-to-end score holds right."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from tests.e2e.generator import Case, Kind, make_case
from tests.e2e.judge import judge
from tools.charts.drawing import draw
from tools.charts.figures import chart_figures_job
from tools.table.aggregating import aggregate_job
from tools.table.editing import edit_table_job

SEEDS = (1, 2, 3, 4)


def edit(case: Case, out: Path) -> list[Path]:
    source = case.attachments[0]
    target = out / case.names.get(".xlsx", source.name)
    old = [cell.value for cell in openpyxl.load_workbook(source)[case.sheet][1]]
    rename = {was: new for was, new in zip(old, case.header, strict=True) if was != new}
    operations = {"rename": rename, "drop_duplicates": True}
    edit_table_job({"path": str(source), "target": str(target), "sheet": case.sheet, "operations": operations})
    return [target]


def totals(case: Case, out: Path) -> list[Path]:
    suffix = ".csv" if case.kind == "totals_csv" else ".xlsx"
    target = out / case.names.get(suffix, f"answer{suffix}")
    aggregate_job(
        {
            "path": str(case.attachments[0]),
            "target": str(target),
            "group_by": [case.group],
            "values": [case.measure],
            "total_row": "formula",
        }
    )
    return [target]


def chart(case: Case, out: Path) -> list[Path]:
    picture, note = out / case.names.get(".png", "answer.png"), out / case.names.get(".md", "answer.md")
    figures = chart_figures_job({"path": str(case.attachments[0]), "x": case.group, "y": case.measure})
    draw({**figures, "kind": "bar", "title": "", "target": str(picture)})
    note.write_text(figures["extremes"] + "\n", encoding="utf-8")
    return [picture, note]


SOLVERS = {"table_edit": edit, "totals_csv": totals, "totals_xlsx": totals, "chart": chart}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", SOLVERS)
def test_right_arguments_make_right_files(kind: Kind, seed: int, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    case = make_case(kind, seed, tmp_path / "in")
    judgement = judge(case, SOLVERS[kind](case, tmp_path / "out"))
    assert judgement.right, judgement.reasons
    assert not judgement.notes
