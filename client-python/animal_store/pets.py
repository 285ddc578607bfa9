"""The animals of the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ._calls import Calls
from .errors import argument_error
from .generated import (
    CREATE_PET,
    DELETE_PET,
    GET_PET,
    LIST_PETS,
    UPDATE_PET,
    NewPet,
    Pet,
    PetPatch,
    PetStatus,
)
from .page import Page, get_page, walk

_IDS_MAX = 100
"""The most ids that one request may name."""


class Pets:
    """The animals of the store. A method that fails raises AnimalStoreError."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        limit: int | None = None,
        status: PetStatus | None = None,
        category_id: int | None = None,
        id: Sequence[int] | None = None,
        cursor: str | None = None,
    ) -> Page[Pet]:
        """Return one page, newest animals first. The default of `limit` is 20."""
        query = {"limit": limit, "status": status, "categoryId": category_id, "id": id}
        return get_page(self._calls, LIST_PETS, {**query, "cursor": cursor})

    def list_all(
        self,
        *,
        limit: int = 100,
        status: PetStatus | None = None,
        category_id: int | None = None,
        id: Sequence[int] | None = None,
    ) -> Iterator[Pet]:
        """Yield all animals, page by page, each that existed at the start exactly once.

        `limit` is the number of animals per request, 1 to 100.
        """
        query = {"limit": limit, "status": status, "categoryId": category_id, "id": id}
        return walk(self._calls, LIST_PETS, query)

    def find(self, pet_ids: Sequence[int]) -> Sequence[Pet]:
        """Return the animals with these ids, newest first. Leave out ids that no animal has.

        Each request names up to 100 ids.
        """
        if isinstance(pet_ids, str) or not isinstance(pet_ids, Sequence):
            raise argument_error("pet_ids", "must be a list of identifiers")
        found: dict[int, Pet] = {}
        for start in range(0, len(pet_ids), _IDS_MAX):
            for pet in self.list(id=pet_ids[start : start + _IDS_MAX], limit=_IDS_MAX).items:
                found[pet["id"]] = pet
        return [found[id] for id in sorted(found, reverse=True)]

    def create(self, pet: NewPet, *, idempotency_key: str | None = None) -> Pet:
        """Add an animal. Retries have the same idempotency key, so they add only one animal."""
        return self._calls.call(CREATE_PET, body=pet, idempotency_key=idempotency_key)

    def get(self, pet_id: int) -> Pet:
        """Return one animal. Deprecated: removed on 5 December 2030; use `find`."""
        return self._calls.call(GET_PET, id=pet_id)

    def update(self, pet_id: int, patch: PetPatch, *, if_match: str | None = None) -> Pet:
        """Change the fields in `patch`, and return the changed animal. Needs `pets:manage`.

        With `if_match`, the ETag of the animal as you know it, the call fails with
        `precondition_failed` if the animal has changed.
        """
        return self._calls.call(UPDATE_PET, id=pet_id, body=patch, if_match=if_match)

    def delete(self, pet_id: int, *, if_match: str | None = None) -> None:
        """Delete an animal, with `if_match` as for `update`. Needs `pets:manage`."""
        return self._calls.call(DELETE_PET, id=pet_id, if_match=if_match)
