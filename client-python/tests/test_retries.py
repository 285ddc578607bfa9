"""Retries, over connections that break and limits that refuse."""

import threading
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

from animal_store import (
    AnimalStore,
    AnimalStoreError,
    ConnectionFailedError,
    HttpRequest,
    HttpResponse,
    NewPet,
    Pet,
    RateLimitError,
    Retry,
    response_of,
)
from animal_store._http import ConnectionPool
from animal_store._response import Headers, ResponseInfo
from animal_store._retry import plan_wait
from animal_store.errors import create_error

from .stage import API_KEY, BASE_URL, RELAY_URL, act, connect

REX: NewPet = {"name": "Rex", "categoryId": 1}


def advance(seconds: float) -> None:
    act("advance", seconds=seconds)


def no_sleep(side_effect: Any = None) -> Any:
    return mock.patch("animal_store._transport.sleep", side_effect=side_effect)


class Retries(unittest.TestCase):
    def setUp(self) -> None:
        act("mend")
        self.before: int = act("countPets")
        self.retries: list[Retry] = []

    def connect(self, per_minute: int = 100, **options: Any) -> AnimalStore:
        """Return a client with a key of its own, which notes its retries."""
        key = act("createKey", perMinute=per_minute)
        return connect(**{"api_key": key, "on_retry": self.retries.append, **options})

    def count_added(self) -> int:
        count: int = act("countPets")
        return count - self.before

    def test_a_request_over_the_limit_is_repeated_after_retry_after(self) -> None:
        client = self.connect(per_minute=2)
        client.pets.list()
        client.pets.list()
        with no_sleep(advance) as slept:
            pet = client.pets.create(REX)
        self.assertEqual(response_of(pet).attempts, 2)
        [retry] = self.retries
        self.assertEqual(retry.error.code, "rate_limit_exceeded")
        self.assertEqual(retry.wait_seconds, retry.error.retry_after_seconds)
        slept.assert_called_once_with(retry.wait_seconds)
        self.assertEqual(self.count_added(), 1)

    def test_a_call_fails_at_once_if_retry_after_exceeds_max_wait_seconds(self) -> None:
        client = self.connect(per_minute=1, max_wait_seconds=59.9)
        client.pets.list()
        with self.assertRaises(RateLimitError) as caught:
            client.pets.list()
        error = caught.exception
        self.assertEqual((error.status, error.retry_after_seconds, error.attempts), (429, 60, 1))
        assert error.rate_limit is not None
        self.assertEqual((error.rate_limit.limit, error.rate_limit.remaining), (1, 0))
        self.assertEqual(self.retries, [])

    def test_a_create_whose_answer_breaks_off_is_repeated_with_the_same_key(self) -> None:
        for count, bytes in enumerate((0, 20, 300), start=1):
            client = self.connect(base_url=RELAY_URL)
            act("breakOff", count=2, bytes=bytes)
            with no_sleep():
                pet = client.pets.create(REX)
            response = response_of(pet)
            self.assertEqual((response.replayed, response.attempts), (True, 3))
            self.assertEqual(self.count_added(), count)
        codes = {retry.error.code for retry in self.retries}
        self.assertEqual((codes, len(self.retries)), ({"connection_failed"}, 6))

    def test_list_all_continues_after_answers_that_break_off(self) -> None:
        act("importPets", count=50)
        count = act("countPets")
        ids = set()
        with no_sleep():
            for pet in self.connect(base_url=RELAY_URL).pets.list_all(limit=50):
                ids.add(pet["id"])
                if len(ids) == 15:
                    act("breakOff", count=1, bytes=600)
        self.assertEqual((len(ids), len(self.retries)), (count, 1))

    def test_a_call_without_an_answer_in_time_times_out(self) -> None:
        act("silence")
        client = self.connect(base_url=RELAY_URL).with_options(timeout_seconds=0.2, max_retries=1)
        with no_sleep(), self.assertRaises(ConnectionFailedError) as caught:
            client.pets.list()
        error = caught.exception
        self.assertEqual((error.code, error.attempts, error.status), ("timed_out", 2, None))
        self.assertRegex(error.message, r"^no complete answer from http:.*/v1/pets within 0\.2 s$")

    def test_an_attempt_without_an_answer_in_time_is_repeated(self) -> None:
        act("silence")
        mend = lambda _: act("mend")  # noqa: E731
        client = self.connect(base_url=RELAY_URL, timeout_seconds=2, max_retries=20, on_retry=mend)
        with no_sleep():
            pet = client.pets.create(REX)
        self.assertGreater(response_of(pet).attempts, 1)
        self.assertEqual(self.count_added(), 1)

    def test_a_create_is_not_repeated_after_its_key_may_have_expired(self) -> None:
        self.assertTrue(response_of(self.create_after_sleep(22)).replayed)
        with self.assertRaises(ConnectionFailedError) as caught:
            self.create_after_sleep(24)
        self.assertEqual(caught.exception.attempts, 1)

    def create_after_sleep(self, hours: int) -> Pet:
        """Add an animal whose first answer is lost, on a machine that then sleeps."""
        now = [1_000_000.0]

        def sleep(_: float) -> None:
            now[0] += hours * 3600

        act("breakOff", count=1, bytes=0)
        clock = mock.patch("animal_store._transport.time.time", side_effect=lambda: now[0])
        with no_sleep(sleep), clock:
            return self.connect(base_url=RELAY_URL).pets.create(REX)

    def test_a_request_that_would_fail_again_is_not_repeated(self) -> None:
        client = self.connect()
        calls: list[Callable[[], object]] = [
            lambda: client.pets.create({"name": "", "categoryId": 1}),
            lambda: client.pets.get(10**18),
            lambda: client.pets.list(cursor="made up"),
        ]
        for call in calls:
            with self.assertRaises(AnimalStoreError):
                call()
        self.assertEqual(self.retries, [])

    def test_a_post_is_repeated_only_if_that_can_neither_act_twice_nor_lose_a_secret(self) -> None:
        key = {"Idempotency-Key": "once"}
        cases: list[tuple[int, int, str, str, dict[str, str]]] = [
            (429, 2, "POST", "/pets", {}),
            (503, 1, "POST", "/pets", {}),
            (503, 2, "POST", "/pets", key),
            (503, 2, "PATCH", "/pets/1", {}),
            (503, 1, "POST", "/keys", key),
            (503, 1, "POST", "/keys/key_1/rotate", key),
            (503, 1, "POST", "/webhooks", key),
            (503, 1, "POST", "/webhooks/1/rotate-secret", key),
        ]
        for status, expected, method, path, headers in cases:
            send = mock.Mock(return_value=fail(status))
            client = connect(send=send, max_retries=1)
            with no_sleep(), self.assertRaises(AnimalStoreError):
                client.request(method, path, body={}, headers=headers)
            self.assertEqual(send.call_count, expected, path)

    def test_every_attempt_sends_the_same_key_and_bytes(self) -> None:
        sent: list[HttpRequest] = []

        def send(request: HttpRequest) -> HttpResponse:
            sent.append(request)
            return fail(503)

        with no_sleep(), self.assertRaises(AnimalStoreError):
            connect(send=send, max_retries=3).orders.place({"petId": 1})
        self.assertEqual(len(sent), 4)
        self.assertEqual(len({request.headers["idempotency-key"] for request in sent}), 1)
        self.assertEqual({request.body for request in sent}, {b'{"petId":1}'})

    def test_the_wait_follows_the_failure(self) -> None:
        """Each row has the code, the status, Retry-After, the attempts and the bounds in s."""
        for code, status, asked, attempts, shortest, longest in (
            ("rate_limit_exceeded", 429, 7, 1, 7.0, 7.0),
            ("rate_limit_exceeded", 429, 7, 2, 7.0, 8.0),
            ("key_banned", 429, 60, 1, 60.0, 60.0),
            ("key_banned", 429, 61, 1, None, None),
            ("unavailable", 503, 1, 1, 1.0, 1.5),
            ("unavailable", 503, 60, 3, 60.0, 60.0),
            ("internal_error", 500, None, 1, 0.0, 0.5),
            ("unexpected_answer", 502, None, 2, 0.0, 1.0),
            ("connection_failed", None, None, 3, 0.0, 2.0),
            ("timed_out", None, None, 90, 0.0, 8.0),
            ("request_timeout", 408, None, 1, 0.0, 0.5),
            ("idempotency_key_in_use", 409, None, 1, 0.0, 0.5),
            ("idempotency_key_reused", 422, None, 1, None, None),
            ("api_key_invalid", 401, None, 1, None, None),
            ("unexpected_answer", 200, None, 1, None, None),
            ("invalid_argument", None, None, 0, None, None),
        ):
            response = status and ResponseInfo(status, None, None, False, 1, Headers())
            error = create_error(
                code, "", response=response or None, retry_after_seconds=asked, attempts=attempts
            )
            waits = (plan_wait(error, 60.0, 0.0), plan_wait(error, 60.0, 1.0))
            self.assertEqual(waits, (shortest, longest), code)

    def test_retry_after_may_be_a_date(self) -> None:
        send = mock.Mock(return_value=fail(503, "Sat, 01 Jan 2000 00:00:00 GMT"))
        with self.assertRaises(AnimalStoreError) as caught:
            connect(send=send, max_retries=0).pets.list()
        self.assertEqual(caught.exception.retry_after_seconds, 0)


