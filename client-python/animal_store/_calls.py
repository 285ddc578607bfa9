"""Turns the arguments of a method into the request of an operation."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlencode

from ._operation import Operation
from ._response import ResponseInfo
from ._shapes import fits
from ._transport import Answer, Call, Transport
from .errors import argument_error
from .generated import SHAPES

T = TypeVar("T")

Query: TypeAlias = Mapping[str, object]
"""The parameters of a query by their names in the API. Those that are None are left out."""

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


class _Object(dict[str, Any]):
    """A result with the metadata of its response. Its text and its JSON do not include them."""

    response: ResponseInfo


class _Array(list[Any]):
    response: ResponseInfo


def response_of(result: object) -> ResponseInfo:
    """Return the metadata of the response from which a call made its result.

    Raise `invalid_argument` if the value is not the result of a call, for example because it is a
    copy, or an item of a page. A page has the metadata in `response`.
    """
    if isinstance(result, _Object | _Array):
        return result.response
    raise argument_error("result", "must be the result of a call of this client")


class Calls:
    """Calls operations. Raises AnimalStoreError."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def call(
        self,
        operation: Operation[T],
        *,
        id: object = None,
        query: Query | None = None,
        body: object = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
    ) -> T:
        """Send the request of an operation, and return its result."""
        headers: dict[str, str] = {}
        if operation.is_idempotent:
            headers["idempotency-key"] = _read_idempotency_key(idempotency_key)
        if if_match is not None:
            headers["if-match"] = _read_if_match(if_match)
        path = _write_path(operation, id) + write_query(operation, query or {})
        written = None if operation.body is None else _write_operation_body(operation.body, body)
        answer = self.answer(operation, path, headers, written)
        value: Any = answer.value
        if value is not None:
            value = _Object(value) if isinstance(value, dict) else _Array(value)
            value.response = answer.response
        result: T = value
        return result

    def answer(
        self,
        operation: Operation[T],
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer[T]:
        """Send the request of an operation to a path with its query."""
        return self._transport.send(
            Call(
                operation=operation.name,
                method=operation.method,
                path=path,
                accepts=_accepts(operation),
                headers=headers or {},
                body=body,
                # An order of an unknown animal is 404 too.
                is_everywhere="{" not in operation.path and operation.name != "placeOrder",
            )
        )


def _accepts(operation: Operation[Any]) -> Callable[[object, int], bool]:
    if operation.result is None:
        return lambda value, status: value is None and status == 204
    kind: str = operation.result
    return lambda value, status: fits(kind, value)


def _write_path(operation: Operation[Any], given: object) -> str:
    """Return the path of an operation with its identifier. Raise `invalid_argument`."""
    found = re.search(r"\{(\w+)\}", operation.path)
    if found is None:
        return operation.path
    name = _to_snake_case(found[1])
    if operation.id == "int64":
        written = str(require_int64(name, given))
    elif isinstance(given, str) and re.fullmatch(r"\w{1,64}", given, re.ASCII):
        written = given
    else:
        raise argument_error(name, f"must be the id of a {name.removesuffix('_id')}, a str")
    return operation.path.replace(found[0], written)


def write_query(operation: Operation[Any], given: Query) -> str:
    """Return the query of an operation with its `?`. Raise `invalid_argument`."""
    query: dict[str, object] = {}
    for name, value in given.items():
        kind = operation.query[name]
        listed = (
            list(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
        )
        if kind == "int64":
            query[name] = None if value is None else require_int64(_to_snake_case(name), value)
        elif not kind.startswith("int64") or value is None:
            query[name] = value if listed is None else ",".join(map(str, listed))
        elif listed is None:
            raise argument_error(name, "must be a list of identifiers")
        else:
            query[name] = ",".join(str(require_int64(name, one)) for one in listed)
    return format_query(query)


def format_query(given: Query) -> str:
    """Return the query with its `?`, or an empty text if no value is given."""
    text = urlencode({name: str(value) for name, value in given.items() if value is not None})
    return f"?{text}" if text else ""


def require_int64(name: str, value: object) -> int:
    """Return an int64. Raise `invalid_argument` for anything else, such as a rounded float."""
    if isinstance(value, int) and not isinstance(value, bool) and INT64_MIN <= value <= INT64_MAX:
        return value
    raise argument_error(name, "must be an int from -2^63 to 2^63-1")


def _write_operation_body(schema: str, value: object) -> bytes:
    """Return the JSON of a body. Raise `invalid_argument` if an int64 in it is not exact."""
    name = _to_snake_case(schema[0].lower() + schema[1:])
    if not isinstance(value, Mapping):
        raise argument_error(name, "must be a dict")
    for field, kind in SHAPES[schema].items():
        if kind.startswith("int64") and (field in value or not kind.endswith("?")):
            require_int64(field, value.get(field))
    return write_body(name, dict(value))


def write_body(name: str, value: object) -> bytes:
    """Return the value as JSON. Raise `invalid_argument` if it has no form as JSON."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError):
        raise argument_error(name, "must be serializable as JSON") from None


def _read_idempotency_key(given: object) -> str:
    """Return the given key, or a new one of 128 random bits. Raise `invalid_argument`."""
    key = secrets.token_hex(16) if given is None else given
    if isinstance(key, str) and re.fullmatch(r"[!-~]{1,255}", key):
        return key
    raise argument_error("idempotency_key", "must be a str of 1 to 255 visible ASCII characters")


def _read_if_match(tag: object) -> str:
    if isinstance(tag, str) and re.fullmatch(r"[ -~]+", tag):
        return tag
    raise argument_error("if_match", "must be an ETag that the service returned")


def _to_snake_case(name: str) -> str:
    return re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", name)
