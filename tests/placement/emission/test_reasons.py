"""Why a plan is as it is."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.reasons import comments, reasons, relative_cost

Deploy = Callable[..., Deployment]


def test_a_costly_head_is_named(deploy: Deploy) -> None:
    """With its cost in decoder layers, and how few are beside it."""
    made = deploy((0, 4, 8, 10), head=3.07)
    assert reasons(made) == ("the head costs as much as 3.07 decoder layers, so the last stage holds 1 of 8",)
    assert comments(made) == [f"# {reasons(made)[0]}"]


def test_a_head_is_no_reason_where_its_stage_is_as_large_as_others(deploy: Deploy) -> None:
    """The sentence says no more than what is."""
    assert reasons(deploy((0, 3, 6)))[0].endswith("decoder layers, and the last stage holds 2 of 4")


def test_a_cheap_head_is_not_named(deploy: Deploy) -> None:
    """Nor is an embedding that costs nothing."""
    assert reasons(deploy((0, 3, 6), head=0.04)) == ()


def test_costs_are_relative_to_the_mean_decoder_layer(deploy: Deploy) -> None:
    """Forward and backward; parts of a module count together, and without layers there is nothing to compare with."""
    made = deploy((0, 3, 6), head=2.0)
    halves = replace(made.layers, modules=("e", "a", "a", "b", "b", "h"))
    assert relative_cost(made, "head") == 2.0
    assert relative_cost(replace(made, layers=halves), "head") == 1.0
    assert relative_cost(replace(made, layers=replace(made.layers, kinds=("head",) * 6)), "head") == 0.0


def test_devices_of_different_speed_are_named(deploy: Deploy) -> None:
    """One clause a speed, with the stages that run at it and what they hold."""
    made = deploy((0, 2, 4, 5, 6, 9), head=0.0)
    slow = replace(made, cluster=replace(made.cluster, speed=np.array([1.0, 1.0, 0.4, 0.4, 1.0])))
    assert reasons(slow) == (
        "of 9 layers, by the speed of devices: speed 1: stages 0-1, 4 hold 2 to 3 each; "
        "speed 0.4: stages 2-3 hold 1 each",
    )


def test_not_all_speeds_and_stages_are_listed(deploy: Deploy) -> None:
    """Sixteen of each."""
    many = deploy(tuple(range(19)), head=0.0)
    many = replace(many, cluster=replace(many.cluster, speed=np.arange(1.0, 19.0)))
    assert reasons(many)[0].startswith("of 18 layers, by the speed of devices: speed 18: stage 17 holds 1; speed 17")
    assert reasons(many)[0].endswith("; speed 3: stage 2 holds 1; and 2 speeds more")
    striped = deploy(tuple(range(37)), head=0.0)
    striped = replace(striped, cluster=replace(striped.cluster, speed=np.tile([2.0, 1.0], 18)))
    assert ", 28, 30 and 2 more hold 1 each; speed 1: stages 1, 3," in reasons(striped)[0]


def test_the_head_is_no_reason_where_stages_as_fast_hold_no_more(deploy: Deploy) -> None:
    """The last device is the slow one, or the fast one: others hold more or fewer for that."""
    made = deploy((0, 5, 9, 12), head=1.0)
    slow = replace(made, cluster=replace(made.cluster, speed=np.array([1.0, 1.0, 0.5])))
    assert reasons(slow)[0].endswith("and the last stage holds 2 of 10")
    mixed = deploy((0, 2, 3, 4, 8, 12), head=1.0)
    mixed = replace(mixed, cluster=replace(mixed.cluster, speed=np.array([0.4, 0.4, 0.4, 1.0, 1.0])))
    assert reasons(mixed)[0].endswith("so the last stage holds 3 of 10")


def test_full_devices_are_named(deploy: Deploy) -> None:
    """Those with less than a tenth free."""
    made = deploy((0, 4, 6), head=0.0, memory_bytes=(4e9, 2e9))
    tight = replace(made, cluster=replace(made.cluster, memory_bytes=np.array([4.1e9, 8e9])))
    assert reasons(tight) == ("'gpu0' has 4.00 of its 4.10 GB taken, so its stage is no larger",)


def test_nothing_is_said_of_the_ends_of_a_model_without_kinds(deploy: Deploy) -> None:
    """It has none."""
    made = deploy((0, 3, 6), head=9.0)
    assert reasons(replace(made, layers=replace(made.layers, kinds=("layer",) * 6))) == ()