def fail(status: int, retry_after: str = "0") -> HttpResponse:
    body = f'{{"code":"unavailable","message":"no","status":{status}}}'
    headers = {"content-type": "application/json", "retry-after": retry_after}
    return HttpResponse(status, Headers(headers.items()), body.encode())


class Connections(unittest.TestCase):
    def test_a_connection_is_used_again(self) -> None:
        pool = ConnectionPool(BASE_URL)
        headers = {"authorization": f"Bearer {API_KEY}"}
        for _ in range(3):
            pool(HttpRequest("GET", f"{BASE_URL}/pets?limit=1", headers, None, 30.0))
        self.assertEqual(len(pool._idle), 1)
        pool.close()
        self.assertEqual(len(pool._idle), 0)

    def test_a_connection_that_the_server_closed_is_replaced_without_a_retry(self) -> None:
        retries: list[Retry] = []
        client = connect(base_url=RELAY_URL, on_retry=retries.append)
        client.pets.list(limit=1)
        act("cut")
        act("mend")
        self.assertEqual(client.pets.list(limit=1).response.attempts, 1)
        self.assertEqual(retries, [])
        client.close()

    def test_a_forked_process_does_not_use_the_connections_of_its_parent(self) -> None:
        pool = ConnectionPool(BASE_URL)
        headers = {"authorization": f"Bearer {API_KEY}"}
        request = HttpRequest("GET", f"{BASE_URL}/pets?limit=1", headers, None, 30.0)
        pool(request)
        _, before = pool._idle[0]
        with mock.patch("animal_store._http.os.getpid", return_value=1):
            self.assertEqual(pool(request).status, 200)
            self.assertIsNot(pool._idle[0][1], before)
            pool.close()

    def test_threads_share_a_client(self) -> None:
        client = connect()
        statuses: list[int] = []

        def read() -> None:
            for _ in range(5):
                statuses.append(client.pets.list(limit=1).response.status)

        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(statuses, [200] * 40)
        client.close()
