"""Draws one chart. A script for the sandbox, where none of our packages exist: the standard library and matplotlib.

The look: one teal on white, thin grey grid behind, the value axis from zero, 1600 × 1000 pixels.
"""

import json
import textwrap
import warnings
from typing import Any

INK = "#22313a"
GREY = "#d5dbde"
TEAL = "#0f766e"
SIZE = (16.0, 10.0)
DPI = 100
FONTS = (
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Microsoft YaHei",
    "SimHei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Arial Unicode MS",
)
MOST_VALUE_LABELS = 30
BAR_SHARE = 0.62
"""Of the room of a bar; with the margin above, the bars never cover more than the ground does."""


def draw(plan: dict[str, Any]) -> str:
    """Write the picture ``plan["target"]``; gives notes as lines of text.

    Args:
        plan: ``kind``, ``title``, ``target`` and the fields of `tools.charts.figures.Figures`.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    look: Any = {
        "font.family": fonts(),
        "font.size": 15,
        "text.color": INK,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.edgecolor": INK,
        "axes.unicode_minus": False,
        # a dollar sign in a label is a dollar sign
        "text.parse_math": False,
    }
    with matplotlib.rc_context(look), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure = Figure(figsize=SIZE, dpi=DPI, layout=ConstrainedLayoutEngine(w_pad=0.2, h_pad=0.2), facecolor="white")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        KINDS[plan["kind"]](axes, plan)
        axes.set_title(textwrap.fill(title(plan), 80), fontsize=21, fontweight="bold", pad=18)
        figure.savefig(plan["target"], format="png")
    if any("missing from" in str(warning.message) for warning in caught):
        return "Some characters of the labels are in no font of this computer and are drawn as boxes."
    return ""


def title(plan: dict[str, Any]) -> str:
    """The wanted title, or one that says what is shown."""
    return str(plan["title"]).strip() or f"{measure(plan)} by {plan['x']}"


def measure(plan: dict[str, Any]) -> str:
    """What the figures are, for the axis."""
    if not plan["y"]:
        return "Number of rows"
    names: dict[str, str] = {
        "sum": plan["y"],
        "none": plan["y"],
        "mean": f"Mean of {plan['y']}",
        "count": f"Count of {plan['y']}",
        "min": f"Lowest {plan['y']}",
        "max": f"Highest {plan['y']}",
    }
    return names[plan["how"]]


def fonts() -> list[str]:
    """Families that are there, so that nothing is looked for in vain."""
    import os

    from matplotlib import font_manager

    there = {font.name for font in font_manager.fontManager.ttflist if os.path.exists(font.fname)}  # noqa: PTH110
    return [name for name in FONTS if name in there] or ["DejaVu Sans"]


def bars(axes: Any, plan: dict[str, Any]) -> None:
    """Standing bars."""
    count = len(plan["labels"])
    made = axes.bar(range(count), plan["values"], width=BAR_SHARE, color=TEAL, linewidth=0, zorder=3)
    axes.set_xlim(*span(count))
    bounds = limits(plan["values"])
    axes.set_ylim(*bounds)
    label_positions(axes, plan["labels"])
    axes.set_xlabel(plan["x"], labelpad=12)
    value_axis(axes, axes.yaxis, plan)
    if bounds[0] < 0:
        axes.axhline(0, color=INK, linewidth=1, zorder=2)
    value_labels(axes, made, plan)


def lying_bars(axes: Any, plan: dict[str, Any]) -> None:
    """Lying bars, the first on top."""
    count = len(plan["labels"])
    made = axes.barh(range(count), plan["values"], height=BAR_SHARE, color=TEAL, linewidth=0, zorder=3)
    low, high = span(count)
    axes.set_ylim(high, low)
    bounds = limits(plan["values"])
    axes.set_xlim(*bounds)
    size = 14 if count <= 30 else max(5, 420 // count)
    axes.set_yticks(range(count), [short(label, 38) for label in plan["labels"]], fontsize=size)
    axes.tick_params(axis="y", length=0)
    axes.set_ylabel(plan["x"], labelpad=12)
    value_axis(axes, axes.xaxis, plan)
    if bounds[0] < 0:
        axes.axvline(0, color=INK, linewidth=1, zorder=2)
    value_labels(axes, made, plan)


def line(axes: Any, plan: dict[str, Any]) -> None:
    """One line with a mark for each point."""
    count = len(plan["labels"])
    marker = "o" if count <= 60 else ""
    axes.plot(range(count), plan["values"], color=TEAL, linewidth=2.5, marker=marker, markersize=8, zorder=3)
    axes.set_xlim(*span(count))
    axes.set_ylim(*limits(plan["values"]))
    label_positions(axes, plan["labels"])
    axes.set_xlabel(plan["x"], labelpad=12)
    value_axis(axes, axes.yaxis, plan)


def pie(axes: Any, plan: dict[str, Any]) -> None:
    """Slices in shades of the one colour, clockwise from the top."""
    from matplotlib.colors import to_rgb

    base, count = to_rgb(TEAL), len(plan["labels"])
    shades = [tuple(part + (1 - part) * 0.75 * index / max(1, count - 1) for part in base) for index in range(count)]
    total = sum(plan["values"])
    labels = [
        f"{short(label, 30)}\n{text}" + (f" ({value / total:.1%})" if total else "")
        for label, text, value in zip(plan["labels"], plan["texts"], plan["values"], strict=True)
    ]
    edges = {"edgecolor": "white", "linewidth": 2}
    axes.pie(plan["values"], labels=labels, colors=shades, startangle=90, counterclock=False, wedgeprops=edges)


def scatter(axes: Any, plan: dict[str, Any]) -> None:
    """A dot for each row; see-through where there are many."""
    alpha = 0.5 if len(plan["values"]) > 200 else 1.0
    axes.scatter(plan["places"], plan["values"], s=60, color=TEAL, alpha=alpha, linewidths=0, zorder=3)
    axes.set_xlabel(plan["x"], labelpad=12)
    value_axis(axes, axes.yaxis, plan)
    axes.grid(axis="x", color=GREY, linewidth=0.8, zorder=0)


def span(count: int) -> tuple[float, float]:
    """Ends of the label axis; few bars do not become walls."""
    room = max(count, 4) / 2
    return (count - 1) / 2 - room, (count - 1) / 2 + room


def limits(values: list[float]) -> tuple[float, float]:
    """Ends of the value axis: zero, and room for the figures at the ends of the bars."""
    low, high = min(0.0, *values, 0.0), max(0.0, *values, 0.0)
    room = (high - low) * 0.12 or 1.0
    return low - room if low < 0 else 0.0, high + room if high > 0 or low == 0 else 0.0


def label_positions(axes: Any, labels: list[str]) -> None:
    """Labels below their bars, wrapped while they fit, slanted or upright where they are long or many."""
    count = len(labels)
    room = max(1, int(120 / max(count, 1)))
    longest = max(len(word) for label in labels for word in (label.split() or [""]))
    step = max(1, -(-count // 60))
    places = list(range(0, count, step))
    shown = [labels[place] for place in places]
    if longest <= room and max(len(label) for label in labels) <= room * 3:
        wrapped = [textwrap.fill(label, room) for label in shown]
        axes.set_xticks(places, wrapped, fontsize=14)
    else:
        upright = count > 25
        axes.set_xticks(
            places,
            [short(label, 30) for label in shown],
            rotation=90 if upright else 40,
            ha="center" if upright else "right",
            rotation_mode="default" if upright else "anchor",
            fontsize=14 if count <= 30 else 11,
        )
    axes.tick_params(axis="x", length=0)


def value_axis(axes: Any, axis: Any, plan: dict[str, Any]) -> None:
    """Grid, thousands and the name of the figures."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axis.set_label_text(measure(plan))
    axis.labelpad = 12
    axes.grid(axis=axis.axis_name, color=GREY, linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def value_labels(axes: Any, made: Any, plan: dict[str, Any]) -> None:
    """The figures at the ends of the bars, where there is room for them."""
    texts = [plain(value) for value in plan["values"]]
    count = len(texts)
    if count > MOST_VALUE_LABELS or (plan["kind"] == "bar" and max(map(len, texts)) * count > 130):
        return
    axes.bar_label(made, labels=texts, padding=5, fontsize=13)


def plain(value: float) -> str:
    """A figure for people: thousands marked, no needless places."""
    if value and (abs(value) >= 1e15 or abs(value) < 1e-4):
        return f"{value:.3g}"
    text = f"{value:,.4f}" if abs(value) < 1 else f"{value:,.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def short(text: str, most: int) -> str:
    """A label that is not too long."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


KINDS = {"bar": bars, "barh": lying_bars, "line": line, "pie": pie, "scatter": scatter}
__all__ = ["draw", "json"]
