"""Checks that a value has the shape of a schema."""

from .generated import SHAPES

_PRIMITIVES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "int": int,
    "int64": int,
    "object": dict,
}


def fits(kind: str, value: object) -> bool:
    """Tell whether parsed JSON is of a kind in `SHAPES`.

    Unknown fields are allowed, because a newer service may add some.
    """
    if kind.endswith("?"):
        return value is None or fits(kind[:-1], value)
    if kind.endswith("[]"):
        return isinstance(value, list) and all(fits(kind[:-2], item) for item in value)
    if kind == "any":
        return True
    if kind == "boolean":
        return isinstance(value, bool)
    primitive = _PRIMITIVES.get(kind)
    if primitive is not None:
        return isinstance(value, primitive) and not isinstance(value, bool)
    return isinstance(value, dict) and all(
        fits(field_kind, value.get(field)) for field, field_kind in SHAPES[kind].items()
    )
