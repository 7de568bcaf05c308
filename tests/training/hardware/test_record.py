"""Tests of the fields of objects."""

import pytest

from tiger.errors import InputError
from tiger.training.hardware.record import check_list, check_names, check_record, check_text, require


def test_known_fields_pass():
    """An object of known fields comes back, a list, a text and a field that is there as well."""
    assert check_record("at", {"a": 1}, ("a", "b")) == {"a": 1}
    assert check_names("at", {"any": 1}) == {"any": 1}
    assert check_list("at", (1, 2)) == [1, 2]
    assert check_text("at", "word") == "word"
    assert require("at", {"a": None}, "a") is None


@pytest.mark.parametrize(
    "ask",
    [
        lambda: check_record("at", {"c": 1}, ("a", "b")),
        lambda: check_record("at", [], ("a",)),
        lambda: check_names("at", {"\ud800": 1}),
        lambda: check_list("at", "ab"),
        lambda: check_text("at", " "),
        lambda: check_text("at", 5),
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
        require("at", {}, "a")
