"""The errors of failed calls."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ._response import RateLimit, ResponseInfo

ClientErrorCode: TypeAlias = Literal[
    "invalid_argument", "connection_failed", "timed_out", "unexpected_answer"
]
"""The error codes of the client itself. All other codes come from the service."""


class AnimalStoreError(Exception):
    """The error of every failed call. Neither its text nor its fields contain the API key."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        response: ResponseInfo | None = None,
        retry_after_seconds: int | None = None,
        attempts: int = 0,
    ) -> None:
        super().__init__(code, message)
        self.code: str = code
        """A code of `ErrorCode` or `ClientErrorCode`. A newer service may send others."""
        self.message: str = message
        """A text for people."""
        self.status: int | None = None if response is None else response.status
        """The HTTP status. None if there was no response."""
        self.request_id: str | None = None if response is None else response.request_id
        """The `X-Request-Id`. With it, the operator finds the request in the log."""
        self.retry_after_seconds: int | None = retry_after_seconds
        """Whole seconds to wait, from `Retry-After`. None without a valid `Retry-After`."""
        self.rate_limit: RateLimit | None = None if response is None else response.rate_limit
        """The state of the rate limit. None if the response does not contain it."""
        self.attempts: int = attempts
        """Number of requests sent for the call."""

    def __str__(self) -> str:
        return self.message


class ArgumentError(AnimalStoreError):
    """`invalid_argument`: an argument or option is invalid. No request was sent."""


class ConnectionFailedError(AnimalStoreError):
    """`connection_failed` or `timed_out`: no complete response arrived."""


class InvalidRequestError(AnimalStoreError):
    """400, 405, 408, 413, 415 and 431: the request is invalid."""


class AuthenticationError(AnimalStoreError):
    """401: the API key is missing, invalid, expired or revoked."""


class PermissionDeniedError(AnimalStoreError):
    """403: the API key may not make this request."""


class NotFoundError(AnimalStoreError):
    """404 and 410: the resource does not exist, or it was removed."""


class ConflictError(AnimalStoreError):
    """409, 412 and 422: the request conflicts with the state or with an earlier request."""


class RateLimitError(AnimalStoreError):
    """429: a limit is reached, or the key is banned. Wait for `retry_after_seconds`."""


class ServiceError(AnimalStoreError):
    """5xx: the service failed, or is temporarily unavailable."""


_CLASS_BY_CODE: dict[str, type[AnimalStoreError]] = {
    "invalid_argument": ArgumentError,
    "connection_failed": ConnectionFailedError,
    "timed_out": ConnectionFailedError,
    "unexpected_answer": AnimalStoreError,
}

_CLASS_BY_STATUS: dict[int, type[AnimalStoreError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    410: NotFoundError,
    409: ConflictError,
    412: ConflictError,
    422: ConflictError,
    429: RateLimitError,
}


def create_error(
    code: str,
    message: str,
    *,
    response: ResponseInfo | None = None,
    retry_after_seconds: int | None = None,
    attempts: int = 0,
) -> AnimalStoreError:
    """Choose the class of an error by its code, or by its status if the code has no class."""
    status = 0 if response is None else response.status
    usual = ServiceError if status >= 500 else InvalidRequestError if status >= 400 else None
    kind = _CLASS_BY_CODE.get(code) or _CLASS_BY_STATUS.get(status) or usual or AnimalStoreError
    return kind(
        code,
        message,
        response=response,
        retry_after_seconds=retry_after_seconds,
        attempts=attempts,
    )


def argument_error(name: str, rule: str) -> AnimalStoreError:
    """Create an `invalid_argument` error. `rule` follows the name, as in `must be …`."""
    return create_error("invalid_argument", f"{name} {rule}")
