"""Sends the request of a call, with retries, and reads the response."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from random import random
from time import sleep
from typing import Any, Generic, TypeVar

from ._debug import Attempt
from ._http import HttpRequest, HttpResponse
from ._response import ResponseInfo, read_response_info, read_retry_after
from ._retry import OPEN_SECONDS_MAX, SECRET_OPERATIONS, Retry, plan_wait
from ._settings import Settings
from ._shapes import fits
from .errors import AnimalStoreError, create_error

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Answer(Generic[T_co]):
    """A successful response."""

    value: T_co
    """The parsed body. None if the response has no JSON."""
    text: str | None
    """The body as received. None if it is not JSON."""
    response: ResponseInfo


@dataclass(frozen=True)
class Call:
    """The request of a call. Every attempt sends the same request."""

    operation: str | None
    """None if this version of the client does not know the operation."""
    method: str
    path: str
    """The path and query after the base address: `/pets?limit=5`."""
    accepts: Callable[[object, int], bool]
    """Tells whether the value and the status of a 2xx response can come from the operation."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    is_once: bool = False
    """True if a retry could act twice. Such a request is repeated only after a 429."""
    is_everywhere: bool = False
    """True if the operation answers in every store, so that a 404 means a wrong base address."""


class Transport:
    """Sends calls. Raises AnimalStoreError."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def send(self, call: Call) -> Answer[Any]:
        """Send at most 1 + `max_retries` requests, and return the successful response."""
        settings = self.settings
        is_once = call.is_once or call.operation in SECRET_OPERATIONS
        open_since = float("inf")
        attempts = 0
        while True:
            attempts += 1
            sent_at = time.time()
            try:
                return self._send_once(call, attempts)
            except AnimalStoreError as error:
                if attempts > settings.max_retries:
                    raise
                wait_seconds = plan_wait(error, settings.max_wait_seconds, random())
                if wait_seconds is None or (is_once and error.status != 429):
                    raise
                if settings.on_retry is not None:
                    settings.on_retry(Retry(call.operation, attempts, wait_seconds, error))
                sleep(wait_seconds)
                if error.status != 429:
                    open_since = min(open_since, sent_at)
                # The wait may have taken much longer, because the machine was asleep.
                if call.method == "POST" and time.time() - open_since > OPEN_SECONDS_MAX:
                    raise

    def _send_once(self, call: Call, attempts: int) -> Answer[Any]:
        settings = self.settings
        started_at = time.monotonic()
        status: int | None = None
        request_id: str | None = None
        failure: Exception | None = None
        try:
            api_key = settings.read_api_key()
            response = _exchange(settings, call, api_key, attempts)
            status = response.status
            request_id = response.headers.get("x-request-id")
            settings.deprecations.read(call.operation, response.headers)
            return _read_answer(settings, call, response, api_key, attempts)
        except Exception as error:
            failure = error
            raise
        finally:
            if settings.debug is not None:
                url = settings.base_url + call.path
                result = (time.monotonic() - started_at, status, request_id, failure)
                settings.debug(Attempt(call.operation, call.method, url, attempts, *result))


def _exchange(settings: Settings, call: Call, api_key: str, attempts: int) -> HttpResponse:
    headers = {
        "authorization": f"Bearer {api_key}",
        "accept": "application/json",
        "user-agent": settings.user_agent,
    }
    if call.body is not None:
        headers["content-type"] = "application/json"
    request = HttpRequest(
        method=call.method,
        url=settings.base_url + call.path,
        headers={**headers, **call.headers},
        body=call.body,
        timeout_seconds=settings.timeout_seconds,
    )
    try:
        return settings.send(request)
    except TimeoutError as cause:
        seconds = f"{settings.timeout_seconds:g} s"
        message = f"no complete answer from {_name_address(settings, call)} within {seconds}"
        raise create_error("timed_out", message, attempts=attempts) from cause
    except (OSError, HTTPException) as cause:
        reason = str(cause) or type(cause).__name__
        message = f"no answer from {_name_address(settings, call)}: {reason}"
        raise create_error("connection_failed", message, attempts=attempts) from cause


def _name_address(settings: Settings, call: Call) -> str:
    """Return the URL of a request without its query."""
    return settings.base_url + call.path.partition("?")[0]


def _read_answer(
    settings: Settings, call: Call, response: HttpResponse, api_key: str, attempts: int
) -> Answer[Any]:
    info = read_response_info(response.status, response.headers, attempts)
    text, value = _read_json(response)
    is_success = 200 <= response.status < 300 or response.status == 304
    if is_success and call.accepts(value, response.status):
        return Answer(value, text, info)
    retry_after_seconds = read_retry_after(response.headers, time.time())
    address = _name_address(settings, call)
    if response.status >= 300 and fits("Error", value) and value["status"] == response.status:
        code = value["code"]
        hint = f"; check base_url: {address}" if code == "not_found" and call.is_everywhere else ""
        message = value["message"].replace(api_key, "<api_key>") + hint
    else:
        code = "unexpected_answer"
        message = f"{address} answered {_describe(response, text)}: {_judge(response.status)}"
    raise create_error(
        code,
        message,
        response=info,
        retry_after_seconds=retry_after_seconds,
        attempts=attempts,
    )


def _read_json(response: HttpResponse) -> tuple[str | None, Any]:
    """Return the text and the value of a body. The text of a body of another type is None."""
    kind = response.headers.get("content-type", "")
    if not re.match(r"application/json\b", kind, re.IGNORECASE):
        return None, None
    text = response.body.decode(errors="replace")
    try:
        return text, json.loads(text)
    except (ValueError, RecursionError):
        return text, None


def _describe(response: HttpResponse, text: str | None) -> str:
    location = response.headers.get("location")
    if 300 <= response.status < 400 and location is not None:
        return f"with a redirect to {location}"
    if text is not None:
        return f"{response.status} with unexpected JSON"
    return f"{response.status} with {response.headers.get('content-type', 'no content type')}"


def _judge(status: int) -> str:
    if status >= 500:
        return "a proxy in front of the Animal Store failed, or base_url is wrong"
    return "this is not a response from an Animal Store; check base_url"
