"""The one check of options: each value against the type and the bounds of its field, which `about` states."""

import math
from collections.abc import Mapping
from dataclasses import Field, fields
from numbers import Real
from types import NoneType, UnionType
from typing import Literal, Union, cast, get_args, get_origin

from tiger.errors import InputError
from tiger.model.wording import describe

# Numbers are int64 in kernels and documents.
WHOLE_LIMIT = 1 << 63
Bounds = Mapping[str, float]


def members(annotation: object) -> tuple[object, ...]:
    """Return the types of a union, or the one type that an annotation is."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def check_values(options: object) -> None:
    """Raise InputError that names the first option of a dataclass whose value its field does not allow.

    Choices, whole numbers below 2**63, numbers and truth values are checked; a field of another type is for whoever
    reads it. Where a number is asked for, what is none is a TypeError, as is what is neither true nor false.
    """
    for field in fields(options):  # type: ignore[arg-type]  # of dataclasses
        if field.init:
            _check_value(field, getattr(options, field.name))


def _check_value(field: "Field[object]", value: object) -> None:
    """Raise InputError, or TypeError, unless a field allows a value."""
    kinds = members(field.type)
    if value is None and NoneType in kinds:
        return
    kind, *others = (kind for kind in kinds if kind is not NoneType)
    if others:
        return
    if get_origin(kind) is Literal:
        if not isinstance(value, str) or value not in get_args(kind):
            raise InputError(field.name, f"expected one of {', '.join(get_args(kind))}, got {describe(value)}")
    elif kind is bool and not isinstance(value, bool):
        raise TypeError(f"{field.name}: expected true or false, got {describe(value)}")
    elif kind is int and not (type(value) is int and _is_within(value, field.metadata)):
        raise InputError(field.name, f"expected {_describe_whole(field.metadata)}, got {describe(value)}")
    elif kind is float and not (_is_number(field, value) and _is_within(cast(float, value), field.metadata)):
        raise InputError(field.name, f"expected {_describe_number(field.metadata)}, got {describe(value)}")


def _is_number(field: "Field[object]", value: object) -> bool:
    """Return whether this is a number, which truth values and None are not; raise TypeError for another type."""
    if isinstance(value, Real | None):
        return value is not None and not isinstance(value, bool)
    unit = " of seconds" if field.name.endswith("_s") else ""
    raise TypeError(f"{field.name}: expected a number{unit}, got {type(value).__name__}")


def _is_within(value: float, bounds: Bounds) -> bool:
    """Return whether a number is within bounds."""
    above = value >= bounds.get("ge", -math.inf) and value > bounds.get("gt", -math.inf)
    most = min(bounds.get("le", math.inf), bounds.get("most", math.inf))
    return above and value <= most and value < bounds.get("lt", math.inf if "most" in bounds else WHOLE_LIMIT)


def _describe_whole(bounds: Mapping[str, object]) -> str:
    """Return which whole numbers are within bounds."""
    if "expected" in bounds:
        return str(bounds["expected"])
    most = bounds.get("le", bounds.get("most", "2**63 - 1"))
    return f"a whole number from {bounds['ge']} to {most}" if "ge" in bounds else f"a whole number up to {most}"


def _describe_number(bounds: Mapping[str, object]) -> str:
    """Return which numbers are within bounds."""
    if "expected" in bounds:
        return str(bounds["expected"])
    if {"ge", "lt"} <= bounds.keys():
        return f"a number from {bounds['ge']} to below {bounds['lt']}"
    words = {"gt": "above", "ge": "of at least", "lt": "below", "le": "at most", "most": "at most"}
    bounds_said = [f"{word} {bounds[name]:g}" for name, word in words.items() if name in bounds]
    return " ".join(["a number", ", ".join(bounds_said)]).strip()
