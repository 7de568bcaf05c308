"""Tests of what the search for a plan of a chain keeps."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tiger.placement.chain.params import never_stop
from tiger.placement.params import PlaceParams
from tiger.placement.search.incumbent import ChainIncumbent
from tiger.placement.search.problem import ChainProblem
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers

UNEVEN, EVEN = Plan.line((0, 1, 4), (0, 1)), Plan.line((0, 2, 4), (0, 1))


@pytest.fixture
def incumbent(drawn_layers: Callable[..., Layers], drawn_cluster: Callable[..., Cluster]) -> ChainIncumbent:
    """Return what is known at first of four layers on two devices."""
    ones = {name: np.ones(4) for name in ("forward_s", "backward_s", "weight_s")}
    layers = replace(drawn_layers(4, 0), crossing_bytes=np.zeros(5), **ones)
    cluster = replace(drawn_cluster(2, 0), memory_bytes=np.full(2, 100.0))
    return ChainIncumbent(problem=ChainProblem.of(layers, cluster, PlaceParams()), stop=never_stop)


def test_the_best_plan_and_all_that_fit_are_kept(incumbent: ChainIncumbent) -> None:
    """Whatever comes first; two layers a device take 4 s."""
    incumbent.offer(EVEN)
    incumbent.offer(UNEVEN)
    assert (incumbent.solution, incumbent.value) == (EVEN, pytest.approx(4))
    assert incumbent.finalists(5) == [EVEN, UNEVEN]


def test_a_bound_is_met_by_a_plan_alone(incumbent: ChainIncumbent) -> None:
    """An infinite bound, of a chain that fits nowhere, proves no plan."""
    incumbent.bound_bottleneck(np.inf)
    assert not incumbent.optimal
    incumbent.bound_bottleneck(4.0)
    incumbent.offer(EVEN)
    assert incumbent.optimal


def test_the_closest_of_plans_that_do_not_fit_is_kept(incumbent: ChainIncumbent) -> None:
    """Devices without memory hold none of the candidates on a grid."""
    problem = incumbent.problem
    bare = replace(problem.cluster, memory_bytes=np.zeros(2))
    short = ChainIncumbent(problem=ChainProblem.of(problem.layers, bare, PlaceParams()), stop=never_stop)
    short.offer_grids([EVEN.grid])
    assert short.solution is None
    assert short.closest is not None
