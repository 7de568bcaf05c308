"""The checks that the value types share."""

import numpy as np
import pytest
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.arrays import (
    check_amounts,
    check_names,
    check_whole,
    count_distinct,
    distinct,
    entries_of,
    freeze,
    lock,
)


def test_frozen_is_a_read_only_copy():
    """Later writes to the original do not show, and the copy refuses writes."""
    original = np.array([1.0, 2.0])
    copy = freeze(original)
    original[0] = 9.0
    assert copy.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 3.0


def test_frozen_spares_the_copy_of_what_nobody_writes_to():
    """A locked array stays itself; a read-only view of another does not, since that may change."""
    original = np.array([1.0, 2.0])
    view = original.view()
    view.flags.writeable = False
    assert freeze(view) is not view
    assert freeze(lock(original)) is original


@pytest.mark.parametrize("values", [[1.0], [[1.0, 2.0]], [1.0, np.nan], [1.0, np.inf], [1.0, -1e-300]])
def test_amounts_refuses(values):
    """Two finite numbers >= 0 are two finite numbers >= 0."""
    with pytest.raises(InputError, match="expected") as caught:
        check_amounts("tasks/work", values, 2)
    assert caught.value.field == "tasks/work"


@pytest.mark.parametrize("values", [["one", "two"], [{}, 1.0], [10**400, 1], [[1.0], [1.0, 2.0]]])
def test_amounts_refuses_what_is_no_number(values):
    """What numpy cannot turn into float64 is bad input of that field too."""
    with pytest.raises(InputError, match="expected 2 numbers") as caught:
        check_amounts("tasks/work", values, 2)
    assert caught.value.field == "tasks/work"


def test_amounts_names_the_position():
    """The message says which entry is at fault and what it is."""
    with pytest.raises(InputError, match="got -3 at position 1"):
        check_amounts("tasks/work", [1.0, -3.0], 2)


def test_whole_keeps_the_largest_exact_number():
    """2**53 - 1 is the last number whose neighbours float64 tells apart."""
    assert check_whole("tasks/memory", [2**53 - 1, 0], 2).tolist() == [2**53 - 1, 0]


@pytest.mark.parametrize("value", [0.5, 2**53, -1, 1e300])
def test_whole_refuses(value):
    """Fractions, negative numbers and numbers that float64 cannot tell apart are refused."""
    with pytest.raises(InputError, match="expected"):
        check_whole("tasks/memory", [value], 1)


def test_whole_refuses_sums_that_overflow():
    """A sum of slots or memory always fits int64."""
    with pytest.raises(InputError, match=r"expected a sum below 2\*\*63"):
        check_whole("topology/slots", np.full(1025, 2**53 - 1), 1025)


def test_unique_names_refuses_none_and_twice():
    """There is at least one name, and no two are alike."""
    assert check_names("tasks", ["a", "b"]) == ("a", "b")
    with pytest.raises(InputError, match="expected at least one"):
        check_names("tasks", [])
    with pytest.raises(InputError, match="got 'a' twice"):
        check_names("tasks", ["a", "b", "a"])


@pytest.mark.parametrize("values", [[], [3], [5, 1, 5, 5, 0], [2**62, -1, 2**62]])
def test_distinct_values_rise_and_are_counted(values):
    """As numpy.unique has them."""
    array = np.array(values, np.int64)
    wanted, counts = np.unique(array, return_counts=True)
    assert distinct(array).tolist() == wanted.tolist()
    assert [part.tolist() for part in count_distinct(array)] == [wanted.tolist(), counts.tolist()]


def test_entries_are_those_of_a_matrix_of_coordinates():
    """Tests rows, columns and numbers, an empty row among them, against scipy's conversion."""
    matrix = sp.csr_array(np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 5.0]]))
    entries, other = entries_of(matrix), matrix.tocoo()
    assert entries.row.tolist() == other.row.tolist()
    assert entries.col.tolist() == other.col.tolist()
    assert entries.data.tolist() == other.data.tolist()
