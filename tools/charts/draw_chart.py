"""The tool ``draw_chart``: a chart of a table, with the figures worked out exactly."""

from __future__ import annotations

import importlib.resources
import json
from typing import Annotated, Any, Literal

import msgspec

from engine.protocol.errors import ModelError, UserError
from engine.protocol.ports import ToolContext
from engine.protocol.tools import ToolResult, ToolSpec
from tools.charts.figures import Figures
from tools.compute.policies import policy_for
from tools.files.placing import place, scratch_file
from tools.table.edit_table import check_table_name

_TIMEOUT_S = 60.0
_MOST_LINES = 20
_SHAPES = {
    "bar": ("bar chart", "bars"),
    "barh": ("bar chart", "bars"),
    "line": ("line chart", "points"),
    "pie": ("pie chart", "slices"),
    "scatter": ("scatter chart", "points"),
}


class DrawChartArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `DrawChart`."""

    file: Annotated[str, msgspec.Meta(description="a .csv, .tsv or .xlsx file")]
    x: Annotated[str, msgspec.Meta(description="column with the categories")]
    output: Annotated[str, msgspec.Meta(description="name of the .png file to write")]
    y: Annotated[str, msgspec.Meta(description="number column; empty with count")] = ""
    kind: Literal["bar", "barh", "line", "pie", "scatter"] = "bar"
    how: Annotated[
        Literal["sum", "mean", "count", "min", "max", "none"],
        msgspec.Meta(description="how the rows of a category become one figure; none draws every row"),
    ] = "sum"
    sheet: Annotated[str, msgspec.Meta(description="sheet of an .xlsx; empty for the first")] = ""
    title: Annotated[str, msgspec.Meta(description="title of the chart")] = ""
    sort: Annotated[
        Literal["", "value", "-value", "label"],
        msgspec.Meta(description="empty: as in the file; -value: largest first"),
    ] = ""
    top: Annotated[int, msgspec.Meta(description="only so many of the largest; 0 for all", ge=0)] = 0


class DrawChart:
    """Works the figures out in a document worker and draws them in the sandbox."""

    spec = ToolSpec(
        name="draw_chart",
        summary="Draw a bar, line, pie or scatter chart of a table as .png; says which is largest and smallest.",
        arguments=DrawChartArguments,
        effect="write",
        example={
            "file": "stock list.csv",
            "kind": "bar",
            "x": "Warehouse",
            "y": "Pieces",
            "how": "sum",
            "output": "pieces by warehouse.png",
        },
    )

    async def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Draw the chart.

        Raises:
            ModelError: a column is not there or holds no numbers, or the output is no .png.
            UserError: the Python that draws does not work.
        """
        assert isinstance(arguments, DrawChartArguments)
        path = context.resolve(arguments.file)
        target = context.target(arguments.output)
        check_table_name(path)
        if target.suffix.lower() != ".png":
            raise ModelError(f"{target.name}: charts are written as .png files.", code="chart.format")
        params = msgspec.to_builtins(arguments) | {"path": str(path)}
        figures = msgspec.convert(await context.documents.job("chart_figures", params), Figures)
        made = scratch_file(context, target.name)
        plan = msgspec.to_builtins(figures) | {"kind": arguments.kind, "title": arguments.title, "target": made.name}
        notes = await _draw(plan, context)
        await place(made, target)
        return ToolResult(text=_report(target.name, arguments.kind, figures, notes), trust="file")


async def _draw(plan: dict[str, Any], context: ToolContext) -> list[str]:
    """Run the drawing script with its plan; gives what it has to say."""
    interpreter = context.interpreter
    if interpreter.prelude is None:
        raise RuntimeError("the interpreter environment has no prelude")
    source = importlib.resources.files("tools.charts").joinpath("drawing.py").read_text(encoding="utf-8")
    # JSON within a Python string: what a file says can never become code
    script = f"{source}\n\nprint(draw(json.loads({json.dumps(plan)!r})))\n"
    policy = msgspec.structs.replace(policy_for(context, _TIMEOUT_S), workspace=context.documents.scratch)
    argv = [str(interpreter.python), "-I", "-B", str(interpreter.prelude)]
    outcome = await context.sandbox.run(argv, policy, script.encode("utf-8"))
    if outcome.status == "timeout":
        raise ModelError("The chart took too long to draw: take fewer categories with top.", code="timeout")
    if outcome.status != "ok":
        raise UserError(
            "chart.not_drawn",
            "The chart could not be drawn: {problem}",
            kept="No file was changed.",
            todo="Run `oneday doctor`; it tells what is missing.",
            problem=outcome.output[-500:],
        )
    return [line for line in outcome.output.splitlines() if line.strip()]


def _report(name: str, kind: str, figures: Figures, notes: list[str]) -> str:
    shape, things = _SHAPES[kind]
    count = len(figures.labels)
    things = things if count != 1 else things.removesuffix("s")
    what = "number of rows" if figures.how == "count" and not figures.y else f"{figures.y} ({figures.how})"
    if figures.how == "none":
        what = figures.y
    left_out = f" of {figures.of}" if figures.of != count else ""
    head = f"Wrote {name}: {shape} of {what} by {figures.x}, {count}{left_out} {things}."
    lines = [f"{label}: {text}" for label, text in zip(figures.labels, figures.texts, strict=True)]
    more = [f"… and {count - _MOST_LINES} more."] if count > _MOST_LINES else []
    return "\n".join([head, figures.extremes, *figures.notes, *notes, *lines[:_MOST_LINES], *more])
