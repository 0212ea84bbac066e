"""Plain solutions of every kind of case, to try the judge on."""

from __future__ import annotations

from pathlib import Path

import docx
import openpyxl

from tests.e2e.generator import Case


def solve(case: Case, out: Path) -> list[Path]:
    """Write a correct answer into `out` and give its files."""
    solvers = {
        "totals_csv": totals_csv,
        "totals_xlsx": totals_xlsx,
        "brief": brief,
        "table_edit": table_edit,
        "chart": chart,
    }
    return solvers[case.kind](case, out)


def totals_csv(case: Case, out: Path) -> list[Path]:
    import pandas as pd

    path = out / case.names.get(".csv", "answer.csv")
    frame = pd.read_csv(case.attachments[0])
    frame.groupby(case.group)[case.measure].sum().reset_index().to_csv(path, index=False)
    return [path]


def totals_xlsx(case: Case, out: Path) -> list[Path]:
    import pandas as pd

    path = out / case.names.get(".xlsx", "answer.xlsx")
    sums = pd.read_csv(case.attachments[0]).groupby(case.group)[case.measure].sum()
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([case.group, case.measure])
    for name, value in sums.items():
        sheet.append([name, float(value)])
    sheet.append(["Total", f"=SUM(B2:B{len(sums) + 1})"])
    book.save(path)
    return [path]


def brief(case: Case, out: Path) -> list[Path]:
    path = out / case.names.get(".docx", "answer.docx")
    document = docx.Document()
    document.add_heading("Brief", 1)
    document.add_paragraph(
        "The committee asked for a paper that sums up the reasons, the plan and the means of the undertaking, so "
        "that all "
        "concerned can read it. The present state has been criticised for years, and repairs were put off because "
        "money was "
        "short. Work is done in sections so that the place can stay in use, and the committee hears about progress "
        "monthly."
    )
    for item in case.items:
        document.add_paragraph(item.sentence, style="List Bullet")
    document.save(str(path))
    return [path]


def table_edit(case: Case, out: Path) -> list[Path]:
    path = out / case.names.get(".xlsx", case.attachments[0].name)
    book = openpyxl.load_workbook(case.attachments[0])
    sheet = book[case.sheet]
    sheet.delete_rows(1, sheet.max_row)
    sheet.append(list(case.header))
    for row in case.rows:
        sheet.append(list(row))
    book.save(path)
    return [path]


def chart(case: Case, out: Path) -> list[Path]:
    from matplotlib.figure import Figure

    picture = out / case.names.get(".png", "answer.png")
    note = out / case.names.get(".md", "answer.md")
    figure = Figure()
    axes = figure.subplots()
    axes.bar(list(case.totals), list(case.totals.values()))
    figure.savefig(picture)
    best = max(case.totals, key=lambda name: case.totals[name])
    note.write_text(f"# Note\n\nThe largest is {best} with {case.totals[best]:.2f}.\n", encoding="utf-8")
    return [picture, note]
