"""Which tools there are. A tool is one module and one line here; its module is imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from engine.protocol.errors import UserError
from engine.protocol.ports import Tool

TOOLS = {
    "read_file": "tools.files.read_file:ReadFile",
    "write_to_file": "tools.files.write_to_file:WriteToFile",
    "edit_file": "tools.files.edit_file:EditFile",
    "edit_table": "tools.table.edit_table:EditTable",
    "aggregate_table": "tools.table.aggregate_table:AggregateTable",
    "draw_chart": "tools.charts.draw_chart:DrawChart",
    "python_interpreter": "tools.compute.python_interpreter:PythonInterpreter",
    "execute_command": "tools.compute.execute_command:ExecuteCommand",
}
"""Name as the model writes it → ``module:class``; constructors take no arguments."""


def load_tools(names: Iterable[str]) -> list[Tool]:
    """Import and construct tools, in the order asked for.

    Args:
        names: keys of `TOOLS`.

    Raises:
        UserError: there is no tool of that name (a profile or a setting names it wrongly).
    """
    return [_load(name) for name in names]


def _load(name: str) -> Tool:
    if name not in TOOLS:
        raise UserError(
            "tool.unknown",
            "There is no tool called {name}.",
            todo="Correct the profile; the tools are: {known}.",
            name=name,
            known=", ".join(TOOLS),
        )
    module, _, cls = TOOLS[name].partition(":")
    tool: Tool = getattr(importlib.import_module(module), cls)()
    return tool
