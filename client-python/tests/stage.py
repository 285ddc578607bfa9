"""The service, the relay, the receiver and the clock that test/client/python-stage.ts starts."""

import json
import os
import urllib.request
from typing import Any

from animal_store import AnimalStore

API_KEY = os.environ["ANIMAL_STORE_KEY"]
BASE_URL = os.environ["ANIMAL_STORE_URL"]
RELAY_URL = os.environ["RELAY_URL"]
RECEIVER_URL = os.environ["RECEIVER_URL"]

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def act(name: str, **given: object) -> Any:
    """Ask the stage for an act, and return its result."""
    request = urllib.request.Request(
        f"{os.environ['STAGE_URL']}/{name}", json.dumps(given).encode(), method="POST"
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def connect(**options: Any) -> AnimalStore:
    """Return a client that reports no deprecation."""
    options.setdefault("on_deprecation", lambda _: None)
    return AnimalStore(**options)
