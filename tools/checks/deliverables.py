"""The files asked for are there, open, and hold something."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from engine.protocol.documents import CheckFiles
from engine.protocol.ledger import Check
from engine.protocol.verdicts import CheckResult, Defect, Evidence
from tools.checks.base import Offer, defect, failed, passed, unknown
from tools.checks.naming import same_name
from tools.checks.request import Part, Request
from tools.inspectors.texts import kind_of

NAME = "deliverables"
_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\bcsv\b|\bcomma[- ]separated\b", ("csv",)),
    (r"\bexcel\b(?! formula)(?! sum)|\bxlsx\b|\bspreadsheets?\b|\bworkbooks?\b|工作簿|表格文件", ("xlsx",)),
    (r"\b(?:ms |microsoft )?word[- ](?:documents?|files?|docs?|format|report|memo|brief|page|version|summary|copy)\b"
     r"|\b(?:in|as|as an?|to|into|with|ms|microsoft) word\b(?! count)|\bdocx\b|\bword-?(?:datei|dokument)\b", ("docx",)),
    (r"\bpdf\b", ("pdf",)),
    (r"\bmarkdown\b|\bmd\b", ("markdown",)),
    (r"\bpng\b", ("image",)),
    (r"\b(?:jpe?g|picture|image)\b|\b(?:bar[- ]?)?(?:chart|graph|plot|diagram)s?\b|柱状图|条形图", ("image",)),
    (r"\bhtml\b|\bweb ?page\b", ("html",)),
    (r"\bjson\b", ("json",)),
    (r"\bplain text\b|\btext files?\b|\btxt\b", ("text",)),
    (r"\bpowerpoint\b|\bpptx\b|\bslide ?(?:deck|show)s?\b", ("pptx",)),
    (r"\bnotes?\b(?! that\b| how\b|:)|\bnotiz\b", ("markdown", "text", "docx")),
)  # fmt: skip
_GIVEN = re.compile(
    r"(?:\b(?:the|this|that|these|attached|my|our|given|original|source|from an?|same|enclosed|uploaded|of an?|provided|following|input)\s+(?:\w+[- ]){0,2})\Z",
    re.IGNORECASE,
)
_NEW = re.compile(
    r"(?:\b(?:as|into|to|new|another|separate|save\w*|export\w*|creat\w*|mak\w*|produc\w*|writ\w*|in|as an?|an?|result\w*|output|final)\s+(?:\w+[- ]){0,2})\Z",
    re.IGNORECASE,
)


def wanted(request: Request) -> list[dict[str, Any]]:
    """Files the request asks for: ``kinds`` that would do, and the ``name`` where one is said."""
    given_kinds = {profile.kind for profile in request.view.files}
    needs: list[dict[str, Any]] = []
    for part in request.parts:
        for name in part.names:
            if name in request.outputs and name not in [need["name"] for need in needs]:
                needs.append({"kinds": [kind_of(name)], "name": name})
        for rule, kinds in _KINDS:
            if any(
                _is_output(part, match, kinds, given_kinds) for match in re.finditer(rule, part.bare, re.IGNORECASE)
            ):
                known = {kind for need in needs for kind in need["kinds"]}
                if not known & set(kinds):
                    needs.append({"kinds": list(kinds), "name": ""})
    return _without_pointless(needs)


def _without_pointless(needs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A note asked for without a kind is answered by any text file asked for by kind."""
    sure = [need for need in needs if len(need["kinds"]) == 1]
    covered = {kind for need in sure for kind in need["kinds"]}
    return [need for need in needs if len(need["kinds"]) == 1 or not covered & set(need["kinds"])]


def _is_output(part: Part, match: re.Match[str], kinds: tuple[str, ...], given_kinds: set[str]) -> bool:
    if not given_kinds & set(kinds):
        return True
    before, after = part.bare[: match.start()], part.bare[match.end() :]
    if _GIVEN.search(before) or re.match(
        r"\s+(?:attached|enclosed|above|below|i (?:sent|attached|gave))\b", after, re.IGNORECASE
    ):
        return False
    alone = re.search(r"(?:^|[,:;(–-])\s*\Z", before) and re.match(
        r"\s*(?:\Z|[.,;!?)]|please\b|file\b|named\b|called\b)", after
    )
    return bool(_NEW.search(before) or alone or re.match(r"\s+please\b", after, re.IGNORECASE))


def propose(request: Request) -> list[Offer]:
    """One offer for all files; a table edit without a kind gives the kind of its source."""
    needs = wanted(request)
    if (
        not needs
        and request.having("rename") + request.having("dedupe")
        and request.sources
        and not request.having("aggregate")
    ):
        needs = [{"kinds": [request.sources[0].file.kind], "name": ""}]
    covers = {part.index: frozenset({"files"}) for part in request.parts}
    if not needs:
        needs = [{"kinds": [], "name": ""}]
    says = (
        "Delivered, opens and is not empty: "
        + ", ".join(n["name"] or " or ".join(n["kinds"]) or "a result" for n in needs)
        + "."
    )
    return [Offer(check=Check(name=NAME, params={"needs": needs}, says=says), covers=covers)]


def run(params: dict[str, Any], files: CheckFiles) -> CheckResult:
    """Look for each file.

    Args:
        params: ``needs``, each with ``kinds`` (none: anything will do, the answer too) and ``name``.
        files: the files.
    """
    from tools.inspectors.registry import inspect

    defects: list[Defect] = []
    evidence: list[Evidence] = []
    for need in params["needs"]:
        names = [n for n in files.deliverables if _fits(n, need)]
        if not names:
            if not need["kinds"] and files.answer.strip():
                evidence.append(Evidence(says="The answer is there."))
                continue
            what = need["name"] or " or ".join(need["kinds"]) or "a result"
            defects.append(defect("file.missing", need["name"], "", f"Missing: {what}.", wanted=what))
            continue
        for name in names:
            found = inspect(Path(files.deliverables[name]))
            broken = [
                d
                for d in found.defects
                if d.code in ("file.empty", "file.cannot_open", "file.wrong_content", "file.missing")
            ]
            defects.extend(broken)
            if not broken:
                evidence.append(Evidence(file=name, says="It is there, opens and is not empty."))
    if defects:
        return failed(*defects)
    return passed(*evidence) if evidence else unknown("No file was asked for.")


def _fits(name: str, need: dict[str, Any]) -> bool:
    if need["name"]:
        return same_name(name, str(need["name"]))
    return not need["kinds"] or kind_of(name) in need["kinds"]
