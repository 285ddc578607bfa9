"""The names of categories."""

from __future__ import annotations

from collections.abc import Iterator

from ._calls import Calls
from .generated import DELETE_CATEGORY, LIST_CATEGORIES, PUT_CATEGORY, Category, NewCategory
from .page import Page, get_page, walk


class Categories:
    """The names of categories. A name is a label for a `categoryId`.

    A method that fails raises AnimalStoreError.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Page[Category]:
        """Return one page, in ascending order of the ids. The default of `limit` is 20."""
        return get_page(self._calls, LIST_CATEGORIES, {"limit": limit, "cursor": cursor})

    def list_all(self, *, limit: int = 100) -> Iterator[Category]:
        """Yield all categories. `limit` is the number of categories per request, 1 to 100."""
        return walk(self._calls, LIST_CATEGORIES, {"limit": limit})

    def put(self, category_id: int, category: NewCategory) -> Category:
        """Create or change the name of a category. Needs `pets:manage`.

        `response_of(result).status` is 201 if the category had no name.
        """
        return self._calls.call(PUT_CATEGORY, id=category_id, body=category)

    def delete(self, category_id: int) -> None:
        """Delete the name. Animals keep their `categoryId`. Needs `pets:manage`."""
        return self._calls.call(DELETE_CATEGORY, id=category_id)
