"""Loads of experts, and the slots for them."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.expert_maps.replicas.loads import ExpertLoads, check_map, gpu_loads, keep_to_rules

GOOD = {"weight": np.ones((1, 4)), "num_replicas": 8, "num_groups": 2, "num_nodes": 2, "num_gpus": 4}


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"weight": [1, 2]}, "weight"),
        ({"weight": np.ones((0, 4))}, "weight"),
        ({"weight": [[1, "a"]]}, "weight"),
        ({"weight": [["1", "2", "3", "4"]]}, "weight"),
        ({"weight": np.ones((1, 4), bool)}, "weight"),
        ({"weight": np.ones((1, 4), complex)}, "weight"),
        ({"weight": [[1, np.nan, 1, 1]]}, "weight/0/1"),
        ({"weight": [[1, 1, 1, -1]]}, "weight/0/3"),
        ({"weight": [[1, 1, 1, 1e300]]}, "weight"),
        ({"weight": np.ones((2000, 4))}, "weight"),
        ({"num_replicas": 9}, "num_replicas"),
        ({"num_replicas": 4, "weight": np.ones((1, 6))}, "num_replicas"),
        ({"num_replicas": 12}, "num_replicas"),
        ({"num_replicas": 2.0}, "num_replicas"),
        ({"num_gpus": 0}, "num_gpus"),
        ({"num_gpus": True}, "num_gpus"),
        ({"num_gpus": 1, "copies_per_gpu": 8}, "num_gpus"),
        ({"num_groups": 6}, "num_groups"),
        ({"num_nodes": 10**6}, "num_nodes"),
        ({"copies_per_gpu": 0}, "copies_per_gpu"),
    ],
)
def test_wrong_fields_are_named(changed, field):
    """A list of the wrong shape, no number, more experts than slots, or more slots than experts that may fill them."""
    with pytest.raises(InputError) as caught:
        ExpertLoads(**(GOOD | changed))
    assert caught.value.field == field


def test_groups_that_nodes_cannot_share_play_no_part():
    """As for EPLB, the map is global then."""
    assert ExpertLoads(**(GOOD | {"num_groups": 2})).pools == 2
    loads = ExpertLoads(**(GOOD | {"num_groups": 3}))
    assert (loads.pools, loads.groups, loads.size) == (1, 1, 2)


def test_a_replica_carries_its_part():
    """Expert 0 has three replicas of 1 each, two of them on the first GPU."""
    loads = ExpertLoads(np.array([[3.0, 5.0]]), 4, 1, 1, 2, 2)
    assert gpu_loads(loads, np.array([[0, 0, 1, 0]])).tolist() == [[2.0, 6.0]]


@pytest.mark.parametrize(
    ("slots", "copies", "keeps"),
    [
        ([[0, 1], [0, 1], [2, 3], [3, 2]], 1, True),
        ([[0, 0], [1, 1], [2, 3], [3, 2]], 1, False),
        ([[0, 0], [1, 1], [2, 3], [3, 2]], 2, True),
        ([[0, 1], [0, 2], [1, 3], [3, 2]], 2, False),
    ],
)
def test_rules_are_of_gpus_and_nodes(slots, copies, keeps):
    """Experts 0 and 1 are a group, and stay on a node."""
    loads = ExpertLoads(**(GOOD | {"copies_per_gpu": copies}))
    assert keep_to_rules(loads, np.array([slots])).tolist() == [keeps]


@pytest.mark.parametrize(
    ("found", "field"),
    [
        ([[0, 1, 2, 3]], "in_use"),
        ([[0.0] * 8], "in_use"),
        ([[0], [1, 2]], "in_use"),
        ([[0, 1, 2, 3, 4, 0, 0, 0]], "in_use"),
        ([[0, 1, 2, 0, 0, 0, 0, -1]], "in_use"),
        ([[0, 1, 2, 0, 0, 0, 0, 0]], "in_use/0"),
    ],
)
def test_wrong_maps_are_named(found, field):
    """Of another shape, with unknown experts, or without some."""
    with pytest.raises(InputError) as caught:
        check_map(ExpertLoads(**GOOD), "in_use", found)
    assert caught.value.field == field
