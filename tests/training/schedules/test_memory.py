"""Tests of what positions hold."""

import dataclasses
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.training.schedules.memory import count_peak_activations, footprint, in_flight, peak_bytes
from tiger.training.schedules.pass_orders import Schedule
from tiger.training.schedules.simulator import iteration_s, simulate

# Chimera has an even number of positions, and tests of its own.
SCHEDULES = [schedule for schedule in get_args(Schedule) if schedule != "chimera"]


def test_bytes_rise_with_forward_passes_and_fall_with_backward_ones(stages_of):
    """Tests the first of two positions by hand: F0 F1, wait, B0 F2 B1 B2, on a state of 10."""
    workload = stages_of([1, 1], [1, 1], held=[2, 3], state=[10, 20])
    held = footprint(simulate(workload, "1f1b", 3), workload)
    assert held.held_bytes[0].tolist() == [10, 12, 14, 12, 14, 12, 10]
    assert held.when_s[0].tolist() == [0, 0, 1, 4, 4, 6, 8]
    assert held.peak_bytes.tolist() == [14, 23]


@pytest.mark.parametrize(("p", "m"), [(1, 1), (2, 1), (4, 3), (4, 8), (8, 8)])
def test_counts_of_microbatches_are_the_known_ones(p, m):
    """Tests m for GPipe, min(m, p - s) for 1F1B and for the least that zero-bubble gets by with."""
    assert [int(rows.max()) for rows in count_peak_activations("gpipe", p, 1, m)] == [m] * p
    for schedule in ("1f1b", "zero-bubble"):
        assert [int(rows.max()) for rows in count_peak_activations(schedule, p, 1, m)] == [
            min(m, p - s) for s in range(p)
        ]


@pytest.mark.parametrize(("p", "v", "m"), [(2, 2, 2), (4, 2, 8), (4, 4, 4), (8, 2, 32), (3, 1, 6)])
def test_interleaving_holds_its_warm_up_and_one_more(p, v, m):
    """Tests min(m v, 2 (p - s - 1) + (v - 1) p + 1) microbatches of all stages of a position."""
    expected = [min(m * v, 2 * (p - s - 1) + (v - 1) * p + 1) for s in range(p)]
    assert [int(rows.sum(axis=1).max()) for rows in count_peak_activations("interleaved", p, v, m)] == expected


def test_fullest_moments_are_kept_for_stages_of_different_size():
    """Tests the first of two devices, F0 F1 F0.2 F1.2 F2 B0.2 F3 ..: 3 and 2 microbatches, or 4 and 1."""
    assert count_peak_activations("interleaved", 2, 2, 4)[0].tolist() == [[4, 1], [3, 2]]


@given(schedule=st.sampled_from(SCHEDULES), seed=st.integers(0, 2**32 - 1), positions=st.integers(1, 4))
def test_peaks_come_from_the_order_alone(random_stages_for, schedule, seed, positions):
    """Tests that the bytes at the fullest moments are those of the simulated time line."""
    workload = random_stages_for(schedule, seed, positions, 3)
    held = footprint(simulate(workload, schedule, 2 * positions), workload)
    assert peak_bytes(workload, schedule, 2 * positions) == pytest.approx(held.peak_bytes)


def test_peaks_do_not_depend_on_times(random_stages):
    """Tests slower stages under a schedule whose order is fixed."""
    workload = random_stages(1, 4)
    slower = dataclasses.replace(workload, forward_s=workload.forward_s * np.array([1, 9, 1, 5]))
    assert peak_bytes(workload, "1f1b", 6).tolist() == peak_bytes(slower, "1f1b", 6).tolist()


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "interleaved", "zero-bubble"])
@pytest.mark.parametrize("m", [4, 12])
def test_a_stage_knows_what_it_holds_by_the_stages_behind_it(schedule, m):
    """Tests the counts for four positions of one stage each."""
    held = in_flight(schedule, m)
    assert [held(3 - s) for s in range(4)] == [int(rows.max()) for rows in count_peak_activations(schedule, 4, 1, m)]


def test_without_a_schedule_nothing_is_in_flight():
    """Tests that memory is state alone then."""
    assert in_flight(None, 9)(2) == 0


def test_zero_bubble_uses_the_room_there_is(random_stages):
    """Tests that memory is never exceeded, and never needed beyond that of 1F1B to be as fast."""
    ample = random_stages(3, 4)
    least = peak_bytes(ample, "1f1b", 12)
    tight = dataclasses.replace(ample, room_bytes=least)
    assert (peak_bytes(tight, "zero-bubble", 12) <= least * (1 + 1e-12)).all()
    assert iteration_s(tight, "zero-bubble", 12) <= iteration_s(tight, "1f1b", 12) * (1 + 1e-12)


def test_several_stages_at_a_position_have_no_count_of_their_own():
    """Tests that the caller is told where to look."""
    with pytest.raises(ValueError, match="count_peak_activations"):
        in_flight("interleaved", 8, 2)
