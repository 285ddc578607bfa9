"""Each operation against a real service."""

import json
import time
import unittest
from collections.abc import Callable
from datetime import UTC, datetime
from unittest import mock
from urllib.parse import parse_qsl, urlsplit

from animal_store import (
    AnimalStore,
    ArgumentError,
    Attempt,
    ConflictError,
    ConnectionFailedError,
    Deprecation,
    NewPet,
    NotFoundError,
    response_of,
)
from animal_store.generated import OPERATIONS

from .stage import API_KEY, INT64_MAX, INT64_MIN, act, connect

client = connect()


def add_pet(category_id: int = 1) -> int:
    return client.pets.create({"name": "Rex", "categoryId": category_id})["id"]


class Pets(unittest.TestCase):
    def test_every_category_id_is_sent_listed_and_returned_exactly(self) -> None:
        for category_id in (INT64_MAX, INT64_MIN, 2**53 + 1, 0):
            added = client.pets.create({"name": 'Rex "é 猫"', "categoryId": category_id})
            expected = {
                "id": added["id"],
                "name": 'Rex "é 猫"',
                "categoryId": category_id,
                "status": "available",
            }
            self.assertEqual(added, expected)
            self.assertEqual(client.pets.list(limit=1).items, [expected])
            self.assertEqual(client.pets.get(added["id"]), expected)
            self.assertEqual(json.loads(json.dumps(added)), expected)

    def test_a_result_has_the_metadata_of_its_response(self) -> None:
        pet = client.pets.create({"name": "Rex", "categoryId": 1})
        response = response_of(pet)
        self.assertEqual((response.status, response.replayed, response.attempts), (201, False, 1))
        self.assertRegex(response.request_id or "", "^req_")
        limit = response.rate_limit
        assert limit is not None
        self.assertEqual(limit.limit, 1_000_000)
        self.assertEqual(str(limit.remaining), response.headers["X-RateLimit-Remaining"])
        self.assertEqual(str(limit.reset_at_seconds), response.headers["x-ratelimit-reset"])
        with self.assertRaises(ArgumentError):
            response_of(dict(pet))

    def test_all_creates_with_one_idempotency_key_add_one_animal(self) -> None:
        before = act("countPets")
        first = client.pets.create({"name": "Rex", "categoryId": 1}, idempotency_key="python-1")
        again = client.pets.create({"name": "Rex", "categoryId": 1}, idempotency_key="python-1")
        self.assertEqual(first, again)
        self.assertTrue(response_of(again).replayed)
        self.assertEqual(act("countPets"), before + 1)

    def test_an_animal_is_changed_and_deleted_only_if_its_etag_matches(self) -> None:
        pet_id = add_pet()
        first = client.pets.update(pet_id, {"categoryId": INT64_MAX, "status": "sold"})
        self.assertEqual(first["categoryId"], INT64_MAX)
        etag = response_of(first).etag
        assert etag is not None
        self.assertEqual(client.pets.update(pet_id, {"name": "Max"}, if_match=etag)["name"], "Max")
        changes: list[Callable[[], object]] = [
            lambda: client.pets.update(pet_id, {"name": "Ben"}, if_match=etag),
            lambda: client.pets.delete(pet_id, if_match=etag),
        ]
        for change in changes:
            with self.assertRaises(ConflictError) as caught:
                change()
            self.assertEqual(caught.exception.code, "precondition_failed")
        client.pets.delete(pet_id)
        with self.assertRaises(NotFoundError):
            client.pets.delete(pet_id)

    def test_an_animal_is_edited_without_a_read_by_the_etag_of_its_creation(self) -> None:
        rex: NewPet = {"name": "Rex", "categoryId": 1}
        first = client.pets.create(rex, idempotency_key="edited-without-a-read")
        again = client.pets.create(rex, idempotency_key="edited-without-a-read")
        etag = response_of(first).etag
        assert etag is not None
        self.assertEqual((response_of(again).replayed, response_of(again).etag), (True, etag))
        changed = client.pets.update(first["id"], {"name": "Max"}, if_match=etag)
        etag = response_of(changed).etag
        assert etag is not None
        client.pets.delete(first["id"], if_match=etag)

    def test_animals_are_found_by_more_ids_than_one_request_may_name(self) -> None:
        last, first = add_pet(), add_pet()
        many = [last, *range(10_000_000, 10_000_150), first, first]
        self.assertEqual([pet["id"] for pet in client.pets.find(many)], [first, last])
        self.assertEqual(client.pets.find([]), [])

    def test_each_client_reports_a_deprecated_operation_once(self) -> None:
        for _ in range(2):
            told: list[Deprecation] = []
            own = AnimalStore(on_deprecation=told.append)
            own.pets.list()
            for _ in range(2):
                own.pets.get(add_pet())
            self.assertEqual(
                told,
                [
                    Deprecation(
                        operation="getPet",
                        since=datetime(2025, 12, 5, tzinfo=UTC),
                        removed_at=datetime(2030, 12, 5, tzinfo=UTC),
                        successor="/v1/pets",
                        message="Animal Store: GET /pets/{petId} (getPet) is deprecated and is "
                        "removed on 2030-12-05; use /v1/pets instead",
                    )
                ],
            )

    def test_a_deprecation_is_logged_without_a_function_for_it(self) -> None:
        with self.assertLogs("animal_store", "WARNING") as logged:
            AnimalStore().pets.get(add_pet())
        self.assertRegex(logged.output[0], "is deprecated")


