"""Tests of circuits whose fewest SWAPs are known."""

import pytest

import tiger
from benchmarks.optima import build_circuit
from tests.routing.brute_force import count_fewest
from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import Operation, gate_dag_of

# A ring, a square with a tail, and a ladder, of which none, one and two qubits have more neighbours than others.
RING = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
KITE = [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)]
LADDER = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("edges", "swaps"), [(RING, 1), (KITE, 0), (KITE, 1), (KITE, 2)])
def test_circuits_need_as_many_swaps_as_stated(edges: list[tuple[int, int]], swaps: int, seed: int) -> None:
    """By a search through all layouts, with BRIDGEs where these are possible."""
    circuit = build_circuit(edges, swaps, 30, seed)
    pairs = [[circuit.find_bit(q).index for q in each.qubits] for each in circuit.data if each.name == "cx"]
    steps = [Operation((a, b), (None, None), pair=True, bridge=True) for a, b in pairs]
    assert len(pairs) >= 30
    assert count_fewest(gate_dag_of(5, steps).gate_dag, Coupling.of(5, edges)) == swaps


@pytest.mark.slow
def test_known_optima_are_found_and_proved() -> None:
    """With gates enough that a layout is no longer easy to see."""
    circuit = build_circuit(LADDER, 3, 60, seed=0)
    report = tiger.layout(circuit, LADDER, level=3)
    assert (report.extra_cx, report.lower_bound, report.gap, report.optimal) == (9, 9, 0, True)
