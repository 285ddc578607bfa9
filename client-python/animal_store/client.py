"""The client."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any

from ._calls import Calls, Query, format_query, write_body
from ._debug import Attempt
from ._deprecation import Deprecation
from ._http import ConnectionPool, Send
from ._retry import Retry
from ._settings import ApiKeyOption, Settings, read_max_retries, read_seconds, read_settings
from ._transport import Answer, Call, Transport
from .categories import Categories
from .errors import argument_error
from .events import Events
from .generated import GET_ACCOUNT, GET_INVENTORY, OPERATIONS, Account, Inventory
from .keys import Keys
from .orders import Orders
from .pets import Pets
from .requests import Requests
from .webhooks import Webhooks


class Store:
    """The inventory of the store. A method that fails raises AnimalStoreError."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def inventory(self, *, category_id: int | None = None) -> Inventory:
        """Return the numbers of available, pending and sold animals."""
        return self._calls.call(GET_INVENTORY, query={"categoryId": category_id})


class AnimalStore:
    """A client for one Animal Store with one API key. Threads may share a client.

    Printing a client does not show the key. A client keeps connections open until it is deleted,
    or closed with `close` or `with`.
    """

    def __init__(
        self,
        *,
        api_key: ApiKeyOption | None = None,
        base_url: str | None = None,
        max_retries: int = 4,
        max_wait_seconds: float = 60.0,
        timeout_seconds: float = 30.0,
        user_agent: str = "",
        on_deprecation: Callable[[Deprecation], object] | None = None,
        on_retry: Callable[[Retry], object] | None = None,
        debug: Callable[[Attempt], object] | None = None,
        send: Send | None = None,
    ) -> None:
        """Raise `invalid_argument` if an option is invalid. Send no request.

        `api_key` and `base_url` default to the environment variables `ANIMAL_STORE_KEY` and
        `ANIMAL_STORE_URL`. `api_key` may be a function, which is called before each request.
        `max_retries` is from 0 to 100. `timeout_seconds` is for one attempt. If `Retry-After` is
        longer than `max_wait_seconds`, the call fails.
        """
        self._open(
            read_settings(
                api_key=api_key,
                base_url=base_url,
                max_retries=max_retries,
                max_wait_seconds=max_wait_seconds,
                timeout_seconds=timeout_seconds,
                user_agent=user_agent,
                on_deprecation=on_deprecation,
                on_retry=on_retry,
                debug=debug,
                send=send,
            )
        )

    def _open(self, settings: Settings) -> None:
        self._settings = settings
        self._transport = Transport(settings)
        self._calls = Calls(self._transport)
        self.pets = Pets(self._calls)
        self.categories = Categories(self._calls)
        self.orders = Orders(self._calls)
        self.store = Store(self._calls)
        self.events = Events(self._calls, settings.timeout_seconds)
        self.keys = Keys(self._calls)
        self.requests = Requests(self._calls)
        self.webhooks = Webhooks(self._calls)

    def with_options(
        self, *, timeout_seconds: float | None = None, max_retries: int | None = None
    ) -> AnimalStore:
        """Return a client with other options, for some calls. It shares the connections."""
        own = self._settings
        if timeout_seconds is not None:
            seconds = read_seconds("timeout_seconds", timeout_seconds, 0.001)
            own = replace(own, timeout_seconds=seconds)
        if max_retries is not None:
            own = replace(own, max_retries=read_max_retries(max_retries))
        client = object.__new__(type(self))
        client._open(own)
        return client

    def account(self) -> Account:
        """Return the account of the key: its plan, remaining requests and open holds."""
        return self._calls.call(GET_ACCOUNT)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer[Any]:
        """Send a request to any path of the service, such as `/pets`.

        Use it for an operation that this version of the client does not know, or for the text of
        a response. It waits and retries like every other call, with one exception: a POST without
        an `idempotency-key` is repeated only after a 429, because then the service did nothing. A
        304 is a success without a value.
        """
        if method not in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            raise argument_error("method", "must be GET, POST, PUT, PATCH or DELETE")
        if not isinstance(path, str) or not _is_path(path):
            rule = "must be a path relative to base_url, such as /pets, without . and ..; "
            raise argument_error("path", rule + "put the query into `query`")
        if query is not None and not isinstance(query, Mapping):
            raise argument_error("query", "must be a dict")
        if body is not None and method == "GET":
            raise argument_error("body", "must be absent from a GET")
        sent = _read_headers({} if headers is None else headers)
        return self._transport.send(
            Call(
                operation=_find_operation(method, path),
                method=method,
                path=path + format_query(query or {}),
                accepts=lambda value, status: value is not None or status in (202, 204, 304),
                headers=sent,
                body=None if body is None else write_body("body", body),
                is_once=method == "POST" and "idempotency-key" not in sent,
            )
        )

    def close(self) -> None:
        """Close the connections that are kept for later requests."""
        if isinstance(self._settings.send, ConnectionPool):
            self._settings.send.close()

    def __enter__(self) -> AnimalStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _is_path(path: str) -> bool:
    """Tell whether the path stays below the base address, which gets the API key."""
    if not re.fullmatch(r"/[!-~]*", path) or "?" in path or "#" in path:
        return False
    return not re.search(r"[/\\](?:\.|%2e){1,2}(?:[/\\]|$)", path, re.IGNORECASE)


def _read_headers(headers: object) -> dict[str, str]:
    """Return the headers with lower-case names, so that they replace those of the client."""
    rule = "must be a dict with valid names and values of HTTP headers, without authorization"
    if not isinstance(headers, Mapping):
        raise argument_error("headers", rule)
    for name, value in headers.items():
        if not isinstance(name, str) or not re.fullmatch(r"[!#$%&'*+.^`|~\w-]+", name, re.ASCII):
            raise argument_error("headers", rule)
        if not isinstance(value, str) or not re.fullmatch(r"[\t -~]*", value):
            raise argument_error("headers", rule)
        if name.lower() == "authorization":
            raise argument_error("headers", rule)
    return {name.lower(): value for name, value in headers.items()}


def _find_operation(method: str, path: str) -> str | None:
    for name, operation in OPERATIONS.items():
        pattern = re.sub(r"\{\w+\}", "[^/]+", operation.path)
        if operation.method == method and re.fullmatch(pattern, path):
            return name
    return None
