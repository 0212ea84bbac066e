"""Invented three-page reports with a few facts that a brief of them must state."""

from __future__ import annotations

import random

import msgspec

from tests.e2e.pdfwriter import Block, Heading, Paragraph, Table

_PEOPLE = (
    "Maria Keller",
    "Tomás Ferreira",
    "Anna Lindqvist",
    "David Okafor",
    "Yuki Tanaka",
    "Claire Dubois",
    "Jonas Weber",
)
_MONTHS = ("January", "March", "April", "June", "August", "September", "November")
_TOPICS = (
    ("Renovation of the Municipal Library", "renovation", "the library building", "visitors"),
    ("Solar Panels for Three Schools", "installation", "the school roofs", "pupils"),
    ("New Night Bus Line", "trial service", "the northern districts", "passengers"),
    ("Vaccination Campaign in Rural Clinics", "campaign", "the rural clinics", "patients"),
    ("Irrigation on the Lower Fields", "irrigation scheme", "the lower fields", "hectares"),
    ("Autumn Festival on the Old Dock", "festival", "the old dock", "guests"),
    ("Moving the Parts Warehouse", "relocation", "the parts warehouse", "pallets"),
    ("Heat Pumps for the Office Park", "conversion", "the office park", "tenants"),
)


class Item(msgspec.Struct, frozen=True):
    """One fact: how the request calls it, how the document says it, and what a brief has to contain."""

    name: str
    sentence: str
    value: str


class Report(msgspec.Struct, frozen=True):
    """A document and the facts in it that may be asked for."""

    title: str
    pages: list[list[Block]]
    items: tuple[Item, ...]


def make_report(rng: random.Random) -> Report:
    """Invent one; the same generator state gives the same report."""
    title, thing, place, people = rng.choice(_TOPICS)
    items = _items(rng, thing, people)
    said = {item.name: item.sentence for item in items}
    old_budget = f"{rng.randrange(10, 90) * 1000 + 500:,}"
    page1: list[Block] = [
        Heading(title),
        Paragraph(
            f"This report describes the {thing} planned for {place}. It was prepared for the steering committee and sums up the "
            "reasons, the plan and the means. The committee asked for a decision paper that everyone concerned can read."
        ),
        Heading("Background"),
        Paragraph(
            f"The present state of {place} has been criticised for several years. Repairs were put off twice because money was "
            f"short; an earlier attempt with {old_budget} EUR failed to find a contractor. {said['key figure']} This is why "
            "the committee now gives the matter priority."
        ),
        Paragraph(said["reason"]),
    ]
    page2: list[Block] = [
        Heading("Plan and means"),
        Paragraph(f"{said['budget']} {said['funding source']} Costs are split as shown in the table."),
        Table(_costs(rng)),
        Paragraph(f"{said['start date']} {said['deadline']} Work is done in sections so that {place} can stay in use."),
        Paragraph(said["location of the office"]),
    ]
    page3: list[Block] = [
        Heading("Responsibility and risks"),
        Paragraph(
            f"{said['responsible person']} {said['contractor']} Progress is reported to the committee every month."
        ),
        Paragraph(
            f"{said['main risk']} A reserve has been set aside, and the committee may stop the {thing} at any time."
        ),
        Heading("Next steps"),
        Paragraph(f"{said['next step']} After that the contracts are signed and the neighbours are told in writing."),
    ]
    return Report(title=title, pages=[page1, page2, page3], items=items)


def _items(rng: random.Random, thing: str, people: str) -> tuple[Item, ...]:
    boss, other = rng.sample(_PEOPLE, 2)
    budget = f"{rng.randrange(100, 980) * 1000 + rng.choice((0, 250, 400)):,} EUR"
    year = rng.choice((2026, 2027))
    deadline = f"{rng.randrange(2, 28)} {rng.choice(_MONTHS)} {year + 1}"
    start = f"{rng.randrange(2, 28)} {rng.choice(_MONTHS)} {year}"
    key = f"{rng.randrange(11, 97) * 100 + rng.randrange(1, 99):,} {people}"
    fund = rng.choice(("the regional development fund", "the citizens' foundation", "the national climate programme"))
    firm = rng.choice(("Halberg & Sons", "Norbau Ltd", "Pontis Engineering", "Greenfield Works"))
    reason = rng.choice(("falling safety standards", "rising energy prices", "a new legal requirement"))
    risk = rng.choice(("a shortage of skilled workers", "late delivery of materials", "bad weather in the first weeks"))
    step = rng.choice(("a public hearing", "the call for tenders", "a survey of the site"))
    street = rng.choice(("Mill Lane", "Station Road", "Chapel Street")) + f" {rng.randrange(3, 90)}"
    return (
        Item("budget", f"The committee has approved a budget of {budget} for the {thing}.", budget),
        Item("deadline", f"Everything has to be finished by {deadline}, which is the final deadline.", deadline),
        Item("start date", f"Work starts on {start}.", start),
        Item("responsible person", f"The person responsible for the {thing} is {boss}; {other} is the deputy.", boss),
        Item("key figure", f"The key figure of the report is {key} affected each year.", key.split()[0]),
        Item("funding source", f"The money comes from {fund}.", fund.removeprefix("the ")),
        Item("contractor", f"The chosen contractor is {firm}.", firm),
        Item("reason", f"The main reason for the {thing} is {reason}.", reason.removeprefix("a ")),
        Item("main risk", f"The main risk is {risk}.", risk.removeprefix("a ")),
        Item("next step", f"The next step is {step}.", step.removeprefix("a ").removeprefix("the ")),
        Item("location of the office", f"The project office is at {street}.", street),
    )


def _costs(rng: random.Random) -> tuple[tuple[str, ...], ...]:
    rows = [("Item", "Share", "Cost in EUR")]
    for name in rng.sample(("Planning", "Materials", "Labour", "Permits", "Transport", "Insurance"), 4):
        rows.append((name, f"{rng.randrange(5, 40)} %", f"{rng.randrange(4, 120) * 1000:,}"))
    return tuple(rows)
