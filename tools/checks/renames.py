"""Which columns a request renames to what, and which it drops."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from engine.protocol.documents import Column

_OPEN = r"[\"'“”‘’`«「(\[*]*"
_SHUT = r"[\"'“”‘’`»」)\]*]*"
_LINK = re.compile(
    rf"{_SHUT}\s*(?:columns?|header|heading|field|one)?\s*,?\s*(?:(?:to|into)(?: (?:be|read|say|become))?(?: (?:named|called|titled))?|(?:(?:being |which is |now )?(?:re)?(?:named|titled|labell?ed)|called)(?: to(?: be)?| as| into)?|as|→|->|=>|becomes?|becoming|in|zu|nach|"
    r"(?:should|must|shall|needs? to|has to|have to|is to|ought to|will)(?: now| instead)? (?:be(?:come)?(?: (?:re)?(?:named|called|titled|labelled|labeled|known as))?|read|say|have the (?:name|header))"
    r"|改名为|改成|改为|重命名为|=|:)(?: the (?:name|header|title|heading|column))?\s*(?=\S)",
    re.IGNORECASE,
)
_DIRECT = re.compile(rf"{_SHUT}\s*(?:column\s*)?(?=\S)", re.IGNORECASE)
_QUOTE = re.compile(r"\"([^\"]+)\"|“([^”]+)”|‘([^’]+)’|`([^`]+)`|'([^']+)'|«([^»]+)»|「([^」]+)」|\*\*([^*]+)\*\*")
_STOP = re.compile(
    r"\s+(?:and|und|then|instead|in|on|also|plus|while|whilst|but|please|so|with|keep|remove|drop|leave|delete|where|which|before|after|from|to|as well|respectively|for|column)\b"
    r"|[,;:!?()\n，。；、]|\.(?:\s|\Z)|\s[-–—]\s|\Z",
    re.IGNORECASE,
)
_DROP = re.compile(r"\b(?:drop|remove|delete|omit|discard|get rid of)\b[^.;]*?\bcolumns?\b", re.IGNORECASE)


class Rename(msgspec.Struct, frozen=True):
    """A column's old and new name."""

    old: str
    new: str


class Spot(msgspec.Struct, frozen=True):
    """Where a column's name stands in a text."""

    column: str
    start: int
    end: int


def spots(text: str, columns: Sequence[Column]) -> list[Spot]:
    """Column names as they are written, whole; separators and case may differ where nothing fits better."""
    found: list[Spot] = []
    for exactly in (True, False):
        for column in sorted(columns, key=lambda item: -len(item.name)):
            name = column.name.strip()
            if not name:
                continue
            pieces = [re.escape(piece) for piece in re.split(r"[\s_-]+", name) if piece]
            rule = re.escape(name) if exactly else r"[\s_-]*".join(pieces)
            for match in re.finditer(rf"(?<![^\W_])(?<!\w){rule}(?!\w)", text, 0 if exactly else re.IGNORECASE):
                if not any(match.start() < other.end and other.start < match.end() for other in found):
                    found.append(Spot(column.name, match.start(), match.end()))
    return sorted(found, key=lambda spot: spot.start)


def renames(text: str, columns: Sequence[Column]) -> tuple[list[Rename], list[tuple[int, int]]]:
    """The renames a clause asks for, and the stretches of it that say so."""
    places = spots(text, columns)
    both = _respectively(text, places)
    if both:
        return both, [(0, len(text))]
    found: list[Rename] = []
    used: list[tuple[int, int]] = []
    direct = re.search(r"\b(?:call|name|label|title)\b", text, re.IGNORECASE)
    for place in places:
        if used and place.start < used[-1][1]:
            continue
        swapped = _instead_of(text, place)
        if swapped is not None:
            found.append(Rename(place.column, swapped[0]))
            used.append((swapped[1], place.end))
            continue
        link = _LINK.match(text, place.end)
        if link is None and direct and direct.end() <= place.start:
            link = _DIRECT.match(text, place.end)
        target = _target(text, link.end()) if link else None
        if target is not None and target[0] != place.column:
            found.append(Rename(place.column, target[0]))
            used.append((place.start, target[1]))
    return found, used


def _target(text: str, start: int) -> tuple[str, int] | None:
    quote = _QUOTE.match(text, start)
    if quote:
        return next(group for group in quote.groups() if group is not None).strip(), quote.end()
    stop = _STOP.search(text, start)
    end = stop.start() if stop else len(text)
    name = text[start:end].strip().strip("\"'“”‘’`.")
    name = re.sub(r"^(?:the|just|simply|now)\s+", "", name)
    return (name, end) if name and len(name.split()) <= 4 else None


def _instead_of(text: str, place: Spot) -> tuple[str, int] | None:
    """``Y instead of X`` and ``Y (was X)``: the new name stands first."""
    before = re.search(
        rf"(\S+|\"[^\"]+\"|'[^']+'|“[^”]+”) (?:instead of|in place of|rather than|\((?:was|now|currently|formerly)) {_OPEN}(?:the )?\Z",
        text[: place.start],
    )
    return (before.group(1).strip("\"'“”,`"), before.start()) if before else None


def _respectively(text: str, places: list[Spot]) -> list[Rename]:
    """``rename A and B to C and D (respectively)``."""
    if len(places) < 2 or not re.fullmatch(
        rf"{_SHUT}\s*(?:and|&|,)\s*(?:the )?(?:column )?{_OPEN}", text[places[0].end : places[1].start]
    ):
        return []
    olds = [places[0]]
    for place in places[1:]:
        if re.fullmatch(
            rf"{_SHUT}\s*(?:and|&|,|, and)\s*(?:the )?(?:column )?{_OPEN}", text[olds[-1].end : place.start]
        ):
            olds.append(place)
        else:
            break
    link = _LINK.match(text, olds[-1].end)
    news: list[str] = []
    at = link.end() if link else -1
    while link and at >= 0 and len(news) < len(olds):
        target = _target(text, at)
        if target is None:
            break
        news.append(target[0])
        more = re.compile(r"\s*(?:, and|and|&|,)\s*").match(text, target[1])
        at = more.end() if more else -1
    return [Rename(old.column, new) for old, new in zip(olds, news, strict=True)] if len(news) == len(olds) else []


def dropped(text: str, columns: Sequence[Column]) -> list[str]:
    """Columns that a clause wants gone."""
    match = _DROP.search(text)
    if not match:
        return []
    rest = text[match.start() : match.end() + 60]
    return [spot.column for spot in spots(rest.split(".")[0], columns)]
