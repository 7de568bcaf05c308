"""Tests of the static layout as an Ising problem."""

import warnings
from itertools import permutations

import dimod
import numpy as np
import pytest

from tiger.model.window import fold, whole
from tiger.objectives.cost import cost_of
from tiger.qubo.encode import encode
from tiger.qubo.penalties import safe_penalties
from tiger.routing.coupling import Coupling
from tiger.routing.error_rates import Errors, Gate
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.ising.movement import count_movement, list_static_visits
from tiger.routing.ising.static import Losses, StaticParams, build_static_layout, compute_gate_losses, losses_of

LINE = Coupling.of(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
GRID = Coupling.of(6, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)])
APART = Coupling.of(5, [(0, 1), (2, 3), (3, 4)])


def cx(qubits: int, *pairs: tuple[int, int]) -> GateDag:
    """Return the gate DAG of CX gates."""
    return gate_dag_of(qubits, [Operation(pair, ("z", "x"), pair=True, bridge=True) for pair in pairs]).gate_dag


STAR = cx(4, (0, 1), (0, 2), (0, 3), (1, 2), (0, 3))


def test_the_cost_is_the_movement_of_data() -> None:
    """Without decay the cost of any layout is the sum of hops - 1 over the gates."""
    layout = build_static_layout(STAR, LINE, StaticParams())
    for places in list(permutations(range(5), 4))[::7]:
        place = layout.place(np.array(places))
        assert cost_of(layout.problem, np.array(places)).total == count_movement(list_static_visits(STAR, place), LINE)


def test_the_energy_of_a_feasible_sample_is_the_cost() -> None:
    """The QUBO of the core has the cost of a layout as its energy, decay included."""
    problem = build_static_layout(STAR, LINE, StaticParams(half=2.0)).problem
    window = fold(problem, whole(problem), np.arange(4))
    qubo, places = encode(window), np.array([2, 1, 4, 3])
    model = qubo.bqm(safe_penalties(window))
    energy = model.energy(dict(enumerate(qubo.sample(places).tolist())))
    assert energy == pytest.approx(cost_of(problem, places).total, abs=1e-9)


@pytest.mark.slow
def test_the_ground_state_is_the_best_layout() -> None:
    """At the safe penalties the lowest of all energies is that of the best of all layouts."""
    line = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])
    problem = build_static_layout(STAR, line, StaticParams()).problem
    window = fold(problem, whole(problem), np.arange(4))
    model = encode(window).bqm(safe_penalties(window))
    best = min(cost_of(problem, np.array(order)).total for order in permutations(range(4)))
    assert dimod.ExactSolver().sample(model).first.energy == pytest.approx(best, abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("solver", ["auto", "neal", "tabu", "exact"])
def test_solvers_find_the_best_layout(solver: str) -> None:
    """A star with a rim on a line of five costs at least what exhaustion finds."""
    layout = build_static_layout(STAR, LINE, StaticParams())
    place = layout.solve(solver, seed=1)
    best = min(cost_of(layout.problem, np.array(order)).total for order in permutations(range(5), 4))
    assert place is not None
    assert count_movement(list_static_visits(STAR, place), LINE) == best


def test_a_mock_qpu_places_qubits() -> None:
    """Any Ocean sampler will do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from dwave.system.testing import MockDWaveSampler
    from tiger.solvers.samplers.dwave import QpuSampler

    sampler = QpuSampler(MockDWaveSampler(topology_type="pegasus", topology_shape=[4]))
    place = build_static_layout(STAR, LINE, StaticParams()).solve(sampler, seed=1)
    assert place is not None
    assert sorted(place.tolist()) == [0, 1, 2, 3, 4]


def test_an_embedding_costs_nothing() -> None:
    """A ring of six fits a grid of two by three."""
    ring = cx(6, (0, 3), (3, 1), (1, 5), (5, 2), (2, 4), (4, 0))
    place = build_static_layout(ring, GRID, StaticParams()).solve("auto", seed=0)
    assert place is not None
    assert count_movement(list_static_visits(ring, place), GRID) == 0


def test_settled_qubits_stay() -> None:
    """Qubits with and without gates keep their places, and nothing else goes there."""
    circuit = cx(5, (0, 1), (1, 2))
    params = StaticParams(fixed=np.array([4, -1, -1, 3, -1], np.int32))
    place = build_static_layout(circuit, LINE, params).solve("auto", seed=0)
    assert place is not None
    assert (place[0], place[3]) == (4, 3)
    assert sorted(place.tolist()) == [0, 1, 2, 3, 4]


def test_closed_device_qubits_take_spare_qubits_alone() -> None:
    """The middle of the line holds no qubit with gates."""
    place = build_static_layout(cx(2, (0, 1)), LINE, StaticParams(closed=(1, 2, 3))).solve("auto", seed=0)
    assert place is not None
    assert set(place[:2].tolist()) == {0, 4}


def test_components_go_into_parts_of_the_device() -> None:
    """Three qubits go where there is room for three."""
    place = build_static_layout(cx(5, (0, 1), (1, 4), (2, 3)), APART, StaticParams()).solve("auto", seed=0)
    assert place is not None
    assert set(place[[0, 1, 4]].tolist()) == {2, 3, 4}


def test_a_component_without_room_has_no_layout() -> None:
    """Four qubits in one piece fit no part."""
    assert build_static_layout(cx(4, (0, 1), (1, 2), (2, 3)), APART, StaticParams()).solve("auto", seed=0) is None


def test_a_circuit_without_gates_gets_a_layout() -> None:
    """Any layout will do."""
    place = build_static_layout(cx(2), LINE, StaticParams()).solve("auto", seed=0)
    assert place is not None
    assert sorted(place.tolist()) == [0, 1, 2, 3, 4]


def test_losses_follow_the_best_path() -> None:
    """On a line of three with losses 1 and 2 the far pair loses a SWAP over the first edge, then the second."""
    line = Coupling.of(3, [(0, 1), (1, 2)])
    assert compute_gate_losses(line, np.array([1.0, 2.0])).tolist() == [[0, 1, 5], [1, 0, 2], [5, 2, 0]]


def test_qubits_avoid_what_fails_often() -> None:
    """Two qubits go on the one good edge, the one with more gates of its own on its better end."""
    losses = Losses(np.array([9.0, 0.1, 9.0, 9.0]), np.array([0, 0.5, 0.2, 0, 0]), np.array([1.0, 3.0]))
    place = build_static_layout(cx(2, (0, 1)), LINE, StaticParams(losses=losses)).solve("auto", seed=0)
    assert place is not None
    assert place[:2].tolist() == [1, 2]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_layout() -> None:
    """Layouts are deterministic."""
    layout = build_static_layout(STAR, GRID, StaticParams(half=3.0))
    first, second = (layout.solve("neal", seed=5) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.tolist() == second.tolist()


def test_losses_are_logarithms_of_fidelities() -> None:
    """A pair counts in its better direction, and readout once on a qubit of mean use."""
    line = Coupling.of(2, [(0, 1)])
    errors = Errors.of([Gate(0, 1, 0.5, alike=True), Gate(1, 0, 0.75, alike=True)], [0.0, 0.5], [0.5, 0.75])
    found = losses_of(errors, line, np.array([1.0, 3.0]))
    assert found.gate.tolist() == pytest.approx([np.log(2)])
    assert found.qubit.tolist() == pytest.approx([np.log(2) / 2, np.log(2) + np.log(4) / 2])
