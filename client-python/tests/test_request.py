"""`request`, and what `debug` is told."""

import unittest

from animal_store import Attempt, NotFoundError

from .stage import API_KEY, BASE_URL, INT64_MAX, connect

client = connect()


class Request(unittest.TestCase):
    def test_request_returns_the_value_the_text_and_the_headers_for_any_path(self) -> None:
        body = {"name": "Rex", "categoryId": INT64_MAX}
        added = client.request("POST", "/pets", body=body)
        pet_id = added.value["id"]
        text = f'{{"id":{pet_id},"name":"Rex","categoryId":{INT64_MAX},"status":"available"}}'
        self.assertEqual((added.text, added.response.status), (text, 201))
        self.assertRegex(added.response.headers["Location"], r"/pets/\d+$")
        listed = client.request("GET", "/pets", query={"limit": 1, "categoryId": INT64_MAX})
        self.assertEqual(listed.value, [added.value])
        deleted = client.request("DELETE", f"/pets/{pet_id}")
        self.assertEqual((deleted.value, deleted.text, deleted.response.status), (None, None, 204))

    def test_a_header_replaces_that_of_the_client_whatever_its_case(self) -> None:
        pet = client.pets.create({"name": "Rex", "categoryId": 1})
        headers = {"Content-Type": "application/merge-patch+json"}
        changed = client.request(
            "PATCH", f"/pets/{pet['id']}", body={"name": "Max"}, headers=headers
        )
        self.assertEqual(changed.value["name"], "Max")

    def test_content_that_has_not_changed_is_a_304(self) -> None:
        etag = client.request("GET", "/pets").response.headers["etag"]
        same = client.request("GET", "/pets", headers={"if-none-match": etag})
        self.assertEqual((same.value, same.text, same.response.status), (None, None, 304))

    def test_debug_is_called_after_each_request_and_never_with_the_key(self) -> None:
        attempts: list[Attempt] = []
        own = connect(debug=attempts.append)
        own.pets.list(limit=3)
        with self.assertRaises(NotFoundError):
            own.request("GET", "/no/such/thing")
        first, second = attempts
        self.assertEqual(
            (first.operation, first.method, first.url, first.status, first.error),
            ("listPets", "GET", f"{BASE_URL}/pets?limit=3", 200, None),
        )
        self.assertEqual((second.operation, second.status), (None, 404))
        self.assertIsInstance(second.error, NotFoundError)
        self.assertTrue(all(one.request_id and one.duration_seconds >= 0 for one in attempts))
        self.assertNotIn(API_KEY, repr(attempts))
