"""The event feed of the store."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from time import sleep

from ._calls import Calls, write_query
from ._response import ResponseInfo
from .errors import argument_error, create_error
from .generated import GET_EVENT, LIST_EVENTS, EventType, StoreEvent
from .page import find_next

_WAIT_SECONDS_MAX = 20
_PAUSE_SECONDS = 1.0
"""Pause after an empty page, if the timeout is too short for the service to wait."""


@dataclass(frozen=True)
class EventPage:
    """A page of the feed, oldest events first. An empty page: there are no newer events yet."""

    items: list[StoreEvent]
    next: str
    """The `after` of the next page. Events that the key may not read are skipped."""
    response: ResponseInfo


class Events:
    """The event feed of the store. A method that fails raises AnimalStoreError."""

    def __init__(self, calls: Calls, timeout_seconds: float) -> None:
        self._calls = calls
        # At most two thirds of the timeout, so that an empty page arrives in time.
        self._wait_seconds = min(_WAIT_SECONDS_MAX, int(timeout_seconds / 1.5))

    def list(
        self,
        *,
        after: str | None = None,
        type: Iterable[EventType] | None = None,
        limit: int | None = None,
        wait: int | None = None,
    ) -> EventPage:
        """Return one page. The default of `limit` is 20.

        `after` is the position after which the page begins, or `now` for the end of the feed. With
        `type`, the page has only events of these types. An empty page waits up to `wait` seconds
        for an event, 0 to 20.
        """
        given = {"after": after, "type": type, "limit": limit, "wait": wait}
        query = write_query(LIST_EVENTS, given)
        answer = self._calls.answer(LIST_EVENTS, LIST_EVENTS.path + query)
        following = find_next(answer.response, LIST_EVENTS.path)
        if following is None or "after" not in following:
            message = "the page of events has no link to the next page"
            raise create_error("unexpected_answer", message, response=answer.response)
        return EventPage(answer.value, following["after"], answer.response)

    def get(self, event_id: str) -> StoreEvent:
        """Return one event. Fail with `events_expired` once it is no longer kept."""
        return self._calls.call(GET_EVENT, id=event_id)

    def follow(
        self,
        after: str | None = None,
        *,
        type: Iterable[EventType] | None = None,
        limit: int = 100,
        on_position: Callable[[str], object] | None = None,
    ) -> Generator[StoreEvent, None, None]:
        """Yield all events after a position, and then new ones as they happen.

        `after` is a stored position, or `now` for new events only. By default, the feed begins
        with the oldest event. With `type`, only events of these types come. `limit` is the number
        of events per request, 1 to 100.

        `on_position` is called when you have handled all events up to a position. Store the
        position. After a restart, pass it as `after`. The iterator never ends by itself. It fails
        with `events_expired` if an event after `after` has expired.
        """
        if on_position is not None and not callable(on_position):
            raise argument_error("on_position", "must be a function")
        position = after
        types = None if type is None else list(type)
        while True:
            # A retry of a request after `now` begins at a later position. So the position is
            # read without a wait.
            wait = 0 if position == "now" else self._wait_seconds
            page = self.list(after=position, type=types, limit=limit, wait=wait)
            yield from page.items
            if page.next != position:
                if on_position is not None:
                    on_position(page.next)
            elif self._wait_seconds == 0:
                sleep(_PAUSE_SECONDS)
            position = page.next
