"""Tests of centring: the split adds up to the distances, leaves as little as can be, and says how costs vary."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from tiger.model.window import Block, Window, fold, whole
from tiger.qubo.centring import _split, centre

RULES = ("one-to-one", "levels", "capacity")


def window_of(traffic, distance, groups=(), linear=None):
    """Return a window of its own, without a problem around it."""
    tasks, nodes = len(traffic), len(distance)
    return Window(
        block=Block(tasks=np.arange(tasks), nodes=np.arange(nodes)),
        linear=np.zeros((tasks, nodes)) if linear is None else linear,
        traffic=sp.csr_array(np.array(traffic, float)),
        distance=np.array(distance, float),
        constant=1.5,
        groups=tuple(np.array(group) for group in groups),
        capacities=(),
    )


def distances(size, seed=0):
    """Return asymmetric distances with a diagonal that is not 0."""
    return np.random.default_rng([size, seed]).uniform(0.0, 9.0, (size, size))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("diagonal", [True, False], ids=["all", "off-diagonal"])
def test_parts_add_up_to_the_distances(size, diagonal):
    """Tests g + r_p + s_q + e_pq == d_pq on the pairs that count, and that the rest is 0 on the others."""
    distance = distances(size)
    mean, source, target, rest = _split(distance, diagonal=diagonal)
    counts = np.ones((size, size), bool) if diagonal else ~np.eye(size, dtype=bool)
    assert (mean + source[:, None] + target + rest)[counts] == pytest.approx(distance[counts], rel=1e-12)
    assert not rest[~counts].any()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("diagonal", [True, False], ids=["all", "off-diagonal"])
def test_rows_and_columns_of_the_rest_add_up_to_nothing(size, diagonal):
    """Tests that no node is better than another by what is left, neither as a source nor as a target."""
    rest = _split(distances(size), diagonal=diagonal)[3]
    assert np.abs(rest.sum(axis=0)).max() < 1e-12
    assert np.abs(rest.sum(axis=1)).max() < 1e-12


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("diagonal", [True, False], ids=["all", "off-diagonal"])
def test_the_rest_is_as_small_as_can_be(size, diagonal):
    """Tests the sum of its squares against a least squares solver."""
    distance, where = distances(size), np.eye(size)
    counts = [(p, q) for p, q in itertools.product(range(size), repeat=2) if diagonal or p != q]
    design = np.array([np.r_[1.0, where[p], where[q]] for p, q in counts])
    values = np.array([distance[pair] for pair in counts])
    left = values - design @ np.linalg.lstsq(design, values)[0]
    rest = _split(distance, diagonal=diagonal)[3]
    assert (rest**2).sum() == pytest.approx((left**2).sum(), abs=1e-12)


def test_two_nodes_apart_leave_nothing():
    """Tests that 3 there and 5 back are a mean of 4 and what the nodes add to it, by hand."""
    mean, source, target, rest = _split(np.array([[0.0, 3.0], [5.0, 0.0]]), diagonal=False)
    assert (mean, source.tolist(), target.tolist()) == (4.0, [-0.5, 0.5], [0.5, -0.5])
    assert not rest.any()


def test_a_single_node_is_its_own_mean():
    """Tests that one node keeps its diagonal where tasks may share it, and is at no distance where they may not."""
    assert [part.tolist() for part in map(np.array, _split(np.array([[7.0]]), diagonal=True))] == [
        7.0,
        [0.0],
        [0.0],
        [[0.0]],
    ]
    assert [part.tolist() for part in map(np.array, _split(np.array([[7.0]]), diagonal=False))] == [
        0.0,
        [0.0],
        [0.0],
        [[0.0]],
    ]


def test_symmetric_distances_split_symmetrically():
    """Tests that a node adds the same as a source and as a target."""
    distance = distances(5) + distances(5).T
    for diagonal in (True, False):
        _, source, target, rest = _split(distance, diagonal=diagonal)
        assert source == pytest.approx(target)
        assert rest == pytest.approx(rest.T)


def test_literals():
    """Tests traffic of 3 on a path of three nodes: 4/3 on average, a third less in the middle, as either end."""
    split = centre(window_of([[0, 3], [0, 0]], [[0, 1, 2], [1, 0, 1], [2, 1, 0]], groups=[[0, 1]]))
    assert split.constant == pytest.approx(1.5 + 3 * 4 / 3)
    assert split.linear == pytest.approx(np.array([[1, -2, 1], [1, -2, 1]]))
    assert np.abs(split.rest[0]).max() < 1e-12
    assert split.spread == pytest.approx([2**0.5, 2**0.5])


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_the_split_costs_what_the_window_costs(rule, random_problem, random_feasible):
    """Tests constant, linear costs and rests on random feasible mappings of windows."""
    rng = np.random.default_rng(0)
    for seed in range(12):
        problem = random_problem(rule, seed, pins=seed % 2 == 0, forbidden=seed % 3 == 0)
        places = random_feasible(problem, rng)
        tasks = problem.free if seed % 2 else np.sort(rng.permutation(problem.free)[:4])
        window = fold(problem, Block(tasks=tasks, nodes=problem.topology.hosts), places)
        split, local, group_of = centre(window), window.local(places), window.group_of
        cost = split.constant + split.linear[np.arange(len(local)), local].sum()
        for i, j in zip(*window.traffic.nonzero(), strict=True):
            rest = split.rest[0 if group_of[i] == group_of[j] >= 0 else 1]
            cost += window.traffic[i, j] * rest[local[i], local[j]]
        assert cost == pytest.approx(window.cost(local), rel=1e-9, abs=1e-9)


def spreads(window):
    """Return the standard deviation of what every task costs over all places of all tasks, one by one."""
    split, group_of = centre(window), window.group_of
    tasks, nodes = window.shape
    volumes, drawn = window.traffic.toarray(), []
    for local in itertools.product(range(nodes), repeat=tasks):
        costs = split.linear[np.arange(tasks), local].copy()
        for i, j in itertools.product(range(tasks), repeat=2):
            rest = split.rest[0 if group_of[i] == group_of[j] >= 0 else 1]
            costs[[i, j]] += volumes[i, j] * rest[local[i], local[j]]
        drawn.append(costs)
    return np.std(drawn, axis=0)


@pytest.mark.parametrize("groups", [[], [[0, 1, 2, 3]], [[0, 2], [1, 3]]], ids=["shared", "one", "levels"])
def test_spread_is_the_deviation_over_all_places(groups):
    """Tests asymmetric traffic both ways over asymmetric distances against complete enumeration."""
    rng = np.random.default_rng(3)
    traffic = rng.integers(0, 4, (4, 4)) * (1 - np.eye(4))
    window = window_of(traffic, distances(4), groups, rng.uniform(0.0, 5.0, (4, 4)))
    assert centre(window).spread == pytest.approx(spreads(window), rel=1e-9)


def test_spread_only_counts_allowed_nodes():
    """Tests a task that costs 1 or 5 or may not be there, and one that has no choice."""
    linear = np.array([[1.0, np.inf, 5.0], [np.inf, 2.0, np.inf]])
    split = centre(window_of(np.zeros((2, 2)), distances(3), linear=linear))
    assert split.spread.tolist() == [2.0, 0.0]
    assert split.linear.tolist() == linear.tolist()


def test_nodes_alike_leave_linear_costs_alone():
    """Tests that on a ring, where all nodes are equal, only the constant and the couplers change."""
    ring = np.abs(np.arange(5)[:, None] - np.arange(5))
    split = centre(window_of([[0, 2], [1, 0]], np.minimum(ring, 5 - ring), groups=[[0, 1]]))
    assert split.constant == pytest.approx(1.5 + 3 * 1.5)
    assert np.abs(split.linear).max() < 1e-12
    assert set(np.round(split.rest[0], 9).ravel().tolist()) == {-0.5, 0.0, 0.5}


@pytest.mark.parametrize("rule", RULES)
def test_the_window_is_left_as_it_was(rule, random_problem):
    """Tests that linear costs are not changed in place, and that a window without tasks is its constant."""
    problem = random_problem(rule, 2)
    window = fold(problem, whole(problem), problem.pins)
    before = window.linear.copy()
    centre(window)
    assert (window.linear == before).all()
    none = fold(problem, Block(tasks=problem.free[:0], nodes=problem.topology.hosts), np.zeros(6, int))
    assert centre(none).constant == none.constant
    assert centre(none).spread.shape == (0,)
