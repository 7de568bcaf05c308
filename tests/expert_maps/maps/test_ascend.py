"""vllm-ascend's expert map."""

import json
from contextlib import suppress

import pytest
from hypothesis import given

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.expert_maps.maps.ascend import read, write

DEVICES = [{"device_id": 0, "device_expert": [0, 1]}, {"device_id": 1, "device_expert": [1, 2]}]
LAYER = {"layer_id": 0, "device_count": 2, "device_list": DEVICES}
GOOD = {"moe_layer_count": 1, "layer_list": [LAYER]}


def test_devices_list_their_experts(expert_map):
    """In every layer, with numbers of layers and devices."""
    found = json.loads(write(expert_map))
    assert (found["moe_layer_count"], [layer["layer_id"] for layer in found["layer_list"]]) == (2, [0, 1])
    assert found["layer_list"][1] == {
        "layer_id": 1,
        "device_count": 3,
        "device_list": [
            {"device_id": 0, "device_expert": [3, 2]},
            {"device_id": 1, "device_expert": [1, 0]},
            {"device_id": 2, "device_expert": [3, 2]},
        ],
    }


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ([], "map"),
        (GOOD | {"moe_layer_count": 2}, "map/moe_layer_count"),
        (GOOD | {"layer_list": {}}, "map/layer_list"),
        (GOOD | {"layer_list": [LAYER | {"layer_id": 1}]}, "map/layer_list/0/layer_id"),
        (GOOD | {"layer_list": [LAYER | {"device_count": 3}]}, "map/layer_list/0/device_count"),
        (GOOD | {"layer_list": [LAYER | {"device_list": DEVICES[::-1]}]}, "map/layer_list/0/device_list/0/device_id"),
        (
            {
                "moe_layer_count": 2,
                "layer_list": [LAYER, {"layer_id": 1, "device_count": 1, "device_list": DEVICES[:1]}],
            },
            "map/layer_list/1/device_list",
        ),
    ],
)
def test_wrong_places_are_named(value, field):
    """Numbers that are not those of the lists, and layers of other devices."""
    with pytest.raises(InputError) as caught:
        read(json.dumps(value))
    assert caught.value.field == field


def test_other_gpus_are_refused():
    """The file states them."""
    with pytest.raises(InputError, match=r"^gpus: expected 2, the devices of the map, got 4"):
        read(json.dumps(GOOD), 4)


@pytest.mark.slow
@cases(quick=50, long=2_000)
@given(text=damaged(json.dumps(GOOD)))
def test_damaged_files_are_read_or_refused(text):
    """Nothing but a map or bad input comes of one."""
    with suppress(InputError):
        assert read(text).experts > 0
