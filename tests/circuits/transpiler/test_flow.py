"""Tests of control flow on a device."""

import numpy as np
from qiskit import QuantumCircuit
from qiskit.converters import circuit_to_dag

from tiger.circuits.transpiler.flow import Blocks, count_cx, route_home, route_in_place
from tiger.circuits.transpiler.model import model_of
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.gate_dag import GateDag
from tiger.routing.route import Route
from tiger.routing.swaps.shortest import route_shortest_paths

LINE = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])


def shortest(gate_dag: GateDag, fixed: IndexArray) -> Route:
    """Route along shortest paths on the line."""
    free = np.setdiff1d(np.arange(4), fixed)
    return route_shortest_paths(gate_dag, LINE, np.concatenate([fixed, free]).astype(np.int32))


def on_line(circuit: QuantumCircuit, places: list[int]) -> tuple[list[list[tuple[str, list[int]]]], list[int]]:
    """Route the only operation of a circuit; return what its blocks do to which device qubits, and those it is on."""
    flow, touched = Blocks(coupling=LINE, commute=True, router=shortest)(circuit.data[0].operation, places)
    blocks = [[(g.name, [touched[b.find_bit(q).index] for q in g.qubits]) for g in b.data] for b in flow.blocks]
    return blocks, touched


def test_a_block_returns_its_qubits() -> None:
    """A gate over three hops takes two SWAPs there and two back, on two more device qubits."""
    circuit = QuantumCircuit(2)
    with circuit.box():
        circuit.cx(0, 1)
    blocks, touched = on_line(circuit, [0, 3])
    there = [("swap", [0, 1]), ("swap", [1, 2])]
    assert blocks == [[*there, ("cx", [2, 3]), *there[::-1]]]
    assert touched == [0, 3, 1, 2]


def test_a_block_that_fits_stays_as_narrow() -> None:
    """Adjacent gates need no other qubit."""
    circuit = QuantumCircuit(2)
    with circuit.for_loop(range(3)):
        circuit.cx(0, 1)
        circuit.h(1)
    assert on_line(circuit, [2, 1]) == ([[("cx", [2, 1]), ("h", [1])]], [2, 1])


def test_blocks_within_blocks_are_routed() -> None:
    """The inner block widens the outer one."""
    circuit = QuantumCircuit(2, 1)
    with circuit.if_test((circuit.clbits[0], 1)), circuit.box():
        circuit.cx(0, 1)
    assert on_line(circuit, [0, 2]) == ([[("box", [0, 2, 1])]], [0, 2, 1])


def test_homed_takes_the_shorter_way_back() -> None:
    """SWAPs that undo each other cost nothing on the way back."""
    steps = np.array([[-1, 1], [-2, 2], [-2, 2], [-1, 1], [-1, 1]], np.int32)
    route = route_home(Route(start=np.arange(4, dtype=np.int32), steps=steps), LINE)
    assert route.end().tolist() == [0, 1, 2, 3]
    assert route.swaps == 6


def test_homed_leaves_alone_what_is_at_home() -> None:
    """Without SWAPs there is no way back."""
    route = Route(start=np.arange(4, dtype=np.int32), steps=np.array([[0, -1]], np.int32))
    assert route_home(route, LINE) is route


def test_in_place_finds_routes_without_swaps() -> None:
    """Adjacent pairs make a route with spare qubits in order, others none."""
    circuit = QuantumCircuit(2)
    circuit.cx(0, 1)
    gate_dag = model_of(circuit).gate_dag
    route = route_in_place(gate_dag, LINE, np.array([2, 1], np.int32))
    assert route is not None
    assert (route.start.tolist(), route.steps.tolist()) == ([2, 1, 0, 3], [[0, -1]])
    assert route_in_place(gate_dag, LINE, np.array([3, 1], np.int32)) is None


def test_weight_counts_into_blocks() -> None:
    """A SWAP is three CX, also inside."""
    circuit = QuantumCircuit(2)
    circuit.cx(0, 1)
    with circuit.box():
        circuit.swap(0, 1)
        circuit.cx(0, 1)
    assert count_cx(circuit_to_dag(circuit)) == 5
