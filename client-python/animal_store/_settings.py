"""The options of a client."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from ._debug import Attempt
from ._deprecation import Deprecation, DeprecationWatch
from ._http import ConnectionPool, Send
from ._retry import Retry
from .errors import argument_error

VERSION = "1.0.0"
_OWN_NAME = f"animal-store-python/{VERSION}"

_SECONDS_MAX = 2**31 / 1000

# The origin, and a path of visible ASCII characters without query and fragment.
_BASE_URL = re.compile(
    r"(https?://(?:[\w.-]+|\[[0-9A-F:.]+\])(?::[0-9]{1,5})?)(/[^?#\x00-\x20\x7f-\U0010ffff]*)?",
    re.ASCII | re.IGNORECASE,
)

ApiKeyOption: TypeAlias = str | Callable[[], str]
"""An API key, or a function that returns it before each request."""


@dataclass(frozen=True)
class Settings:
    """The validated options. Absent options have their defaults."""

    api_key: ApiKeyOption = field(repr=False)
    base_url: str
    """Has no slash at the end."""
    max_retries: int
    max_wait_seconds: float
    timeout_seconds: float
    user_agent: str
    send: Send = field(repr=False)
    deprecations: DeprecationWatch = field(repr=False)
    on_retry: Callable[[Retry], object] | None
    debug: Callable[[Attempt], object] | None

    def read_api_key(self) -> str:
        """Return the key. Raise `invalid_argument` if the caller's function returns none."""
        return _require_key(self.api_key() if callable(self.api_key) else self.api_key)


def read_settings(
    *,
    api_key: ApiKeyOption | None,
    base_url: str | None,
    max_retries: int,
    max_wait_seconds: float,
    timeout_seconds: float,
    user_agent: str,
    on_deprecation: Callable[[Deprecation], object] | None,
    on_retry: Callable[[Retry], object] | None,
    debug: Callable[[Attempt], object] | None,
    send: Send | None,
) -> Settings:
    """Raise `invalid_argument` for the first invalid option.

    The message omits the value of the option, which may be the API key.
    """
    key = api_key if api_key is not None else os.environ.get("ANIMAL_STORE_KEY")
    callbacks = {
        "on_deprecation": on_deprecation,
        "on_retry": on_retry,
        "debug": debug,
        "send": send,
    }
    for name, callback in callbacks.items():
        if callback is not None and not callable(callback):
            raise argument_error(name, "must be a function")
    if not isinstance(user_agent, str) or not re.fullmatch(r"[ -~]*", user_agent):
        raise argument_error("user_agent", "must be a string of visible ASCII characters")
    url = _read_base_url(base_url if base_url is not None else os.environ.get("ANIMAL_STORE_URL"))
    return Settings(
        api_key=key if callable(key) else _require_key(key),
        base_url=url,
        max_retries=read_max_retries(max_retries),
        max_wait_seconds=read_seconds("max_wait_seconds", max_wait_seconds, 0.0),
        timeout_seconds=read_seconds("timeout_seconds", timeout_seconds, 0.001),
        user_agent=f"{user_agent} {_OWN_NAME}".strip(),
        send=send or ConnectionPool(url),
        deprecations=DeprecationWatch(on_deprecation or _warn),
        on_retry=on_retry,
        debug=debug,
    )


def read_max_retries(value: object) -> int:
    """Return a whole number from 0 to 100. Raise `invalid_argument` for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 100:
        return value
    raise argument_error("max_retries", "must be a whole number from 0 to 100")


def read_seconds(name: str, value: object, smallest: float) -> float:
    """Return seconds as a float. Raise `invalid_argument` for anything else."""
    # A bool is an int for Python.
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and smallest <= value <= _SECONDS_MAX
    ):
        return float(value)
    raise argument_error(name, f"must be a number from {smallest:g} to {_SECONDS_MAX:.0f}")


def _require_key(key: object) -> str:
    if key is None or key == "":
        raise argument_error(
            "api_key",
            "is missing: give it as an option, or set the environment variable ANIMAL_STORE_KEY",
        )
    if isinstance(key, str) and re.fullmatch(r"[!-~]+", key):
        return key
    raise argument_error(
        "api_key", "must be an API key, as_<env>_…: visible ASCII characters without spaces"
    )


def _read_base_url(given: object) -> str:
    if given is None or given == "":
        raise argument_error(
            "base_url",
            "is missing: give it as an option, or set the environment variable ANIMAL_STORE_URL",
        )
    found = _BASE_URL.fullmatch(str(given))
    path = (found[2] or "/").rstrip("/") or "/v1" if found else ""
    if found and path.endswith("/v1"):
        return found[1] + path
    raise argument_error(
        "base_url",
        "must be an http or https address that ends in /v1, without query, fragment or password, "
        "such as https://api.example.com/v1",
    )


def _warn(deprecation: Deprecation) -> None:
    logging.getLogger("animal_store").warning(deprecation.message)
