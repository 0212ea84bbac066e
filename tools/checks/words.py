"""Words of requests: tokens, stems, column mentions. English first, some German and Chinese."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from engine.protocol.documents import Column

QUOTED = re.compile(
    r"\"([^\"\n]+)\"|“([^”\n]+)”|‘([^’\n]+)’|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)|«([^»\n]+)»|「([^」\n]+)」"
)

SYNONYMS = (
    frozenset(
        [
            "revenue",
            "sale",
            "sales",
            "amount",
            "turnover",
            "income",
            "takings",
            "proceeds",
            "earnings",
            "value",
            "umsatz",
            "betrag",
        ]
    ),
    frozenset(["quantity", "qty", "unit", "units", "pieces", "volume", "menge", "anzahl"]),
    frozenset(["cost", "costs", "expense", "expenses", "spend", "spending", "spent", "expenditure", "kosten"]),
    frozenset(["region", "area", "territory", "district", "zone"]),
    frozenset(["department", "dept", "team", "division", "unit", "abteilung"]),
    frozenset(["staff", "employee", "person", "worker", "colleague", "member"]),
    frozenset(["product", "item", "article", "produkt", "artikel", "goods"]),
    frozenset(["category", "type", "group", "kind", "class", "kategorie"]),
    frozenset(["customer", "client", "buyer", "kunde"]),
    frozenset(["store", "shop", "branch", "outlet", "filiale", "location", "site"]),
    frozenset(["city", "town", "stadt"]),
    frozenset(["hour", "hours", "time", "stunden"]),
    frozenset(["salesperson", "salesman", "seller", "rep", "representative", "agent"]),
    frozenset(["supplier", "vendor"]),
)
SHORT = {
    "qty": "quantity",
    "amt": "amount",
    "dept": "department",
    "cust": "customer",
    "cat": "category",
    "prod": "product",
    "rev": "revenue",
    "num": "number",
    "no": "number",
    "nr": "number",
    "avg": "average",
    "desc": "description",
    "addr": "address",
    "emp": "employee",
    "tel": "phone",
    "pct": "percent",
    "yr": "year",
    "mon": "month",
    "val": "value",
    "hrs": "hour",
}
_ID_LIKE = re.compile(r"\b(?:id|no|nr|number|code|zip|postcode|plz|phone|year|index|key|row|line)\b")


class Token(msgspec.Struct, frozen=True):
    """A word of a clause: stem and place."""

    stem: str
    start: int
    end: int


class Mention(msgspec.Struct, frozen=True):
    """A place in a clause that means a column; `exact` when the whole column name stands there."""

    column: str
    start: int
    end: int
    exact: bool


def stem(word: str) -> str:
    """A word without its plural ending, abbreviations written out."""
    word = SHORT.get(word, word)
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and re.search(r"(?:ch|sh|x|ss)es\Z", word):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def tokens(text: str) -> list[Token]:
    """Words of a text with their places; camel case, underscores and hyphens separate words."""
    found: list[Token] = []
    for match in re.finditer(r"[A-Z]?[a-zà-öø-ÿ]+|[A-ZÀ-Ö]+(?![a-z])|\d+|[\u4e00-\u9fff]+|[^\W\d_]+", text):
        found.append(Token(stem(match.group().lower()), match.start(), match.end()))
    return found


def key(text: str) -> str:
    """A name without case, separators and plural, for comparing."""
    return "".join(token.stem for token in tokens(text)) or text.strip().lower()


def mentions(text: str, columns: Sequence[Column]) -> list[Mention]:
    """Columns that a clause talks about, in order of appearance.

    Whole names win over parts of names, parts over synonyms; a part that several columns share means none of them.
    """
    words = tokens(text)
    found: list[Mention] = []
    for column in sorted(columns, key=lambda column: -len(column.name)):
        if not column.name.strip():
            continue
        found.extend(m for m in _exact(words, column.name, text) if not _overlaps(m, found))
    for reading in (_parts, _alike):
        for word in words:
            here = Mention("", word.start, word.end, False)
            if _overlaps(here, found):
                continue
            hits = [column.name for column in columns if reading(word.stem, column.name)]
            if len(hits) == 1:
                found.append(Mention(hits[0], word.start, word.end, False))
    return sorted(found, key=lambda mention: mention.start)


def _overlaps(mention: Mention, others: Sequence[Mention]) -> bool:
    return any(mention.start < other.end and other.start < mention.end for other in others)


def _exact(words: Sequence[Token], name: str, text: str) -> list[Mention]:
    wanted = key(name)
    found: list[Mention] = []
    if re.search(r"[\u4e00-\u9fff]", name):
        return [Mention(name, m.start(), m.end(), True) for m in re.finditer(re.escape(name), text)]
    for first in range(len(words)):
        joined = ""
        for last in range(first, min(first + 6, len(words))):
            joined += words[last].stem
            if joined == wanted:
                found.append(Mention(name, words[first].start, words[last].end, True))
            if len(joined) >= len(wanted):
                break
    return found


_WEAK = frozenset(
    ["id", "name", "named", "total", "date", "number", "value", "the", "of", "in", "per", "by", "code", "type", "no"]
)


def _parts(word: str, name: str) -> bool:
    if len(word) < 3 or word in _WEAK:
        return False
    own = [token.stem for token in tokens(name)]
    return any(word == part or (len(part) >= 4 and len(word) >= 4 and _same_root(word, part)) for part in own)


def _same_root(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and len(long) - len(short) <= 3


def _alike(word: str, name: str) -> bool:
    own = {token.stem for token in tokens(name)}
    return any(word in {stem(w) for w in group} and own & {stem(w) for w in group} for group in SYNONYMS)


def looks_like_id(column: Column) -> bool:
    """A numeric column that nobody adds up: numbers of orders, years, postcodes."""
    return bool(_ID_LIKE.search(" ".join(token.stem for token in tokens(column.name)))) or column.name.startswith(
        "Unnamed"
    )


def quoted(text: str) -> list[str]:
    """What stands in quotation marks."""
    return [next(group for group in match.groups() if group is not None).strip() for match in QUOTED.finditer(text)]
