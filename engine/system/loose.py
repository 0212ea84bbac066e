"""Names as models write them: `festival_tickets.csv` for "Festival tickets.csv". Standard library only."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection

_QUOTES = "\"'`´‘’‚‛“”„‟«»‹›＂＇"
_DROPPED = frozenset("_-‐‑‒–—―−" + _QUOTES)


def loose_key(name: str) -> str:
    """What is left of a name without what models change in it: case, width, blanks, underscores, hyphens, quotes."""
    # twice: folding can give what the normal form would join again
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(char for char in folded if char not in _DROPPED and not char.isspace())


def loose_find(name: str, names: Collection[str]) -> str | None:
    """The one of `names` that `name` means: that very name, else the only one like it.

    Args:
        name: what a model wrote.
        names: what there is.

    Returns:
        None where there is none, or more than one that could be meant.
    """
    keys: tuple[Callable[[str], str], ...] = (str, lambda text: text.strip().casefold(), loose_key)
    for key in keys:
        wanted = key(name)
        found = list(dict.fromkeys(other for other in names if key(other) == wanted)) if wanted else []
        if found:
            return found[0] if len(found) == 1 else None
    return None


def spelled_in(name: str, text: str) -> str | None:
    """How `name` is spelled where it stands in `text`.

    Args:
        name: a file name that a model wrote.
        text: what the person wrote.

    Returns:
        `name` itself where it stands there so; the only other spelling there; None where there is none or several.
    """
    if name in text:
        return name
    wanted = loose_key(name)
    if not wanted:
        return None
    keyed = [(part, place) for place, char in enumerate(text) for part in loose_key(char)]
    plain = "".join(part for part, _ in keyed)
    found: set[str] = set()
    start = plain.find(wanted)
    while start >= 0:
        first, last = keyed[start][1], keyed[start + len(wanted) - 1][1]
        spelling = text[first : last + 1]
        whole = _ends_there(text[first - 1 : first]) and _ends_there(text[last + 1 : last + 2])
        if whole and not any(char in '"“”„«»\n\r\t' for char in spelling):
            found.add(spelling)
        start = plain.find(wanted, start + 1)
    return found.pop() if len(found) == 1 else None


def _ends_there(neighbour: str) -> bool:
    """Whether a name can begin or end beside this character; scripts without blanks let it everywhere."""
    return not neighbour.isalnum() or ord(neighbour) > 0x2E7F
