"""vLLM's initial expert map."""

from contextlib import suppress

import pytest
from hypothesis import given

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.expert_maps.maps.vllm import read, write

TEXT = "[[0, 1, 2, 3, 0, 1], [3, 2, 1, 0, 3, 2]]\n"


def test_a_map_is_a_list_of_slots_for_each_layer(expert_map):
    """As in the example of vLLM's pull request."""
    assert write(expert_map).decode() == TEXT
    assert read("[0, 1, 2, 3, 0, 1]", 3).phy2log.tolist() == [[0, 1, 2, 3, 0, 1]]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[", "map"),
        ("{}", "map"),
        ("[]", "map"),
        ("[[]]", "map/0"),
        ("[[0], 1]", "map/1"),
        ("[[0, 1], [0]]", "map/1"),
        ("[[0, -1]]", "map/0/1"),
        ("[[0, 1.0]]", "map/0/1"),
        ("[[0, true]]", "map/0/1"),
        ("[[0, 9]]", "map/0/1"),
        ("[[0, 1], [1, 1]]", "map/1"),
    ],
)
def test_wrong_places_are_named(text, field):
    """Other types, rows of other lengths, and experts that are not there."""
    with pytest.raises(InputError) as caught:
        read(text, 1)
    assert caught.value.field == field


@pytest.mark.slow
@cases(quick=50, long=2_000)
@given(text=damaged(TEXT))
def test_damaged_files_are_read_or_refused(text):
    """Nothing but a map or bad input comes of one."""
    with suppress(InputError):
        assert read(text, 3).experts > 0
