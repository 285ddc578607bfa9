"""Lists that the service divides into pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, urlsplit

from ._calls import Calls, Query, format_query, write_query
from ._operation import Operation
from ._response import ResponseInfo, find_link
from .errors import create_error

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list."""

    items: list[T]
    next_cursor: str | None
    """The `cursor` of the next page. None on the last page."""
    response: ResponseInfo
    _get_next: Callable[[], Page[T]] | None = field(repr=False, compare=False)

    def next(self) -> Page[T] | None:
        """Return the next page. None after the last page."""
        return None if self._get_next is None else self._get_next()


def get_page(calls: Calls, operation: Operation[list[T]], query: Query) -> Page[T]:
    """Return the page of a query."""
    return _get_page(calls, operation, write_query(operation, query))


def walk(calls: Calls, operation: Operation[list[T]], query: Query) -> Iterator[T]:
    """Yield all items, and request one page after the other."""
    page: Page[T] | None = get_page(calls, operation, query)
    while page is not None:
        yield from page.items
        page = page.next()


def _get_page(calls: Calls, operation: Operation[list[T]], query: str) -> Page[T]:
    answer = calls.answer(operation, operation.path + query)
    following = find_next(answer.response, operation.path)
    if following is None:
        return Page(answer.value, None, answer.response, None)
    next_query = format_query(following)
    return Page(
        items=answer.value,
        next_cursor=following.get("cursor"),
        response=answer.response,
        _get_next=lambda: _get_page(calls, operation, next_query),
    )


def find_next(response: ResponseInfo, path: str) -> dict[str, str] | None:
    """Return the query of the link to the next page. None without such a link.

    Raise `unexpected_answer` if the link leads to another path. The rest of the link is ignored,
    so that the API key is sent only to `base_url`.
    """
    target = find_link(response.headers, "next")
    if target is None:
        return None
    link = urlsplit(target)
    if link.path.endswith(path):
        return dict(parse_qsl(link.query, keep_blank_values=True))
    message = f"the link to the next page does not lead to the list: {link.path}"
    raise create_error("unexpected_answer", message, response=response, attempts=response.attempts)
