"""Maps of experts as files of serving systems, and what reading them says."""

import numpy as np
import pytest
from hypothesis import given

from tests.expert_maps.maps.conftest import maps
from tiger.errors import InputError
from tiger.expert_maps.maps import ascend, eplb, exflow, sglang, vllm
from tiger.expert_maps.maps.expert_map import ExpertMap
from tiger.expert_maps.maps.formats import FILES, WRITERS, write_map


@given(expert_map=maps())
def test_what_is_written_is_read(expert_map):
    """Slot by slot."""
    for name, read in (("vllm", vllm.read), ("sglang", sglang.read), ("vllm-ascend", ascend.read)):
        found = read(write_map(expert_map, name).decode(), expert_map.gpus)
        assert (found.phy2log.tolist(), found.gpus) == (expert_map.phy2log.tolist(), expert_map.gpus)
    assert eplb.read(write_map(expert_map, "eplb"), expert_map.gpus).phy2log.tolist() == expert_map.phy2log.tolist()


@given(expert_map=maps(extra=0))
def test_what_exflow_reads_is_written(expert_map):
    """GPU by GPU, whose experts it lists in order."""
    found = exflow.read(write_map(expert_map, "exflow").decode(), expert_map.gpus, expert_map.experts)
    shape = (len(found.phy2log), expert_map.gpus, -1)
    assert np.array_equal(found.phy2log.reshape(shape), np.sort(expert_map.phy2log.reshape(shape), axis=2))


def test_every_system_has_a_file():
    """And others are named with those that there are."""
    assert list(WRITERS) == list(FILES)
    with pytest.raises(InputError, match=r"^emit: expected one of eplb, vllm, sglang, vllm-ascend, exflow, got 'trt'"):
        write_map(ExpertMap(np.array([[0]]), 1), "trt")


@pytest.mark.parametrize(
    ("phy2log", "gpus", "field"),
    [
        (np.zeros((1, 2)), 1, "map"),
        (np.zeros((0, 2), np.int64), 1, "map"),
        (np.zeros((1, 5000), np.int64), 1, "map"),
        (np.array([[0, 1, 2]]), 2, "gpus"),
        (np.array([[0, 1, 2]]), 0, "gpus"),
        (np.array([[0, 1, 2]]), "3", "gpus"),
        ([[0, 1], [1]], 1, "map"),
        (np.array([[0, 1], [0, 9]]), 2, "map/1/1"),
        (np.array([[0, 1, 2], [0, 1, 1]]), 3, "map/1"),
    ],
)
def test_wrong_maps_are_named(phy2log, gpus, field):
    """By their layer, and slot."""
    with pytest.raises(InputError) as caught:
        ExpertMap(phy2log, gpus)
    assert caught.value.field == field


@pytest.mark.parametrize("name", list(WRITERS))
def test_bug_gpus_may_be_a_number_of_numpy(name):
    """As it is where a shape or an array was asked."""
    phy2log = np.arange(6).reshape(1, 6)
    assert write_map(ExpertMap(phy2log, np.int64(3)), name) == write_map(ExpertMap(phy2log, 3), name)
