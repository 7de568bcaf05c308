"""Fuzz the spreading bound against every mapping, costs added up as fractions."""

import itertools
import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, reject
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.bounds import capacity
from tiger.errors import InputError
from tiger.model.metrics import DenseMetric, GridMetric, Metric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology

pytestmark = pytest.mark.slow

# Either has 4,096 mappings; the second has regions that are divided twice.
SIZES = (6, 4), (12, 2)


def draw_mixed(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Draw numbers from 1e-9 to 1e12, or all of one size."""
    spread = rng.choice([0.0, 1.0, 9.0])
    return 10.0 ** np.clip(rng.normal(0, spread, shape), -9, 12) * rng.integers(1, 4, shape)


def hardware(rng: np.random.Generator, nodes: int) -> Metric:
    """Draw distances between nodes: of a grid, a torus, a tree, or any, one way other than back or infinite."""
    kind = rng.integers(4)
    if kind == 0:
        return GridMetric((2, nodes // 2), (False, True), float(draw_mixed(rng, (1,))[0]))
    if kind == 1:
        return GridMetric((nodes,), (bool(rng.integers(2)),), float(draw_mixed(rng, (1,))[0]))
    if kind == 2:
        return TreeMetric((2, nodes // 2), tuple(np.sort(draw_mixed(rng, (2,))).tolist()))
    table = draw_mixed(rng, (nodes, nodes)) * (rng.random((nodes, nodes)) < 0.9)
    table[rng.random((nodes, nodes)) < 0.1] = math.inf
    np.fill_diagonal(table, rng.choice([0.0, 1.0], nodes))
    return DenseMetric(table)


def draw_problem(seed: int, power: int) -> Problem:
    """Draw a problem under the capacity rule, with self-loops, memory, a pin, forbidden pairs and idle nodes."""
    rng = np.random.default_rng(seed)
    size, nodes = SIZES[rng.integers(2)]
    volumes = draw_mixed(rng, (size, size)) * (rng.random((size, size)) < rng.uniform(0.1, 0.9))
    volumes *= 2.0**power
    limited = bool(rng.integers(2))
    tasks = TaskGraph(
        names=tuple("abcdefghijkl"[:size]),
        traffic=sp.csr_array(volumes if rng.integers(2) else np.triu(volumes)),
        work=np.zeros(size),
        memory=rng.integers(0, 3, size) if limited else None,
    )
    topology = Topology(
        names=tuple("wxyz"[:nodes]),
        metric=hardware(rng, nodes),
        slots=rng.integers(0, 3 * size // nodes, nodes),
        memory=rng.integers(1, size, nodes) if limited else None,
    )
    pinned = {"a": "wxyz"[rng.integers(nodes)]} if rng.integers(2) else {}
    forbidden = {("b", "w"), ("c", "x")} if rng.integers(2) else set()
    return Problem(tasks=tasks, topology=topology, rule="capacity", pinned=pinned, forbidden=forbidden)


def optimum(problem: Problem) -> Fraction | None:
    """Return the cost of the cheapest of all mappings, None if none is feasible."""
    tasks, topology, edges = problem.tasks, problem.topology, problem.tasks.traffic.tocoo()
    node = np.arange(topology.size)
    away = topology.metric.between(node[:, None], node[None, :])
    ends = list(zip(edges.row.tolist(), edges.col.tolist(), edges.data.tolist(), strict=True))
    exact = {(p, q): Fraction(float(away[p, q])) for p in node for q in node if np.isfinite(away[p, q])}
    banned, best = set(map(tuple, problem.banned.tolist())), None
    need = np.zeros(tasks.size, int) if tasks.memory is None else tasks.memory
    room = np.full(topology.size, 99) if topology.memory is None else topology.memory
    for places in itertools.product(range(topology.size), repeat=tasks.size):
        held = np.bincount(places, minlength=topology.size) > topology.slots
        if held.any() or (np.bincount(places, need, minlength=topology.size) > room).any():
            continue
        if any(pin not in (-1, place) for pin, place in zip(problem.pins.tolist(), places, strict=True)):
            continue
        if banned & set(enumerate(places)) or any((places[u], places[v]) not in exact for u, v, _ in ends):
            continue
        cost = sum((Fraction(volume) * exact[places[u], places[v]] for u, v, volume in ends), Fraction(0))
        best = cost if best is None else min(best, cost)
    return best


@cases(quick=10, long=3000)
@given(
    seed=st.integers(0, 2**63 - 1),
    parts=st.sampled_from([1, 2, 3, capacity.PARTS]),
    power=st.sampled_from([0, 0, 0, -1060, -600, 300]),
)
def test_no_spreading_bound_exceeds_the_optimum(seed: int, parts: int, power: int) -> None:
    """Tests bound <= optimum in exact arithmetic, on weights from 1e-9 to 1e12, with regions of one task to all.

    Volumes are scaled by powers of two, down to where they have hardly a digit.
    """
    try:
        problem = draw_problem(seed, power)
    except InputError:
        # Hardware in parts and volumes of hardly a digit are refused together.
        reject()
    with patch.object(capacity, "PARTS", parts):
        bound = capacity.spreading_bound(problem)
    least = optimum(problem)
    assert bound >= 0
    assert least is None or Fraction(bound) <= least
