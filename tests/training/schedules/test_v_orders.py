"""Tests of ZB-V and DualPipeV against closed forms: equal stages, two a position, and messages that are free."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.training.schedules.memory import count_peak_activations, count_whole_microbatches, footprint, peak_bytes
from tiger.training.schedules.simulator import iteration_s, simulate

SHAPES = [(p, m) for p in (1, 2, 3, 4, 8) for m in (2 * p, 2 * p + 1, 5 * p)]


def equal_stages(stages_of, p, passes=(1.0, 2.0, 1.0)):
    """Return the workload of 2 p stages with the seconds of forward, backward and weight passes."""
    forward, backward, weight = ([seconds] * (2 * p) for seconds in passes)
    return stages_of(forward, backward, p, weight=weight, style="v")


@pytest.mark.parametrize("schedule", ["zb-v", "dualpipe-v"])
@pytest.mark.parametrize(("p", "m"), SHAPES)
def test_equal_passes_take_all_of_them_and_a_forward_pass_for_each_other_position(stages_of, schedule, p, m):
    """Tests F = B = W: T = 6 m F + (p - 1) F, where the V of a 1F1B of 2 F a position has 6 (p - 1) F."""
    assert iteration_s(equal_stages(stages_of, p), schedule, m) == pytest.approx(6 * m + p - 1, rel=1e-9)


@pytest.mark.parametrize(("p", "m"), [(2, 3), (3, 5), (4, 8), (4, 19)])
def test_no_position_of_zb_v_waits_between_its_first_pass_and_its_last(stages_of, p, m):
    """Tests the bubble of zero of arXiv:2401.10241, from 2 p - 1 microbatches on."""
    made = simulate(equal_stages(stages_of, p), "zb-v", m)
    for position in range(p):
        rows = made.position == position
        assert (made.start_s[rows][1:] == made.end_s[rows][:-1]).all()
        assert made.start_s[rows][0] == position


@pytest.mark.parametrize(("p", "m"), [(2, 1), (2, 2), (3, 3), (4, 4), (8, 8)])
def test_few_microbatches_leave_a_bubble_to_zb_v(stages_of, p, m):
    """Tests 2 m < 3 p: T = 4 (m + p) F - 2 F, of which each more microbatch fills 2 F."""
    assert iteration_s(equal_stages(stages_of, p), "zb-v", m) == pytest.approx(4 * (m + p) - 2)


@given(
    p=st.integers(1, 5),
    more=st.integers(0, 6),
    seconds=st.tuples(st.floats(0.1, 2), st.floats(0.1, 2), st.floats(0.1, 2)),
)
def test_a_bubble_is_no_larger_than_what_deepseek_states(stages_of, p, more, seconds):
    """Tests (p - 1) (F&B + B - 3 W) of 2 p stages, F&B = F + B, or twice the longest pass where W is long."""
    forward, gradient, weight = seconds
    passes, m = (forward, gradient + weight, weight), 2 * p + more
    made = iteration_s(equal_stages(stages_of, p, passes), "dualpipe-v", m) - 2 * m * sum(seconds)
    stated = (p - 1) * (forward + 2 * (gradient + weight) - 3 * weight)
    assert made <= max(stated, (p - 1) * max(seconds) * 2) * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize(("p", "m"), SHAPES)
def test_positions_hold_as_much_as_the_first_of_1f1b(p, m):
    """Tests 2 p stages' activations of a microbatch everywhere under ZB-V, and one more under DualPipeV."""
    held = {
        schedule: [int(rows.sum(axis=1).max()) for rows in count_peak_activations(schedule, p, 2, m)]
        for schedule in ("zb-v", "dualpipe-v")
    }
    assert held == {"zb-v": [2 * p] * p, "dualpipe-v": [2 * p + 1] * p}


@pytest.mark.parametrize("schedule", ["zb-v", "dualpipe-v"])
@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_longer_iterations_hold_no_more(stages_of, schedule, p):
    """Tests that counts of 3 p microbatches are those of any more, of which no more are worked out."""
    counts = [count_peak_activations(schedule, p, 2, m) for m in (3 * p, 7 * p)]
    assert all((one == other).all() for one, other in zip(*counts, strict=True))
    workload = equal_stages(stages_of, p)
    workload.held_bytes[:] = np.random.default_rng(p).random(2 * p)
    made = footprint(simulate(workload, schedule, 7 * p), workload)
    assert peak_bytes(workload, schedule, 3 * p) == pytest.approx(made.peak_bytes)


@pytest.mark.parametrize("schedule", ["zb-v", "dualpipe-v"])
def test_some_moments_hold_whole_microbatches(schedule):
    """Tests that the last of three positions holds both its stages of three, the first both of one at a time."""
    assert count_whole_microbatches(schedule, 3, 2, 9).tolist() == [1, 2, 3]


def test_the_message_in_the_middle_is_free(stages_of):
    """Tests two positions of two stages: only the first and the last boundary lie between devices."""
    workload = stages_of([1] * 4, [2] * 4, 2, weight=[1] * 4, transfer=[0, 9, 0], style="v")
    assert iteration_s(workload, "zb-v", 4) == 25.0
    assert workload.loads_s.tolist() == [6.0, 42.0]


def test_the_last_position_has_the_stages_in_the_middle(stages_of):
    """Tests the loads of positions that have the first and the last stage, and so on."""
    workload = stages_of([1, 2, 3, 4], [0] * 4, 2, state=[1, 10, 100, 1000], style="v")
    assert workload.loads_s.tolist() == [5, 5]
    assert peak_bytes(workload, "zb-v", 3).tolist() == [1001, 110]
