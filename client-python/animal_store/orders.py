"""The orders of the account."""

from __future__ import annotations

from collections.abc import Iterator

from ._calls import Calls
from .generated import (
    CANCEL_ORDER,
    COMPLETE_ORDER,
    GET_ORDER,
    LIST_ORDERS,
    PLACE_ORDER,
    RETURN_ORDER,
    NewOrder,
    Order,
    OrderStatus,
)
from .page import Page, get_page, walk


class Orders:
    """The orders of the account. With the scope `orders:manage`, the orders of all accounts.

    A method that fails raises AnimalStoreError.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def place(self, order: NewOrder, *, idempotency_key: str | None = None) -> Order:
        """Reserve an animal. Retries have the same idempotency key, so they place one order."""
        return self._calls.call(PLACE_ORDER, body=order, idempotency_key=idempotency_key)

    def list(
        self,
        *,
        limit: int | None = None,
        status: OrderStatus | None = None,
        pet_id: int | None = None,
        reference: str | None = None,
        cursor: str | None = None,
    ) -> Page[Order]:
        """Return one page, newest orders first. The default of `limit` is 20."""
        query = {"limit": limit, "status": status, "petId": pet_id, "reference": reference}
        return get_page(self._calls, LIST_ORDERS, {**query, "cursor": cursor})

    def list_all(
        self,
        *,
        limit: int = 100,
        status: OrderStatus | None = None,
        pet_id: int | None = None,
        reference: str | None = None,
    ) -> Iterator[Order]:
        """Yield all orders, page by page, each that existed at the start exactly once.

        `limit` is the number of orders per request, 1 to 100.
        """
        query = {"limit": limit, "status": status, "petId": pet_id, "reference": reference}
        return walk(self._calls, LIST_ORDERS, query)

    def get(self, order_id: int) -> Order:
        """Return one order."""
        return self._calls.call(GET_ORDER, id=order_id)

    def complete(self, order_id: int) -> Order:
        """Complete a reserved order, so that the animal is sold.

        Fails with `order_expired` if the hold has expired.
        """
        return self._calls.call(COMPLETE_ORDER, id=order_id)

    def cancel(self, order_id: int) -> Order:
        """Cancel a reserved order. The animal becomes available again."""
        return self._calls.call(CANCEL_ORDER, id=order_id)

    def return_(self, order_id: int) -> Order:
        """Return a completed order. The animal becomes pending. Needs `orders:manage`."""
        return self._calls.call(RETURN_ORDER, id=order_id)
