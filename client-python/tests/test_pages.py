"""Pages and iterators."""

import unittest
from typing import ClassVar

from animal_store import AnimalStore, AnimalStoreError, Attempt, HttpRequest, HttpResponse
from animal_store._response import Headers

from .stage import act, connect

CATEGORY = 771


class Pages(unittest.TestCase):
    ids: ClassVar[list[int]]

    @classmethod
    def setUpClass(cls) -> None:
        client = connect()
        pets = [client.pets.create({"name": "Rex", "categoryId": CATEGORY}) for _ in range(5)]
        cls.ids = [pet["id"] for pet in pets][::-1]

    def test_pages_are_read_one_by_one_and_resumed_with_a_cursor(self) -> None:
        pets = connect().pets
        first = pets.list(category_id=CATEGORY, limit=2)
        second = first.next()
        assert second is not None
        last = pets.list(category_id=CATEGORY, limit=2, cursor=second.next_cursor)
        pages = [[pet["id"] for pet in page.items] for page in (first, second, last)]
        self.assertEqual(pages, [self.ids[:2], self.ids[2:4], self.ids[4:]])
        self.assertEqual((last.next_cursor, last.next()), (None, None))

    def test_list_all_requests_each_page_only_when_it_is_needed(self) -> None:
        asked: list[Attempt] = []
        walk = connect(debug=asked.append).pets.list_all(category_id=CATEGORY, limit=2)
        self.assertEqual(asked, [])
        self.assertEqual([next(walk)["id"], next(walk)["id"]], self.ids[:2])
        self.assertEqual(len(asked), 1)
        self.assertEqual([pet["id"] for pet in walk], self.ids[2:])
        self.assertEqual(len(asked), 3)

    def test_list_all_keeps_its_filters_on_every_page(self) -> None:
        act("importPets", count=50)
        sold = list(connect().pets.list_all(status="sold", limit=7))
        self.assertGreater(len(sold), 7)
        self.assertEqual({pet.get("status") for pet in sold}, {"sold"})

    def test_a_next_link_to_another_path_is_not_followed(self) -> None:
        def answer(_: HttpRequest) -> HttpResponse:
            link = '</admin?limit=1>; rel="next"'
            headers = {"content-type": "application/json", "link": link}
            return HttpResponse(200, Headers(headers.items()), b"[]")

        with self.assertRaises(AnimalStoreError) as caught:
            connect(send=answer).pets.list()
        self.assertEqual(caught.exception.code, "unexpected_answer")
        self.assertRegex(caught.exception.message, "does not lead to the list: /admin$")

    def test_with_closes_the_connections(self) -> None:
        with AnimalStore() as client:
            self.assertEqual(client.pets.list(limit=1).response.status, 200)
        self.assertEqual(client.pets.list(limit=1).response.status, 200)
        client.close()
