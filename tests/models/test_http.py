from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from engine.protocol.errors import UserError
from models.http import is_loopback, new_client, retry_after_s, trust


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:80/x", True),
        ("http://[::1]:8080", True),
        ("http://localhost:1", True),
        ("https://api.example.com/v1", False),
        ("http://10.0.0.7:8000", False),
    ],
)
def test_what_is_this_computer(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected


def test_retry_after_as_seconds_date_and_nonsense() -> None:
    assert retry_after_s({"retry-after": "2.5"}) == 2.5
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    waited = retry_after_s({"retry-after": later})
    assert waited is not None
    assert 90 < waited <= 100
    assert retry_after_s({"retry-after": "soon"}) is None
    assert retry_after_s({}) is None


def test_a_certificate_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        trust({"SSL_CERT_FILE": str(tmp_path / "none.pem")})
    assert "none.pem" in caught.value.what


async def test_proxies_are_used_for_others_but_not_for_this_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:3128")
    async with new_client("http://127.0.0.1:1", connect_timeout_s=1) as here:
        assert not here.trust_env
    async with new_client("http://models.example", connect_timeout_s=1) as there:
        assert there.trust_env
