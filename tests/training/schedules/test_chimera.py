"""Tests of Chimera: two pipelines in opposite directions over the same positions."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.placement.search.evaluator import Evaluator
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import closing_s, position_of, workloads
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.schedules.bound import PlanBounds, iteration_bound_s
from tiger.training.schedules.fixed_cuts_bound import FixedCutsBound
from tiger.training.schedules.memory import count_peak_activations, footprint, peak_bytes
from tiger.training.schedules.pass_orders import pass_orders
from tiger.training.schedules.passes import BACKWARD, FORWARD
from tiger.training.schedules.simulator import iteration_s, simulate
from tiger.training.schedules.traffic import link_traffic


def draw_layers(size: int, seed: int) -> Layers:
    """Return layers drawn from a seed."""
    rng = np.random.default_rng(seed)
    return Layers(
        names=tuple(map(str, range(size))),
        forward_s=rng.lognormal(0, 0.5, size),
        backward_s=rng.lognormal(0.7, 0.5, size),
        parameter_bytes=rng.random(size),
        state_bytes=rng.random(size),
        held_bytes=rng.random(size),
        crossing_bytes=np.concatenate([[0], rng.random(size - 1), [0]]),
    )


def equal_layers(size: int) -> Layers:
    """Return layers of 1 s forward and 2 s backward, a byte each, and messages that are free."""
    return Layers(
        names=tuple(map(str, range(size))),
        forward_s=np.ones(size),
        backward_s=np.full(size, 2.0),
        parameter_bytes=np.ones(size),
        held_bytes=np.ones(size),
        crossing_bytes=np.zeros(size + 1),
    )


def row_of(size: int, speed: float = 1e30) -> Cluster:
    """Return equal devices that send so many bytes a second."""
    return Cluster(
        names=tuple(map(str, range(size))),
        speed=np.ones(size),
        memory_bytes=np.full(size, np.inf),
        curves=(Curve.affine(speed, 0.0),),
        link=np.zeros((size, size), np.int64),
    )


def mirror(cuts: tuple[int, ...]) -> Plan:
    """Return a plan on devices in order."""
    return Plan(cuts=cuts, grid=np.arange(len(cuts) - 1).reshape(-1, 1, 1), style="mirror")


@pytest.mark.parametrize("p", [2, 4, 6, 8])
@pytest.mark.parametrize("groups", [1, 2, 5])
def test_equal_stages_take_what_is_known(p: int, groups: int) -> None:
    """Of p microbatches p F + (2 p - 2) B (arXiv:2107.06925); B = 2 F, and p - 2 more for each group of p."""
    load = workloads(equal_layers(p), row_of(p), mirror(tuple(range(p + 1))))[0]
    made = simulate(load, "chimera", groups * p)
    assert made.iteration_s - 2 * made.closing_s[0] == pytest.approx(3 * groups * p + (p - 2) * (groups + 1))
    if groups == 1:
        assert made.iteration_s == pytest.approx(p + 2 * (2 * p - 2))
    assert made.bubble == pytest.approx(1 - 3 * groups * p / made.iteration_s)
    assert np.unique(made.microbatch).tolist() == list(range(groups * p))


@pytest.mark.parametrize(("p", "m"), [(2, 2), (4, 4), (4, 16), (6, 12)])
def test_each_direction_runs_half_of_the_microbatches(p: int, m: int) -> None:
    """Every pass once, backward behind forward, and no more under way than 1F1B holds."""
    for at, order in enumerate(pass_orders("chimera", p, 2, m)):
        stages = (at, 2 * p - 1 - at)
        assert sorted(order) == sorted((k, b, s) for k in (FORWARD, BACKWARD) for b in range(m // 2) for s in stages)
        for stage in stages:
            under_way = np.cumsum([1 - 2 * kind for kind, _, own in order if own == stage])
            assert (under_way.min(), under_way.max()) == (0, min(m // 2, p - stage % p))


@pytest.mark.parametrize("seed", range(4))
def test_unequal_stages_take_what_a_slow_simulator_says(seed: int) -> None:
    """Messages at both ends, each direction by itself, and both all-reduces at the end."""
    load = workloads(draw_layers(9, seed), row_of(4, 3.0), mirror((0, 2, 3, 6, 9)))[0]
    orders = pass_orders("chimera", 4, 2, 6)
    before = {step: order[at - 1] if at else None for order in orders for at, step in enumerate(order)}

    def message(kind: int, stage: int) -> float:
        """Return the seconds of what a pass sends; boundary 3 lies between the directions."""
        boundary = stage if kind == FORWARD else stage - 1
        return float(load.transfer_s[boundary]) if 0 <= boundary < 7 and boundary != 3 else 0.0

    @cache
    def end(step: tuple[int, int, int]) -> float:
        """Return when a pass ends."""
        kind, microbatch, stage = step
        last = before[step]
        free = 0.0 if last is None else end(last) + message(last[0], last[2])
        spent = float((load.forward_s if kind == FORWARD else load.backward_s)[stage])
        if stage % 4 == (0 if kind == FORWARD else 3):
            return free + spent
        sender = stage - 1 if kind == FORWARD else stage + 1
        return max(free, end((kind, microbatch, sender))) + message(kind, sender) + spent

    ends = [end(order[-1]) + message(order[-1][0], order[-1][2]) for order in orders]
    assert iteration_s(load, "chimera", 6) == pytest.approx(np.max(ends + load.closing_s))


def test_a_position_has_two_stages_and_reduces_the_gradients_of_both() -> None:
    """Two devices: 3 of 4 bytes and 1, which each sends the other, half of each in both steps of an all-reduce."""
    layers, cluster, plan = equal_layers(4), row_of(2, 1.0), mirror((0, 3, 4))
    load = workloads(layers, cluster, plan)[0]
    assert load.forward_s.tolist() == [3, 1, 3, 1]
    assert load.loads_s.tolist() == [6, 6]
    assert closing_s(layers, cluster, plan).tolist() == [4, 4]
    assert link_traffic(layers, plan, 2) == {(0, 1): 2 * 4.0}
    assert peak_bytes(load, "chimera", 2).tolist() == [4 + 4, 4 + 4]


def test_messages_go_both_ways() -> None:
    """Four devices and four microbatches, two of them over each boundary in each direction, there and back."""
    layers = draw_layers(4, 0)
    sent = link_traffic(layers, mirror((0, 1, 2, 3, 4)), 4)
    gradients = [layers.parameter_bytes[0] + layers.parameter_bytes[3], layers.parameter_bytes[1:3].sum()]
    crossing = layers.crossing_bytes
    assert sent[0, 1] == sent[2, 3] == pytest.approx(4 * (crossing[1] + crossing[3]))
    assert sent[1, 2] == pytest.approx(8 * crossing[2] + 2 * gradients[1])
    assert sent[0, 3] == pytest.approx(2 * gradients[0])


@pytest.mark.parametrize("p", [2, 4, 6])
def test_peaks_come_from_the_order_alone(p: int) -> None:
    """Whatever the seconds, and no more for longer iterations; p or p + 1 stages of a microbatch at most."""
    load = workloads(draw_layers(2 * p, p), row_of(p), mirror(tuple(range(0, 2 * p + 1, 2))))[0]
    for m in (p, 3 * p, 8 * p):
        assert peak_bytes(load, "chimera", m) == pytest.approx(footprint(simulate(load, "chimera", m), load).peak_bytes)
    most = [int(rows.sum(axis=1).max()) for rows in count_peak_activations("chimera", p, 2, 8 * p)]
    assert most == [p + 1] * p


@pytest.mark.parametrize("seed", range(3))
def test_no_cut_beats_the_bounds(seed: int) -> None:
    """All cuts of seven layers on four devices."""
    layers, cluster = draw_layers(7, seed), row_of(4, 2.0)
    plans = [mirror((0, *inner, 7)) for inner in combinations(range(1, 7), 3)]
    evaluator = Evaluator(layers=layers, cluster=cluster, schedule="chimera", microbatches=6)
    fixed = FixedCutsBound.of(layers, cluster, plans[0].grid, 6, "mirror")
    assert all(fixed.seconds(plan.cuts) <= evaluator.seconds(plan) for plan in plans)
    bounds = PlanBounds.of(
        layers, [position_of(layers, cluster, np.zeros((1, 1), np.int64))], min(map(evaluator.bottleneck_s, plans))
    )
    assert iteration_bound_s(bounds, "chimera", 4, 6) <= min(map(evaluator.seconds, plans))


@pytest.mark.parametrize(("positions", "microbatches"), [(3, 6), (4, 5)])
def test_halves_are_whole(positions: int, microbatches: int) -> None:
    """Positions and microbatches come in pairs."""
    with pytest.raises(InputError, match="microbatches: expected an even number"):
        pass_orders("chimera", positions, 2, microbatches)
