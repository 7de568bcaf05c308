"""Tests of ordering devices into a line."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from tiger.placement.chain.params import LineParams
from tiger.placement.ranks.order import assignment_of, order_devices
from tiger.placement.ranks.search import OrderSearch
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import workloads
from tiger.training.hardware.cluster import Cluster

SEARCH = OrderSearch(solver="search")
FREE = LineParams()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_the_order_is_the_best_of_all(seed, drawn_layers, drawn_cluster, least_of_all_orders):
    """On five devices the search finds what trying all orders and subsets does."""
    layers, cluster = drawn_layers(9, seed), drawn_cluster(5, seed)
    line = order_devices(layers, cluster, FREE, SEARCH)
    assert line.bottleneck_s == pytest.approx(least_of_all_orders(layers, cluster), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 40))])
def test_the_order_is_the_best_of_all_elsewhere(seed, drawn_layers, drawn_cluster, least_of_all_orders):
    """The same on more clusters, of four to six devices."""
    layers, cluster = drawn_layers(8 + seed % 7, seed), drawn_cluster(4 + seed % 3, seed)
    line = order_devices(layers, cluster, FREE, replace(SEARCH, seed=seed))
    assert line.bottleneck_s == pytest.approx(least_of_all_orders(layers, cluster), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (0, *range(2, 50)))])
def test_a_sampler_finds_the_best_of_all(seed, drawn_layers, drawn_cluster, least_of_all_orders):
    """Through simulated annealing the same holds, on four to six devices."""
    layers, cluster = drawn_layers(8 + seed % 7, seed), drawn_cluster(4 + seed % 3, seed)
    line = order_devices(layers, cluster, FREE, OrderSearch(solver="neal", seed=seed))
    assert line.bottleneck_s == pytest.approx(least_of_all_orders(layers, cluster), rel=1e-9)


@pytest.mark.long
def test_the_bottleneck_is_that_of_the_plan(drawn_layers, drawn_cluster):
    """What a line claims is what its stages cost."""
    layers, cluster = drawn_layers(12, 3), drawn_cluster(5, 3)
    line = order_devices(layers, cluster, FREE, SEARCH)
    (load,) = workloads(layers, cluster, Plan.line(line.cuts, line.devices))
    assert load.loads_s.max() == pytest.approx(line.bottleneck_s, rel=1e-12)
    assert line.bound_s <= line.bottleneck_s


def test_auto_is_exact_where_that_is_little_work(drawn_layers, drawn_cluster, least_of_all_orders):
    """With few devices auto goes through all orders, and says so by its bound."""
    layers, cluster = drawn_layers(9, 4), drawn_cluster(5, 4)
    line = order_devices(layers, cluster, FREE, OrderSearch())
    assert line.bound_s == pytest.approx(least_of_all_orders(layers, cluster), rel=1e-9)


def test_a_fixed_number_of_stages_is_kept(drawn_layers, drawn_cluster):
    """LineCosts of three stages have three devices, the best three in the best order."""
    layers, cluster = drawn_layers(9, 6), drawn_cluster(5, 6)
    line = order_devices(layers, cluster, LineParams(stages=3), SEARCH)
    exact = order_devices(layers, cluster, LineParams(stages=3), OrderSearch())
    assert len(line.devices) == 3
    assert line.bottleneck_s == pytest.approx(exact.bottleneck_s, rel=1e-9)


@pytest.mark.slow
def test_a_pinned_layer_lies_on_its_device(drawn_layers, drawn_cluster):
    """The first layer is pinned to the last device, the last one to the first."""
    layers, cluster = drawn_layers(9, 2), drawn_cluster(5, 2)
    line = order_devices(layers, cluster, LineParams(pinned={0: 4, 8: 0}), SEARCH)
    exact = order_devices(layers, cluster, LineParams(pinned={0: 4, 8: 0}), OrderSearch())
    assert (line.devices[0], line.devices[-1]) == (4, 0)
    assert line.bottleneck_s == pytest.approx(exact.bottleneck_s, rel=1e-9)


@pytest.mark.slow
def test_memory_with_microbatches_in_flight_is_kept(drawn_layers, drawn_cluster):
    """Early stages hold more microbatches; the search finds the exact answer under that too."""
    layers = drawn_layers(9, 5)
    cluster = drawn_cluster(5, 5, memory_bytes=float(layers.state_bytes.sum() / 2.5))
    params = LineParams(in_flight=lambda after: 1.0 + after)
    line, exact = (order_devices(layers, cluster, params, OrderSearch(solver=name)) for name in ("search", "auto"))
    assert line.bottleneck_s == pytest.approx(exact.bottleneck_s, rel=1e-9)


def test_nothing_fits(drawn_layers, drawn_cluster):
    """Without memory there is no line."""
    assert order_devices(drawn_layers(9, 5), drawn_cluster(5, 5, memory_bytes=0.5), FREE, SEARCH) is None


@pytest.mark.slow
def test_only_one_way_through_missing_links(drawn_layers, drawn_cluster):
    """Devices linked in a ring whose numbers jump are walked along it."""
    layers, cluster = drawn_layers(9, 1), drawn_cluster(5, 1)
    around = {frozenset((k, (k + 2) % 5)) for k in range(5)}
    link = np.array([[cluster.link[a, b] if {a, b} in around else -1 for b in range(5)] for a in range(5)])
    line = order_devices(layers, _with_links(cluster, link), LineParams(stages=5), SEARCH)
    steps = {frozenset(pair) for pair in zip(line.devices, line.devices[1:], strict=False)}
    assert steps <= around


@pytest.mark.slow
def test_an_assignment_without_a_way_is_passed_over(drawn_layers, drawn_cluster):
    """Where the solver's order has no link between its first devices, the search goes on without it."""
    layers, cluster = drawn_layers(9, 1), drawn_cluster(4, 1)
    link = cluster.link.copy()
    link[0, 1] = link[1, 0] = -1
    params = LineParams(stages=4)
    line = order_devices(layers, _with_links(cluster, link), params, replace(SEARCH, solver="identity"))
    exact = order_devices(layers, _with_links(cluster, link), params, OrderSearch())
    assert line.bottleneck_s == pytest.approx(exact.bottleneck_s, rel=1e-9)


