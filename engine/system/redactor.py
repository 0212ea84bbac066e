"""Takes secrets out of text before it is written anywhere: exact values first, then what looks like a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

MASK = "[secret]"
_SHORTEST = 6

_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"(?i)\b((?:proxy-)?authorization|x-api-key|api-key|cookie|set-cookie)(\"?\s*[:=]\s*\"?)[^\r\n\"]+"),
        rf"\1\2{MASK}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"), rf"\1 {MASK}"),
    (re.compile(r"\b(?:sk|pk|rk|hf|ghp|gho|ghs|glpat|xox[abps])[-_][A-Za-z0-9_-]{12,}"), MASK),
    (re.compile(r"\bAKIA[0-9A-Z]{16}\b"), MASK),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"), MASK),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@"), rf"\1{MASK}@"),
    (
        re.compile(r"(?i)([?&](?:[a-z0-9_-]*(?:token|signature|secret|api_?key|password)|sig|key)=)[^\s&#\"']+"),
        rf"\1{MASK}",
    ),
    (re.compile(r"(?i)\b([A-Z0-9_]*(?:PASSWORD|SECRET|TOKEN|API_?KEY)\"?\s*[:=]\s*\"?)[^\s\"',;]{6,}"), rf"\1{MASK}"),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S), MASK),
)


class Redactor:
    """The one place through which log lines, exports and error reports go.

    Args:
        secrets: values that must never be written; those under six characters are ignored, as they would hit words.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: tuple[str, ...] = ()
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Never let this value through again, nor its form inside a URL or a JSON string."""
        forms = {secret, quote(secret, safe=""), secret.replace("\\", "\\\\").replace('"', '\\"')}
        known = set(self._secrets) | {form for form in forms if len(form) >= _SHORTEST}
        # Longest first: a secret that contains another must not leave a rest.
        self._secrets = tuple(sorted(known, key=lambda value: (-len(value), value)))

    def redact(self, text: str) -> str:
        """The text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        for pattern, instead in _PATTERNS:
            text = pattern.sub(instead, text)
        return text

    def redact_data(self, value: Any) -> Any:
        """The same for JSON-like data: every string in it, keys too."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            return {self.redact_data(key): self.redact_data(item) for key, item in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            return [self.redact_data(item) for item in value]
        return value
