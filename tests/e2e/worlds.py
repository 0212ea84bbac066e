"""Small invented worlds for the generated requests: their nouns, groups and figures."""

from __future__ import annotations

import random

import msgspec


class World(msgspec.Struct, frozen=True, kw_only=True):
    """One domain.

    Attributes:
        records: what one row is, in the plural.
        stems: names a file of it may have, without the suffix.
        groups: column a total may be taken per, as words, with its possible values.
        measure: column that is summed, as words.
        decimals: decimals of the measure.
        span: smallest and largest usual value of the measure.
        other: a second numeric column, to distract.
        identity: the column that numbers the rows.
        when: the date column.
    """

    records: str
    stems: tuple[str, ...]
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    measure: str
    decimals: int
    span: tuple[float, float]
    other: str
    identity: str
    when: str


WORLDS: tuple[World, ...] = (
    World(
        records="orders",
        stems=("orders", "sales 2026", "Sales (final)", "销售数据"),
        groups=(
            ("sales region", ("North", "South", "East", "West", "Centre", "Overseas")),
            ("product line", ("Lamps", "Desks", "Chairs", "Shelves", "Rugs")),
        ),
        measure="net revenue",
        decimals=2,
        span=(20, 900),
        other="units sold",
        identity="order id",
        when="order date",
    ),
    World(
        records="visits",
        stems=("clinic_visits", "visits Q3", "visits (all clinics)"),
        groups=(
            ("clinic", ("Harbour", "Old Town", "St. Mary", "Riverside", "Hill Road")),
            ("visit type", ("Check-up", "Vaccination", "Emergency", "Follow-up")),
        ),
        measure="treatment minutes",
        decimals=0,
        span=(5, 120),
        other="patient age",
        identity="visit no",
        when="visit date",
    ),
    World(
        records="donations",
        stems=("school_fund", "donations spring", "捐款记录"),
        groups=(
            ("class name", ("1A", "1B", "2A", "2B", "3A", "3B", "4A")),
            ("school house", ("Oak", "Maple", "Birch", "Willow")),
        ),
        measure="amount raised",
        decimals=2,
        span=(1, 80),
        other="pupils taking part",
        identity="entry id",
        when="collected on",
    ),
    World(
        records="shipments",
        stems=("shipments", "freight log", "Shipments (week 12)"),
        groups=(
            ("carrier", ("Bluewave", "Nordfracht", "QuickVan", "Atlas Cargo", "Postline")),
            ("destination country", ("Austria", "Denmark", "France", "Italy", "Poland", "Spain")),
        ),
        measure="gross weight kg",
        decimals=1,
        span=(2, 640),
        other="parcel count",
        identity="tracking no",
        when="ship date",
    ),
    World(
        records="meter readings",
        stems=("energy_use", "meter readings", "energy 2026 (raw)"),
        groups=(
            ("building", ("Hall A", "Hall B", "Office Tower", "Canteen", "Workshop", "Depot")),
            ("energy source", ("Grid", "Solar", "Gas", "District heat")),
        ),
        measure="consumption kwh",
        decimals=3,
        span=(4, 300),
        other="peak load",
        identity="reading id",
        when="read at",
    ),
    World(
        records="loans",
        stems=("library_loans", "loans by branch", "图书馆"),
        groups=(
            ("branch", ("Main", "Eastside", "Westpark", "Mobile", "University")),
            ("genre", ("Fiction", "History", "Science", "Children", "Travel", "Comics")),
        ),
        measure="days on loan",
        decimals=0,
        span=(1, 42),
        other="renewals",
        identity="loan number",
        when="loan date",
    ),
    World(
        records="harvests",
        stems=("harvest", "farm yield 2026", "Harvest (all fields)"),
        groups=(
            ("crop", ("Wheat", "Barley", "Rapeseed", "Potatoes", "Sugar beet", "Oats")),
            ("field", ("Long Acre", "Mill Field", "Stony Bank", "Low Meadow")),
        ),
        measure="yield tonnes",
        decimals=2,
        span=(0.5, 40),
        other="moisture percent",
        identity="load id",
        when="harvest date",
    ),
    World(
        records="ticket bookings",
        stems=("bookings", "festival tickets", "tickets (online)"),
        groups=(
            ("venue", ("Main Stage", "Tent", "Cellar", "Open Air", "Chapel")),
            ("ticket type", ("Adult", "Child", "Senior", "Student", "Group")),
        ),
        measure="ticket income",
        decimals=2,
        span=(8, 260),
        other="seats booked",
        identity="booking ref",
        when="event date",
    ),
    World(
        records="repair jobs",
        stems=("workshop_jobs", "repairs 2026", "维修单"),
        groups=(
            ("technician", ("Ada", "Bruno", "Chloé", "Deniz", "Emil", "Färber")),
            ("machine type", ("Lathe", "Press", "Mill", "Saw", "Robot")),
        ),
        measure="labour cost",
        decimals=2,
        span=(15, 480),
        other="hours worked",
        identity="job id",
        when="finished on",
    ),
    World(
        records="trips",
        stems=("trips", "bike share trips", "Trips (June)"),
        groups=(
            ("start station", ("Market", "Station", "Museum", "Harbour", "Campus", "Zoo")),
            ("user type", ("Member", "Day pass", "Tourist", "Staff")),
        ),
        measure="distance km",
        decimals=2,
        span=(0.3, 28),
        other="duration min",
        identity="trip id",
        when="started at",
    ),
)

FOREIGN = {
    "sales region": "Région",
    "building": "Gebäude",
    "carrier": "Spediteur für",
    "branch": "分馆",
    "crop": "Culture récoltée",
    "venue": "场地",
    "clinic": "Clínica",
    "start station": "Départ",
    "labour cost": "Löhne",
    "yield tonnes": "产量",
}
"""Names in other languages that a column sometimes has instead; the request then writes them exactly so."""


def styled(words: str, style: str) -> str:
    """A column's name in a style of writing.

    Args:
        words: lower-case words.
        style: ``snake``, ``camel``, ``title``, ``lower`` or ``upper``.
    """
    parts = words.split()
    if style == "snake":
        return "_".join(parts)
    if style == "camel":
        return "".join(part.capitalize() for part in parts)
    if style == "title":
        return " ".join(part.capitalize() for part in parts)
    if style == "upper":
        return "_".join(parts).upper()
    return words


def number(rng: random.Random, world: World, *, negative: bool) -> float:
    """A value of the measure; now and then negative if that is allowed."""
    low, high = world.span
    value = round(rng.uniform(low, high), world.decimals)
    return -value if negative and rng.random() < 0.06 else value


def shown(value: float, decimals: int) -> str:
    """The value as a file has it: a fixed number of decimals."""
    return f"{value:.{decimals}f}"
