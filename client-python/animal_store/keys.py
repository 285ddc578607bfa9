"""The API keys of the account."""

from __future__ import annotations

from collections.abc import Iterator

from ._calls import Calls
from .generated import (
    CREATE_KEY,
    DELETE_KEY,
    LIST_KEYS,
    ROTATE_KEY,
    ApiKey,
    ApiKeyRotation,
    IssuedApiKey,
    NewApiKey,
)
from .page import Page, get_page, walk


class Keys:
    """The API keys of the account. All methods need `keys:manage`.

    A method that fails raises AnimalStoreError.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Page[ApiKey]:
        """Return one page, newest keys first. The default of `limit` is 20."""
        return get_page(self._calls, LIST_KEYS, {"limit": limit, "cursor": cursor})

    def list_all(self, *, limit: int = 100) -> Iterator[ApiKey]:
        """Yield all keys. `limit` is the number of keys per request, 1 to 100."""
        return walk(self._calls, LIST_KEYS, {"limit": limit})

    def create(self, key: NewApiKey) -> IssuedApiKey:
        """Create a key. Only this result contains its text, in `key`.

        The call is repeated only after a 429, because another retry could create a second key.
        """
        return self._calls.call(CREATE_KEY, body=key)

    def rotate(self, key_id: str, rotation: ApiKeyRotation | None = None) -> IssuedApiKey:
        """Replace a key with a new one.

        The old key stays valid for `overlapSeconds`, by default one day. Like `create`, the call
        is repeated only after a 429.
        """
        return self._calls.call(ROTATE_KEY, id=key_id, body={} if rotation is None else rotation)

    def delete(self, key_id: str) -> None:
        """Revoke a key. This cannot be undone."""
        return self._calls.call(DELETE_KEY, id=key_id)
