"""What the option `debug` gets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attempt:
    """One request and its result. The API key is not included."""

    operation: str | None
    """None if this version of the client does not know the operation."""
    method: str
    url: str
    """The full URL with its query."""
    attempts: int
    """Number of requests sent for the call, including this one."""
    duration_seconds: float
    status: int | None
    """None if there was no response."""
    request_id: str | None
    error: Exception | None
