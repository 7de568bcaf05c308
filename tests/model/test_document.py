"""Tests of dataclasses as documents: what goes out comes back, and other names, nulls and figures have their place."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from tiger.model.document import HIDDEN, INFINITE, INLINE, KEY, LATER, Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Document):
    """Hold a part."""

    size: float = field(metadata={KEY: "bytes", **INFINITE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Document):
    """Hold one member of every kind."""

    parts: tuple[Part, ...] = ()
    places: Mapping[int, str] = field(default_factory=dict)
    best: Part | None = None
    double: int = field(init=False)
    single: int = field(default=1, metadata=LATER)
    secret: object = field(default=None, compare=False, metadata=HIDDEN)
    more: Mapping[str, object] = field(default_factory=dict, metadata=INLINE)

    def __post_init__(self) -> None:
        """Work out a member."""
        object.__setattr__(self, "double", 2 * self.single)


WHOLE = Whole(parts=(Part(size=math.inf),), places={3: "x"}, single=2, secret=object(), more={"tries": (1, 2)})
DOCUMENT = {"parts": [{"bytes": None}], "places": {"3": "x"}, "best": None, "double": 4, "single": 2, "tries": [1, 2]}


def test_members_stand_in_the_order_of_the_fields() -> None:
    """With their own names, null for what is infinite, and without what is hidden."""
    assert list(WHOLE.to_dict().items()) == list(DOCUMENT.items())


def test_what_goes_out_comes_back() -> None:
    """By way of strict JSON."""
    assert Whole.from_dict(json.loads(json.dumps(WHOLE.to_dict(), allow_nan=False))) == WHOLE


def test_what_came_later_may_be_missing() -> None:
    """As versions before the member was there wrote documents; any other is not left out."""
    assert Whole.from_dict({name: value for name, value in DOCUMENT.items() if name != "single"}).single == 1


@pytest.mark.parametrize("document", [{}, DOCUMENT | {"parts": [{}]}, DOCUMENT | {"places": {"x": "y"}}])
def test_a_document_of_something_else_is_refused(document: dict[str, object]) -> None:
    """A member that is missing, and an id that is no number."""
    with pytest.raises((KeyError, ValueError)):
        Whole.from_dict(document)
