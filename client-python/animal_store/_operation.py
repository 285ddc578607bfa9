"""The table row of one operation of the API."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Operation(Generic[T_co]):
    """An operation as `/openapi.json` describes it. `T_co` is the type of its result."""

    name: str
    method: str
    path: str
    """The path after the base address, with the name of the identifier in braces."""
    id: str | None
    """The kind of the identifier in the path. None if the path has none."""
    query: Mapping[str, str]
    """The kind of each parameter of the query."""
    body: str | None
    """The schema of the body. None if the request has no body."""
    is_idempotent: bool
    """True if the operation heeds an `Idempotency-Key`."""
    result: str | None
    """The kind of the result. None if the response has no body."""
