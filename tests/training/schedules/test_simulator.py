"""Tests of the simulator against closed forms, by hand, and against a slow one."""

import sys
import time
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.schedules.pass_orders import Schedule, pass_orders
from tiger.training.schedules.simulator import iteration_s, simulate

# Chimera has an even number of positions, and tests of its own.
SCHEDULES = [schedule for schedule in get_args(Schedule) if schedule != "chimera"]

SHAPES = [(p, m) for p in (1, 2, 4, 8) for m in (p, 2 * p, 4 * p)]


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b"])
@pytest.mark.parametrize(("p", "m"), SHAPES)
def test_equal_stages_take_m_and_p_less_one_passes(stages_of, schedule, p, m):
    """Tests T = (m + p - 1) (f + b) and the bubble (p - 1) / (m + p - 1)."""
    made = simulate(stages_of([0.1] * p, [0.2] * p), schedule, m)
    assert made.iteration_s == pytest.approx((m + p - 1) * 0.3, rel=1e-9)
    assert made.bubble == pytest.approx((p - 1) / (m + p - 1), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("v", [1, 2, 4])
@pytest.mark.parametrize(("p", "m"), SHAPES)
def test_interleaving_divides_the_bubble_by_the_stages_of_a_device(stages_of, p, m, v):
    """Tests T = m (f + b) + (p - 1) (f + b) / v, with f and b of a whole device."""
    made = simulate(stages_of([0.1 / v] * (p * v), [0.2 / v] * (p * v), p), "interleaved", m)
    assert made.iteration_s == pytest.approx(m * 0.3 + (p - 1) * 0.3 / v, rel=1e-9)
    assert made.bubble == pytest.approx((p - 1) / (v * m + p - 1), abs=1e-9)


def test_a_message_keeps_both_ends_busy(stages_of):
    """Tests two stages and a microbatch: 1, send 0.5 while the other receives, 1 + 2, back again, 2."""
    made = simulate(stages_of([1, 1], [2, 2], transfer=[0.5]), "1f1b", 1)
    assert made.start_s.tolist() == [0.0, 1.5, 2.5, 5.0]
    assert made.end_s.tolist() == [1.0, 2.5, 4.5, 7.0]
    assert made.iteration_s == 7.0
    assert made.bubble == pytest.approx(1 - 6 / 14)


def test_a_steady_position_spends_its_load_on_every_microbatch(random_stages):
    """Tests that more microbatches each take what the busiest position is loaded with."""
    workload = random_stages(3, 4)
    more = iteration_s(workload, "1f1b", 80) - iteration_s(workload, "1f1b", 40)
    assert more == pytest.approx(40 * workload.loads_s.max())


def test_the_all_reduce_of_gradients_follows_the_last_pass(stages_of):
    """Tests that the position that ends last with it counts, and that it is no work."""
    made = simulate(stages_of([1, 1], [1, 1], closing=[0.0, 5.0]), "gpipe", 2)
    assert made.free_s.tolist() == [6.0, 5.0]
    assert made.iteration_s == 10.0
    assert made.bubble == pytest.approx(0.6)


def test_stages_on_one_device_send_nothing(stages_of):
    """Tests that two virtual stages at the only position take no time for messages."""
    workload = stages_of([1, 1], [1, 1], 1, transfer=[9.0])
    assert iteration_s(workload, "interleaved", 3) == 12.0


def test_passes_without_any_time_have_no_bubble(stages_of):
    """Tests that nothing is divided by an iteration of 0 s."""
    assert simulate(stages_of([0, 0], [0, 0]), "1f1b", 2).bubble == 0.0


@pytest.mark.slow
def test_long_iterations_are_kept_one_at_a_time(stages_of):
    """Tests that a table above the limit is the same after another one took its place."""
    workload = stages_of([1.0] * 2, [2.0] * 2)
    times = [iteration_s(workload, "1f1b", m) for m in (9000, 9001, 9000)]
    assert times == [27003.0, 27006.0, 27003.0]


def test_interleaving_needs_groups_of_microbatches(stages_of):
    """Tests that the fast path refuses what the timeline refuses."""
    for simulated in (simulate, iteration_s):
        with pytest.raises(InputError, match="microbatches: expected a multiple of 2"):
            simulated(stages_of([1] * 4, [1] * 4, 2), "interleaved", 3)


@given(
    schedule=st.sampled_from(["gpipe", "1f1b", "interleaved", "zb-v", "dualpipe-v"]),
    seed=st.integers(0, 2**32 - 1),
    positions=st.integers(1, 5),
    groups=st.integers(2, 3),
)
def test_unequal_stages_take_what_a_slow_simulator_says(
    random_stages_for, naive_iteration, schedule, seed, positions, groups
):
    """Tests both ways to an iteration, messages and all-reduces included, to the last digits."""
    workload, microbatches = random_stages_for(schedule, seed, positions), positions * groups
    virtual = len(workload.forward_s) // positions
    expected = naive_iteration(workload, pass_orders(schedule, positions, virtual, microbatches))
    assert iteration_s(workload, schedule, microbatches) == pytest.approx(expected, rel=1e-12)
    assert simulate(workload, schedule, microbatches).iteration_s == iteration_s(workload, schedule, microbatches)


@given(schedule=st.sampled_from(SCHEDULES), seed=st.integers(0, 2**32 - 1))
def test_a_position_does_one_thing_at_a_time(random_stages_for, schedule, seed):
    """Tests that no pass begins before what its position received, sent and ran before it is over."""
    made = simulate(random_stages_for(schedule, seed, 3), schedule, 6)
    for position in range(3):
        rows = made.position == position
        begins, ends = (made.start_s - made.received_s)[rows], (made.end_s + made.sent_s)[rows]
        assert (begins[1:] >= ends[:-1] - 1e-9).all()
        assert ends[-1] == pytest.approx(made.free_s[position])


def test_interleaving_pays_less_the_larger_the_batch(stages_of):
    """Tests the published gain for GPT-3 on 12 stages of 8 devices (arXiv:2104.04473, figure 12), with its messages.

    A layer takes 7.6e12 operations forward at 140e12 a second on each of 8 devices; 2.5e7 bytes go at 25e9 a second.
    """
    layer, message = 7.6e12 / (8 * 140e12), 2.5e7 / 25e9
    plain = stages_of([8 * layer] * 12, [16 * layer] * 12, transfer=[message] * 11)
    dealt = stages_of([4 * layer] * 24, [8 * layer] * 24, 12, transfer=[message] * 23)
    gain = [iteration_s(plain, "1f1b", m) / iteration_s(dealt, "interleaved", m) - 1 for m in (12, 24, 36, 48, 60)]
    assert gain[0] > 0.1
    assert gain == sorted(gain, reverse=True)
    assert 0.0 < gain[-1] < gain[0] / 2
    assert sum(simulate(dealt, "interleaved", 12).sent_s > 0) == 23 / 11 * sum(simulate(plain, "1f1b", 12).sent_s > 0)


def test_interleaving_loses_where_messages_cost_more_than_the_bubble(stages_of):
    """Tests slow links and a large batch."""
    plain = stages_of([1.0] * 4, [2.0] * 4, transfer=[0.2] * 3)
    dealt = stages_of([0.5] * 8, [1.0] * 8, 4, transfer=[0.2] * 7)
    assert iteration_s(dealt, "interleaved", 64) > iteration_s(plain, "1f1b", 64)


@pytest.mark.slow
@pytest.mark.skipif(sys.gettrace() is not None, reason="coverage slows it down")
@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "zero-bubble"])
def test_an_iteration_is_simulated_fast(random_stages, schedule):
    """Tests the seconds of a core for a simulation inside a search, generously: 2 ms and 60 ms on an idle one."""
    for positions, microbatches, limit_s in ((8, 32, 0.006), (16, 512, 0.18)):
        workload = random_stages(0, positions)
        spent = []
        for _ in range(4):
            begun = time.thread_time()
            iteration_s(workload, schedule, microbatches)
            spent.append(time.thread_time() - begun)
        assert min(spent) < limit_s
