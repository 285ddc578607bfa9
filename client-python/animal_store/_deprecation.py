"""Reports operations that the service has announced to remove."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from ._response import Headers, find_link
from .generated import OPERATIONS


@dataclass(frozen=True)
class Deprecation:
    """An announcement that an operation is deprecated."""

    operation: str
    since: datetime | None
    """Time since which the operation is deprecated. None if the service does not say."""
    removed_at: datetime | None
    """Time at which the operation is removed. None if the service does not say."""
    successor: str | None
    """The URL of the replacement, as the service sends it. None if the service names none."""
    message: str
    """The announcement as one line for a log."""


class DeprecationWatch:
    """Reads the headers of responses. Reports each deprecated operation once."""

    def __init__(self, report: Callable[[Deprecation], object]) -> None:
        self._report = report
        self._reported: set[str] = set()

    def read(self, operation: str | None, headers: Headers) -> None:
        deprecated = headers.get("deprecation")
        if operation is None or deprecated is None or operation in self._reported:
            return
        self._reported.add(operation)
        self._report(_read_deprecation(operation, deprecated, headers))


def _read_deprecation(name: str, deprecated: str, headers: Headers) -> Deprecation:
    # `Deprecation` is `@` and Unix seconds (RFC 9745). `Sunset` is an HTTP date (RFC 8594).
    since = None
    if re.fullmatch(r"@-?[0-9]{1,11}", deprecated):
        since = datetime.fromtimestamp(int(deprecated[1:]), UTC)
    try:
        removed_at = parsedate_to_datetime(headers.get("sunset", ""))
    except ValueError:
        removed_at = None
    successor = find_link(headers, "successor-version")
    operation = OPERATIONS[name]
    end = "" if removed_at is None else f" and is removed on {removed_at:%Y-%m-%d}"
    instead = "" if successor is None else f"; use {successor} instead"
    shown = f"{operation.method} {operation.path} ({name})"
    message = f"Animal Store: {shown} is deprecated{end}{instead}"
    return Deprecation(name, since, removed_at, successor, message)