class Categories(unittest.TestCase):
    def test_categories_are_named_listed_and_deleted(self) -> None:
        self.assertEqual(response_of(client.categories.put(3, {"name": "Dogs"})).status, 201)
        renamed = client.categories.put(3, {"name": "Cats"})
        self.assertEqual((renamed, response_of(renamed).status), ({"id": 3, "name": "Cats"}, 200))
        client.categories.put(INT64_MIN, {"name": "First"})
        expected = [{"id": INT64_MIN, "name": "First"}, {"id": 3, "name": "Cats"}]
        self.assertEqual(list(client.categories.list_all(limit=1)), expected)
        client.categories.delete(3)
        self.assertEqual(client.categories.list().items, expected[:1])


class Orders(unittest.TestCase):
    def test_an_order_is_placed_read_completed_and_returned(self) -> None:
        pet_id = add_pet()
        order = client.orders.place({"petId": pet_id, "holdSeconds": 60, "reference": "A-1"})
        self.assertEqual((order["petId"], order["status"]), (pet_id, "reserved"))
        self.assertEqual(client.orders.get(order["id"]), order)
        with self.assertRaises(ConflictError) as caught:
            client.orders.place({"petId": pet_id})
        self.assertEqual(caught.exception.code, "pet_unavailable")
        self.assertEqual(client.orders.complete(order["id"])["status"], "completed")
        self.assertEqual(client.orders.return_(order["id"])["status"], "returned")

    def test_a_cancelled_order_frees_its_animal(self) -> None:
        pet_id = add_pet()
        order = client.orders.place({"petId": pet_id}, idempotency_key="python-order")
        again = client.orders.place({"petId": pet_id}, idempotency_key="python-order")
        self.assertEqual(again, order)
        self.assertEqual(client.orders.cancel(order["id"])["status"], "cancelled")
        self.assertEqual(client.pets.find([pet_id])[0].get("status"), "available")

    def test_orders_are_listed_page_by_page_with_filters(self) -> None:
        reference = "walk & co"
        ids = [
            client.orders.place({"petId": add_pet(), "reference": reference})["id"]
            for _ in range(5)
        ]
        listed = list(client.orders.list_all(reference=reference, status="reserved", limit=2))
        self.assertEqual([order["id"] for order in listed], ids[::-1])
        newest = client.orders.list(pet_id=listed[0]["petId"])
        self.assertEqual(newest.items, listed[:1])


class Store(unittest.TestCase):
    def test_the_inventory_counts_the_animals_of_a_category(self) -> None:
        for _ in range(2):
            client.pets.create({"name": "Rex", "categoryId": INT64_MIN, "status": "sold"})
        counted = client.store.inventory(category_id=INT64_MIN)
        self.assertGreaterEqual(counted["sold"], 2)
        self.assertRegex(counted["asOf"], r"^\d{4}-.*Z$")
        self.assertGreater(client.store.inventory()["available"], counted["available"])

    def test_the_account_shows_its_plan_and_windows(self) -> None:
        account = client.account()
        self.assertEqual((account["plan"], account["minute"]["limit"]), ("enterprise", 1_000_000))
        self.assertIn("keys:manage", account["key"]["scopes"])


class Requests(unittest.TestCase):
    def test_a_failed_request_is_found_by_its_request_id(self) -> None:
        with self.assertRaises(NotFoundError) as caught:
            client.pets.delete(INT64_MAX)
        error = caught.exception
        for _ in range(100):
            found = client.requests.list(
                request_id=error.request_id,
                status=error.status,
                code=error.code,
                since="2020-01-01T00:00:00+01:00",
            ).items
            if found:
                break
            time.sleep(0.1)
        [row] = found
        self.assertEqual(row["operation"], "DELETE /v1/pets/{petId}")
        self.assertEqual((row["message"], row["count"]), (error.message, 1))
        self.assertEqual(list(client.requests.list_all(request_id=error.request_id)), [row])


