"""Tests of the fields of objects."""

import pytest

from tiger.errors import InputError
from tiger.pipeline.hardware.record import entries, named, record, required, text


def test_known_fields_pass():
    """An object of known fields comes back, a list, a text and a field that is there as well."""
    assert record("at", {"a": 1}, ("a", "b")) == {"a": 1}
    assert named("at", {"any": 1}) == {"any": 1}
    assert entries("at", (1, 2)) == [1, 2]
    assert text("at", "word") == "word"
    assert required("at", {"a": None}, "a") is None


@pytest.mark.parametrize(
    "ask",
    [
        lambda: record("at", {"c": 1}, ("a", "b")),
        lambda: record("at", [], ("a",)),
        lambda: named("at", {"\ud800": 1}),
        lambda: entries("at", "ab"),
        lambda: text("at", " "),
        lambda: text("at", 5),
    ],
)
def test_others_are_refused(ask):
    """Unknown and unprintable fields, and values of another type, are bad input."""
    with pytest.raises(InputError) as caught:
        ask()
    assert caught.value.field == "at"


def test_a_missing_field_is_named():
    """The field that is missing is the one at fault."""
    with pytest.raises(InputError, match="at/a: expected this field"):
        required("at", {}, "a")
