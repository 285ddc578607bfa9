"""Decides whether a failed request is repeated, and when."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import AnimalStoreError


@dataclass(frozen=True)
class Retry:
    """A planned retry of a request."""

    operation: str | None
    """None if this version of the client does not know the operation."""
    attempts: int
    """Number of requests sent for the call so far."""
    wait_seconds: float
    """Time until the retry."""
    error: AnimalStoreError
    """The error of the last attempt."""


OPEN_SECONDS_MAX = 23 * 3600
"""Time for which a POST with an unknown result is repeated.

The service keeps the idempotency key one hour longer. After that, a retry could act twice.
"""

_FIRST_BACKOFF_SECONDS = 0.5
_BACKOFF_SECONDS_MAX = 8.0

SECRET_OPERATIONS = frozenset({"createKey", "rotateKey", "createWebhook", "rotateWebhookSecret"})
"""Operations whose response has a new secret.

The service ignores their idempotency key, so a retry creates another secret.
"""

# A retry is safe: creates and orders have an idempotency key, and the changes of an order's
# status are idempotent. `is_once` and SECRET_OPERATIONS protect all other requests.
_TRANSIENT_CODES = frozenset({"connection_failed", "timed_out", "idempotency_key_in_use"})
_TRANSIENT_STATUSES = frozenset({408, 429, 500, 502, 503, 504})


def plan_wait(error: AnimalStoreError, max_wait_seconds: float, random: float) -> float | None:
    """Return the seconds until the retry, at most `max_wait_seconds`.

    Return None if a retry is useless: the failure is permanent, or `Retry-After` is longer than
    `max_wait_seconds`. `random` is from 0 to 1.

    The wait is `Retry-After` plus exponential backoff with full jitter. The first 429 with
    `Retry-After` needs no backoff. After a 5xx or a second 429, the backoff spreads the clients
    that compete.
    """
    if error.code not in _TRANSIENT_CODES and error.status not in _TRANSIENT_STATUSES:
        return None
    asked = error.retry_after_seconds or 0
    if asked > max_wait_seconds:
        return None
    if error.status == 429 and error.retry_after_seconds is not None and error.attempts == 1:
        return float(asked)
    longest = min(_BACKOFF_SECONDS_MAX, _FIRST_BACKOFF_SECONDS * (1 << (error.attempts - 1)))
    return min(max_wait_seconds, asked + random * longest)
