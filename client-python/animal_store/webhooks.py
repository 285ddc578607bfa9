"""The webhooks of the account."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ._calls import Calls
from .generated import (
    CREATE_WEBHOOK,
    DELETE_WEBHOOK,
    GET_WEBHOOK,
    LIST_WEBHOOK_ATTEMPTS,
    LIST_WEBHOOKS,
    PING_WEBHOOK,
    ROTATE_WEBHOOK_SECRET,
    SEND_WEBHOOK_EVENT,
    UPDATE_WEBHOOK,
    EventToSend,
    NewWebhook,
    Ping,
    Webhook,
    WebhookAttempt,
    WebhookPatch,
    WebhookWithSecret,
)
from .page import Page, get_page, walk


class Webhooks:
    """The webhooks of the account. All methods need `webhooks:manage`.

    A method that fails raises AnimalStoreError.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Page[Webhook]:
        """Return one page, newest webhooks first. The default of `limit` is 20."""
        return get_page(self._calls, LIST_WEBHOOKS, {"limit": limit, "cursor": cursor})

    def list_all(self, *, limit: int = 100) -> Iterator[Webhook]:
        """Yield all webhooks. `limit` is the number of webhooks per request, 1 to 100."""
        return walk(self._calls, LIST_WEBHOOKS, {"limit": limit})

    def create(self, webhook: NewWebhook) -> WebhookWithSecret:
        """Create a webhook, and return it with its secret, which is shown only once.

        The call is not repeated if the response is lost. In that case, use `list` to see whether
        the webhook exists.
        """
        return self._calls.call(CREATE_WEBHOOK, body=webhook)

    def get(self, webhook_id: str) -> Webhook:
        """Return one webhook."""
        return self._calls.call(GET_WEBHOOK, id=webhook_id)

    def update(self, webhook_id: str, patch: WebhookPatch) -> Webhook:
        """Change the fields in `patch`.

        To receive events again, set `after` to the position before them.
        """
        return self._calls.call(UPDATE_WEBHOOK, id=webhook_id, body=patch)

    def delete(self, webhook_id: str) -> None:
        """Delete a webhook."""
        return self._calls.call(DELETE_WEBHOOK, id=webhook_id)

    def rotate_secret(self, webhook_id: str) -> WebhookWithSecret:
        """Create a new secret. For 24 hours, the service also signs with the old one."""
        return self._calls.call(ROTATE_WEBHOOK_SECRET, id=webhook_id)

    def ping(self, webhook_id: str) -> Ping:
        """Send a `webhook.ping` event, and return the id of the event."""
        return self._calls.call(PING_WEBHOOK, id=webhook_id)

    def send_event(self, webhook_id: str, event: EventToSend) -> EventToSend:
        """Send one event once more, beside the feed."""
        return self._calls.call(SEND_WEBHOOK_EVENT, id=webhook_id, body=event)

    def list_attempts(self, webhook_id: str) -> Sequence[WebhookAttempt]:
        """Return the last 100 attempts of the last 7 days, newest first."""
        return self._calls.call(LIST_WEBHOOK_ATTEMPTS, id=webhook_id)
