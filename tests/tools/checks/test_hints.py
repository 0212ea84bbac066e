"""Every defect has a hint, every hint a defect, and the fields of a hint are given where the defect is made."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CODE = re.compile(r"(?:brief|chart|deck|document|file|formula|image|json|note|page|table|text|total|workbook)\.[a-z_]+")


def emitted() -> dict[str, set[str]]:
    """Codes in the source of inspectors and checks, with the parameters of the calls that emit them."""
    codes: dict[str, set[str]] = {}
    for path in [*ROOT.glob("tools/inspectors/*.py"), *ROOT.glob("tools/checks/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                codes.setdefault(node.value, set())
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("fault", "defect", "_broken"):
                names = {keyword.arg for keyword in node.keywords if keyword.arg} | {"file", "says"}
                for argument in node.args[:3]:
                    if (
                        isinstance(argument, ast.Constant)
                        and isinstance(argument.value, str)
                        and CODE.fullmatch(argument.value)
                    ):
                        known = codes.setdefault(argument.value, set())
                        codes[argument.value] = names if not known else known & names
    return codes


def test_every_code_has_a_hint_and_the_reverse() -> None:
    hints = {path.stem for path in ROOT.glob("prompts/hints/*.*.md")}
    assert hints == set(emitted())


def test_hints_are_one_line_and_know_their_fields() -> None:
    for code, fields in emitted().items():
        text = (ROOT / "prompts" / "hints" / f"{code}.md").read_text(encoding="utf-8")
        assert text.count("\n") == 1 and text.endswith("\n"), code
        wanted = set(re.findall(r"\$(\w+)", text))
        assert not fields or wanted <= fields, (code, wanted - fields)
