"""Tests of relabelling against complete enumeration."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.routing.noise.operations import list_operations
from tests.routing.noise.test_depth import build, cx, route_of, u
from tests.routing.replay import find_flaw
from tiger.routing.coupling import Coupling
from tiger.routing.error_rates import Errors, Gate
from tiger.routing.gate_dag import Operation
from tiger.routing.noise import branching, relabelling
from tiger.routing.noise import depth as depths
from tiger.routing.noise.branching import DeviceCosts
from tiger.routing.noise.depth import costs_of, operations_of_gates, time_operations
from tiger.routing.noise.relabelling import RelabelParams, count_usage, find_best_places, relabel
from tiger.routing.route import PLAIN
from tiger.routing.swaps.shortest import route_shortest_paths

SHAPES = {
    "ring": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)],
    "ladder": [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)],
    "two parts": [(0, 1), (1, 2), (3, 4), (4, 5)],
}


@pytest.fixture
def plain(monkeypatch):
    """Replace every kernel by its plain Python function."""
    for module in (depths, branching, relabelling):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


def noisy(pairs, seed, seconds=0.0):
    """Return a device of six qubits with random errors."""
    rng = np.random.default_rng(seed)
    gates = [Gate(a, b, rng.random() / 5, seconds * rng.random()) for p, q in pairs for a, b in ((p, q), (q, p))]
    errors = Errors.of(gates, rng.random(6) / 9, rng.random(6) / 9, decay=rng.random(6) / 9)
    return DeviceCosts.of(Coupling.of(6, pairs), costs_of(errors))


def circuit(pairs, seed):
    """Return the operations of a routed random circuit of two or three qubits."""
    rng = np.random.default_rng(seed)
    steps = [step for _ in range(4) for a, b in [rng.choice(3, 2, replace=False).tolist()] for step in (u(a), cx(a, b))]
    dag, singles = build(3, *steps, (Operation((0,), (None,)), "measure"))
    start = np.array([0, 1, 2, 3, 4, 5], np.int32)
    return list_operations(route_shortest_paths(dag, Coupling.of(6, pairs), start), dag, singles)


def loss(operations, place, costs):
    """Return what operations lose at a place."""
    duration = time_operations(operations, np.array(place, np.int32), costs)
    return duration.loss + duration.idle


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from(sorted(SHAPES)), seconds=st.sampled_from([0.0, 1.0]))
def test_branch_and_bound_finds_the_best_of_all(seed, shape, seconds):
    """Compares with all 720 permutations, by errors and by waiting; those off the coupling map lose infinitely."""
    device_costs, operations = noisy(SHAPES[shape], seed, seconds), circuit(SHAPES[shape], seed)
    found = find_best_places(operations, device_costs, RelabelParams(), 0, bool)
    best = min(loss(operations, place, device_costs.costs) for place in permutations(range(6)))
    assert loss(operations, found, device_costs.costs) == pytest.approx(best)


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("visits", [0, 7])
def test_places_are_never_worse(shape, visits, plain):
    """With waiting times, few visits, and parts placed anew, a permutation is found that keeps all edges."""
    device_costs, operations = noisy(SHAPES[shape], 5, 1.0), circuit(SHAPES[shape], 6)
    params = RelabelParams(visits=visits, rounds=12, part=3, part_visits=9)
    place = find_best_places(operations, device_costs, params, 0, bool)
    assert sorted(place.tolist()) == list(range(6))
    assert loss(operations, place, device_costs.costs) <= loss(operations, range(6), device_costs.costs)


def test_a_waiting_qubit_goes_where_it_decays_least(plain):
    """The chain may lie either way round; its first qubit waits for a second."""
    gates = [Gate(0, 1, 0.0, 1.0), Gate(1, 2, 0.0, 1.0)]
    errors = Errors.of(gates, [0.0] * 3, [0.0] * 3, decay=[0.5, 0.0, 0.1])
    device_costs = DeviceCosts.of(errors.coupling(), costs_of(errors))
    operations = operations_of_gates([("cx", (0, 1)), ("cx", (1, 2)), ("cx", (1, 2)), ("cx", (0, 1))])
    assert find_best_places(operations, device_costs, RelabelParams(), 0, bool).tolist() == [2, 1, 0]


def test_waits_lead_where_not_all_places_can_be_looked_at(monkeypatch):
    """On a grid with more places for a tree of eight qubits than visits; without waits errors alone lead."""
    size, rng = 36, np.random.default_rng(0)
    pairs = [(a, b) for a in range(size) for b in (a + 1, a + 6) if b < size and (b == a + 6 or b % 6)]
    gates = [Gate(a, b, rng.random() / 99, 1.0) for a, b in pairs]
    errors = Errors.of(gates, rng.random(size) / 99, rng.random(size) / 99, decay=rng.random(size) / 9)
    device_costs = DeviceCosts.of(errors.coupling(), costs_of(errors))
    tree = [(14, 15), (15, 16), (15, 21), (21, 27), (14, 8), (27, 33), (16, 22)]
    operations = operations_of_gates([("cx", tree[k]) for k in rng.integers(0, len(tree), 30)])

    def find():
        params = RelabelParams(visits=1_000, rounds=0)
        return loss(operations, find_best_places(operations, device_costs, params, 0, bool), device_costs.costs)

    guided = find()
    monkeypatch.setattr(relabelling._RelabelSearch, "count_waits", lambda _: None)
    assert guided < 0.7 * find()


def test_bug_waits_were_counted_again_only_where_some_qubit_waited_before():
    """On a line none does but at its better end, where one waits for a gate that takes eight seconds more."""
    gates = [Gate(0, 1, 0.2, 1.0), Gate(1, 2, 0.2, 1.0), Gate(2, 3, 0.2, 1.0), Gate(3, 4, 0.0, 9.0)]
    errors = Errors.of(gates, [0.0] * 5, [0.0] * 5, decay=[1e-3] * 5)
    device_costs = DeviceCosts.of(errors.coupling(), costs_of(errors))
    operations = operations_of_gates([("cx", (0, 1)), ("cx", (2, 3)), ("cx", (1, 2))])
    search = relabelling._RelabelSearch(operations, device_costs, RelabelParams(), bool)
    search.count_waits()
    assert not search.usage.waits.any()
    assert search.place_all()
    assert sorted(search.usage.waits.tolist()) == [0, 0, 0, 0, 8]


def test_uses_are_counted_by_pair_and_qubit():
    """Each end lists a pair, gates by direction."""
    operations = operations_of_gates([("cx", (0, 1)), ("cx", (0, 1)), ("swap", (1, 0)), ("u", (2,)), ("measure", (2,))])
    found = count_usage(operations, 3)
    assert [found.first.tolist(), found.near.tolist()] == [[0, 1, 2, 2], [1, 0]]
    assert [found.there.tolist(), found.back.tolist(), found.swaps.tolist()] == [[2, 0], [0, 2], [1, 1]]
    assert [found.ones.tolist(), found.reads.tolist()] == [[0, 0, 1], [0, 0, 1]]


def test_faulty_qubits_are_left_alone():
    """A qubit that cannot be measured still carries gates where nothing is read."""
    gates = [Gate(0, 1, 0.1), Gate(1, 2, 0.2), Gate(2, 0, 0.3)]
    errors = Errors.of(gates, [0.0] * 3, [1.0, 0.0, 0.1])
    operations = operations_of_gates([("cx", (0, 1)), ("swap", (1, 2)), ("cx", (2, 0)), ("measure", (0,))])
    device_costs = DeviceCosts.of(errors.coupling(), costs_of(errors))
    place = find_best_places(operations, device_costs, RelabelParams(), 0, bool)
    assert place[0] != 0
    assert loss(operations, place, device_costs.costs) < loss(operations, range(3), device_costs.costs) == np.inf


def test_nothing_to_place_stays():
    """A circuit without operations uses no qubit."""
    device_costs = noisy(SHAPES["ring"], 0)
    assert find_best_places(np.empty((0, 3), np.int32), device_costs, RelabelParams(), 0, bool).tolist() == list(
        range(6)
    )


def test_stop_ends_early():
    """What was found until then is returned."""
    device_costs, operations = noisy(SHAPES["ladder"], 1, 1.0), circuit(SHAPES["ladder"], 1)
    place = find_best_places(operations, device_costs, RelabelParams(), 0, lambda: True)
    assert loss(operations, place, device_costs.costs) <= loss(operations, range(6), device_costs.costs)


def test_a_relabelled_route_is_one_of_the_same_circuit():
    """SWAPs, BRIDGEs and the start move along."""
    line = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])
    dag, _ = build(3, cx(0, 1), cx(0, 2))
    route = route_of([0, 1, 3, 2], (0, PLAIN), (-1, 1), (1, 2))
    moved = relabel(route, np.array([3, 2, 1, 0], np.int32))
    assert moved.start.tolist() == [3, 2, 0, 1]
    assert moved.steps.tolist() == [[0, PLAIN], [-4, 2], [1, 1]]
    assert find_flaw(dag, line, moved) == find_flaw(dag, line, route) == ""


def test_the_same_seed_gives_the_same_places():
    """Rounds are drawn from the seed alone."""
    device_costs, operations = noisy(SHAPES["ladder"], 3, 1.0), circuit(SHAPES["ladder"], 3)
    params = RelabelParams(visits=3)
    first, second = (find_best_places(operations, device_costs, params, 7, bool) for _ in range(2))
    assert first.tolist() == second.tolist()
