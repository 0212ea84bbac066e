"""Plans by code: what the checks say is to be made becomes one step each, with the one tool that fits.

Measured on the 1.5B model: offered a typed tool and a script together it takes the script, and destroys the workbook
six times of six; offered the typed tool alone it is nearly always right. So the choice is made here, where the ledger
tells, and the model only fills in the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.deliverables import DELIVERABLES, ENDINGS, Need, needs, needs_of
from engine.protocol.ledger import Check, Ledger
from engine.protocol.plan import Plan, Subtask
from prompts.loader import render

TABLES = ("csv", "xlsx")
TEXTS = ("markdown", "text", "docx", "pdf", "html")


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of work.

    Attributes:
        name: how hints and prompts call it (``prompts/routes/<name>.md`` tells the model how).
        tools: what it needs, best first.
        checks: names of the checks that stand for it.
        kinds: kinds of file it makes.
        title: for people.
    """

    name: str
    tools: tuple[str, ...]
    checks: frozenset[str]
    kinds: tuple[str, ...]
    title: str


ROUTES = (
    Route(
        name="edit",
        tools=("edit_table",),
        checks=frozenset({"table_edit", "unchanged"}),
        kinds=TABLES,
        title="Change the table",
    ),
    Route(
        name="aggregate",
        tools=("aggregate_table",),
        checks=frozenset({"group_totals", "total_row_formulas"}),
        kinds=TABLES,
        title="Work out the figures",
    ),
    Route(
        name="chart",
        tools=("draw_chart",),
        checks=frozenset({"chart"}),
        kinds=("image",),
        title="Draw the chart",
    ),
    Route(
        name="document",
        tools=("write_to_file",),
        checks=frozenset({"facts_from_source", "names_extreme", "length"}),
        kinds=TEXTS,
        title="Write the text",
    ),
)


def plan_by_routes(ledger: Ledger, tools: Sequence[str]) -> Plan | None:
    """The plan that follows from the checks.

    Args:
        ledger: requirements with their checks.
        tools: names of the tools there are.

    Returns:
        One subtask for each route, in the order of `ROUTES`; None where the checks say too little or a tool is missing.
    """
    wanted = needs(ledger)
    checks = _all_checks(ledger)
    routes = [route for route in ROUTES if _asked(route, checks, wanted)]
    if not routes or any(tool not in tools for route in routes for tool in route.tools):
        return None
    if any(not any(set(need.kinds) & set(route.kinds) for route in routes) for need in wanted):
        return None  # something is asked for that no route makes
    return Plan(
        subtasks=tuple(_subtask(number, route, checks, wanted) for number, route in enumerate(routes, 1)),
        origin="code",
    )


def how_to(subtask: Subtask | None, language: str) -> str:
    """How a step is done, told by its route.

    Args:
        subtask: the step; None for one that may use everything.
        language: of the request.
    """
    tools = subtask.tools if subtask is not None else ()
    route = next((route for route in ROUTES if tools == route.tools), None)
    if subtask is None or route is None:
        return render("routes/any")
    lines = [render(f"routes/{route.name}", language=language)]
    names = {check.name for check in subtask.checks}
    if route.name == "aggregate":
        lines.append(render("routes/aggregate_total" if "total_row_formulas" in names else "routes/aggregate_plain"))
    sheet = next((str(check.params["sheet"]) for check in subtask.checks if check.params.get("sheet")), "")
    if sheet:
        lines.append(render("routes/sheet", sheet=sheet))
    made = ", ".join(need.name for need in needs_of(subtask.checks) if need.name)
    if made:
        lines.append(render("routes/named", files=made))
    return "\n".join(lines)


def target_name(subtask: Subtask) -> str:
    """The file a step makes: the name asked for, else a plain one of the kind asked for."""
    need = next(iter(needs_of(subtask.checks)), None)
    if need is None:
        return "result.md"
    return need.name or f"result{ENDINGS.get(need.kinds[0], '.' + need.kinds[0])}"


def tools_for(checks: Sequence[Check]) -> tuple[str, ...]:
    """Tools of all routes that these checks stand for; empty where none does."""
    names = {check.name for check in checks}
    return tuple(dict.fromkeys(tool for route in ROUTES if route.checks & names for tool in route.tools))


def _asked(route: Route, checks: Sequence[Check], wanted: Sequence[Need]) -> bool:
    makes = [need for need in wanted if set(need.kinds) & set(route.kinds)]
    if route.name in ("edit", "aggregate"):
        return any(check.name in route.checks for check in checks) and (bool(makes) or not wanted)
    return bool(makes)


def _all_checks(ledger: Ledger) -> list[Check]:
    found: list[Check] = []
    for item in ledger.items:
        found += [check for check in item.checks if check not in found]
    return found


def _subtask(number: int, route: Route, checks: Sequence[Check], wanted: Sequence[Need]) -> Subtask:
    made = [need for need in wanted if set(need.kinds) & set(route.kinds)]
    mine = [check for check in checks if check.name in route.checks]
    if made:
        mine.append(Check(name=DELIVERABLES, params={"needs": [msgspec.to_builtins(need) for need in made]}))
    named = ", ".join(need.name or " or ".join(need.kinds) for need in made)
    says = [check.says for check in mine if check.says]
    return Subtask(
        id=f"task_{number}",
        title=f"{route.title}{': ' + named if named else ''}",
        description="\n".join(says),
        dependencies=tuple(f"task_{earlier}" for earlier in range(1, number)),
        tools=route.tools,
        checks=tuple(mine),
    )
