"""Tests of the compiled search from route to route."""

import numpy as np
import pytest

from tests.routing.noise.test_placement import RING, circuit, device, routes_of
from tests.routing.replay import find_flaw
from tiger.routing.coupling import Coupling
from tiger.routing.noise import depth, objectives, walk
from tiger.routing.noise.objectives import DepthObjective, SuccessObjective
from tiger.routing.noise.walk import (
    BEST,
    PRESENT,
    TRIED,
    WalkPlan,
    advance,
    allocate_walk,
    follow,
    scale_hops,
    traverse,
)
from tiger.routing.swaps import frontier, lookahead, prices, rerouting, router

PLAN = WalkPlan(trials=40, patience=10, slack=0.05, more=3, pinned=False)


@pytest.fixture
def plain(monkeypatch):
    """Replace every kernel by its plain Python function."""
    for module in (depth, objectives, walk, frontier, lookahead, prices, rerouting, router):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


def begin(seed, kind=SuccessObjective):
    """Return a circuit, its device, an objective and a walk from a simple route."""
    errors, (dag, singles) = device(seed), circuit(seed)
    coupling = errors.coupling()
    objective = (
        DepthObjective(dag, singles, coupling) if kind is DepthObjective else kind(dag, singles, coupling, errors)
    )
    route = routes_of(dag, coupling)[0]
    own = allocate_walk(dag, coupling, objective, [route])
    own.put(route, objective.loss(route), seed)
    return dag, coupling, objective, own


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("kind", [SuccessObjective, DepthObjective])
def test_what_is_tried_is_a_route_of_the_circuit(kind, pinned, plain):
    """Whichever part is routed again; its loss is that of the objective, and the start stays where that is given."""
    dag, coupling, objective, own = begin(3, kind)
    seen, start = 0, own.get(PRESENT).start
    while own.counters[0].trial < PLAN.trials:
        if walk.advance(own, PLAN._replace(pinned=pinned), 1):
            tried = own.get(TRIED)
            assert find_flaw(dag, coupling, tried) == ""
            assert objective.loss(tried) == pytest.approx(own.counters[0].tried)
            assert own.counters[0].tried < own.counters[0].best
            assert not pinned or tried.start.tolist() == start.tolist()
            own.move(tried, objective.loss(tried))
            seen += 1
        assert find_flaw(dag, coupling, own.get(PRESENT)) == ""
    assert seen
    assert objective.loss(own.get(BEST)) == pytest.approx(own.counters[0].best)


def test_a_walk_goes_back_to_its_best_route():
    """After as many trials in vain as its patience; all that is worse was taken until then."""
    _, _, _, own = begin(0)
    own.counters[0].best = 0.0
    plan = PLAN._replace(slack=np.inf)
    best = own.get(BEST)
    assert not advance(own, plan, plan.patience)
    assert own.counters[0].vain == plan.patience
    assert not advance(own, plan, 1)
    assert own.counters[0].vain == 0
    assert own.get(PRESENT).steps.tolist() == best.steps.tolist()


@pytest.mark.parametrize("passes", [1, 5])
def test_a_fresh_route_starts_from_where_it_was_routed_to(passes, plain):
    """A single pass leaves the layout as it is."""
    dag, coupling, _, own = begin(4)
    start = np.array([3, 1, 5, 0, 2, 4], np.int32)
    assert walk.traverse(own, start, passes)
    assert find_flaw(dag, coupling, own.get(TRIED)) == ""
    assert (own.get(TRIED).start.tolist() == start.tolist()) == (passes == 1)


def test_a_route_without_room_is_none():
    """Nothing is written behind the end of the memory."""
    _, _, _, own = begin(1)
    short = own._replace(steps=own.steps[:, : own.length[PRESENT]].copy())
    short.length[:] = 2
    assert not traverse(short._replace(steps=short.steps[:, :2].copy()), short.start[PRESENT].copy(), 1)


def test_swaps_are_followed_to_the_cut():
    """To the end of a route they lead to its last mapping."""
    _, _, _, own = begin(2)
    route = own.get(PRESENT)
    assert walk.follow.py_func(own, len(route.steps)) == route.swaps + route.bridges
    assert own.cut.tolist() == route.end().tolist()
    follow.py_func(own, 0)
    assert own.cut.tolist() == route.start.tolist()


def test_distances_grow_with_what_edges_cost():
    """Neighbours stay at 1, and the router finds a nearer neighbour everywhere."""
    coupling = Coupling.of(6, RING)
    lengths = np.random.default_rng(0).random((6, 6)) * 9
    hops = scale_hops(coupling, lengths)
    for p in range(6):
        for q in range(6):
            assert (hops[p, q] == 1) == (coupling.hops[p, q] == 1)
            assert coupling.hops[p, q] < 2 or hops[coupling.neighbours[p], q].min() < hops[p, q]


@pytest.mark.parametrize("length", [0.0, 1.0, 9.0])
def test_bug_far_ends_of_a_long_line_were_equally_far(length):
    """The router looks for a nearer neighbour until it finds one."""
    size = 1_100
    coupling = Coupling.of(size, [(k, k + 1) for k in range(size - 1)])
    hops = scale_hops(coupling, np.full((size, size), length))
    assert (np.diff(hops[0]) > 0).all()
