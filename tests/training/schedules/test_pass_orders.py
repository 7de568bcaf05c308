"""Tests of the pass orders that are fixed beforehand."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.costs.stage_positions import stages_by_position
from tiger.training.schedules.pass_orders import SPLIT, Schedule, pass_orders, stages_each, style_of
from tiger.training.schedules.passes import BACKWARD, FORWARD, WEIGHT, WHOLE

# Chimera has an even number of positions, and tests of its own.
SCHEDULES = [schedule for schedule in get_args(Schedule) if schedule != "chimera"]

LETTERS = {FORWARD: "F", BACKWARD: "B", WEIGHT: "W", WHOLE: "D"}
PARTS = {WHOLE: (BACKWARD, WEIGHT)}


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
    schedule=st.sampled_from(SCHEDULES),
    positions=st.integers(1, 6),
    virtual=st.integers(1, 4),
    groups=st.integers(1, 4),
)
def test_every_position_runs_each_of_its_passes_once(schedule, positions, virtual, groups):
    """Tests that no pass is lost or run twice, and that backward follows forward, and weights the rest of it."""
    virtual = stages_each(schedule) or virtual
    count = positions * groups + positions * (schedule == "dualpipe-v")
    kinds = (FORWARD, BACKWARD, WEIGHT) if schedule in SPLIT else (FORWARD, BACKWARD)
    places = stages_by_position(style_of(schedule), positions, positions * virtual).T.tolist()
    for stages, order in zip(places, pass_orders(schedule, positions, virtual, count), strict=True):
        # A whole backward pass is both parts of it.
        parts = [(kind, *step[1:]) for step in order for kind in PARTS.get(step[0], step[:1])]
        assert sorted(parts) == sorted((k, m, s) for k in kinds for m in range(count) for s in stages)
        number = {step: place for place, step in enumerate(parts)}
        assert all(number[step] > number[step[0] - 1, step[1], step[2]] for step in parts if step[0] != FORWARD)


@pytest.mark.parametrize("p", [1, 2, 3, 6])
def test_stages_of_a_v_go_to_the_last_position_and_back(p):
    """Tests that the first position has the first stage and the last, and the last the two in the middle."""
    for schedule in ("zb-v", "dualpipe-v"):
        for at, order in enumerate(pass_orders(schedule, p, 2, 2 * p)):
            assert {stage for _, _, stage in order} == {at, 2 * p - 1 - at}


def test_zb_v_puts_weights_off_at_the_end_alone():
    """Tests both of two positions with four microbatches."""
    orders = pass_orders("zb-v", 2, 2, 4)
    assert write(orders[0]) == (
        "F0 F1 F2 F0.3 B0.3 W0.3 F1.3 B1.3 W1.3 F3 B0 W0 F2.3 B2.3 W2.3 B1 W1 F3.3 B3.3 W3.3 B2 W2 B3 W3"
    )
    assert write(orders[1]).endswith("F3.2 B2.2 W2.2 B2.1 B3.2 B3.1 W2.1 W3.2 W3.1")


def test_dualpipe_v_pairs_forward_and_whole_backward_passes():
    """Tests the first of two positions with five microbatches: warm-up, pairs, and what is left."""
    assert write(pass_orders("dualpipe-v", 2, 2, 5)[0]) == (
        "F0 F1 F2 F0.3 B0.3 W0.3 F1.3 F3 D1.3 F2.3 D0 F4 D2.3 F3.3 D1 D3.3 F4.3 D2 D4.3 B3 W3 B4 W4"
    )


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("interleaved", 4, 2, 6), "microbatches"),
        (("1f1b", 4, 1, 0), "microbatches"),
        (("gpipe", 2, 2, 4), "virtual"),
        (("zero-bubble", 2, 2, 4), "virtual"),
        (("zb-v", 2, 1, 4), "virtual"),
        (("dualpipe-v", 2, 4, 4), "virtual"),
        (("dualpipe-v", 2, 2, 3), "microbatches"),
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
