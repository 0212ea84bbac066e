"""CSV and TSV files: rows, columns, and what a careless export leaves behind."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from engine.protocol.verdicts import Defect
from tools.inspectors.base import Found, fault
from tools.inspectors.grids import is_blank, read_rows

_NOTHING = frozenset({"", "nan", "none", "null", "na", "n/a", "nat"})


def inspect(path: Path) -> Found:
    """Facts: ``delimiter``, ``columns``, ``rows``. Defects: ragged rows, index column, empty columns, no rows."""
    rows, delimiter = read_rows(path)
    rows = [row for row in rows if row]
    if not rows:
        return {"rows": 0, "columns": []}, [fault("file.empty", path.name, "", "It holds no rows.")]
    header, body = rows[0], rows[1:]
    facts = {"delimiter": delimiter, "columns": header[:100], "rows": len(body)}
    defects: list[Defect] = []
    if not body:
        defects.append(fault("table.no_rows", path.name, "", "It has a header and no rows."))
    widths = Counter(len(row) for row in rows)
    ragged = [number for number, row in enumerate(rows, 1) if len(row) != len(header)]
    if ragged and len(header) > 1:
        says = f"Row {ragged[0]} has {len(rows[ragged[0] - 1])} cells, the header has {len(header)}."
        most = widths.most_common(1)[0][0] == len(header)
        defects.append(
            fault(
                "table.ragged_rows",
                path.name,
                f"row {ragged[0]}",
                says,
                most and len(ragged) < len(rows) / 2 and any(len(r) > len(header) for r in rows),
                count=len(ragged),
            )
        )
    defects.extend(_index_column(path, header, body))
    for index, name in enumerate(header):
        cells = [row[index] if index < len(row) else "" for row in body]
        if cells and all(cell.strip().lower() in _NOTHING for cell in cells):
            shown = name or f"number {index + 1}"
            literal = any(not is_blank(cell) for cell in cells)
            defects.append(
                fault("table.column_empty", path.name, shown, "Every cell of it is empty.", literal, column=shown)
            )
    doubled = [name for name, count in Counter(header).items() if count > 1 and name.strip()]
    if doubled:
        defects.append(
            fault(
                "table.header_repeated", path.name, doubled[0], "Two columns have this name.", False, column=doubled[0]
            )
        )
    return facts, defects


def _index_column(path: Path, header: list[str], body: list[list[str]]) -> list[Defect]:
    for index, name in enumerate(header):
        first = index == 0 and not name.strip()
        if not (first or name.startswith("Unnamed: ")):
            continue
        cells = [row[index].strip() if index < len(row) else "" for row in body]
        if cells and (name == "Unnamed: 0" or all(cell == str(number) for number, cell in enumerate(cells))):
            shown = name or "(no name)"
            return [
                fault("table.index_column", path.name, shown, "A column only numbers the rows.", True, column=shown)
            ]
    return []
