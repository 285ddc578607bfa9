"""Webhooks, and their signatures in both directions."""

import base64
import time
import unittest
from email.message import Message
from typing import Any

from animal_store import ArgumentError, NotFoundError, sign_webhook, verify_webhook

from .stage import INT64_MAX, RECEIVER_URL, act, connect

client = connect()


def make_secret(byte: int) -> str:
    return f"whsec_{base64.b64encode(bytes([byte]) * 32).decode()}"


SECRET = make_secret(1)
BODY = '{"id":"evt_7","type":"pet.added","data":{"name":"Ünïcode"}}'


class Webhooks(unittest.TestCase):
    def test_a_webhook_is_created_read_listed_changed_pinged_rotated_and_deleted(self) -> None:
        made = client.webhooks.create({"url": RECEIVER_URL, "types": ["pet.added"]})
        self.assertRegex(made["secret"], "^whsec_")
        ping = client.webhooks.ping(made["id"])
        [received] = act("takeReceived")
        self.assertEqual(received["id"], ping["id"])
        while (got := client.webhooks.get(made["id"]))["lastAttempt"] is None:
            pass
        self.assertEqual(got["lastAttempt"]["result"], 204)
        attempt = client.webhooks.list_attempts(made["id"])[0]
        self.assertEqual((attempt["eventId"], attempt["result"]), (ping["id"], 204))
        self.assertEqual(client.webhooks.list().items, [got])
        self.assertEqual(list(client.webhooks.list_all(limit=1)), [got])
        changed = client.webhooks.update(made["id"], {"status": "disabled", "after": "now"})
        self.assertEqual(changed["status"], "disabled")
        rotated = client.webhooks.rotate_secret(made["id"])
        self.assertNotEqual(rotated["secret"], made["secret"])
        client.webhooks.delete(made["id"])
        with self.assertRaises(NotFoundError):
            client.webhooks.get(made["id"])

    def test_a_sent_event_is_verified_with_each_valid_secret(self) -> None:
        made = client.webhooks.create({"url": RECEIVER_URL, "types": ["pet.added"]})
        rotated = client.webhooks.rotate_secret(made["id"])
        start = client.events.list(after="now").next
        client.pets.create({"name": "Rex é 猫", "categoryId": INT64_MAX})
        [event] = client.events.list(after=start).items
        [received] = act("takeReceived")
        for secret in (made["secret"], rotated["secret"]):
            verified = verify_webhook(received["body"], received["headers"], secret)
            self.assertEqual(verified, event)
        client.webhooks.send_event(made["id"], {"eventId": event["id"]})
        [again] = act("takeReceived")
        self.assertEqual(again["body"], received["body"])
        client.webhooks.delete(made["id"])


class Signatures(unittest.TestCase):
    def sign(self, at_seconds: float, secrets: list[str], body: str = BODY) -> dict[str, str]:
        """Return the headers that the signer of the service makes."""
        given = {"id": "evt_7", "body": body, "secrets": secrets, "atSeconds": int(at_seconds)}
        headers: dict[str, str] = act("sign", **given)
        return headers

    def test_only_what_the_service_signs_is_verified(self) -> None:
        now = time.time()
        other = make_secret(2)
        good = self.sign(now, [SECRET])
        cases: list[tuple[bool, str, dict[str, str]]] = [
            (True, BODY, good),
            (True, BODY, self.sign(now, [other, SECRET])),
            (True, BODY, {**good, "webhook-signature": f"v2,x {good['webhook-signature']}"}),
            (False, BODY, self.sign(now, [other])),
            (False, f"{BODY} ", good),
            (False, BODY, {**good, "webhook-id": "evt_8"}),
            (False, BODY, {**good, "webhook-timestamp": str(int(now) + 1)}),
            (False, BODY, {**good, "webhook-timestamp": "now"}),
            (False, BODY, {**good, "webhook-timestamp": "\u0661"}),
            (False, BODY, {**good, "webhook-signature": "v1,é"}),
            (False, BODY, {**good, "webhook-signature": ""}),
            (False, BODY, self.sign(now - 400, [SECRET])),
            (False, BODY, self.sign(now + 400, [SECRET])),
            (False, BODY, {}),
        ]
        for is_genuine, body, headers in cases:
            for verified in (
                verify_webhook(body, headers, SECRET),
                verify_webhook(body.encode(), headers, SECRET),
            ):
                self.assertEqual(verified is not None, is_genuine, headers)

    def test_what_the_client_signs_is_verified_by_another_library_and_by_itself(self) -> None:
        headers = sign_webhook(BODY, SECRET, message_id="evt_7")
        self.assertEqual(act("verify", body=BODY, headers=headers, secret=SECRET)["id"], "evt_7")
        event = verify_webhook(BODY, headers, SECRET)
        self.assertEqual(event and event["id"], "evt_7")

    def test_the_client_signs_exactly_as_the_service_does(self) -> None:
        expected = self.sign(1_700_000_000, [SECRET])
        signed = sign_webhook(BODY, SECRET, message_id="evt_7", at_seconds=1_700_000_000)
        self.assertEqual(signed, expected)

    def test_the_headers_may_have_any_form_of_a_framework(self) -> None:
        headers = sign_webhook(BODY, SECRET, message_id="evt_7")
        message = Message()
        for name, value in headers.items():
            message[name.title()] = value
        lists = {name.upper(): [value] for name, value in headers.items()}
        forms: list[Any] = [headers, message, lists]
        for form in forms:
            self.assertIsNotNone(verify_webhook(BODY, form, SECRET))

    def test_an_argument_of_another_type_is_refused(self) -> None:
        headers = sign_webhook(BODY, SECRET, message_id="evt_7")
        bare = SECRET.removeprefix("whsec_")
        wrong_secrets = ("", "abc", bare, "whsec_", "whsec_%", "whsec_YWJj", 1)
        wrong: list[tuple[Any, Any, Any, str]] = [
            ({"a": 1}, headers, SECRET, "body must be"),
            (None, headers, SECRET, "body must be"),
            (BODY, "webhook-id: evt_7", SECRET, "headers must be"),
            (BODY, None, SECRET, "headers must be"),
            *((BODY, headers, other, "secret must be") for other in wrong_secrets),
        ]
        for body, given, secret, told in wrong:
            with self.assertRaisesRegex(ArgumentError, told):
                verify_webhook(body, given, secret)
