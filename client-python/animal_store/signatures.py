"""Signatures of requests to webhooks (Standard Webhooks 1.0.0)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable
from typing import Protocol

from .errors import argument_error
from .generated import WebhookMessage

_TOLERANCE_SECONDS = 300
"""The largest difference between the timestamp of a message and the local clock."""

_SECRET_BYTES_MIN = 24
_SECRET_BYTES_MAX = 64
"""The length of a secret, as Standard Webhooks 1.0.0 has it."""


class WebhookHeaders(Protocol):
    """The headers of a request, with names in any case: a dict, or what a framework has."""

    def items(self) -> Iterable[tuple[str, object]]:
        """Return the names with their values."""


def verify_webhook(
    body: bytes | str, headers: WebhookHeaders, secret: str
) -> WebhookMessage | None:
    """Verify a request to a webhook, and return its event.

    Return None if no signature matches the secret, or if the timestamp differs from the local
    clock by more than 5 minutes. `body` is the body as it arrived. Raise `invalid_argument` if the
    secret is invalid, or if `body` or `headers` has another type, for example because `body` is
    already parsed.
    """
    key = _read_secret(secret)
    raw = _read_body(body)
    if not callable(getattr(headers, "items", None)):
        raise argument_error("headers", "must be a dict, or have items()")
    given = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (
        _read_text(given.get(f"webhook-{name}")) for name in ("id", "timestamp", "signature")
    )
    if not _is_recent(timestamp):
        return None
    expected = _sign(key, message_id, timestamp, raw)
    given_signatures = [one.encode(errors="replace") for one in signatures.split(" ")]
    # `compare_digest` takes the same time, wherever the signatures differ.
    if not any(hmac.compare_digest(expected, one) for one in given_signatures):
        return None
    message: WebhookMessage = json.loads(raw)
    return message


def sign_webhook(
    body: bytes | str, secret: str, *, message_id: str, at_seconds: int | None = None
) -> dict[str, str]:
    """Return the headers with which the service would send a body, to test a receiver.

    `at_seconds` is the time in Unix seconds, by default now. Raise `invalid_argument` as
    `verify_webhook` does.
    """
    timestamp = str(int(time.time()) if at_seconds is None else at_seconds)
    signature = _sign(_read_secret(secret), message_id, timestamp, _read_body(body))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": signature.decode(),
    }


def _sign(key: bytes, message_id: str, timestamp: str, body: bytes) -> bytes:
    signed = f"{message_id}.{timestamp}.".encode(errors="replace") + body
    return b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))


def _is_recent(timestamp: str) -> bool:
    is_whole = re.fullmatch(r"[0-9]{1,12}", timestamp) is not None
    return is_whole and abs(time.time() - int(timestamp)) <= _TOLERANCE_SECONDS


def _read_text(value: object) -> str:
    """Return the value of a header, or the first of several. An absent header is empty."""
    first = value[0] if isinstance(value, list | tuple) and value else value
    return first if isinstance(first, str) else ""


def _read_body(body: object) -> bytes:
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytes | bytearray | memoryview):
        return bytes(body)
    raise argument_error("body", "must be the body as it arrived, bytes or a str")


def _read_secret(secret: object) -> bytes:
    if isinstance(secret, str) and secret.startswith("whsec_"):
        text = secret.removeprefix("whsec_")
        try:
            key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if _SECRET_BYTES_MIN <= len(key) <= _SECRET_BYTES_MAX:
            return key
    bounds = f"{_SECRET_BYTES_MIN} to {_SECRET_BYTES_MAX}"
    raise argument_error("secret", f"must be whsec_ followed by base64 of {bounds} bytes")
