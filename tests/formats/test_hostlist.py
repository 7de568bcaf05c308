"""Host lists with brackets."""

import pytest

from tiger.errors import InputError
from tiger.formats.hostlist import expand, read_list, split_list


@pytest.mark.parametrize(
    ("text", "names"),
    [("n[0-1],m0", "n0 n1 m0"), ("n[08-10]", "n08 n09 n10"), ("r[0-1]n[1,3]", "r0n1 r0n3 r1n1 r1n3")],
)
def test_brackets_stand_for_numbers(text, names):
    """As wide as the first of a range is written."""
    assert read_list("topology", "line 1", text, 9) == names.split()


def test_commas_inside_brackets_separate_no_pieces():
    """Empty pieces are left out."""
    assert split_list("n[0,2],,m0,") == ["n[0,2]", "m0"]


def test_limits_are_checked_before_names_are_made():
    """However many they would be."""
    with pytest.raises(InputError, match="expected at most 5 hosts, got 1000000 or more"):
        expand("topology", "n[0-999999]" * 9, 5, "5 hosts")
