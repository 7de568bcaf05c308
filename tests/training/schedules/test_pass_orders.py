"""Tests of the pass orders that are fixed beforehand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.schedules.pass_orders import BACKWARD, FORWARD, WEIGHT, pass_orders

LETTERS = {FORWARD: "F", BACKWARD: "B", WEIGHT: "W"}


def write(order):
    """Return passes as text, with the stage behind a dot where it is not the first."""
    return " ".join(f"{LETTERS[kind]}{batch}" + (f".{stage}" if stage else "") for kind, batch, stage in order)


def test_gpipe_runs_all_forward_passes_first():
    """Tests two positions, both in the same order."""
    orders = pass_orders("gpipe", 2, 1, 3)
    assert write(orders[0]) == "F0 F1 F2 B0 B1 B2"
    assert write(orders[1]) == "F0.1 F1.1 F2.1 B0.1 B1.1 B2.1"


def test_1f1b_alternates_after_one_forward_pass_for_each_stage_behind():
    """Tests the first and the last of three positions."""
    orders = pass_orders("1f1b", 3, 1, 4)
    assert write(orders[0]) == "F0 F1 F2 B0 F3 B1 B2 B3"
    assert write(orders[2]) == "F0.2 B0.2 F1.2 B1.2 F2.2 B2.2 F3.2 B3.2"


def test_interleaving_deals_groups_of_p_microbatches_to_the_stages_of_a_position():
    """Tests what Megatron does with two devices, two stages each and four microbatches."""
    orders = pass_orders("interleaved", 2, 2, 4)
    assert write(orders[0]) == "F0 F1 F0.2 F1.2 F2 B0.2 F3 B1.2 F2.2 B0 F3.2 B1 B2.2 B3.2 B2 B3"
    assert write(orders[1]).startswith("F0.1 F1.1 F0.3 B0.3 F1.3 B1.3 F2.1 B0.1")


def test_interleaving_with_a_microbatch_a_device_starts_backward_at_the_last_device_at_once():
    """Tests m = p: Megatron's warm-up takes all forward passes of the first device, not of the last."""
    orders = pass_orders("interleaved", 2, 2, 2)
    assert write(orders[0]) == "F0 F1 F0.2 F1.2 B0.2 B1.2 B0 B1"
    assert write(orders[1]) == "F0.1 F1.1 F0.3 B0.3 F1.3 B1.3 B0.1 B1.1"


def test_zero_bubble_starts_from_1f1b_with_its_backward_passes_split():
    """Tests that every weight pass follows its backward pass."""
    assert write(pass_orders("zero-bubble", 2, 1, 2)[0]) == "F0 F1 B0 W0 B1 W1"


@given(
    schedule=st.sampled_from(["gpipe", "1f1b", "interleaved", "zero-bubble"]),
    positions=st.integers(1, 6),
    virtual=st.integers(1, 4),
    groups=st.integers(1, 4),
)
def test_every_position_runs_each_of_its_passes_once(schedule, positions, virtual, groups):
    """Tests that no pass is lost or run twice, and that backward follows forward."""
    virtual = virtual if schedule == "interleaved" else 1
    kinds = (FORWARD, BACKWARD, WEIGHT) if schedule == "zero-bubble" else (FORWARD, BACKWARD)
    for at, order in enumerate(pass_orders(schedule, positions, virtual, positions * groups)):
        stages = range(at, positions * virtual, positions)
        assert sorted(order) == sorted((k, m, s) for k in kinds for m in range(positions * groups) for s in stages)
        number = {step: count for count, step in enumerate(order)}
        assert all(number[step] > number[FORWARD, step[1], step[2]] for step in order if step[0] == BACKWARD)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("interleaved", 4, 2, 6), "microbatches"),
        (("1f1b", 4, 1, 0), "microbatches"),
        (("gpipe", 2, 2, 4), "virtual"),
        (("zero-bubble", 2, 2, 4), "virtual"),
        (("interleaved", 2, 0, 4), "virtual"),
        (("1f1b", 4, 1, 2**18 + 1), "microbatches"),
        (("gpipe", 4, 1, 10**5000), "microbatches"),
    ],
)
def test_what_a_schedule_cannot_run_is_refused(arguments, field):
    """Tests that the refusal names the field."""
    with pytest.raises(InputError) as refusal:
        pass_orders(*arguments)
    assert refusal.value.field == field
