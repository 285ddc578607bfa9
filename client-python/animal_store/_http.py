"""Sends single HTTP requests over connections that are kept for later requests."""

from __future__ import annotations

import http.client
import os
import selectors
import ssl
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urlsplit

from ._response import Headers


@dataclass(frozen=True)
class HttpRequest:
    """A request as it is sent."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    """Contains the API key."""
    body: bytes | None
    timeout_seconds: float
    """The longest time until the response is complete."""


@dataclass(frozen=True)
class HttpResponse:
    """A response with its whole body."""

    status: int
    headers: Headers
    body: bytes


Send: TypeAlias = Callable[[HttpRequest], HttpResponse]
"""A function that sends a request once and follows no redirects.

It raises TimeoutError if the response is not complete in time, and OSError or
`http.client.HTTPException` for every other failure of the connection.
"""

_PART_BYTES = 65_536


class ConnectionPool:
    """The usual `Send`: HTTP/1.1, to one server. Threads and forked processes may share a pool."""

    def __init__(self, base_url: str) -> None:
        self._url = urlsplit(base_url)
        self._tls: ssl.SSLContext | None = None
        # A forked process must not use the connections of its parent. So each has its process.
        self._idle: deque[tuple[int, http.client.HTTPConnection]] = deque()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        ends_at = time.monotonic() + request.timeout_seconds
        connection = self._take() or self._open(request.timeout_seconds)
        try:
            response = _exchange(connection, request, ends_at)
        except BaseException:
            connection.close()
            raise
        if connection.sock is not None:
            self._idle.append((os.getpid(), connection))
        return response

    def close(self) -> None:
        """Close the idle connections. A later request opens a new one."""
        # Another thread may take a connection at the same time.
        with suppress(IndexError):
            while True:
                self._idle.pop()[1].close()

    def __del__(self) -> None:
        self.close()

    def _take(self) -> http.client.HTTPConnection | None:
        while True:
            try:
                process, connection = self._idle.pop()
            except IndexError:
                return None
            if process == os.getpid() and _is_open(connection):
                return connection
            connection.close()

    def _open(self, timeout_seconds: float) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        connection = http.client.HTTPConnection(host, port, timeout=timeout_seconds)
        if self._url.scheme == "https":
            # The certificates of the system are read once.
            self._tls = self._tls or ssl.create_default_context()
            connection = http.client.HTTPSConnection(
                host, port, timeout=timeout_seconds, context=self._tls
            )
        connection.connect()
        return connection


def _is_open(connection: http.client.HTTPConnection) -> bool:
    """Tell whether an idle connection still works: it is readable once the server closes it."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.sock, selectors.EVENT_READ)
        return not selector.select(0)


def _exchange(
    connection: http.client.HTTPConnection, request: HttpRequest, ends_at: float
) -> HttpResponse:
    sock = connection.sock

    def limit_time() -> None:
        left = ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        sock.settimeout(left)

    url = urlsplit(request.url)
    target = url.path + (f"?{url.query}" if url.query else "")
    limit_time()
    connection.request(request.method, target, request.body, dict(request.headers))
    limit_time()
    response = connection.getresponse()
    if response.length is None and not response.chunked:
        # `http.client` takes headers that break off for complete ones.
        raise http.client.HTTPException("the response has no length")
    body = bytearray()
    while part := response.read1(_PART_BYTES):
        body += part
        limit_time()
    if response.length:
        raise http.client.IncompleteRead(bytes(body), response.length)
    response.close()
    return HttpResponse(response.status, Headers(response.getheaders()), bytes(body))
