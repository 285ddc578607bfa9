"""Errors of the service, of the connection and of arguments."""

import pickle
import unittest
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import animal_store as sdk
from animal_store import AnimalStore, AnimalStoreError, HttpResponse, NewPet
from animal_store._response import Headers

from .stage import API_KEY, BASE_URL, act, connect

client = connect()


def answer(status: int, type: str, body: str, **headers: str) -> Any:
    """Return a `send` that always gives this response."""
    items = [("content-type", type)] if type else []
    return mock.Mock(
        return_value=HttpResponse(status, Headers([*items, *headers.items()]), body.encode())
    )


class Errors(unittest.TestCase):
    def test_an_error_has_the_code_the_message_and_the_request_id_of_the_service(self) -> None:
        with self.assertRaises(sdk.InvalidRequestError) as caught:
            client.pets.list(limit=0)
        error = caught.exception
        self.assertEqual(str(error), "limit must be an integer from 1 to 100")
        self.assertEqual((error.code, error.status, error.attempts), ("invalid_parameter", 400, 1))
        self.assertRegex(error.request_id or "", "^req_")
        assert error.rate_limit is not None
        self.assertEqual(error.rate_limit.limit, 1_000_000)

    def test_each_kind_of_failure_has_its_own_code_and_class(self) -> None:
        client.pets.create({"name": "Rex", "categoryId": 1}, idempotency_key="python-class")
        reader = connect(api_key=act("createReader"))
        limited = connect(api_key=act("createKey", perMinute=1), max_retries=0)
        limited.pets.list()
        lost = connect(base_url="http://127.0.0.1:9/v1", max_retries=0)
        own = '{"code":"internal_error","message":"no","status":500}'
        failing = connect(send=answer(500, "application/json", own), max_retries=0)
        pet: NewPet = {"name": "Bo", "categoryId": 1}
        unnamed: NewPet = {"name": "", "categoryId": 1}
        stranger = connect(api_key="as_dev_wrong")
        failures: list[tuple[Any, str, type[AnimalStoreError]]] = [
            (lambda: client.pets.create(unnamed), "invalid_body", sdk.InvalidRequestError),
            (lambda: stranger.pets.list(), "api_key_invalid", sdk.AuthenticationError),
            (lambda: reader.pets.create(pet), "scope_missing", sdk.PermissionDeniedError),
            (lambda: client.pets.get(10**18), "not_found", sdk.NotFoundError),
            (
                lambda: client.pets.create(pet, idempotency_key="python-class"),
                "idempotency_key_reused",
                sdk.ConflictError,
            ),
            (lambda: limited.pets.list(), "rate_limit_exceeded", sdk.RateLimitError),
            (lambda: lost.pets.list(), "connection_failed", sdk.ConnectionFailedError),
            (lambda: client.pets.get(2**63), "invalid_argument", sdk.ArgumentError),
            (lambda: failing.pets.list(), "internal_error", sdk.ServiceError),
        ]
        for call, code, kind in failures:
            with self.assertRaises(kind) as caught:
                call()
            self.assertEqual(caught.exception.code, code)
            copied = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((copied.code, str(copied)), (code, str(caught.exception)))

    def test_a_lost_connection_is_named_with_its_address_and_reason(self) -> None:
        lost = connect(base_url="http://127.0.0.1:9/v1", max_retries=0)
        with self.assertRaises(sdk.ConnectionFailedError) as caught:
            lost.pets.list(status="sold")
        error = caught.exception
        self.assertRegex(str(error), r"^no answer from http://127\.0\.0\.1:9/v1/pets: .*refused")
        self.assertEqual((error.status, error.request_id, error.rate_limit), (None, None, None))

    def test_an_error_names_a_wrong_base_address_of_a_service(self) -> None:
        beside = connect(base_url=BASE_URL.replace("/v1", "/animals/v1"))
        with self.assertRaises(sdk.NotFoundError) as caught:
            beside.pets.list()
        self.assertRegex(str(caught.exception), r"check base_url: http:.*/animals/v1/pets$")

    def test_an_address_without_a_path_gets_v1(self) -> None:
        own = connect(base_url=BASE_URL.removesuffix("/v1"))
        self.assertEqual(own.pets.list(limit=1).response.status, 200)

    def test_an_answer_that_no_animal_store_gives_is_unexpected(self) -> None:
        json = "application/json"
        foreign = "this is not a response from an Animal Store; check base_url"
        for status, type, body, told in (
            (200, "text/html", "<h1>Hi</h1>", f"200 with text/html: {foreign}$"),
            (404, "", "", f"answered 404 with no content type: {foreign}"),
            (200, json, '{"hello":1}', f"answered 200 with unexpected JSON: {foreign}"),
            (200, json, '[{"id":1', "answered 200 with unexpected JSON"),
            (200, json, "[" * 100_000, "answered 200 with unexpected JSON"),
            (200, json, "9" * 5_000, "answered 200 with unexpected JSON"),
            (401, json, '{"error":"no"}', "answered 401 with unexpected JSON"),
            (308, "", "", "answered with a redirect to https://pets.test/v1: this"),
            (502, "text/html", "<h1>Bad</h1>", "502 with text/html: a proxy .* failed"),
        ):
            own = connect(
                send=answer(status, type, body, location="https://pets.test/v1"), max_retries=0
            ).pets
            calls: list[Callable[[], object]] = [
                own.list,
                partial(own.create, {"name": "Rex", "categoryId": 1}),
                partial(own.get, 1),
            ]
            for call in calls:
                with self.assertRaisesRegex(AnimalStoreError, told) as caught:
                    call()
                self.assertEqual(caught.exception.code, "unexpected_answer")

    def test_nothing_shows_the_key(self) -> None:
        message = f'{{"code":"scope_missing","message":"who is {API_KEY}?","status":403}}'
        with self.assertRaises(sdk.PermissionDeniedError) as caught:
            connect(send=answer(403, "application/json", message)).pets.list()
        self.assertEqual(str(caught.exception), "who is <api_key>?")
        for shown in (repr(client), repr(client._settings), repr(vars(caught.exception))):
            self.assertNotIn(API_KEY, shown)


