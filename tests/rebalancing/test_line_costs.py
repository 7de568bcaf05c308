"""Tests of the costs of a line: those of the plan's own evaluation, and bounds below the simulation."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import tiger
from tiger.placement.search.evaluator import Evaluator
from tiger.rebalancing.layer_times import LayerTimes
from tiger.rebalancing.line_costs import LineCosts, PipelineCosts
from tiger.training.costs.plan import Plan
from tiger.training.models.reading import read_model

Make = Callable[..., tiger.Rebalancer]
TIED = "transformer:layers=6,hidden=64,heads=4,vocabulary=100,sequence=32"


@pytest.mark.parametrize("schedule", ["1f1b", "gpipe"])
def test_iterations_are_those_of_placements(make: Make, schedule: str) -> None:
    """Messages, speeds, tied layers and activations included."""
    layers, cluster = read_model(TIED), make().line.cluster
    line = PipelineCosts(layers=layers, cluster=cluster, devices=(2, 0, 1), schedule=schedule, microbatches=6)
    costs, cuts = LineCosts(line=line, times=LayerTimes.of(layers)), (0, 3, 5, 8)
    evaluator = Evaluator(layers=layers, cluster=cluster, schedule=schedule, microbatches=6)
    plan = Plan.line(cuts, (2, 0, 1))
    assert costs.iteration_s(cuts) == pytest.approx(evaluator.value(plan), rel=1e-9)
    assert costs.loads_s(cuts).max() == pytest.approx(evaluator.bottleneck_s(plan))


def test_bug_tied_layers_need_a_link(make: Make) -> None:
    """Cuts with ties between devices that lack one were taken to fit, and iterations took infinitely long."""
    layers, cluster = read_model(TIED), make().line.cluster
    unlinked = replace(cluster, link=np.array([[-1, 0, -1], [0, -1, 0], [-1, 0, -1]]))
    line = PipelineCosts(layers=layers, cluster=unlinked, devices=(0, 1, 2), schedule="1f1b", microbatches=6)
    assert not line.fits((0, 3, 5, 8))
    assert replace(line, devices=(0, 1)).fits((0, 3, 8))


@pytest.mark.parametrize("schedule", ["1f1b", "gpipe"])
def test_bug_bounds_of_one_stage_were_above_it(make: Make, schedule: str) -> None:
    """By rounding, where the simulation adds up what the bound multiplies."""
    line = make(5, 1, options=tiger.RebalanceOptions(schedule=schedule, microbatches=7)).line
    rng = np.random.default_rng(0)
    for _ in range(50):
        times = LayerTimes(forward_s=rng.uniform(0, 1, 5), backward_s=rng.uniform(0, 1, 5))
        costs = LineCosts(line=line, times=times)
        assert costs.lower_bound_s() <= costs.iteration_s((0, 5))


@pytest.mark.parametrize("schedule", ["1f1b", "gpipe"])
def test_bounds_are_below_the_simulation(make: Make, schedule: str) -> None:
    """Those of given cuts, and those of all."""
    rng, options = np.random.default_rng(0), tiger.RebalanceOptions(schedule=schedule)
    line = make(10, 4, options=options).line
    for _ in range(20):
        times = LayerTimes(forward_s=rng.uniform(0, 1, 10), backward_s=rng.uniform(0, 1, 10))
        costs = LineCosts(line=line, times=times)
        cuts = (0, *sorted(rng.choice(np.arange(1, 10), 3, replace=False).tolist()), 10)
        assert costs.lower_bound_s() <= costs.iteration_s(cuts)
        assert costs.bound_s(cuts) <= costs.iteration_s(cuts)


def test_the_longest_layer_bounds_iterations_too(make: Make) -> None:
    """On the quickest device; and so does the mean load of all."""
    line = make(4, 2).line
    unlike = replace(line, cluster=replace(line.cluster, speed=np.array([1.0, 2.0])), microbatches=3)
    for last, bound in ((9.0, 3 * 9 / 2), (1.0, 3 * 4 / 3)):
        times = LayerTimes(forward_s=np.zeros(4), backward_s=np.array([1.0, 1.0, 1.0, last]))
        assert LineCosts(line=unlike, times=times).lower_bound_s() == pytest.approx(bound)
