"""Strict JSON as text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.model.jsontext import read_json


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "got a fault at line 1"),
        ("{", "got a fault at line 1"),
        ("\n[1,]", "got a fault at line 2"),
        ("01", "got a fault at line 1"),
        ("'a'", "got a fault at line 1"),
        ("\ufeff1", "got a fault at line 1"),
        ("1" * 5000, "a number of too many digits"),
        ("[" * 10**5, "nested too deeply"),
        ('{"a":' * 10**5, "nested too deeply"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "expected different keys in an object, got 'b' twice"),
    ],
    ids=lambda text: text[:12],
)
def test_other_texts_are_not_json(text, reason):
    """Faults of the text as a whole are those of the body, or of the field given."""
    for field in ("body", "tasks"):
        with pytest.raises(InputError) as caught:
            read_json(text, field)
        assert (caught.value.field, reason in caught.value.reason) == (field, True)


def test_endless_numbers_are_read_and_left_to_the_checks():
    """NaN and 1e999 are floats; where they matter they are refused with their place."""
    assert read_json("[1e999, -Infinity]") == [float("inf"), float("-inf")]
    assert str(read_json("NaN")) == "nan"


@pytest.mark.long
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_json_round_trips(value):
    """Whatever Python writes is read."""
    assert read_json(json.dumps(value)) == value
