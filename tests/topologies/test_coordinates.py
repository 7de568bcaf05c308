"""Names by coordinates and the bounds on extents."""

import pytest

from tiger.errors import InputError
from tiger.topologies.coordinates import check_count, check_extents, coordinate_names


def test_the_last_axis_varies_fastest():
    """Names follow the order of a C array."""
    assert coordinate_names((2, 3)) == ("0,0", "0,1", "0,2", "1,0", "1,1", "1,2")


def test_one_axis_has_plain_numbers():
    """On a single axis a name is just a number."""
    assert coordinate_names((3,)) == ("0", "1", "2")


@pytest.mark.parametrize("extents", [(), (0,), (4, 0), (2, -1), (1,) * 33, (1024, 1025), (10**9,) * 32])
def test_unusable_extents_are_refused(extents):
    """No extent, too many, one below 1 or too large a product is bad input."""
    with pytest.raises(InputError) as caught:
        check_extents(extents)
    assert caught.value.field == "topology"


def test_the_largest_machine_is_allowed():
    """The limit itself is inside."""
    check_extents((1024, 1024))
    check_count(1_048_576)


@pytest.mark.parametrize("nodes", [0, -1, 1_048_577])
def test_counts_outside_the_limits_are_refused(nodes):
    """At least one node and at most 2^20."""
    with pytest.raises(InputError, match="topology: expected at"):
        check_count(nodes)
