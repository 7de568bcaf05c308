"""Tests of the choice among routes and of the search for better ones."""

from dataclasses import replace
from itertools import chain, repeat

import numpy as np
import pytest

from tests.routing.noise.operations import list_operations
from tests.routing.noise.test_depth import build, cx, u
from tests.routing.replay import find_flaw
from tiger.routing.error_rates import Errors, Gate
from tiger.routing.gate_dag import Operation
from tiger.routing.noise import placement
from tiger.routing.noise.depth import count_depth
from tiger.routing.noise.objectives import DepthObjective, SuccessObjective
from tiger.routing.noise.placement import PlacementParams, Placer, relabel_best
from tiger.routing.noise.relabelling import RelabelParams
from tiger.routing.noise.success import compute_log_success
from tiger.routing.noise.walk import advance
from tiger.routing.swaps.shortest import route_shortest_paths

RING = [(k, (k + 1) % 6) for k in range(6)]
LIGHT = RelabelParams(visits=500, rounds=3)
PARAMS = PlacementParams(drafts=5, searchers=4, scouts=15, trials=20, patience=10, relabel=LIGHT, touch=LIGHT)


def device(seed, pairs=RING, size=6):
    """Return a device with random errors and durations."""
    rng = np.random.default_rng(seed)
    gates = [Gate(a, b, rng.random() / 9, 1.0) for a, b in pairs]
    return Errors.of(gates, np.full(size, 1e-3), rng.random(size) / 9, np.full(size, 0.1), rng.random(size) / 99)


