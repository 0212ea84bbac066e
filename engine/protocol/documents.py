"""What document workers report about files. All values are plain data; nothing here parses."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from engine.protocol.ledger import Check, Clause
from engine.protocol.verdicts import Defect

ColumnKind = Literal["number", "text", "date", "bool", "empty", "mixed"]


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A column of a table: its header, what it holds, how many distinct values, a few samples as text."""

    name: str
    kind: ColumnKind = "text"
    distinct: int = 0
    empty: int = 0
    samples: tuple[str, ...] = ()


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table in a file.

    Attributes:
        name: sheet name; empty for CSV.
        columns: in order.
        rows: number of data rows below the header.
        duplicate_rows: rows that repeat an earlier row exactly.
    """

    name: str = ""
    columns: tuple[Column, ...] = ()
    rows: int = 0
    duplicate_rows: int = 0


class FileProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a file that planning and checks need.

    Attributes:
        name: basename in the workspace.
        kind: ``csv``, ``xlsx``, ``docx``, ``pptx``, ``pdf``, ``markdown``, ``text``, ``json``, ``html``,
            ``image`` or ``unknown``.
        size_bytes: its size.
        tables: tables found.
        pages: pages or slides; 0 where the notion does not apply.
        words: number of words of its text.
        headings: headings or slide titles, first 50.
        problem: why it could not be read; empty when it could.
    """

    name: str
    kind: str = "unknown"
    size_bytes: int = 0
    tables: tuple[Table, ...] = ()
    pages: int = 0
    words: int = 0
    headings: tuple[str, ...] = ()
    problem: str = ""


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What part of a file to read.

    Attributes:
        max_chars: bound of `Reading.text`.
        pages: pages or slides such as ``"3-5"``; empty for the beginning.
        sheet: sheet name; empty for all, as previews.
        range: cell range such as ``"A1:F40"``.
        search: only passages holding this text (case-insensitive).
        offset: characters to skip in the plain text of the file.
    """

    max_chars: int = 10_000
    pages: str = ""
    sheet: str = ""
    range: str = ""
    search: str = ""
    offset: int = 0


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What the model sees of a file.

    Attributes:
        name: basename.
        kind: as in `FileProfile`.
        text: structured text (Markdown), at most `ReadOptions.max_chars` characters.
        total_chars: length of the whole text where known, else 0.
        truncated: `text` is not all; `more` says how to get the rest.
        more: a sentence for the model on how to read on.
        problem: typed reason why nothing could be read (``encrypted``, ``no_text_layer``, ``corrupt``, ``empty``,
            ``too_large``, ``unsupported``, ``timeout``); empty when it could.
        detail: the problem in words.
    """

    name: str
    kind: str = "unknown"
    text: str = ""
    total_chars: int = 0
    truncated: bool = False
    more: str = ""
    problem: str = ""
    detail: str = ""


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """What an inspector found in one deliverable: facts for people and prompts, defects for the verifier."""

    name: str
    kind: str = "unknown"
    opens: bool = True
    facts: dict[str, Any] = {}
    defects: tuple[Defect, ...] = ()


class RequestView(msgspec.Struct, frozen=True, kw_only=True):
    """What the check proposers look at: the request, its clauses, and the facts of the attachments."""

    text: str
    clauses: tuple[Clause, ...]
    files: tuple[FileProfile, ...] = ()


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A check that answers one or more clauses of the request.

    Attributes:
        check: the check with its parameters.
        clauses: indices of the clauses that the check (together with the other proposals for them) settles.
        partial: the check touches these clauses but does not settle them alone: an item with partial checks
            only can fail by them, but not pass.
    """

    check: Check
    clauses: tuple[int, ...]
    partial: bool = False


class CheckFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files a check may open: absolute paths by name.

    Attributes:
        sources: pristine copies of the attachments, as the person gave them.
        deliverables: candidate result files.
        answer: the candidate answer text.
    """

    sources: dict[str, str] = {}
    deliverables: dict[str, str] = {}
    answer: str = ""
