"""The failed requests of the account."""

from __future__ import annotations

from collections.abc import Iterator

from ._calls import Calls
from .generated import LIST_REQUESTS, RecordedRequest
from .page import Page, get_page, walk


class Requests:
    """The requests of the account that failed or took over a second, of the last 7 days.

    A method that fails raises AnimalStoreError.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        limit: int | None = None,
        request_id: str | None = None,
        status: int | None = None,
        code: str | None = None,
        since: str | None = None,
        until: str | None = None,
        cursor: str | None = None,
    ) -> Page[RecordedRequest]:
        """Return one page, newest requests first. The default of `limit` is 20.

        `since` and `until` are times such as `2027-01-02T12:00:00Z`. A request is listed a second
        or two later.
        """
        query = {"limit": limit, "requestId": request_id, "status": status, "code": code}
        times = {"since": since, "until": until}
        return get_page(self._calls, LIST_REQUESTS, {**query, **times, "cursor": cursor})

    def list_all(
        self,
        *,
        limit: int = 100,
        request_id: str | None = None,
        status: int | None = None,
        code: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Iterator[RecordedRequest]:
        """Yield all requests, page by page.

        `limit` is the number of requests per request to the service, 1 to 100.
        """
        query = {"limit": limit, "requestId": request_id, "status": status, "code": code}
        return walk(self._calls, LIST_REQUESTS, {**query, "since": since, "until": until})