class Keys(unittest.TestCase):
    def test_a_key_is_created_listed_rotated_and_deleted(self) -> None:
        made = client.keys.create(
            {"name": "Till", "scopes": ["pets:read"], "expiresInSeconds": 60}
        )
        other = connect(api_key=made["key"])
        self.assertEqual(other.account()["key"]["name"], "Till")
        successor = client.keys.rotate(made["id"], {"overlapSeconds": 60})
        self.assertEqual(connect(api_key=successor["key"]).pets.list(limit=1).response.status, 200)
        client.keys.delete(successor["id"])
        names = [key["id"] for key in client.keys.list_all(limit=1)]
        self.assertIn(made["id"], names)
        self.assertNotIn(successor["id"], names)
        self.assertEqual([key["id"] for key in client.keys.list().items], names)

    def test_a_function_returns_the_key_of_each_request(self) -> None:
        keys = ["as_dev_wrong", API_KEY]
        own = connect(api_key=lambda: keys.pop(0) if keys else "")
        with self.assertRaisesRegex(Exception, "key"):
            own.pets.list()
        self.assertEqual(own.pets.list(limit=1).response.status, 200)
        with self.assertRaises(ArgumentError):
            own.pets.list()


class Surface(unittest.TestCase):
    def test_every_operation_has_a_method_that_sends_every_parameter(self) -> None:
        attempts: list[Attempt] = []
        send = mock.Mock(side_effect=OSError("not sent"))
        own = connect(debug=attempts.append, max_retries=0, send=send)
        pets, orders, categories = own.pets, own.orders, own.categories
        events, keys, webhooks = own.events, own.keys, own.webhooks
        calls: dict[str, Callable[[], object]] = {
            "listPets": lambda: pets.list(
                limit=1, status="sold", category_id=1, id=[1], cursor="c"
            ),
            "createPet": lambda: pets.create({"name": "Rex", "categoryId": 1}),
            "getPet": lambda: pets.get(1),
            "updatePet": lambda: pets.update(1, {}),
            "deletePet": lambda: pets.delete(1),
            "listCategories": lambda: categories.list(limit=1, cursor="c"),
            "putCategory": lambda: categories.put(1, {"name": "Dogs"}),
            "deleteCategory": lambda: categories.delete(1),
            "getInventory": lambda: own.store.inventory(category_id=1),
            "listOrders": lambda: orders.list(
                limit=1, status="expired", pet_id=1, reference="a", cursor="c"
            ),
            "placeOrder": lambda: orders.place({"petId": 1}),
            "getOrder": lambda: orders.get(1),
            "completeOrder": lambda: orders.complete(1),
            "cancelOrder": lambda: orders.cancel(1),
            "returnOrder": lambda: orders.return_(1),
            "listEvents": lambda: events.list(
                after="now", type=["pet.added", "pet.deleted"], limit=1, wait=0
            ),
            "getEvent": lambda: events.get("evt_1"),
            "getAccount": own.account,
            "listRequests": lambda: own.requests.list(
                limit=1, request_id="r", status=404, code="a", since="b", until="c", cursor="c"
            ),
            "listKeys": lambda: keys.list(limit=1, cursor="c"),
            "createKey": lambda: keys.create({"scopes": ["pets:read"]}),
            "rotateKey": lambda: keys.rotate("key_1"),
            "deleteKey": lambda: keys.delete("key_1"),
            "listWebhooks": lambda: webhooks.list(limit=1, cursor="c"),
            "createWebhook": lambda: webhooks.create({"url": "https://a.example"}),
            "getWebhook": lambda: webhooks.get("1"),
            "updateWebhook": lambda: webhooks.update("1", {}),
            "deleteWebhook": lambda: webhooks.delete("1"),
            "rotateWebhookSecret": lambda: webhooks.rotate_secret("1"),
            "pingWebhook": lambda: webhooks.ping("1"),
            "sendWebhookEvent": lambda: webhooks.send_event("1", {"eventId": "evt_1"}),
            "listWebhookAttempts": lambda: webhooks.list_attempts("1"),
        }
        self.assertEqual(calls.keys(), OPERATIONS.keys())
        for name, call in calls.items():
            with self.assertRaises(ConnectionFailedError):
                call()
            attempt = attempts.pop()
            self.assertEqual(attempt.operation, name)
            sent = dict(parse_qsl(urlsplit(attempt.url).query))
            self.assertEqual(sent.keys(), OPERATIONS[name].query.keys(), name)
