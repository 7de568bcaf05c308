"""Tests of the movement of data."""

import numpy as np

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.ising.movement import DataMovement, count_movement, list_route_visits, list_static_visits
from tiger.routing.route import Route

LINE = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])
TRIVIAL = np.arange(4, dtype=np.int32)


def cx(*pairs: tuple[int, int]) -> GateDag:
    """Return the gate DAG of CX gates on four qubits."""
    return gate_dag_of(4, [Operation(pair, ("z", "x"), pair=True, bridge=True) for pair in pairs]).gate_dag


def test_a_fixed_layout_pays_distances() -> None:
    """Gates over three and one hops ask for two hops of movement."""
    assert count_movement(list_static_visits(cx((0, 3), (1, 2)), TRIVIAL), LINE) == 2


def test_a_route_pays_what_its_qubits_travel() -> None:
    """Qubit 0 travels two hops between its gates, and qubit 1 one hop out of its way."""
    route = Route(start=TRIVIAL, steps=np.array([[0, -1], [-1, 1], [-2, 2], [1, -1], [2, -1]], np.int32))
    assert list_route_visits(cx((0, 1), (0, 3), (1, 2)), route).tolist() == [[0, 1, 0, 1], [0, 3, 2, 3], [1, 2, 0, 1]]
    assert count_movement(list_route_visits(cx((0, 1), (0, 3), (1, 2)), route), LINE) == 3


def test_a_bridge_pays_its_distance() -> None:
    """A gate over a BRIDGE runs one hop apart."""
    route = Route(start=TRIVIAL, steps=np.array([[0, 1]], np.int32))
    assert count_movement(list_route_visits(cx((0, 2)), route), LINE) == 1


def test_qubits_stay_where_they_are_over_a_bridge() -> None:
    """Each BRIDGE is one gate between its far ends and counts 1, as does the hop that qubit 2 travels between them."""
    route = Route(start=TRIVIAL, steps=np.array([[0, 1], [1, -1], [-3, 3], [2, 2]], np.int32))
    visits = list_route_visits(cx((0, 2), (0, 1), (1, 2)), route)
    assert visits.tolist() == [[0, 2, 0, 2], [0, 1, 0, 1], [1, 2, 1, 3]]
    assert count_movement(visits, LINE) == 3


def test_parts_that_are_not_connected_have_no_movement() -> None:
    """A gate between two parts can't be paid for."""
    apart = Coupling.of(4, [(0, 1), (2, 3)])
    assert count_movement(list_static_visits(cx((0, 2)), TRIVIAL), apart) is None


def test_nothing_moves_without_gates() -> None:
    """An empty circuit moves nothing; nodes that only keep order are no gates."""
    barrier = gate_dag_of(4, [Operation((0, 1), (None, None))]).gate_dag
    route = Route(start=TRIVIAL, steps=np.array([[0, -1]], np.int32))
    assert count_movement(list_static_visits(barrier, TRIVIAL), LINE) == 0
    assert count_movement(list_route_visits(barrier, route), LINE) == 0


def test_figures_go_by_name() -> None:
    """A report has four of them."""
    found = DataMovement(trivial=9, static_qubo=4, levels=3, routed=None).to_dict()
    assert found == {"trivial": 9, "static_qubo": 4, "levels": 3, "routed": None}
