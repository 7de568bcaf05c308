"""ExFlow's placement."""

from contextlib import suppress

import pytest
from hypothesis import given

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.expert_maps.maps.exflow import read, write

TEXT = "Expert,Node\n0,0\n1,1\n2,1\n3,0\n4,1\n5,0\n6,0\n7,1\n"


def test_experts_are_counted_through_layers():
    """Four a layer; GPU 0 has the first and the last of the first layer."""
    found = read(TEXT, 2, 4)
    assert found.phy2log.tolist() == [[0, 3, 1, 2], [1, 2, 0, 3]]
    assert write(found).decode() == TEXT


@pytest.mark.parametrize(
    ("gpus", "experts", "field"), [(3, 4, "gpus"), (0, 4, "gpus"), (2, 0, "experts"), (2, -4, "experts")]
)
def test_wrong_sizes_are_named(gpus, experts, field):
    """What does not share the experts of a layer, and layers without experts."""
    with pytest.raises(InputError) as caught:
        read(TEXT, gpus, experts)
    assert caught.value.field == field


def test_replicas_cannot_be_written(expert_map):
    """An expert has one node."""
    with pytest.raises(InputError, match=r"^emit: expected a map without replicas"):
        write(expert_map)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "map/1"),
        ("expert,gpu\n0,0\n", "map/1"),
        ("Expert,Node\n", "map"),
        ("Expert,Node\n0,0\n1,1\n2,1\n", "map"),
        ("Expert,Node\n0,0\n1,x\n", "map/3"),
        ("Expert,Node\n0,0\n0,1\n", "map/3"),
        ("Expert,Node\n0,0\n2,1\n", "map/3"),
        ("Expert,Node\n0,0\n1,9999\n", "map/3"),
        ("Expert,Node\n0,0\n1,0\n", "map/0"),
        ("Expert,Node\n0,0\n1,2\n", "map/0"),
    ],
)
def test_wrong_lines_are_named(text, field):
    """Counted from one, as editors do; GPUs with other numbers of experts by their layer."""
    with pytest.raises(InputError) as caught:
        read(text, 2, 2)
    assert caught.value.field == field


@pytest.mark.slow
@cases(quick=50, long=2_000)
@given(text=damaged(TEXT))
def test_damaged_files_are_read_or_refused(text):
    """Nothing but a map or bad input comes of one."""
    with suppress(InputError):
        assert read(text, 2, 4).experts == 4