def circuit(seed, qubits=4):
    """Return a random circuit."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(qubits, 2, replace=False).tolist() for _ in range(8)]
    return build(qubits, *[step for a, b in pairs for step in (u(a), cx(a, b))])


def routes_of(dag, coupling):
    """Return two simple routes."""
    return [route_shortest_paths(dag, coupling, np.roll(np.arange(6, dtype=np.int32), k)) for k in range(2)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_result_is_a_route_no_worse_than_any_known(seed):
    """Its loss is that of the formula, and the independent check finds nothing wrong."""
    errors, (dag, singles) = device(seed), circuit(seed)
    coupling = errors.coupling()
    known, objective = routes_of(dag, coupling), SuccessObjective(dag, singles, coupling, errors)
    found = Placer(dag, coupling, objective, PARAMS).find_best(known, seed, bool)
    assert find_flaw(dag, coupling, found) == ""
    assert objective.loss(found) <= min(map(objective.loss, known))
    assert objective.loss(found) == pytest.approx(-compute_log_success(list_operations(found, dag, singles), errors))


def test_the_depth_falls_too():
    """Layers count before CX gates."""
    (dag, singles), coupling = circuit(1), device(1).coupling()
    known, objective = routes_of(dag, coupling), DepthObjective(dag, singles, coupling)
    found = Placer(dag, coupling, objective, PARAMS).find_best(known, 0, bool)
    before, after = (count_depth(list_operations(route, dag, singles)) for route in (known[0], found))
    assert after < before
    assert objective.loss(found) == pytest.approx(after + 1e-6 * found.extra_cx)


def test_a_layout_that_is_given_stays():
    """The route improves from there on."""
    errors, (dag, singles) = device(5), circuit(5)
    coupling = errors.coupling()
    known, objective = routes_of(dag, coupling)[:1], SuccessObjective(dag, singles, coupling, errors)
    found = Placer(dag, coupling, objective, replace(PARAMS, pinned=True)).find_best(known, 0, bool)
    assert found.start[:4].tolist() == known[0].start[:4].tolist()
    assert find_flaw(dag, coupling, found) == ""
    assert objective.loss(found) < objective.loss(known[0])


def test_the_best_route_comes_first():
    """Relabelled routes are among those returned, and so is the best as it was."""
    errors, (dag, singles) = device(2), circuit(2)
    objective = SuccessObjective(dag, singles, errors.coupling(), errors)
    ranked = relabel_best(routes_of(dag, errors.coupling()), objective, PARAMS, 0, bool)
    losses = list(map(objective.loss, ranked))
    assert len(ranked) == 3
    assert losses == sorted(losses)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_route():
    """Nothing else is random."""
    errors, (dag, singles) = device(3), circuit(3)
    coupling = errors.coupling()
    placer = Placer(dag, coupling, SuccessObjective(dag, singles, coupling, errors), PARAMS)
    first, second = (placer.find_best(routes_of(dag, coupling), 5, bool) for _ in range(2))
    assert first.start.tolist() == second.start.tolist()
    assert first.steps.tolist() == second.steps.tolist()


def test_stop_ends_with_what_is_known():
    """At once, with the best route as it was."""
    errors, (dag, singles) = device(4), circuit(4)
    coupling = errors.coupling()
    known, objective = routes_of(dag, coupling), SuccessObjective(dag, singles, coupling, errors)
    found = Placer(dag, coupling, objective, PARAMS).find_best(known, 0, lambda: True)
    assert objective.loss(found) == min(map(objective.loss, known))


def test_bug_the_clock_was_looked_at_after_so_many_trials_however_long_each_took(monkeypatch):
    """Of a circuit of 3,000 gates they took half a second; now they are as many as its patience allows."""
    counts = []
    monkeypatch.setattr(
        placement, "advance", lambda walk, plan, count: (counts.append(count), advance(walk, plan, count))[1]
    )
    errors, (dag, singles) = device(4), circuit(4)
    coupling = errors.coupling()
    params = replace(PARAMS, patience=50)
    for work, most in ((10**9, 5), (1, 1)):
        counts.clear()
        placer = Placer(dag, coupling, DepthObjective(dag, singles, coupling), replace(params, work=work))
        placer.find_best(routes_of(dag, coupling), 0, bool)
        assert set(counts) == {most}


def test_qubits_stay_in_their_part_of_the_device():
    """Two qubits have gates in either part of a device of two."""
    pairs = [(0, 1), (1, 2), (3, 4), (4, 5)]
    errors = device(5, pairs)
    coupling, (dag, singles) = errors.coupling(), build(4, cx(0, 1), cx(2, 3), cx(1, 0))
    known = route_shortest_paths(dag, coupling, np.array([0, 2, 3, 5, 1, 4], np.int32))
    found = Placer(dag, coupling, SuccessObjective(dag, singles, coupling, errors), PARAMS).find_best([known], 0, bool)
    assert find_flaw(dag, coupling, found) == ""
    assert found.swaps == 0


def test_bug_qubits_that_meet_in_control_flow_alone_came_apart():
    """The other part of the device has a better pair, and nothing is known of what else the block needs there."""
    pairs, block = [(0, 1), (1, 2), (3, 4), (4, 5)], (Operation((1, 2), (None, None), inner=((1, 2),)), "if_else")
    errors = Errors.of([Gate(a, b, 0.01 if a == 4 else 0.1) for a, b in pairs], [0.0] * 6, [0.0] * 6)
    coupling, (dag, singles) = errors.coupling(), build(3, cx(0, 1), block)
    known = route_shortest_paths(dag, coupling, np.arange(6, dtype=np.int32))
    found = SuccessObjective(dag, singles, coupling, errors).relocate(known, LIGHT, 0, bool)
    assert len(set(coupling.part[found.start[:3]].tolist())) == 1


def test_a_perfect_device_has_edges_of_no_cost():
    """Lengths are 0 there, and the search still ends."""
    (dag, singles), errors = circuit(6), Errors.of([Gate(a, b, 0.0) for a, b in RING], [0.0] * 6, [0.0] * 6)
    coupling = errors.coupling()
    objective = SuccessObjective(dag, singles, coupling, errors)
    assert set(objective.lengths()[coupling.hops == 1]) == {0.0}
    found = Placer(dag, coupling, objective, PARAMS).find_best(routes_of(dag, coupling), 0, bool)
    assert objective.loss(found) == 0.0


def test_bug_a_device_without_pairs_has_no_lengths():
    """No number came of it, with a warning."""
    (dag, singles), errors = build(1, u(0)), Errors.of([], [0.2, 0.1], [0.0] * 2)
    coupling = errors.coupling()
    known = route_shortest_paths(dag, coupling, np.arange(2, dtype=np.int32))
    objective = SuccessObjective(dag, singles, coupling, errors)
    assert Placer(dag, coupling, objective, PARAMS).find_best([known], 0, bool).start.tolist() == [1, 0]


def test_longer_circuits_get_fewer_trials():
    """Beyond the work of a draft up to which there are as many as the parameters say."""
    params = PlacementParams(drafts=98, scouts=38, trials=78, patience=18, work=1_000)
    assert params.fit(1_000) == params
    fitted = params.fit(8_000)
    assert (fitted.drafts, fitted.scouts, fitted.trials, fitted.patience) == (25, 10, 20, 5)


def test_bug_the_first_draft_alone_said_how_many_there_are(monkeypatch):
    """It may take ten times the work of another, the middle of those drawn does not; and one more was drawn in vain."""
    errors, (dag, singles) = device(4), circuit(4)
    coupling = errors.coupling()
    params, works, drawn = replace(PARAMS, drafts=100, work=1_000), chain([100_000], repeat(10_000)), []

    def draw(_, walk, route, rng):
        walk.state.counters[0].work += next(works)
        drawn.append(rng)
        return route

    monkeypatch.setattr(Placer, "_draw_route", draw)
    placer = Placer(dag, coupling, DepthObjective(dag, singles, coupling), params)
    placer.find_best(routes_of(dag, coupling), 0, bool)
    assert len(drawn) == params.fit(10_000).drafts == 22
