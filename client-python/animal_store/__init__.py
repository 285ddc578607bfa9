"""The Python client of the Animal Store.

It reads all pages in one `for` loop, retries without adding anything twice, and has no
dependencies.
"""

from . import generated
from ._calls import response_of
from ._debug import Attempt
from ._deprecation import Deprecation
from ._http import HttpRequest, HttpResponse, Send
from ._response import Headers, RateLimit, ResponseInfo
from ._retry import Retry
from ._settings import ApiKeyOption
from ._transport import Answer
from .categories import Categories
from .client import AnimalStore, Store
from .errors import (
    AnimalStoreError,
    ArgumentError,
    AuthenticationError,
    ClientErrorCode,
    ConflictError,
    ConnectionFailedError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServiceError,
)
from .events import EventPage, Events
from .generated import *  # noqa: F403
from .keys import Keys
from .orders import Orders
from .page import Page
from .pets import Pets
from .requests import Requests
from .signatures import WebhookHeaders, sign_webhook, verify_webhook
from .webhooks import Webhooks

__all__ = [
    "AnimalStore",
    "AnimalStoreError",
    "Answer",
    "ApiKeyOption",
    "ArgumentError",
    "Attempt",
    "AuthenticationError",
    "Categories",
    "ClientErrorCode",
    "ConflictError",
    "ConnectionFailedError",
    "Deprecation",
    "EventPage",
    "Events",
    "Headers",
    "HttpRequest",
    "HttpResponse",
    "InvalidRequestError",
    "Keys",
    "NotFoundError",
    "Orders",
    "Page",
    "PermissionDeniedError",
    "Pets",
    "RateLimit",
    "RateLimitError",
    "Requests",
    "ResponseInfo",
    "Retry",
    "Send",
    "ServiceError",
    "Store",
    "WebhookHeaders",
    "Webhooks",
    "response_of",
    "sign_webhook",
    "verify_webhook",
]
__all__ += generated.__all__
