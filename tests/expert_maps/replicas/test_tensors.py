"""EPLB's call and its three tensors."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiger
from tiger.expert_maps.replicas.loads import gpu_loads
from tiger.expert_maps.replicas.tensors import make_tensors


def test_the_call_of_eplb_is_answered_with_its_tensors(readme):
    """Without loading torch, in int64, largest loads 151 and 179.5."""
    loads = readme()
    phy2log, log2phy, logcnt = tiger.rebalance_experts(loads.weight, 16, 4, 2, 8)
    assert gpu_loads(loads, phy2log).max(axis=1).tolist() == [151, 179.5]
    assert (phy2log.shape, log2phy.shape, logcnt.shape) == ((2, 16), (2, 12, logcnt.max()), (2, 12))
    assert {phy2log.dtype, log2phy.dtype, logcnt.dtype} == {np.dtype(np.int64)}
    assert "torch" not in sys.modules


def test_tensors_are_those_of_the_map():
    """Slots in order, and -1 where an expert has fewer replicas than the most."""
    tensors = make_tensors(np.array([[1, 0, 1, 2]]), 3)
    assert tensors.log2phy.tolist() == [[[1, -1], [0, 2], [3, -1]]]
    assert tensors.logcnt.tolist() == [[1, 2, 1]]


@given(data=st.data())
def test_tensors_lead_back_to_the_map(data):
    """Every slot is named once, by the expert that it holds."""
    extra = data.draw(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=3))
    phy2log = np.array([data.draw(st.permutations([*range(5), *more])) for more in extra])
    _, log2phy, logcnt = make_tensors(phy2log, 5)
    for layer, slots in enumerate(phy2log):
        for expert in range(5):
            named = log2phy[layer, expert, : logcnt[layer, expert]]
            assert named.tolist() == np.flatnonzero(slots == expert).tolist()
            assert (log2phy[layer, expert, logcnt[layer, expert] :] == -1).all()


class Tensor:
    """Stand for a tensor of torch, of a type and on a device that numpy does not know."""

    def detach(self) -> "Tensor":
        """Return the numbers alone."""
        return self

    cpu = double = detach

    def numpy(self) -> np.ndarray:
        """Return the array."""
        return np.ones((1, 4))


def test_tensors_of_torch_are_taken(monkeypatch):
    """Only where torch has been imported; four experts on four GPUs have a slot each."""
    with pytest.raises(tiger.InputError, match=r"^weight: expected numbers"):
        tiger.rebalance_experts(Tensor(), 4, 1, 1, 4)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=Tensor))
    assert tiger.rebalance_experts(Tensor(), 4, 1, 1, 4).phy2log.tolist() == [[0, 1, 2, 3]]


def test_wrong_loads_are_named_as_eplb_names_them():
    """By the argument at fault."""
    with pytest.raises(tiger.InputError, match=r"^num_replicas: expected a multiple of num_gpus, 3, got 16"):
        tiger.rebalance_experts(np.ones((1, 12)), 16, 4, 2, 3)
