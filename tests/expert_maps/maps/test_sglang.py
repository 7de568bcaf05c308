"""SGLang's initial expert location."""

import json

import pytest

from tiger.errors import InputError
from tiger.expert_maps.maps.sglang import read, write


def test_a_map_is_the_value_of_one_key(expert_map):
    """Others are left alone."""
    assert json.loads(write(expert_map)) == {"physical_to_logical_map": expert_map.phy2log.tolist()}
    assert read('{"physical_to_logical_map": [[0, 1]], "logical_count": 1}', 2).phy2log.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[]", "map"),
        ('{"logical_count": [[1]]}', "map/physical_to_logical_map"),
        ('{"physical_to_logical_map": [[0, "1"]]}', "map/physical_to_logical_map/0/1"),
    ],
)
def test_wrong_places_are_named(text, field):
    """What is not there, and what is no number."""
    with pytest.raises(InputError) as caught:
        read(text, 1)
    assert caught.value.field == field
