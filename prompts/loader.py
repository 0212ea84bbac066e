"""Loads prompts, hints and rules: every word the model reads on our behalf is a file in this package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template


@cache
def _template(name: str) -> Template:
    return Template((files("prompts") / f"{name}.md").read_text("utf-8").strip())


def render(name: str, **variables: object) -> str:
    """Fill a prompt.

    Args:
        name: path below ``prompts`` without its suffix, such as ``"roles/execute"``.
        variables: a value for each ``$field`` of the file.

    Raises:
        FileNotFoundError: no such prompt.
        KeyError: a field has no value.
    """
    return _template(name).substitute(variables)


def exists(name: str) -> bool:
    """Whether there is a prompt of that name.

    Args:
        name: as in `render`.
    """
    return (files("prompts") / f"{name}.md").is_file()


def hint(code: str, **params: object) -> str:
    """The one-line fix for a defect code; fields without a value are left out. Empty if there is no such hint."""
    if not exists(f"hints/{code}"):
        return ""
    return _template(f"hints/{code}").safe_substitute(params)
