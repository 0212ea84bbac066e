"""Right answers in other styles and wrong answers of the usual sorts, made in plain code, to try the checks on."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import docx
import msgspec
import openpyxl

from tests.e2e.generator import Case
from tests.e2e.solutions import solve


class Variant(msgspec.Struct, frozen=True):
    """One answer.

    Attributes:
        name: what is particular about it.
        right: whether it answers the request.
        files: where it lies.
        judged: whether the judge, too, can tell; it looks less closely at pictures and at extra columns.
    """

    name: str
    right: bool
    files: tuple[Path, ...]
    judged: bool = True


Make = Callable[[Case, Path], list[Path] | None]


def variants(case: Case, folder: Path) -> Iterator[Variant]:
    """Answers to a case, each in a folder of its own; those that do not fit the case are left out."""
    plain = _fresh(folder, "plain")
    yield Variant("plain", True, tuple(solve(case, plain)))
    for name, right, judged, make in _MAKERS[case.kind]:
        place = _fresh(folder, name)
        files = make(case, place)
        if files is not None:
            yield Variant(name, right, tuple(files), judged)


def _fresh(folder: Path, name: str) -> Path:
    place = folder / name.replace(" ", "_")
    if place.exists():
        shutil.rmtree(place)
    place.mkdir(parents=True)
    return place


def _renamed(suffix: str) -> Make:
    def make(case: Case, out: Path) -> list[Path] | None:
        if suffix not in case.names:
            return None
        files = solve(case, out)
        at = next(index for index, path in enumerate(files) if path.suffix == suffix)
        files[at] = files[at].rename(out / f"another name{suffix}")
        return files

    return make


# --- totals ----------------------------------------------------------------------------------------------------------


def _sums(case: Case, column: str = "", how: str = "sum") -> list[tuple[str, float]]:
    import pandas as pd

    made = getattr(pd.read_csv(case.attachments[0]).groupby(case.group)[column or case.measure], how)()
    return [(str(name), float(value)) for name, value in made.items()]


def _other_number(case: Case) -> str:
    import pandas as pd

    frame = pd.read_csv(case.attachments[0])
    return str([c for c in frame.columns[1:] if c != case.measure and pd.api.types.is_numeric_dtype(frame[c])][-1])


def _csv(case: Case, out: Path, header: list[str], rows: list[list[Any]]) -> list[Path]:
    import csv

    path = out / case.names.get(".csv", "answer.csv")
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows] if header else rows)
    return [path]


def _xlsx(case: Case, out: Path, rows: list[list[Any]], title: str = "Sheet") -> list[Path]:
    path = out / case.names.get(".xlsx", "answer.xlsx")
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = title
    for row in rows:
        sheet.append(row)
    book.save(path)
    return [path]


def _as_csv(change: Callable[[Case, list[tuple[str, float]]], list[list[Any]] | None], header: bool = True) -> Make:
    def make(case: Case, out: Path) -> list[Path] | None:
        rows = change(case, _sums(case))
        return None if rows is None else _csv(case, out, [case.group, case.measure] if header else [], rows)

    return make


def _as_xlsx(change: Callable[[Case, list[tuple[str, float]]], list[list[Any]]], total: str | None = "SUM") -> Make:
    def make(case: Case, out: Path) -> list[Path]:
        rows = change(case, _sums(case))
        end = len(rows) + 1
        value = {"SUM": f"=SUM(B2:B{end})", "short": f"=SUM(B3:B{end})", "value": sum(row[1] for row in rows)}
        last = [["Total", value[total]]] if total else []
        return _xlsx(case, out, [[case.group, case.measure], *rows, *last])

    return make


def _plain(case: Case, sums: list[tuple[str, float]]) -> list[list[Any]]:
    return [[name, value] for name, value in sums]


def _two_decimals(case: Case, sums: list[tuple[str, float]]) -> list[list[Any]]:
    return [[name, round(value, 2)] for name, value in sums]


def _by_size(case: Case, sums: list[tuple[str, float]]) -> list[list[Any]]:
    return [[name, value] for name, value in sorted(sums, key=lambda item: -item[1])]


def _one_off(case: Case, sums: list[tuple[str, float]]) -> list[list[Any]]:
    return [[name, value + (0.05 if index == 1 else 0)] for index, (name, value) in enumerate(sums)]


def _one_missing(case: Case, sums: list[tuple[str, float]]) -> list[list[Any]]:
    return [[name, value] for name, value in sums[:-1]]


def _swapped(case: Case, sums: list[tuple[str, float]]) -> list[list[Any]]:
    return [[sums[1 - i][0] if i < 2 else name, value] for i, (name, value) in enumerate(sums)]


def _averages(case: Case, sums: list[tuple[str, float]]) -> list[list[Any]]:
    return [[name, value] for name, value in _sums(case, how="mean")]


def _counts(case: Case, sums: list[tuple[str, float]]) -> list[list[Any]]:
    return [[name, value] for name, value in _sums(case, how="count")]


def _other_column(case: Case, sums: list[tuple[str, float]]) -> list[list[Any]]:
    return [[name, value] for name, value in _sums(case, _other_number(case))]


def _twice(case: Case, sums: list[tuple[str, float]]) -> list[list[Any]]:
    return [[sums[0][0], sums[0][1]], *([name, value] for name, value in sums)]


def _values_only(case: Case, out: Path) -> list[Path]:
    return _csv(case, out, [case.measure], [[value] for _, value in _sums(case)])


def _other_header(case: Case, out: Path) -> list[Path]:
    return _csv(case, out, [case.group.lower(), f"Total {case.measure}"], [[n, v] for n, v in _sums(case)])


def _total_below(case: Case, sums: list[tuple[str, float]]) -> list[list[Any]]:
    return [*([name, value] for name, value in sums), ["Total", sum(value for _, value in sums)]]


def _wrong_total_below(case: Case, sums: list[tuple[str, float]]) -> list[list[Any]]:
    return [*([name, value] for name, value in sums), ["Total", sum(value for _, value in sums) + 3]]


def _third_column(case: Case, out: Path) -> list[Path] | None:
    """Where the request says that only those two columns are wanted."""
    if "only need those two" not in case.request:
        return None
    return _csv(case, out, [case.group, case.measure, "rows"], [[n, v, 7] for n, v in _sums(case)])


def _source_copied(case: Case, out: Path) -> list[Path]:
    path = out / case.names.get(".csv", "answer.csv")
    shutil.copy(case.attachments[0], path)
    return [path]


def _workbook_instead(case: Case, out: Path) -> list[Path]:
    return _xlsx(case, out, [[case.group, case.measure], *([n, v] for n, v in _sums(case))])


def _total_of_source(case: Case, out: Path) -> list[Path]:
    """A right sum, but of a number of its own instead of the rows."""
    sums = _sums(case)
    return _xlsx(
        case, out, [[case.group, case.measure], *([n, v] for n, v in sums), ["Total", f"={sum(v for _, v in sums)!r}"]]
    )


def _titled_sheet(case: Case, out: Path) -> list[Path]:
    sums = _sums(case)
    rows: list[list[Any]] = [[case.group.title(), f"Sum of {case.measure}"], *([n, round(v, 3)] for n, v in sums)]
    return _xlsx(case, out, [*rows, ["Grand total", f"=SUM(B2:B{len(sums) + 1})"]], "Summary")


def _plus_chain(case: Case, out: Path) -> list[Path]:
    sums = _sums(case)
    rows: list[list[Any]] = [[case.group, case.measure], *([n, v] for n, v in sums)]
    return _xlsx(case, out, [*rows, ["TOTAL", "=" + "+".join(f"B{i + 2}" for i in range(len(sums)))]])


def _live_groups(case: Case, out: Path) -> list[Path]:
    """The data on a sheet of its own, every figure a formula."""
    import pandas as pd

    frame = pd.read_csv(case.attachments[0])
    path = out / case.names.get(".xlsx", "answer.xlsx")
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "Totals"
    data = book.create_sheet("Data")
    data.append(list(frame.columns))
    for row in frame.itertuples(index=False):
        data.append([None if pd.isna(cell) else cell for cell in row])
    letters = {name: openpyxl.utils.get_column_letter(i) for i, name in enumerate(frame.columns, 1)}
    g, m, end = letters[case.group], letters[case.measure], len(frame) + 1
    sheet.append([case.group, case.measure])
    for name in case.totals:
        here = sheet.max_row + 1
        sheet.append([name, f"=SUMIF(Data!${g}$2:${g}${end},A{here},Data!${m}$2:${m}${end})"])
    sheet.append(["Total", f"=SUM(B2:B{sheet.max_row})"])
    book.save(path)
    return [path]


# --- table edits -----------------------------------------------------------------------------------------------------


def _edited(change: Callable[[Case, Any], None]) -> Make:
    def make(case: Case, out: Path) -> list[Path]:
        files = solve(case, out)
        book = openpyxl.load_workbook(files[0])
        change(case, book)
        book.save(files[0])
        return files

    return make


def _cell_changed(case: Case, book: Any) -> None:
    book[case.other_sheet]["B3"] = 99.99


def _formula_flattened(case: Case, book: Any) -> None:
    book[case.other_sheet]["C2"] = 1.5


def _sheet_gone(case: Case, book: Any) -> None:
    del book[case.other_sheet]


def _format_gone(case: Case, book: Any) -> None:
    from openpyxl.styles import Font, PatternFill

    for cell in book[case.other_sheet][1]:
        cell.font, cell.fill = Font(), PatternFill()


def _rename_missing(case: Case, book: Any) -> None:
    source = openpyxl.load_workbook(case.attachments[0])[case.sheet]
    at = next(i for i, name in enumerate(case.header, 1) if source.cell(1, i).value != name)
    book[case.sheet].cell(1, at).value = source.cell(1, at).value


def _renames_swapped(case: Case, book: Any) -> None:
    source = openpyxl.load_workbook(case.attachments[0])[case.sheet]
    a, b = [i for i, name in enumerate(case.header, 1) if source.cell(1, i).value != name]
    sheet = book[case.sheet]
    sheet.cell(1, a).value, sheet.cell(1, b).value = case.header[b - 1], case.header[a - 1]


def _name_misspelt(case: Case, book: Any) -> None:
    source = openpyxl.load_workbook(case.attachments[0])[case.sheet]
    at = next(i for i, name in enumerate(case.header, 1) if source.cell(1, i).value != name)
    book[case.sheet].cell(1, at).value = case.header[at - 1].upper() + "_"


def _one_duplicate_left(case: Case, book: Any) -> None:
    book[case.sheet].append(list(case.rows[0]))


def _row_lost(case: Case, book: Any) -> None:
    book[case.sheet].delete_rows(5)


def _value_changed(case: Case, book: Any) -> None:
    at = next(i for i, cell in enumerate(case.rows[3], 1) if i > 1 and isinstance(cell, int | float))
    book[case.sheet].cell(5, at).value += 1


def _rows_sorted(case: Case, book: Any) -> None:
    sheet = book[case.sheet]
    for number, row in enumerate(reversed(case.rows), 2):
        for column, cell in enumerate(row, 1):
            sheet.cell(number, column).value = cell


def _dates_as_text(case: Case, book: Any) -> None:
    for row in book[case.sheet].iter_rows(min_row=2):
        for cell in row:
            if isinstance(cell.value, dt.datetime):
                cell.value = cell.value.strftime("%d.%m.%y")


def _duplicates_left(case: Case, out: Path) -> list[Path]:
    path = out / case.names.get(".xlsx", case.attachments[0].name)
    book = openpyxl.load_workbook(case.attachments[0])
    for index, name in enumerate(case.header, 1):
        book[case.sheet].cell(1, index).value = name
    book.save(path)
    return [path]


def _one_sheet_only(case: Case, out: Path) -> list[Path]:
    """As a script does that reads one sheet and writes it back."""
    path = out / case.names.get(".xlsx", case.attachments[0].name)
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = case.sheet
    for row in [case.header, *case.rows]:
        sheet.append(list(row))
    book.save(path)
    return [path]


def _untouched(case: Case, out: Path) -> list[Path]:
    path = out / case.names.get(".xlsx", case.attachments[0].name)
    shutil.copy(case.attachments[0], path)
    return [path]


def _by_delete(case: Case, out: Path) -> list[Path]:
    """In place, row by row from below."""
    path = out / case.names.get(".xlsx", case.attachments[0].name)
    book = openpyxl.load_workbook(case.attachments[0])
    sheet = book[case.sheet]
    seen: set[tuple[Any, ...]] = set()
    twice = []
    for number, row in enumerate(sheet.iter_rows(min_row=2, values_only=True), 2):
        if row in seen:
            twice.append(number)
        seen.add(row)
    for number in reversed(twice):
        sheet.delete_rows(number)
    for index, name in enumerate(case.header, 1):
        sheet.cell(1, index).value = name
    book.save(path)
    return [path]


# --- charts ----------------------------------------------------------------------------------------------------------


def _drawn(values: Callable[[Case], dict[str, float]] | None = None, **style: Any) -> Make:
    def make(case: Case, out: Path) -> list[Path]:
        files = solve(case, out)
        draw(values(case) if values else case.totals, files[0], case, **style)
        return files

    return make


def draw(totals: dict[str, float], path: Path, case: Case, **style: Any) -> None:
    """A bar chart as scripts draw it.

    Args:
        totals: figures by label.
        path: the picture.
        case: for the words on the axes.
        style: ``kind`` (bar, barh, line, none), ``colours`` (one, many, named), ``grid``, ``labels``, ``legend``,
            ``rotate``, ``edge``, ``dpi``, ``size``, ``sheet`` (a style sheet), ``order`` (down), ``low`` (axis start).
    """
    import matplotlib.style
    from matplotlib.figure import Figure

    kind, names = style.get("kind", "bar"), list(totals)
    if style.get("order") == "down":
        names.sort(key=lambda name: -totals[name])
    figures = [totals[name] for name in names]
    with matplotlib.rc_context(matplotlib.style.library.get(style.get("sheet", ""), {})):
        figure = Figure(figsize=style.get("size", (8, 5)), dpi=style.get("dpi", 100))
        axes = figure.subplots()
        colours = {"many": [f"C{i % 10}" for i in range(len(names))]}.get(
            style.get("colours", ""), style.get("colours")
        )
        extra = {"color": colours} if colours else {}
        extra |= {"edgecolor": style["edge"]} if "edge" in style else {}
        if kind in ("bar", "barh"):
            bars = getattr(axes, kind)(names, figures, label=case.measure, **extra)
            if style.get("labels"):
                axes.bar_label(bars, fmt="%.1f")
        elif kind == "line":
            axes.plot(names, figures, marker="o")
        if style.get("grid"):
            axes.grid(axis="x" if kind == "barh" else "y", linestyle=style["grid"], alpha=0.6)
        if style.get("legend"):
            axes.legend()
        if style.get("rotate"):
            axes.tick_params(axis="x", rotation=style["rotate"])
        if "low" in style:
            axes.set_ylim(bottom=min(figures) * style["low"])
        if kind != "none":
            axes.set(title=f"{case.measure} by {case.group}", xlabel=case.group, ylabel=case.measure)
        figure.tight_layout()
        figure.savefig(path)


def _one_bar_less(case: Case) -> dict[str, float]:
    return dict(list(case.totals.items())[:-1])


def _one_bar_wrong(case: Case) -> dict[str, float]:
    first = min(case.totals, key=lambda name: case.totals[name])
    return case.totals | {first: max(case.totals.values()) * 1.3}


def _other_measure(case: Case) -> dict[str, float]:
    return dict(_sums(case, _other_number(case)))


def _noted(words: str, which: int = 0, add: float = 0.0) -> Make:
    def make(case: Case, out: Path) -> list[Path]:
        files = solve(case, out)
        ranked = sorted(case.totals, key=lambda name: -case.totals[name])
        best, second = ranked[which], ranked[1 - which]
        fields = {"best": best, "second": second, "value": case.totals[best] + add, "other": case.totals[second]}
        files[1].write_text(words.format(group=case.group, measure=case.measure, **fields), encoding="utf-8")
        return files

    return make


def _without(suffix: str) -> Make:
    def make(case: Case, out: Path) -> list[Path]:
        files = solve(case, out)
        return [path for path in files if path.suffix != suffix]

    return make


# --- briefs ----------------------------------------------------------------------------------------------------------

_OPENING = (
    "This brief sums up the report for the steering committee: why the work is needed, what is planned, what it costs and "
    "who answers for it. The present state has been criticised for years; repairs were put off because money was short. "
    "Work is done in sections so that the place can stay in use, and progress is reported to the committee every month."
)


def _document(case: Case, out: Path, lines: list[str], opening: str = _OPENING, head: bool = True) -> list[Path]:
    path = out / case.names.get(".docx", "answer.docx")
    document = docx.Document()
    if head:
        document.add_heading("Brief", 1)
    if opening:
        document.add_paragraph(opening)
    for line in lines:
        document.add_paragraph(line)
    document.save(str(path))
    return [path]


def _labelled(case: Case, out: Path) -> list[Path]:
    return _document(case, out, [f"{item.name.capitalize()}: {item.value}" for item in case.items])


def _prose(case: Case, out: Path) -> list[Path]:
    return _document(case, out, [" ".join(f"The {item.name} is {item.value}." for item in case.items)])


def _headed(case: Case, out: Path) -> list[Path]:
    files = _document(case, out, [])
    document = docx.Document(str(files[0]))
    for item in case.items:
        document.add_heading(item.name.title(), 2)
        document.add_paragraph(item.sentence)
    document.save(str(files[0]))
    return files


def _tabled(case: Case, out: Path) -> list[Path]:
    files = _document(case, out, [])
    document = docx.Document(str(files[0]))
    table = document.add_table(rows=0, cols=2)
    for item in case.items:
        cells = table.add_row().cells
        cells[0].text, cells[1].text = item.name.capitalize(), item.value
    document.save(str(files[0]))
    return files


def _numbered(case: Case, out: Path) -> list[Path]:
    return _document(case, out, [f"{i}. {item.sentence}" for i, item in enumerate(case.items, 1)])


def _iso_dates(case: Case, out: Path) -> list[Path] | None:
    """Dates and figures in another format than the source has them."""
    lines, changed = [], False
    for item in case.items:
        try:
            value = dt.datetime.strptime(item.value, "%d %B %Y").date().isoformat()
        except ValueError:
            value = item.value.replace(",", "") if item.name == "budget" else item.value
        changed |= value != item.value
        lines.append(f"{item.name.capitalize()}: {value}")
    return _document(case, out, lines) if changed else None


def _item_left_out(at: int) -> Make:
    def make(case: Case, out: Path) -> list[Path] | None:
        if at >= len(case.items):
            return None
        return _document(case, out, [item.sentence for index, item in enumerate(case.items) if index != at])

    return make


def _item_wrong(at: int) -> Make:
    """The item is spoken of, but what is said of it is no fact of the source."""
    other = {
        "budget": "12,345 EUR",
        "deadline": "31 December 2031",
        "start date": "30 February 2019",
        "key figure": "77,777",
    }

    def make(case: Case, out: Path) -> list[Path] | None:
        if at >= len(case.items):
            return None
        wrong = other.get(case.items[at].name, "something that nobody has settled yet")
        lines = [f"The {item.name} is {wrong if i == at else item.value}." for i, item in enumerate(case.items)]
        return _document(case, out, lines)

    return make


def _with_lines(*more: str) -> Make:
    def make(case: Case, out: Path) -> list[Path]:
        return _document(case, out, [*(item.sentence for item in case.items), *more])

    return make


def _too_short(case: Case, out: Path) -> list[Path]:
    return _document(case, out, [case.items[0].sentence], opening="")


def _too_long(case: Case, out: Path) -> list[Path]:
    more = [_OPENING] * 14
    return _document(case, out, [*(item.sentence for item in case.items), *more])


def _off_topic(case: Case, out: Path) -> list[Path]:
    text = "Apples are harvested in autumn and kept in cool cellars. " * 12
    return _document(case, out, [text], opening="")


def _as_markdown(case: Case, out: Path) -> list[Path]:
    path = out / "answer.md"
    path.write_text("# Brief\n\n" + _OPENING + "\n\n" + "\n".join(i.sentence for i in case.items), encoding="utf-8")
    return [path]


_MAKERS: dict[str, list[tuple[str, bool, bool, Make]]] = {
    "totals_csv": [
        ("two decimals", True, True, _as_csv(_two_decimals)),
        ("by size", True, True, _as_csv(_by_size)),
        ("other header", True, True, _other_header),
        ("lost group column", False, True, _values_only),
        ("one off", False, True, _as_csv(_one_off)),
        ("one missing", False, True, _as_csv(_one_missing)),
        ("swapped", False, True, _as_csv(_swapped)),
        ("averages", False, True, _as_csv(_averages)),
        ("counts", False, True, _as_csv(_counts)),
        ("other column", False, True, _as_csv(_other_column)),
        ("group twice", False, True, _as_csv(_twice)),
        ("no header", False, True, _as_csv(_plain, header=False)),
        ("wrong total below", False, True, _as_csv(_wrong_total_below)),
        ("third column", False, False, _third_column),
        ("source copied", False, True, _source_copied),
        ("workbook instead", False, True, _workbook_instead),
        ("wrong name", False, True, _renamed(".csv")),
    ],
    "totals_xlsx": [
        ("by size", True, True, _as_xlsx(_by_size)),
        ("titled", True, True, _titled_sheet),
        ("plus chain", True, True, _plus_chain),
        ("live groups", True, True, _live_groups),
        ("typed total", False, True, _as_xlsx(_plain, "value")),
        ("range short", False, True, _as_xlsx(_plain, "short")),
        ("no total row", False, True, _as_xlsx(_plain, None)),
        ("constant formula", False, False, _total_of_source),
        ("one off", False, True, _as_xlsx(_one_off)),
        ("one missing", False, True, _as_xlsx(_one_missing)),
        ("swapped", False, True, _as_xlsx(_swapped)),
        ("averages", False, True, _as_xlsx(_averages)),
        ("other column", False, True, _as_xlsx(_other_column)),
        ("wrong name", False, True, _renamed(".xlsx")),
    ],
    "table_edit": [
        ("by delete", True, True, _by_delete),
        ("cell of other sheet", False, True, _edited(_cell_changed)),
        ("formula of other sheet", False, True, _edited(_formula_flattened)),
        ("other sheet gone", False, True, _edited(_sheet_gone)),
        ("format of other sheet", False, True, _edited(_format_gone)),
        ("rename missing", False, True, _edited(_rename_missing)),
        ("renames swapped", False, True, _edited(_renames_swapped)),
        ("name misspelt", False, True, _edited(_name_misspelt)),
        ("one duplicate left", False, True, _edited(_one_duplicate_left)),
        ("row lost", False, True, _edited(_row_lost)),
        ("value changed", False, True, _edited(_value_changed)),
        ("rows sorted", False, True, _edited(_rows_sorted)),
        ("dates as text", False, True, _edited(_dates_as_text)),
        ("duplicates left", False, True, _duplicates_left),
        ("one sheet only", False, True, _one_sheet_only),
        ("untouched", False, True, _untouched),
        ("wrong name", False, True, _renamed(".xlsx")),
    ],
    "chart": [
        ("barh", True, True, _drawn(kind="barh")),
        ("many colours", True, True, _drawn(colours="many")),
        ("grid", True, True, _drawn(grid="-", rotate=45)),
        ("dashed grid, labels", True, True, _drawn(grid="--", labels=True, edge="black", colours="skyblue")),
        ("legend", True, True, _drawn(legend=True, colours="tab:green")),
        ("barh many", True, True, _drawn(kind="barh", colours="many", grid=":", labels=True)),
        ("sorted, large", True, True, _drawn(order="down", dpi=200, size=(10, 6), rotate=30, colours="#4C72B0")),
        ("ggplot", True, True, _drawn(sheet="ggplot")),
        ("seaborn", True, True, _drawn(sheet="seaborn-v0_8-whitegrid", labels=True)),
        ("orange", True, True, _drawn(colours="orange", edge="black", size=(6, 4), rotate=90)),
        ("note bold", True, True, _noted("**{best}** has the highest {measure}: **{value:,.2f}**.")),
        (
            "note titled",
            True,
            True,
            _noted("# {group} with the largest {measure}\n\n- {group}: {best}\n- Value: {value}\n"),
        ),
        ("note belongs", True, True, _noted("The largest {measure} is {value:.3f} and belongs to {best}.\n")),
        ("note plain", True, True, _noted("{best}: {value}\n")),
        ("other measure", False, False, _drawn(_other_measure)),
        ("blank", False, False, _drawn(kind="none")),
        ("line", False, False, _drawn(kind="line")),
        ("one bar less", False, True, _drawn(_one_bar_less)),
        ("one bar wrong", False, False, _drawn(_one_bar_wrong)),
        ("second named", False, True, _noted("The largest is {best} with {value:.2f}.", which=1)),
        ("second with the largest value", False, True, _noted("The largest is {second} with {value:.2f}.")),
        ("wrong value", False, True, _noted("The largest is {best} with {value:.2f}.", add=7)),
        ("value of second", False, True, _noted("The largest is {best} with {other:.2f}.")),
        ("no value", False, True, _noted("The largest {group} is {best}.")),
        ("no note", False, True, _without(".md")),
        ("no picture", False, True, _without(".png")),
        ("wrong name of picture", False, True, _renamed(".png")),
        ("wrong name of note", False, True, _renamed(".md")),
    ],
    "brief": [
        ("labelled", True, True, _labelled),
        ("prose", True, True, _prose),
        ("headed", True, True, _headed),
        ("tabled", True, True, _tabled),
        ("numbered", True, True, _numbered),
        ("other formats", True, False, _iso_dates),
        *((f"item {at} left out", False, True, _item_left_out(at)) for at in range(5)),
        *((f"item {at} wrong", False, True, _item_wrong(at)) for at in range(5)),
        ("invented figure", False, True, _with_lines("It will save 48,731 EUR a year.")),
        ("invented share", False, True, _with_lines("Satisfaction rose by 83.7 % in the trial.")),
        ("invented date", False, True, _with_lines("The opening party is on 24 December 2031.")),
        ("placeholder", False, True, _with_lines("Prepared by [Your Name].")),
        ("markdown signs", False, True, _with_lines("## Next", "The **board** decides.")),
        ("too short", False, True, _too_short),
        ("too long", False, True, _too_long),
        ("off topic", False, True, _off_topic),
        ("markdown instead", False, True, _as_markdown),
        ("wrong name", False, True, _renamed(".docx")),
    ],
}
