"""Checks of single values."""

from fractions import Fraction

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.model.values import check_amount, check_flag, check_positive, check_records, check_whole, read_name
from tiger.model.wording import describe

NO_NUMBER = [None, True, "1", [1], {}, 1j, -1, -0.5, float("nan"), float("inf"), 10**400, -(10**400)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        ([1], "a list"),
        ((1,), "a tuple"),
        ({}, "an object"),
        ("a\ud800", r"'a\ud800'"),
        ("x" * 100, f"'{'x' * 60}..'"),
        (-7, "-7"),
        (float("nan"), "nan"),
        (np.float64(2.5), "2.5"),
        (1j, "a value of type complex"),
    ],
)
def test_values_are_described_in_print(value, text):
    """Whatever was found can be shown in a message."""
    assert describe(value) == text


@pytest.mark.parametrize("value", [0, 3, 2.5, np.int64(3), np.float32(0.5), Fraction(1, 2), 2**64, 10**300])
def test_amounts_are_finite_numbers(value):
    """Numbers of any type become float."""
    assert check_amount("f", value) == float(value)


@pytest.mark.long
@pytest.mark.parametrize("value", NO_NUMBER)
@pytest.mark.parametrize("check", [check_amount, check_positive, check_whole])
def test_other_values_are_refused(check, value):
    """Text, truth values, containers, negative and endless numbers are no amounts."""
    with pytest.raises(InputError) as caught:
        check("tasks/nodes/2/work", value)
    assert caught.value.field == "tasks/nodes/2/work"


def test_zero_is_not_positive():
    """A length must be above 0."""
    assert check_positive("f", 0.5) == 0.5
    with pytest.raises(InputError, match="f: expected a finite number > 0, got 0"):
        check_positive("f", 0)


def test_whole_numbers_may_be_floats_without_a_fraction():
    """3.0 is whole."""
    assert [check_whole("f", value) for value in (0, 3.0, np.int32(4), 2**53 - 1)] == [0, 3, 4, 2**53 - 1]


@pytest.mark.parametrize("value", [1.5, 2**53, 2**63, 1e300])
def test_fractions_and_huge_numbers_are_not_whole(value):
    """Whole numbers end where float64 stops telling them apart."""
    with pytest.raises(InputError, match="f: expected a whole number"):
        check_whole("f", value)


@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_flags_are_truth_values(value):
    """Only true and false are flags."""
    assert check_flag("f", True) is True
    with pytest.raises(InputError, match="f: expected true or false"):
        check_flag("f", value)


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        ("a", "a"),
        ("", ""),
        (7, "7"),
        (-7, "-7"),
        (1.5, "1.5"),
        (2**60, "1152921504606846976"),
        (np.int64(3), "3"),
        ([1, 2, 3], "1,2,3"),
        ((0, "x"), "0,x"),
        (((0, 1), 2), "0,1,2"),
    ],
)
def test_names_are_the_text_of_an_id(identity, name):
    """The parts of a list or tuple are joined by commas."""
    assert read_name("f", identity) == name


def nest(depth):
    """Return a number in lists within lists."""
    return [nest(depth - 1)] if depth else 0


@pytest.mark.parametrize(
    "identity",
    [None, True, {}, [], [[]], [None], [1, True], float("nan"), "\ud800", ["\udfff"], nest(9), {1}],
)
def test_other_ids_are_refused(identity):
    """Truth values, null, objects, endless numbers, broken text and deep lists name nothing."""
    with pytest.raises(InputError) as caught:
        read_name("tasks/nodes/0/id", identity)
    assert caught.value.field == "tasks/nodes/0/id"
    caught.value.reason.encode()


def test_numbers_of_thousands_of_digits_are_no_trap():
    """Python refuses to print them; here they are bad input like any other."""
    assert describe(10**5000) == "a number of more than 60 digits"
    for check in (check_amount, check_positive, check_whole, read_name):
        with pytest.raises(InputError, match=r"^f: expected .*, got a number of more than 60 digits$"):
            check("f", 10**5000)


@pytest.mark.parametrize(
    ("value", "field", "got"), [(None, "f", "nothing"), ({}, "f", "an object"), ([{}, 3], "f/1", "3")]
)
def test_records_are_objects_in_a_list(value, field, got):
    """What is none is named by its place."""
    with pytest.raises(InputError, match=f"got {got}$") as error:
        check_records("f", value)
    assert error.value.field == field
    assert check_records("f", [{"a": 1}, {}]) == [{"a": 1}, {}]
