"""HTTP for model backends and downloads: trust, proxies, event streams and errors in people's terms."""

from __future__ import annotations

import ipaddress
import json
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import urlsplit

import httpx

from engine.protocol.errors import OneDayError, RetryableError, UserError
from models.errors import ContextExceeded

_BUNDLE_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def is_loopback(url: str) -> bool:
    """Whether a URL points at this computer."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def trust(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Certificates to trust: the system's store, what the environment names, else also the bundle httpx brings.

    Args:
        environ: environment variables; ``SSL_CERT_FILE``, ``REQUESTS_CA_BUNDLE`` and ``CURL_CA_BUNDLE`` name a file.

    Raises:
        UserError: a named file cannot be read.
    """
    context = ssl.create_default_context()
    named = [environ[name] for name in _BUNDLE_VARIABLES if environ.get(name)]
    if not named:
        import certifi

        named = [certifi.where()]
    for path in dict.fromkeys(named):
        try:
            context.load_verify_locations(cafile=path)
        except (OSError, ssl.SSLError) as error:
            raise UserError(
                "network.certificates",
                "The certificate file {path} cannot be used: {reason}.",
                todo="Correct the environment variable that names it (SSL_CERT_FILE, REQUESTS_CA_BUNDLE).",
                path=path,
                reason=str(error),
            ) from error
    return context


def new_client(url: str, *, connect_timeout_s: float) -> httpx.AsyncClient:
    """A client for one backend; reads have no limit of their own, the caller sets one.

    Args:
        url: any address of the backend; on this computer no proxy is used, and without TLS no certificates are read
            (that costs some 20 ms).
        connect_timeout_s: limit for opening a connection.
    """
    plain = urlsplit(url).scheme == "http"
    verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else trust(os.environ)
    return httpx.AsyncClient(
        verify=verify,
        trust_env=not is_loopback(url),
        timeout=httpx.Timeout(None, connect=connect_timeout_s),
        follow_redirects=not plain,
    )


async def sse_data(response: httpx.Response) -> AsyncIterator[str]:
    """The ``data`` of each event of a stream.

    Lines are split at line feeds only: splitting as `str.splitlines` does would tear JSON at a raw U+2028 or U+0085.

    Args:
        response: an open streamed response.
    """
    buffer = b""
    data: list[str] = []
    async for chunk in response.aiter_bytes():
        buffer += chunk
        *lines, buffer = buffer.split(b"\n")
        for raw in lines:
            line = raw.rstrip(b"\r").decode("utf-8", errors="replace")
            if line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
            elif not line and data:
                yield "\n".join(data)
                data = []
    if buffer.startswith(b"data:"):
        data.append(buffer[5:].decode("utf-8", errors="replace").strip())
    if data:
        yield "\n".join(data)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that ``Retry-After`` asks us to wait (a number or a date); None where it is missing or unreadable."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return None


def error_from(status: int, headers: Mapping[str, str], body: str, *, url: str, model: str) -> OneDayError:
    """What an HTTP error of a backend means, as an error to raise.

    Args:
        status: HTTP status, or the code inside an error that came in a stream.
        headers: of the response.
        body: its text.
        url: address asked.
        model: model asked for.
    """
    if _is_html(headers, body):
        return UserError(
            "model.not_an_api",
            "{url} answered with a web page instead of a model's reply (HTTP {status}).",
            todo="Check the address (it usually ends in /v1) and whether a login page or proxy is in between.",
            url=url,
            status=status,
        )
    error = _error_object(body)
    message = str(error.get("message") or body[:300] or "no explanation")
    kind = f"{error.get('type', '')} {error.get('code', '')}"
    if "exceed_context_size" in kind or "context_length_exceeded" in kind:
        return ContextExceeded(_int(error.get("n_prompt_tokens")), _int(error.get("n_ctx")))
    if status == 429 and "insufficient_quota" not in kind:
        return RetryableError(f"The model service is busy: {message}", after_s=retry_after_s(headers))
    if status >= 500 or status in (408, 409, 425):
        return RetryableError(f"The model server failed (HTTP {status}): {message}", after_s=retry_after_s(headers))
    return _user_error(status, message, url=url, model=model)


def _user_error(status: int, message: str, *, url: str, model: str) -> UserError:
    key, what, todo = {
        401: ("model.key", "The model service at {url} did not accept the key: {message}", "Enter the key again."),
        403: (
            "model.forbidden",
            "The model service at {url} does not allow this: {message}",
            "Check what the key may be used for, and that the model {model} is open to it.",
        ),
        402: ("model.credit", "The account at {url} has no credit: {message}", "Top it up, or use another profile."),
        429: ("model.credit", "The account at {url} has no credit: {message}", "Top it up, or use another profile."),
        404: (
            "model.unknown",
            "{url} does not know the model {model}: {message}",
            "Check the model's name and the address in the profile.",
        ),
    }.get(
        status,
        (
            "model.refused",
            "The model service at {url} refused the request (HTTP {status}): {message}",
            "Check the profile; another model or dialect may be needed.",
        ),
    )
    kept = "The work so far is kept."
    return UserError(key, what, kept=kept, todo=todo, url=url, model=model, message=message, status=status)


def _is_html(headers: Mapping[str, str], body: str) -> bool:
    head = body[:200].lstrip().lower()
    return "text/html" in headers.get("content-type", "") or head.startswith(("<!doctype html", "<html"))


def _error_object(body: str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    if not isinstance(value, dict):
        return {}
    error = value.get("error", value)
    return error if isinstance(error, dict) else {"message": str(error)}


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0