def test_equal_devices_need_no_order(drawn_layers, regular):
    """Where nothing tells devices apart, the first ones are taken in their order."""
    layers = drawn_layers(9, 1)
    line = order_devices(layers, regular(1, 4), FREE, SEARCH)
    assert line.devices == tuple(range(len(line.devices)))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_line(drawn_layers, drawn_cluster):
    """Two runs agree, whatever came before."""
    layers, cluster = drawn_layers(8, 7), drawn_cluster(4, 7)
    first, second = (order_devices(layers, cluster, FREE, OrderSearch(solver="search", seed=3)) for _ in range(2))
    assert first == second


@pytest.mark.slow
def test_a_stopped_search_answers(drawn_layers, drawn_cluster):
    """A search told to stop at once still gives the best of its starts."""
    layers, cluster = drawn_layers(8, 7), drawn_cluster(4, 7)
    line = order_devices(layers, cluster, FREE, replace(SEARCH, stop=lambda: True))
    assert line.bottleneck_s >= order_devices(layers, cluster, FREE, SEARCH).bottleneck_s


@pytest.mark.slow
def test_the_assignment_costs_the_sum_of_loads(drawn_layers, drawn_cluster):
    """With one size of messages, costs of the problem and sums of loads have one ratio for all orders."""
    layers, cluster = replace(drawn_layers(4, 1), crossing_bytes=np.array([0.0, 1, 1, 1, 0])), drawn_cluster(4, 1)
    line = order_devices(layers, cluster, LineParams(stages=4), SEARCH)
    problem = assignment_of(layers, cluster, line, np.ones(4))
    ratios = []
    for order in permutations(range(4)):
        (load,) = workloads(layers, cluster, Plan.line(line.cuts, order))
        ratios.append(_cost(problem, np.array(order)) / load.loads_s.sum())
    assert np.ptp(ratios) < 1e-9 * ratios[0]


def _cost(problem, places):
    """Return the cost of a mapping."""
    traffic = problem.tasks.traffic.toarray()
    distance = problem.topology.metric.table[np.ix_(places, places)]
    return (traffic * distance).sum() + problem.tasks.work @ problem.topology.cost[places]


def _with_links(cluster: Cluster, link: np.ndarray) -> Cluster:
    """Return the devices with other links."""
    return replace(cluster, link=link)
