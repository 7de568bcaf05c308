"""Tests of the zero-bubble order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.training.schedules.memory import footprint
from tiger.training.schedules.pass_orders import pass_orders
from tiger.training.schedules.passes import BACKWARD, FORWARD, WEIGHT
from tiger.training.schedules.simulator import iteration_s, simulate, table_for

KINDS = (FORWARD, BACKWARD, WEIGHT)


@pytest.mark.slow
@pytest.mark.parametrize("p", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("factor", [1, 2, 5, 33])
@pytest.mark.parametrize("second", [1.0, 0.1])
def test_equal_passes_leave_a_third_of_the_bubble(stages_of, p, factor, second):
    """Tests F = B = W and m >= p: T = 3 m F + (p - 1) (F + B - W), against (p - 1) 3 F of 1F1B."""
    m, workload = p * factor, stages_of([second] * p, [2 * second] * p, weight=[second] * p)
    assert iteration_s(workload, "zero-bubble", m) == pytest.approx((3 * m + p - 1) * second, rel=1e-9)
    assert iteration_s(workload, "1f1b", m) == pytest.approx(3 * (m + p - 1) * second, rel=1e-9)


def test_a_single_microbatch_waits_for_gradients_but_not_for_weights(stages_of):
    """Tests by hand: forward 2 x 1, backward 2 x 1, and the weights of the first stage 1."""
    assert iteration_s(stages_of([1, 1], [2, 2], weight=[1, 1]), "zero-bubble", 1) == 5.0


def test_without_weight_passes_it_is_no_slower_than_1f1b(random_stages):
    """Tests a backward pass of which nothing can be put off."""
    for seed in range(20):
        workload = random_stages(seed, 4)
        workload.weight_s.flags.writeable = True
        workload.weight_s[:] = 0.0
        assert iteration_s(workload, "zero-bubble", 8) <= iteration_s(workload, "1f1b", 8)


@given(seed=st.integers(0, 2**32 - 1), positions=st.integers(1, 6), microbatches=st.integers(1, 20))
def test_unequal_stages_are_never_slower_than_with_1f1b(random_stages, seed, positions, microbatches):
    """Tests that splitting the backward pass can be no loss, with messages."""
    workload = random_stages(seed, positions)
    made = iteration_s(workload, "zero-bubble", microbatches)
    assert made <= iteration_s(workload, "1f1b", microbatches) * (1 + 1e-12)


@given(seed=st.integers(0, 2**32 - 1), positions=st.integers(1, 5), microbatches=st.integers(1, 12))
def test_the_order_found_takes_what_a_slow_simulator_says(
    random_stages, naive_iteration, seed, positions, microbatches
):
    """Tests that search, table and timeline agree on the order, and that it holds every pass once."""
    workload = random_stages(seed, positions)
    made = simulate(workload, "zero-bubble", microbatches)
    rows = np.stack([made.position, made.kind, made.microbatch, made.stage], axis=1).tolist()
    orders = [[tuple(step) for at, *step in rows if at == position] for position in range(positions)]
    assert made.iteration_s == iteration_s(workload, "zero-bubble", microbatches)
    assert made.iteration_s == pytest.approx(naive_iteration(workload, orders), rel=1e-12)
    assert [sorted(order) for order in orders] == [
        sorted(order) for order in pass_orders("zero-bubble", positions, 1, microbatches)
    ]


@given(seed=st.integers(0, 2**32 - 1), positions=st.integers(1, 5), microbatches=st.integers(1, 12))
def test_no_position_holds_more_than_the_first_does_with_1f1b(random_stages, seed, positions, microbatches):
    """Tests the limit min(m, p), with microbatches held until their weight passes."""
    workload = random_stages(seed, positions)
    workload.held_bytes[:], workload.state_bytes[:] = 1.0, 0.0
    held = footprint(simulate(workload, "zero-bubble", microbatches), workload)
    assert (held.peak_bytes <= min(microbatches, positions)).all()


def test_the_same_stages_have_the_same_order(random_stages):
    """Tests that nothing but the workload decides."""
    first, second = (table_for(random_stages(5, 6), "zero-bubble", 18) for _ in range(2))
    assert first.key == second.key
    assert first.waits == second.waits
