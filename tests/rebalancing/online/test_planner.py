"""Tests of plans that follow measurements: what a step may change, where it leads, and what disturbs it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.placement.chain.best_order import best_line
from tiger.placement.chain.params import LineParams
from tiger.placement.search.evaluator import Evaluator
from tiger.rebalancing.online.costs import DeviceCuts, FixedCosts, LayerCosts
from tiger.rebalancing.online.moves import distance, moves
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import workloads
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.hardware.reading import read_cluster
from tiger.training.models.layers import Layers
from tiger.training.models.reading import read_model

EXAMPLES = Path(__file__).parents[3] / "examples"


class World(NamedTuple):
    """Hold a model and devices as they are; the planner is told the model times `uneven`, and equal speeds."""

    layers: Layers
    cluster: Cluster
    uneven: np.ndarray

    def planner(self, seed: int = 0, tolerance: float = 0.02) -> tiger.OnlinePlanner:
        """Return a planner that is told other costs."""
        told = scale(self.layers, self.uneven)
        guess = replace(self.cluster, speed=np.ones(self.cluster.size))
        return tiger.OnlinePlanner(told, guess, seed=seed, tolerance=tolerance)

    def times(self, plan: Plan) -> list[float]:
        """Return what each stage takes."""
        return [float(load) for load in workloads(self.layers, self.cluster, plan)[0].loads_s]

    def gap(self, plan: Plan) -> float:
        """Return the bottleneck over the least of all plans."""
        best = best_line(self.layers, self.cluster, LineParams())
        assert best is not None
        return max(self.times(plan)) / best.bottleneck_s


@pytest.fixture(name="world")
def _world(drawn_layers: Callable[..., Layers], drawn_cluster: Callable[..., Cluster]) -> Callable[..., World]:
    def world(seed: int, *, memory_bytes: float = np.inf, spread: float = 0.3) -> World:
        rng = np.random.default_rng(seed)
        layers = replace(drawn_layers(9, seed), crossing_bytes=np.pad(rng.uniform(0, 0.2, 8), 1))
        cluster = replace(
            drawn_cluster(4, seed, memory_bytes=memory_bytes), speed=rng.permutation([1.0, 0.9, 0.6, 0.4])
        )
        return World(layers, cluster, np.exp(rng.normal(0, spread, 9)))

    return world


def scale(layers: Layers, factor: np.ndarray | float) -> Layers:
    """Return layers whose times are multiplied."""
    return replace(
        layers,
        forward_s=layers.forward_s * factor,
        backward_s=layers.backward_s * factor,
        weight_s=layers.weight_s * factor,
    )


def line_of(plan: Plan) -> DeviceCuts:
    """Return the cuts and devices of a plan."""
    return DeviceCuts(plan.cuts, tuple(plan.grid.ravel().tolist()))


@pytest.mark.slow
@pytest.mark.parametrize("devices", [2, 4, 6])
def test_bug_plans_that_are_as_good_as_each_other_are_not_tried_for_ever(devices: int) -> None:
    """On equal devices with exact times it settles."""
    layers = read_model(EXAMPLES / "models" / "skipnet.txt")
    link = np.zeros((devices, devices), np.int64)
    curve = Curve.affine(12e9, 0.0)
    cluster = Cluster(
        names=tuple(map(str, range(devices))),
        speed=np.ones(devices),
        memory_bytes=np.full(devices, np.inf),
        curves=(curve,),
        link=link,
    )
    planner = tiger.OnlinePlanner(layers, cluster)
    while not planner.settled and planner.evaluations < 100:
        planner.step([float(load) for load in workloads(layers, cluster, planner.plan)[0].loads_s])
    assert planner.settled


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 6))])
def test_a_step_is_a_move_and_keeps_to_memory(seed: int, world: Callable[..., World]) -> None:
    """One boundary or one pair of devices changes, and what a device holds fits; noise makes no difference."""
    here, rng = world(seed, memory_bytes=12.0), np.random.default_rng(seed)
    planner = here.planner()
    for _ in range(25):
        before = planner.plan
        after = planner.step(list(here.times(before) * rng.lognormal(0, 0.05, before.stages)))
        assert line_of(after) in {line_of(before), *moves(line_of(before), 4)}
        assert Evaluator(layers=here.layers, cluster=here.cluster).excess_bytes(after) == 0


def end(here: World) -> float:
    """Return the bottleneck of the plan that a planner settles on over the least for its order of devices."""
    planner = here.planner()
    while not planner.settled and planner.evaluations < 60:
        planner.step(here.times(planner.plan))
    costs = LayerCosts.of(here.layers.forward_s + here.layers.backward_s, 1 / here.cluster.speed)
    best = FixedCosts.of(here.layers, here.cluster).best_cuts(costs, line_of(planner.plan).devices)
    assert best is not None
    return max(here.times(planner.plan)) / best[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 8))])
def test_exact_costs_lead_to_the_best_cuts(seed: int, world: Callable[..., World]) -> None:
    """Where only speeds are unknown and nothing disturbs, the cuts are those of the dynamic program within 3 %."""
    assert end(world(seed, spread=0.0)) <= 1.03


@pytest.mark.long
@pytest.mark.parametrize("memory_bytes", [np.inf, 12.0])
def test_chains_end_within_a_few_per_cent(memory_bytes: float, world: Callable[..., World]) -> None:
    """Nineteen in twenty end within 3 % of the best cuts for their order, with little memory or much."""
    found = [end(world(seed, memory_bytes=memory_bytes, spread=0.0)) for seed in range(200)]
    assert np.mean(np.array(found) <= 1.03) >= 0.95


def test_a_model_and_a_cluster_are_what_place_takes() -> None:
    """Paths and SPECs, or what has been read of them."""
    model = EXAMPLES / "models" / "skipnet.txt"
    assert line_of(tiger.OnlinePlanner(model, "dgx:1").plan) == line_of(
        tiger.OnlinePlanner(read_model(model), read_cluster("dgx:1")).plan
    )


@pytest.mark.long
def test_a_planner_settles_and_stays(world: Callable[..., World]) -> None:
    """Once settled, the same times change nothing, and the estimate is what is measured."""
    here = world(1)
    planner = here.planner()
    for _ in range(30):
        planner.step(here.times(planner.plan))
    plan = planner.plan
    assert planner.settled
    assert planner.evaluations == 30
    assert planner.bottleneck_s == pytest.approx(max(here.times(plan)), rel=0.02)
    assert here.gap(plan) <= 1.03
    assert line_of(planner.step(here.times(plan))) == line_of(plan)


@pytest.mark.parametrize("seed", range(2))
def test_a_planner_that_was_told_the_truth_ends_where_it_starts(seed: int, world: Callable[..., World]) -> None:
    """Nothing that it tries is better than the best plan of all."""
    here = world(seed, spread=0.0)
    planner = tiger.OnlinePlanner(here.layers, here.cluster)
    first = line_of(planner.plan)
    while not planner.settled and planner.evaluations < 60:
        planner.step(here.times(planner.plan))
    assert line_of(planner.plan) == first
    assert here.gap(planner.plan) == pytest.approx(1)


@pytest.mark.long
def test_a_device_that_slows_loses_layers(world: Callable[..., World]) -> None:
    """Two measurements tell that the fastest device is half as fast, and a few moves later the plan is good again."""
    here = world(3)
    planner = here.planner()
    for _ in range(30):
        planner.step(here.times(planner.plan))
    speed = np.where(here.cluster.speed == 1, 0.4, here.cluster.speed)
    slower = here._replace(cluster=replace(here.cluster, speed=speed))
    assert slower.gap(planner.plan) > 1.1
    for _ in range(15):
        planner.step(slower.times(planner.plan))
    assert slower.gap(planner.plan) <= 1.03


@pytest.mark.long
def test_one_hiccup_changes_nothing(world: Callable[..., World]) -> None:
    """A time that is three times as long once is measured again before it counts."""
    here = world(1)
    planner = here.planner()
    for _ in range(30):
        planner.step(here.times(planner.plan))
    plan = planner.plan
    times = here.times(plan)
    assert line_of(planner.step([3 * times[0], *times[1:]])) == line_of(plan)
    assert not planner.settled
    assert line_of(planner.step(times)) == line_of(plan)
    assert planner.settled


@pytest.mark.long
def test_costs_may_be_relative(world: Callable[..., World]) -> None:
    """Without messages the unit of costs makes no difference to plans."""
    here = world(4)
    here = here._replace(layers=replace(here.layers, crossing_bytes=np.zeros(10)))
    one, other = here.planner(), here._replace(uneven=here.uneven * 1e12).planner()
    for _ in range(12):
        assert line_of(one.plan) == line_of(other.plan)
        one.step(here.times(one.plan))
        other.step(here.times(other.plan))


@pytest.mark.slow
def test_the_same_arguments_make_the_same_plans(world: Callable[..., World]) -> None:
    """Two planners with the same seed agree step by step."""
    here = world(5)
    planners = here.planner(seed=7), here.planner(seed=7)
    for _ in range(10):
        first, second = (line_of(planner.step(here.times(planner.plan))) for planner in planners)
        assert first == second


def test_a_layer_that_costs_nothing_and_a_spare_device_are_no_trouble(world: Callable[..., World]) -> None:
    """Three layers, of which one costs nothing, on four devices: one is left out, and the rest is best."""
    here = world(6)
    layers = Layers(
        names=("a", "b", "c"),
        forward_s=np.array([2.0, 0.0, 1.0]),
        backward_s=np.zeros(3),
        parameter_bytes=np.ones(3),
        crossing_bytes=np.zeros(4),
    )
    here = World(layers, here.cluster, np.ones(3))
    planner = here.planner()
    for _ in range(20):
        planner.step(here.times(planner.plan))
    assert here.gap(planner.plan) <= 1.03


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        ([1.0], "expected 4 numbers, got shape"),
        ([0.0, 0.0, 0.0, 0.0], "expected 4 seconds of which some are > 0, got all 0"),
        ([1.0, 2.0, 3.0, -1.0], "expected finite numbers >= 0, got -1 at position 3"),
        ([1.0, 2.0, 3.0, float("nan")], "expected finite numbers >= 0, got nan at position 3"),
        ([1.0, 2.0, 3.0, 1e300], r"expected numbers from 0 to 1e\+30, got 1e\+300"),
    ],
)
def test_times_that_are_none_are_refused(times: list[float], reason: str, world: Callable[..., World]) -> None:
    """The message says how many seconds are expected, and nothing has changed."""
    planner = world(0).planner()
    with pytest.raises(InputError, match=reason) as caught:
        planner.step(times)
    assert caught.value.field == "times"
    assert planner.evaluations == 0


@pytest.mark.parametrize("tolerance", [0.0, 1.0, float("nan")])
def test_a_tolerance_is_a_share(tolerance: float, world: Callable[..., World]) -> None:
    """It is above 0 and below 1."""
    with pytest.raises(InputError, match="tolerance: expected a number above 0 and below 1"):
        world(0).planner(tolerance=tolerance)


@pytest.mark.parametrize("seed", [-1, 1.5, "1"])
def test_a_seed_is_a_whole_number(seed: int, world: Callable[..., World]) -> None:
    """As at every other entry."""
    with pytest.raises(InputError, match="seed: expected a whole number from 0 to"):
        world(0).planner(seed=seed)


def test_a_model_that_nothing_holds_is_refused(world: Callable[..., World]) -> None:
    """The message is that of a placement that is not feasible."""
    with pytest.raises(InputError, match="cluster/devices: expected devices that can hold the layers"):
        world(0, memory_bytes=1.0).planner()


@pytest.mark.slow
def test_plans_several_moves_off_are_tried(world: Callable[..., World]) -> None:
    """A goal is made for move by move, and run, unless it comes to promise too little on the way."""
    sought, reached = 0, 0
    for seed in range(12):
        here = world(seed)
        planner = here.planner()
        goal = None
        while not planner.settled and planner.evaluations < 60:
            before = line_of(planner.plan)
            planner.step(here.times(planner.plan))
            trial = planner._trial
            if trial is None:
                continue
            sought += trial.goal != goal
            goal, now = trial.goal, line_of(planner.plan)
            assert distance(now, goal) < distance(before, goal)
            reached += now == goal
    assert sought >= 5
    assert reached >= sought / 2
