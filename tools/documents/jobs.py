"""The jobs of a document worker: name → ``module:function``, imported in the worker when first asked for.

A job is a plain function ``job(params: dict) -> JSON value``. It may raise `ModelError` or `UserError`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from engine.protocol.errors import ModelError

Job = Callable[[dict[str, Any]], Any]

JOBS = {
    "read": "tools.readers.registry:read_job",
    "profile": "tools.readers.registry:profile_job",
    "write": "tools.writers.registry:write_job",
    "edit_text": "tools.files.replacing:edit_text_job",
    "edit_table": "tools.table.editing:edit_table_job",
    "aggregate_table": "tools.table.aggregating:aggregate_job",
    "chart_figures": "tools.charts.figures:chart_figures_job",
    "inspect": "tools.inspectors.registry:inspect_job",
    "check": "tools.checks.registry:check_job",
}


def find_job(name: str) -> Job:
    """Import a job.

    Raises:
        ModelError: there is no job of that name.
    """
    if name not in JOBS:
        raise ModelError(f"There is no document job called {name!r}.", code="job.unknown")
    module, _, function = JOBS[name].partition(":")
    job: Job = getattr(importlib.import_module(module), function)
    return job