class Arguments(unittest.TestCase):
    def test_the_constructor_refuses_an_invalid_option(self) -> None:
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"api_key": ""}, "^api_key is missing: .* ANIMAL_STORE_KEY$"),
            ({"api_key": f"{API_KEY}\n"}, "^api_key must be an API key"),
            ({"base_url": ""}, "^base_url is missing: .* ANIMAL_STORE_URL$"),
            *(
                ({"base_url": url}, "^base_url must be .* that ends in /v1")
                for url in (
                    "http://a/docs",
                    "ftp://a/v1",
                    "http://me:as_secret@a/v1",
                    "http://a/v1?a",
                    "http://a b/v1",
                    "http://a/v1#x",
                )
            ),
            ({"max_retries": -1}, "^max_retries must be a whole number from 0 to 100$"),
            ({"max_retries": 1.5}, "^max_retries must"),
            ({"max_wait_seconds": float("inf")}, "^max_wait_seconds must"),
            ({"timeout_seconds": 0}, "^timeout_seconds must be a number from 0.001"),
            ({"timeout_seconds": float("nan")}, "^timeout_seconds must"),
            ({"user_agent": "a\nb"}, "^user_agent must"),
            *(
                ({name: "log"}, f"^{name} must be a function$")
                for name in ("send", "on_retry", "on_deprecation", "debug")
            ),
        ]
        for options, told in wrong:
            with self.assertRaisesRegex(sdk.ArgumentError, told) as caught:
                AnimalStore(**options)
            self.assertNotIn(API_KEY, str(caught.exception))

    def test_an_invalid_argument_is_refused_before_anything_is_sent(self) -> None:
        own = connect(send=mock.Mock(side_effect=AssertionError("it was sent")))
        endless: dict[str, Any] = {}
        endless["self"] = endless
        pets: Any = own.pets
        rex: dict[str, Any] = {"name": "Rex", "categoryId": 1}
        anything: Any = own
        calls: dict[str, list[Any]] = {
            "category_id must be": [
                lambda value=value: own.store.inventory(category_id=value)
                for value in (1.5, True, "1", 2**63, -(2**63) - 1)
            ],
            "categoryId must be": [
                lambda: pets.create({"name": "Rex", "categoryId": 1e18}),
                lambda: pets.create({"name": "Rex"}),
                lambda: pets.update(1, {"categoryId": 2**63}),
            ],
            "pet_id must be": [lambda: pets.get("1"), lambda: pets.delete(1.0)],
            "petId must be": [lambda: own.orders.place({"petId": 2**63})],
            "id must be": [lambda: pets.list(id="1,2"), lambda: pets.find([1.5])],
            "pet_ids must be": [lambda: pets.find("1")],
            "key_id must be": [lambda: own.keys.delete("a/b")],
            "webhook_id must be": [lambda: own.webhooks.get("../pets")],
            "idempotency_key must be": [
                lambda key=key: pets.create(rex, idempotency_key=key)
                for key in ("", "a b", "x" * 256, 1, ["a"])
            ],
            "new_pet must be": [
                lambda pet=pet: pets.create(pet)
                for pet in (None, "Rex", rex | {"more": endless}, rex | {"more": object()})
            ],
            "if_match must be": [
                lambda: pets.update(1, {}, if_match="a\nb"),
                lambda: pets.delete(1, if_match=7),
            ],
            "on_position must be": [lambda: next(anything.events.follow(on_position=1))],
            "method must be": [lambda: own.request("FETCH", "/pets")],
            "path must": [
                lambda path=path: own.request("GET", path)
                for path in ("/pets?limit=1", "pets", "/../docs", "/pets/%2E%2e", "/pets/.\\7")
            ],
            "headers must": [
                lambda headers=headers: own.request("GET", "/pets", headers=headers)
                for headers in ({"Authorization": "x"}, {"x-name": "猫"}, {"x name": "a"}, "a")
            ],
            "query must be": [lambda: anything.request("GET", "/pets", query="a")],
            "body must be": [
                lambda: own.request("GET", "/pets", body={}),
                lambda: own.request("POST", "/pets", body=endless),
                lambda: own.request("POST", "/pets", body=float("nan")),
            ],
            "max_retries must be": [lambda: own.with_options(max_retries=101)],
            "timeout_seconds must be": [lambda: own.with_options(timeout_seconds=0)],
        }
        for told, group in calls.items():
            for call in group:
                with self.assertRaisesRegex(sdk.ArgumentError, f"^{told}"):
                    call()
