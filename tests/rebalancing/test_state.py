"""Tests of the state of a rebalancer: decisions after a restore, and states of other models."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.rebalancing.decision import Decision
from tiger.rebalancing.state import RebalancerState, plan_by_names

Make = Callable[..., tiger.Rebalancer]
Call = Callable[[tiger.Rebalancer], Decision]


def restore(rebalancer: tiger.Rebalancer, options: tiger.RebalanceOptions) -> tiger.Rebalancer:
    """Return a rebalancer that goes on from what JSON carries of another one."""
    state = RebalancerState.from_dict(json.loads(json.dumps(rebalancer.state.to_dict(), allow_nan=False)))
    return tiger.Rebalancer.restore(rebalancer.line.layers, rebalancer.line.cluster, state, options=options)


def run_of(seed: int) -> list[Call]:
    """Return steps of layers and of stages, lost devices, a spare one among them, and packing."""
    times = np.random.default_rng(seed).lognormal(-5, 1, (6, 12)).tolist()
    calls: list[Call] = [lambda one, row=row: one.step(row) for row in times]  # type: ignore[misc]  # bound by default
    calls[2:2] = [lambda one: one.lose("d1"), lambda one: one.step([0.3] + [0.1] * (len(one.plan.cuts) - 2))]
    calls[5:5] = [lambda one: one.pack(1.0), lambda one: one.step([times[0], times[1]]), lambda one: one.lose("d2")]
    return calls


@pytest.mark.parametrize("balancer", ["exact", "diffusion"])
def test_a_restored_rebalancer_decides_as_the_one_before(make: Make, balancer: Literal["exact", "diffusion"]) -> None:
    """One that goes through JSON after every call and one that never does."""
    options = tiger.RebalanceOptions(balancer=balancer)
    whole, parts = make(spare=1, options=options), make(spare=1, options=options)
    for call in run_of(1):
        expected, found = call(whole), call(parts)
        assert replace(found, seconds=0.0) == replace(expected, seconds=0.0)
        parts = restore(parts, options)
        assert parts.state == whole.state


@pytest.mark.slow
def test_one_without_a_plan_stays_so(make: Make) -> None:
    """Devices that are left cannot hold the layers, before and after."""
    rebalancer = make(memory_bytes=5e9)
    assert rebalancer.lose("d1").action == "stop"
    with pytest.raises(InputError, match="cluster/devices"):
        restore(rebalancer, tiger.RebalanceOptions()).step([1.0] * 12)


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("devices", ("d0", "x", "d2"), "state/devices/1"),
        ("devices", ("d0", "d0", "d2"), "state/devices/1"),
        ("devices", ("d0", "d1"), "state/cuts"),
        ("cuts", (0, 4, 4, 12), "state/cuts/2"),
        ("cuts", (0, 4, 8, 13), "plan"),
        ("lost", ("d9",), "state/lost/0"),
        ("forward_s", (1.0,) * 11, "state/forward_s"),
        ("backward_s", (np.nan,) * 12, "state/backward_s"),
    ],
)
def test_a_state_of_another_model_is_bad_input(make: Make, field: str, value: Any, named: str) -> None:
    """The error names its field."""
    rebalancer = make()
    state = replace(rebalancer.state, **{field: value})
    with pytest.raises(InputError) as refusal:
        tiger.Rebalancer.restore(rebalancer.line.layers, rebalancer.line.cluster, state)
    assert refusal.value.field == named


def test_plans_may_name_their_devices() -> None:
    """In the order of the line."""
    plan = plan_by_names([0, 1, 3], ["b", "a"], ["a", "b"], "plan")
    assert (plan.cuts, plan.grid.ravel().tolist()) == ((0, 1, 3), [1, 0])
