"""Small circuits on small devices of any shape: nothing panics or crashes, and the routed circuit is the same one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qiskit import QuantumCircuit, transpile
from qiskit.transpiler import CouplingMap, TranspilerError

import tiger
from tests.fuzz.profile import cases
from tests.fuzz.unitaries import same

LEVELS, OBJECTIVES, METHODS = st.integers(0, 3), st.sampled_from(["cx", "depth"]), st.sampled_from(["tiger", "sabre"])


@st.composite
def devices(draw: st.DrawFn) -> CouplingMap:
    """Draw a device of 1 to 6 qubits, in parts or not, with edges in one direction or both."""
    size, device = draw(st.integers(1, 6)), CouplingMap()
    for qubit in range(size):
        device.add_physical_qubit(qubit)
    line = [(k, k + 1) for k in range(size - 1)] if draw(st.booleans()) else []
    pairs = [(a, b) for a in range(size) for b in range(size) if a != b]
    for a, b in dict.fromkeys([*line, *draw(st.lists(st.sampled_from(pairs or [(0, 0)]), max_size=5))]):
        if a != b:
            device.add_edge(a, b)
    return device


@st.composite
def circuits(draw: st.DrawFn) -> QuantumCircuit:
    """Draw a circuit of gates and barriers on 1 to 6 qubits, some of them idle."""
    circuit = QuantumCircuit(draw(st.integers(1, 6)))
    for _ in range(draw(st.integers(1, 10))):
        places = draw(st.permutations(range(circuit.num_qubits)))
        kind = draw(st.sampled_from(["h", "t", "rx", "cx", "cx", "cz", "rzz", "swap", "barrier"]))
        if kind == "barrier":
            circuit.barrier(*places[: draw(st.integers(1, len(places)))])
        elif kind in ("h", "t", "rx"):
            getattr(circuit, kind)(*([0.3] if kind == "rx" else []), places[0])
        elif len(places) > 1:
            getattr(circuit, kind)(*([0.7] if kind == "rzz" else []), *places[:2])
    return circuit


def on_edges(routed: QuantumCircuit, device: CouplingMap) -> bool:
    """Return whether all gates on two qubits are on edges, in either direction."""
    edges = {frozenset(edge) for edge in device.get_edges()}
    pairs = (each.qubits for each in routed.data if len(each.qubits) == 2 and not each.is_directive())
    return all(frozenset(routed.find_bit(qubit).index for qubit in pair) in edges for pair in pairs)


def fits(circuit: QuantumCircuit, device: CouplingMap) -> bool:
    """Return whether a device is sure to hold a circuit, as one that is connected and wide enough."""
    return circuit.num_qubits <= device.size() and device.is_connected()


@pytest.mark.slow
@cases(quick=4, long=1000)
@given(circuit=circuits(), device=devices(), level=LEVELS, objective=OBJECTIVES, seed=st.integers(0, 9))
def test_a_layout_is_the_circuit(
    circuit: QuantumCircuit, device: CouplingMap, level: int, objective: str, seed: int
) -> None:
    """Or there is none, on a device that is too small or in parts."""
    if not circuit.data:
        return
    report = tiger.layout(circuit, device, level=level, objective=objective, seed=seed)
    assert report.feasible or not fits(circuit, device)
    if report.feasible:
        width = range(circuit.num_qubits)
        start, end = ([places[k] for k in width] for places in (report.initial_layout, report.final_layout))
        assert on_edges(report.circuit, device)
        assert same(circuit, report.circuit, start, end)


@pytest.mark.slow
@cases(quick=8, long=1000)
@given(circuit=circuits(), device=devices(), level=LEVELS, routing=METHODS)
def test_a_transpiled_circuit_is_the_circuit(
    circuit: QuantumCircuit, device: CouplingMap, level: int, routing: str
) -> None:
    """As the plugin lays it out, with either routing."""
    options = {"layout_method": "tiger", "routing_method": routing, "optimization_level": level, "seed_transpiler": 1}
    try:
        routed = transpile(circuit, coupling_map=device, **options)
    except TranspilerError:
        assert not fits(circuit, device)
        return
    layout = routed.layout
    start, end = (
        range(circuit.num_qubits) if layout is None else getattr(layout, f"{which}_index_layout")(filter_ancillas=True)
        for which in ("initial", "final")
    )
    assert on_edges(routed, device)
    assert same(circuit, routed, list(start), list(end))
