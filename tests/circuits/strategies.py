"""Random circuits with control flow, devices to map them on, and a quick stand-in for the search."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import strategies as st
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
from qiskit.transpiler import CouplingMap

from tests.circuits.brief import shorten_levels
from tiger.circuits.incumbent import Mapped
from tiger.circuits.params import LayoutParams
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.embedding.parts import allot_parts
from tiger.routing.gate_dag import GateDag
from tiger.routing.noise.objectives import RouteObjective
from tiger.routing.route import Route
from tiger.routing.swaps.shortest import route_shortest_paths

BITS = 2
PAIRED: tuple[Callable[[QuantumCircuit, int, int], object], ...] = (
    lambda circuit, a, b: circuit.cx(a, b),
    lambda circuit, a, b: circuit.cx(b, a),
    lambda circuit, a, b: circuit.cz(a, b),
    lambda circuit, a, b: circuit.cp(0.3, a, b),
    lambda circuit, a, b: circuit.rxx(0.4, a, b),
    lambda circuit, a, b: circuit.swap(a, b),
)
SINGLE: tuple[Callable[[QuantumCircuit, int], object], ...] = (
    lambda circuit, a: circuit.h(a),
    lambda circuit, a: circuit.rz(0.2, a),
    lambda circuit, a: circuit.x(a),
    lambda circuit, a: circuit.u(0.0, 0.1, 0.2, a),
)


@st.composite
def gate_circuits(draw: st.DrawFn, *, qubits: int = 5, gates: int = 14) -> QuantumCircuit:
    """Draw a circuit of gates and barriers on 2 to `qubits` qubits."""
    width = draw(st.integers(2, qubits))
    circuit = QuantumCircuit(QuantumRegister(width, "v"))
    for _ in range(draw(st.integers(0, gates))):
        _add_gate(draw, circuit)
    return circuit


@st.composite
def flow_circuits(draw: st.DrawFn, *, qubits: int = 5, depth: int = 2) -> QuantumCircuit:
    """Draw a circuit of gates, barriers, measurements, resets and nested control flow."""
    width = draw(st.integers(2, qubits))
    circuit = QuantumCircuit(QuantumRegister(width, "v"), ClassicalRegister(BITS, "c"))
    _fill(draw, circuit, depth)
    return circuit


@st.composite
def devices(draw: st.DrawFn, width: int) -> CouplingMap:
    """Draw a line, a ring, a star or a line of directed edges that is wide enough."""
    size = width + draw(st.integers(0, 2))
    line = [(k, k + 1) for k in range(size - 1)]
    edges = {
        "line": line,
        "ring": [*line, (size - 1, 0)] if size > 2 else line,
        "star": [(0, k) for k in range(1, size)],
        "backwards": [(b, a) for a, b in line],
    }[draw(st.sampled_from(["line", "ring", "star", "backwards"]))]
    return CouplingMap([list(edge) for edge in edges])


def _fill(draw: st.DrawFn, circuit: QuantumCircuit, depth: int) -> None:
    """Append operations."""
    for _ in range(draw(st.integers(0, 7))):
        kind = draw(st.integers(0, 9))
        if kind == 0:
            circuit.measure(draw(st.integers(0, circuit.num_qubits - 1)), draw(st.integers(0, BITS - 1)))
        elif kind == 1:
            circuit.reset(draw(st.integers(0, circuit.num_qubits - 1)))
        elif kind <= 4 and depth:
            _add_flow(draw, circuit, depth)
        else:
            _add_gate(draw, circuit)


def _add_gate(draw: st.DrawFn, circuit: QuantumCircuit) -> None:
    """Append a gate or a barrier."""
    a, b = draw(st.permutations(range(circuit.num_qubits)))[:2]
    kind = draw(st.integers(0, 9))
    if kind == 0:
        circuit.barrier(a, b)
    elif kind <= 3:
        draw(st.sampled_from(SINGLE))(circuit, a)
    else:
        draw(st.sampled_from(PAIRED))(circuit, a, b)


def _add_flow(draw: st.DrawFn, circuit: QuantumCircuit, depth: int) -> None:
    """Append control flow on some of the qubits."""
    bit = circuit.clbits[draw(st.integers(0, BITS - 1))]
    qubits = draw(st.permutations(range(circuit.num_qubits)))[: draw(st.integers(2, circuit.num_qubits))]
    bodies = [QuantumCircuit(len(qubits)) for _ in range(2)]
    for body in bodies:
        body.add_register(*circuit.cregs)
        _fill(draw, body, depth - 1)
    kind = draw(st.integers(0, 4))
    clbits = circuit.clbits
    if kind == 0:
        circuit.if_else((bit, 1), bodies[0], bodies[1], qubits, clbits)
    elif kind == 1:
        circuit.for_loop(range(2), None, bodies[0], qubits, clbits)
    elif kind == 2:
        circuit.while_loop((bit, 0), bodies[0], qubits, clbits)
    elif kind == 3:
        circuit.switch(circuit.cregs[0], [(0, bodies[0]), (1, bodies[1])], qubits, clbits)
    else:
        circuit.box(bodies[0], qubits, clbits)


def quick(
    dag: GateDag,
    coupling: Coupling,
    params: LayoutParams,
    *,
    fixed: IndexArray | None = None,
    known: tuple[Route, ...] = (),
    below: tuple[Route, ...] = (),
    objective: RouteObjective | None = None,
) -> Mapped:
    """Map along shortest paths, in place of the search: the tests that use it are about what is around it."""
    start = allot_parts(dag, coupling, fixed).start
    routes = (*known, route_shortest_paths(dag, coupling, start))
    return Mapped(route=min(routes, key=lambda route: route.extra_cx))


@contextmanager
def quick_search() -> Iterator[None]:
    """Put `quick` in the place of the search for a while, reroute few windows, and try few layouts for SABRE."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_levels(patch, 20_000)
        patch.setattr("tiger.circuits.transpiler.mapping.map_circuit", quick)
        patch.setattr("tiger.circuits.transpiler.sabre_layout.GATES", (0, 0, 60, 120))
        yield
