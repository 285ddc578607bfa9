"""The metadata of a response."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime


class Headers(Mapping[str, str]):
    """The headers of a response. Names may be in any case. Equal names are joined with a comma."""

    def __init__(self, items: Iterable[tuple[str, str]] = ()) -> None:
        self._values: dict[str, str] = {}
        for name, value in items:
            lower = name.lower()
            before = self._values.get(lower)
            self._values[lower] = value if before is None else f"{before}, {value}"

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Headers({self._values!r})"


@dataclass(frozen=True)
class RateLimit:
    """The window of the rate limit with the fewest remaining requests."""

    limit: int
    """Number of requests allowed in the window."""
    remaining: int
    """Number of requests left in the window."""
    reset_at_seconds: int
    """Time at which the window resets, in Unix seconds."""


@dataclass(frozen=True)
class ResponseInfo:
    """The metadata of a response."""

    status: int
    request_id: str | None
    """The `X-Request-Id`. With it, the operator finds the request in the log."""
    rate_limit: RateLimit | None
    replayed: bool
    """True if this is the stored response to an earlier request with the same idempotency key."""
    attempts: int
    """Number of requests sent for the call."""
    headers: Headers

    @property
    def etag(self) -> str | None:
        """The `ETag`. That of an animal is its `if_match`. None if the response has none."""
        return self.headers.get("etag")


def read_response_info(status: int, headers: Headers, attempts: int) -> ResponseInfo:
    return ResponseInfo(
        status=status,
        request_id=headers.get("x-request-id"),
        rate_limit=_read_rate_limit(headers),
        replayed=headers.get("idempotent-replayed") == "true",
        attempts=attempts,
        headers=headers,
    )


def _read_rate_limit(headers: Headers) -> RateLimit | None:
    limit = _read_whole(headers.get("x-ratelimit-limit"))
    remaining = _read_whole(headers.get("x-ratelimit-remaining"))
    reset_at_seconds = _read_whole(headers.get("x-ratelimit-reset"))
    if limit is None or remaining is None or reset_at_seconds is None:
        return None
    return RateLimit(limit, remaining, reset_at_seconds)


def read_retry_after(headers: Headers, now_seconds: float) -> int | None:
    """Return `Retry-After` in whole seconds. None if it is absent or invalid.

    A proxy may send an HTTP date instead of seconds (RFC 9110).
    """
    text = headers.get("retry-after")
    seconds = _read_whole(text)
    if text is None or seconds is not None:
        return seconds
    try:
        return max(0, math.ceil(parsedate_to_datetime(text).timestamp() - now_seconds))
    except (ValueError, OverflowError):
        return None


def _read_whole(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,15}", text) else None


# Each link of a `Link` header (RFC 8288), with its parameters.
_LINKS = re.compile(r'<([^>]*)>((?:[^,"]|"[^"]*")*)')
_RELATION = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;"]+))', re.IGNORECASE)


def find_link(headers: Headers, wanted: str) -> str | None:
    """Return the target of the first link with this relation. None without such a link."""
    for target, parameters in _LINKS.findall(headers.get("link", "")):
        found = _RELATION.search(parameters)
        if found and wanted in (found[1] or found[2] or "").lower().split():
            return str(target)
    return None
