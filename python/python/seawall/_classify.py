"""What an exception says of itself; imported when the first call fails. The engine's table does the rest."""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import Any

from ._errors import Refused, TransientError

NAMES = {
    "aiohttp.client_exceptions.ClientConnectionError": "connection",
    "aiohttp.client_exceptions.ServerTimeoutError": "timeout",
    "aiohttp.client_exceptions.ClientPayloadError": "connection",
    "httpx.NetworkError": "connection",
    "httpx.ProtocolError": "connection",
    "httpx.TimeoutException": "timeout",
    "requests.exceptions.ConnectionError": "connection",
    "requests.exceptions.ChunkedEncodingError": "connection",
    "requests.exceptions.Timeout": "timeout",
    "trio.TooSlowError": "timeout",
    "urllib3.exceptions.NewConnectionError": "connection",
    "urllib3.exceptions.ProtocolError": "connection",
    "urllib3.exceptions.TimeoutError": "timeout",
    "urllib.error.URLError": "connection",
}
"""Where an exception has no class of Python's own to be known by: the most special name counts."""

TIMEOUTS = (TimeoutError, asyncio.TimeoutError, concurrent.futures.TimeoutError)


def of_exception(error: BaseException) -> str | int | None:
    """The name of a failure, or the HTTP status that it carries."""
    if isinstance(error, TransientError):
        return "transient"
    if isinstance(error, Refused):
        return "own_refusal"
    status = http_status(error)
    if status is not None:
        return status
    for kind in type(error).__mro__:
        name = NAMES.get(f"{kind.__module__}.{kind.__qualname__}")
        if name:
            return name
        if kind in TIMEOUTS:
            return "timeout"
        if kind is ConnectionError:
            return "connection"
    return "other"


def http_status(end: Any) -> int | None:
    """The HTTP status of an exception or a response: its `status_code` or `status` (aiohttp, urllib), or that of
    its `response`.

    Pass it as `classify_result` where the function answers with responses instead of raising."""
    for holder in (end, getattr(end, "response", None)):
        for name in ("status_code", "status"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and not isinstance(status, bool) and 100 <= status <= 599:
                return int(status)
    return None


def told_by(end: Any) -> tuple[str | None, str | None]:
    """The texts of the headers `seawall-retry` and `Retry-After`."""
    for holder in (getattr(end, "response", None), end):
        get = getattr(getattr(holder, "headers", None), "get", None)
        if get is not None:
            return _header(get, "seawall-retry"), _header(get, "Retry-After")
    return None, None


def _header(get: Any, name: str) -> str | None:
    for spelling in (name, name.lower()):
        value = get(spelling)
        if value is not None:
            return str(value)
    return None
