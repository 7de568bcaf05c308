"""Tests of routing along shortest paths."""

import numpy as np

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.swaps.shortest import route_shortest_paths

LINE = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])


def cx(*pairs: tuple[int, int]) -> GateDag:
    """Return the gate DAG of CX gates on four qubits."""
    return gate_dag_of(4, [Operation(pair, ("z", "x"), pair=True, bridge=True) for pair in pairs]).gate_dag


def test_adjacent_gates_cost_nothing() -> None:
    """A line of gates on a line needs no SWAP."""
    assert route_shortest_paths(cx((0, 1), (1, 2), (3, 2)), LINE, np.arange(4, dtype=np.int32)).swaps == 0


def test_a_gate_over_a_distance_costs_one_swap_less() -> None:
    """Qubits three hops apart need two SWAPs, which leave them together for the next gate."""
    found = route_shortest_paths(cx((0, 3), (3, 0)), LINE, np.arange(4, dtype=np.int32))
    assert found.steps.tolist() == [[-1, 1], [-2, 2], [0, -1], [1, -1]]
    assert found.end().tolist() == [2, 0, 1, 3]
