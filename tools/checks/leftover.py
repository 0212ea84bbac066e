"""Words of a clause that nobody understood. Where one is left, the clause asks for more than the checks can test.

A list of known wishes can never be complete ("and double every sum", "besides South", "in upper case"), so a clause about
a table is held to be understood only if every word of it is: a column, a file, a word of a wish that is tested, or one
of a few that ask for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tools.checks.request import Part, Request
from tools.checks.stopwords import IDLE, IDLE_PHRASES, PLAIN
from tools.checks.wordings import EXTREME, FORMULAS, LENGTH, NAMING, OPS, ROUND, RULES, SORT, TOTAL_ROW
from tools.checks.words import QUOTED, mentions, tokens

REVERSED = re.compile(r"\bz\s*(?:to|-|–|→)\s*a\b|\brevers\w*", re.IGNORECASE)


def leftover(part: Part, request: Request) -> list[str]:
    """The words that are not accounted for.

    Args:
        part: a clause with its demands.
        request: the whole, for columns and names.
    """
    text = part.bare
    for source in request.sources:
        for mention in mentions(text, source.columns):
            text = text[: mention.start] + " " * (mention.end - mention.start) + text[mention.end :]
    for pattern in _patterns(part):
        text = re.sub(pattern, lambda match: " " * len(match.group()), text, flags=re.IGNORECASE)
    known = {token.stem for profile in request.view.files for token in tokens(profile.name)}
    known |= {token.stem for source in request.sources for token in tokens(source.table.name)}
    known |= {token.stem for source in request.sources for column in source.columns for token in tokens(column.name)}
    return [
        token.stem
        for token in tokens(text)
        if len(token.stem) > 1 and not (known | PLAIN | IDLE) & {token.stem} and not token.stem.isdigit()
    ]


def _patterns(part: Part) -> Iterable[str]:
    rules = dict(RULES)
    yield from (rules[demand] for demand in part.demands if demand in rules)
    yield from (OPS[op] for op in part.ops)
    yield from (pattern.pattern for pattern in (TOTAL_ROW, SORT, ROUND, LENGTH, NAMING, QUOTED))
    yield from IDLE_PHRASES
    yield from (FORMULAS, rf"\b{EXTREME}")


def backwards(part: Part) -> bool:
    """Whether an order by name is asked for the other way round, which no check tests."""
    return "sort" in part.demands and bool(REVERSED.search(part.bare))
