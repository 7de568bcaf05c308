"""Shared fixtures: workloads written by hand or drawn, and a simulator that is slow but obvious.

- `stages_of(forward, backward, positions=None, *, weight=None, transfer=None, held=None, state=None, closing=None,
  style="loop")`: a `Workload`; a position for each stage, weights 0 and nothing else unless said otherwise.
- `random_stages(seed, positions, virtual=1, style="loop")`: a `Workload` with unequal stages, messages and all-reduces.
- `random_stages_for(schedule, seed, positions, virtual=2)`: one with as many stages a position as a schedule has.
- `naive_iteration(workload, orders) -> seconds`: read off the definitions, pass by pass, without any order of events.
"""

from functools import cache

import numpy as np
import pytest

from tiger.training.costs.stages import Workload
from tiger.training.schedules.pass_orders import stages_each, style_of
from tiger.training.schedules.passes import BACKWARD, FORWARD, WEIGHT, WHOLE


def _stages_of(forward, backward, positions=None, **given):
    """Return a workload of lists."""
    stages = len(forward)
    positions = positions or stages
    lengths = {"weight": stages, "transfer": stages - 1, "held": stages, "state": stages, "closing": positions}
    stated = {name: np.array(given.get(name, [0.0] * size), np.float64) for name, size in lengths.items()}
    return Workload(
        forward_s=np.array(forward, np.float64),
        backward_s=np.array(backward, np.float64),
        weight_s=stated["weight"],
        transfer_s=stated["transfer"],
        held_bytes=stated["held"],
        state_bytes=stated["state"],
        closing_s=stated["closing"],
        style=given.get("style", "loop"),
    )


def _random_stages(seed, positions, virtual=1, style="loop"):
    """Return a workload drawn from a seed."""
    rng = np.random.default_rng(seed)
    stages = positions * virtual
    backward = rng.lognormal(0.7, 0.4, stages)
    return _stages_of(
        rng.lognormal(0.0, 0.4, stages),
        backward,
        positions,
        weight=backward * rng.random(stages),
        transfer=rng.random(stages - 1) * rng.choice([0.0, 0.1, 1.0]),
        held=rng.random(stages),
        state=rng.random(stages),
        closing=rng.random(positions),
        style=style,
    )


def _random_stages_for(schedule, seed, positions, virtual=2):
    """Return a workload drawn from a seed with the stages of a schedule."""
    return _random_stages(seed, positions, stages_each(schedule) or virtual, style_of(schedule))


def _naive_iteration(workload, orders):
    """Return the end of the last position, each pass after the one before it and after what it is sent."""
    stages, at = len(workload.forward_s), workload.stage_positions
    split = any(step[0] == WEIGHT for order in orders for step in order)
    weight = workload.weight_s if split else np.zeros(stages)
    spent = {FORWARD: workload.forward_s, BACKWARD: workload.backward_s - weight, WEIGHT: weight}
    spent[WHOLE] = workload.backward_s
    before = {step: order[at - 1] if at else None for order in orders for at, step in enumerate(order)}

    def message(kind, stage):
        """Return the seconds of what a pass sends."""
        boundary = {FORWARD: stage, BACKWARD: stage - 1, WHOLE: stage - 1, WEIGHT: -1}[kind]
        sent = 0 <= boundary < stages - 1 and at[boundary] != at[boundary + 1]
        return workload.transfer_s[boundary] if sent else 0.0

    @cache
    def end(step):
        """Return when a pass ends."""
        kind, microbatch, stage = step
        free = end(before[step]) + message(before[step][0], before[step][2]) if before[step] else 0.0
        sender = {FORWARD: stage - 1, BACKWARD: stage + 1, WHOLE: stage + 1, WEIGHT: -1}[kind]
        if not 0 <= sender < stages:
            return free + spent[kind][stage]
        kinds = [FORWARD] if kind == FORWARD else [BACKWARD, WHOLE]
        sent = next(end(each) for each in ((other, microbatch, sender) for other in kinds) if each in before)
        return max(free, sent) + message(kind, sender) + spent[kind][stage]

    ends = [end(order[-1]) + message(order[-1][0], order[-1][2]) for order in orders]
    return max(last + closing for last, closing in zip(ends, workload.closing_s, strict=True))


@pytest.fixture(scope="session")
def stages_of():
    """Return the maker of workloads from lists."""
    return _stages_of


@pytest.fixture(scope="session")
def random_stages():
    """Return the maker of random workloads."""
    return _random_stages


@pytest.fixture(scope="session")
def random_stages_for():
    """Return the maker of random workloads for schedules."""
    return _random_stages_for


@pytest.fixture(scope="session")
def naive_iteration():
    """Return the slow simulator."""
    return _naive_iteration
