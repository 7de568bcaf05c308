"""Tests of how slots are shared out among devices, and of what memory does not hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.expert_maps.rooms import SlotDemand, explain_equal_lack, explain_lack, share_slots


def ask(
    layers: int, slots: int, memory: list[float], shares: list[float] | None = None, size: float = 1.0
) -> SlotDemand:
    """Return what layers ask of devices, in equal parts unless stated otherwise."""
    parts = np.ones(len(memory)) if shares is None else np.array(shares)
    return SlotDemand(layers, slots, slots, parts, size, np.array(memory, np.float64))


@pytest.mark.parametrize(
    ("demand", "counts"),
    [
        (ask(2, 8, [np.inf] * 2), [[4, 4]] * 2),
        (ask(2, 8, [8.0, 8.0]), [[4, 4]] * 2),
        # Memory holds three in each layer, and the others take what is left.
        (ask(2, 8, [100.0, 6.0]), [[5, 3]] * 2),
        # Seven in all layers: three in one and four in the other.
        (ask(2, 8, [100.0, 7.0]), [[5, 3], [4, 4]]),
        (ask(1, 8, [0.0, 100.0]), [[0, 8]]),
        (ask(3, 10, [np.inf] * 2, [1.0, 0.25]), [[8, 2]] * 3),
        # The slow device would take longer for a third slot than the fast one for a tenth.
        (ask(1, 12, [np.inf] * 2, [1.0, 0.25]), [[10, 2]]),
    ],
)
def test_slots_go_to_devices_in_parts_up_to_what_memory_holds(demand: SlotDemand, counts: list[list[int]]) -> None:
    """By hand."""
    found = share_slots(demand)
    assert found is not None
    assert sorted(found.tolist()) == sorted(counts)


def test_experts_without_bytes_fit_anywhere() -> None:
    """Whatever the memory is."""
    found = share_slots(ask(2, 4, [0.0, 1.0], size=0.0))
    assert found is not None
    assert found.tolist() == [[2, 2]] * 2


@given(
    st.integers(1, 5),
    st.integers(1, 12),
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from([1.0, 0.37, 3.0])), min_size=1, max_size=5),
)
@cases(quick=100, long=5_000)
def test_all_slots_are_shared_out_where_they_fit(layers: int, slots: int, devices: list[tuple[int, float]]) -> None:
    """Every layer has as many, no device more than its memory holds, and numbers of layers differ by one at most."""
    memory, shares = [size for size, _ in devices], [share for _, share in devices]
    found = share_slots(ask(layers, slots, [float(size) for size in memory], shares))
    assert (found is None) == (sum(min(size, layers * slots) for size in memory) < layers * slots)
    if found is not None:
        assert (found.sum(axis=1) == slots).all()
        assert (found.sum(axis=0) <= memory).all()
        assert (found.max(axis=0) - found.min(axis=0) <= 1).all()
        assert found.min() >= 0


def test_what_is_missing_is_told_by_amounts_of_memory() -> None:
    """Of which only the four largest are listed."""
    message = explain_lack(ask(2, 40, [1.0, 2.0, 3.0, 4.0, 5.0, 5.0])).message
    assert message == (
        "40 replicas of 1 B in each of 2 layers, 80 in all, take 80 B, and devices have room for 20: "
        "2 x 5 B for 5 each, 1 x 4 B for 4 each, 1 x 3 B for 3 each, 1 x 2 B for 2 each, .."
    )


def test_a_device_that_does_not_hold_as_many_as_others_is_named() -> None:
    """The one with least room, and none where all do."""
    lack = explain_equal_lack(ask(2, 6, [9.0, 3.0, -1.0]), ("x", "y", "z"))
    assert lack is not None
    assert lack.message.startswith("'z' has 0 B for 4 replicas of 1 B, 4 B; ")
    assert explain_equal_lack(ask(2, 6, [4.0, np.inf, 4.0]), ("x", "y", "z")) is None
