"""What type checkers accept and refuse. No test runs this file; `mypy --strict` checks it.

Each `type: ignore` marks a mistake. The check also fails if such a line has none.
"""

from typing import assert_type

from animal_store import (
    AnimalStore,
    NewPet,
    Order,
    Page,
    Pet,
    PetPrevious,
    StoreEvent,
    is_order_event,
    is_pet_event,
    verify_webhook,
)


def use(client: AnimalStore, event: StoreEvent) -> None:
    """Call methods with right and wrong arguments."""
    new_pet: NewPet = {"name": "Rex", "categoryId": 1, "status": "sold"}
    pet = client.pets.create(new_pet)
    assert_type(pet, Pet)
    assert_type(pet["id"], int)
    assert_type(client.pets.list(status="available", limit=1), Page[Pet])
    assert_type(client.orders.place({"petId": pet["id"]}), Order)
    # A newer service may send other values.
    assert_type(pet.get("status"), str | None)
    if is_pet_event(event):
        assert_type(event["data"], Pet)
        assert_type(event.get("previous"), PetPrevious | None)
    elif is_order_event(event):
        assert_type(event["data"], Order)

    client.pets.create({"name": "Rex"})  # type: ignore[typeddict-item]
    client.pets.create({"name": "Rex", "categoryId": "1"})  # type: ignore[typeddict-item]
    client.pets.create({"name": "Rex", "categoryId": 1, "status": "x"})  # type: ignore[typeddict-item]
    client.pets.list(status="gone")  # type: ignore[arg-type]
    client.pets.get("1")  # type: ignore[arg-type]
    client.keys.create({"scopes": ["all"]})  # type: ignore[list-item]


def receive(body: bytes, headers: dict[str, str]) -> str | None:
    """Verify a request to a webhook."""
    event = verify_webhook(body, headers, "whsec_")
    return None if event is None else event["type"]
