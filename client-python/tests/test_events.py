"""The feed of events."""

import threading
import unittest
from unittest import mock

from animal_store import (
    AnimalStoreError,
    HttpResponse,
    StoreEvent,
    is_order_event,
    is_pet_event,
)
from animal_store._response import Headers

from .stage import INT64_MAX, RELAY_URL, act, connect

client = connect()


def add_pet() -> int:
    return client.pets.create({"name": "Rex", "categoryId": INT64_MAX})["id"]


class Follow(unittest.TestCase):
    def test_follow_returns_existing_events_and_then_new_ones(self) -> None:
        start = client.events.list(after="now").next
        pet_id = add_pet()
        seen: list[str] = []
        for event in client.events.follow(start):
            seen.append(event["type"])
            if is_pet_event(event) and event["type"] == "pet.added":
                self.assertEqual(event["data"]["categoryId"], INT64_MAX)
                client.orders.place({"petId": event["data"]["id"]})
            elif is_pet_event(event):
                self.assertEqual(event.get("previous"), {"status": "available"})
            elif is_order_event(event):
                self.assertEqual(event["data"]["petId"], pet_id)
                break
        self.assertEqual(seen, ["pet.added", "pet.updated", "order.reserved"])

    def test_a_follower_that_stores_each_id_neither_misses_nor_repeats_an_event(self) -> None:
        kept = client.events.list(after="now").next
        added = [add_pet() for _ in range(5)]
        met: list[int] = []
        while len(met) < len(added):
            for event in client.events.follow(kept, limit=3):
                kept = event["id"]
                met.append(event["data"]["id"])
                if len(met) % 2 == 0 or len(met) == len(added):
                    break
        self.assertEqual(met, added)

    def test_a_position_is_reported_once_all_events_before_it_are_handled(self) -> None:
        start = client.events.list(after="now").next
        for _ in range(5):
            add_pet()
        told: list[int] = []
        seen: list[StoreEvent] = []

        def note(_: str) -> None:
            told.append(len(seen))

        for event in client.events.follow(start, limit=2, on_position=note):
            seen.append(event)
            if len(seen) == 5:
                break
        self.assertEqual(told, [2, 4])

    def test_a_follower_from_now_gets_an_event_while_its_connection_breaks(self) -> None:
        act("mend")
        found: list[StoreEvent] = []
        broken = connect(base_url=RELAY_URL, max_wait_seconds=0.001)

        def follow() -> None:
            found.append(next(broken.events.follow("now")))

        follower = threading.Thread(target=follow)
        follower.start()
        act("untilWaiting", count=1)
        act("breakOff", count=1, bytes=0)
        first = add_pet()
        while follower.is_alive():
            add_pet()
            follower.join(0.01)
        self.assertEqual(found[0]["data"]["id"], first)

    def test_a_follower_survives_a_service_that_is_away(self) -> None:
        act("mend")
        start = client.events.list(after="now").next
        with mock.patch("animal_store._transport.sleep", side_effect=lambda _: act("mend")):
            feed = connect(base_url=RELAY_URL).events.follow(start)
            added = [add_pet()]
            met = [next(feed)["data"]["id"]]
            act("cut")
            added.append(add_pet())
            met.append(next(feed)["data"]["id"])
        self.assertEqual(met, added)

    def test_a_follower_with_a_short_timeout_waits_itself(self) -> None:
        asked: list[str] = []
        hasty = connect(debug=lambda attempt: asked.append(attempt.url))
        pet_ids: list[int] = []

        def pause(_: float) -> None:
            if len(asked) > 2 and not pet_ids:
                pet_ids.append(add_pet())

        # The service always answers within its timeout here, however busy the machine is.
        hasty.events._wait_seconds = 0
        with mock.patch("animal_store.events.sleep", side_effect=pause):
            event = next(hasty.events.follow("now"))
        self.assertEqual([event["data"]["id"]], pet_ids)
        self.assertTrue(all("wait=0" in url for url in asked))

    def test_the_wait_of_a_request_is_shorter_than_the_timeout(self) -> None:
        for timeout, wait in ((30.0, 20), (15.0, 10), (1.4, 0)):
            own = client.with_options(timeout_seconds=timeout)
            self.assertEqual(own.events._wait_seconds, wait)

    def test_a_page_without_a_next_link_is_not_from_an_animal_store(self) -> None:
        headers = Headers([("content-type", "application/json")])
        send = mock.Mock(return_value=HttpResponse(200, headers, b"[]"))
        with self.assertRaises(AnimalStoreError) as caught:
            next(connect(send=send).events.follow())
        self.assertEqual(caught.exception.code, "unexpected_answer")
