"""Circuits through the plugins and `tiger.layout`, against Qiskit's own result and operators."""

from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import Measure, Parameter
from qiskit.circuit.library import CXGate, CZGate, ECRGate, QFTGate, RZGate, RZZGate, SXGate, UGate, XGate, iSwapGate
from qiskit.quantum_info import Clifford, Operator
from qiskit.transpiler import CouplingMap, InstructionProperties, PassManager, Target, generate_preset_pass_manager

import tiger
from tests.fuzz.profile import LONG, cases

TOLERANCE = 1e-6
# A search of levels 2 and 3 takes seconds.
LEVELS = (0, 1, 1, 1, 2, 2, 3) if LONG else (0, 1, 1, 1)
PAIRS = {"cx": CXGate(), "cz": CZGate(), "ecr": ECRGate(), "iswap": iSwapGate(), "rzz": RZZGate(Parameter("t"))}
STAGES = (("tiger", "tiger"), ("tiger", None), (None, "tiger"), ("tiger", "basic"), ("trivial", "tiger"))


class Asked(NamedTuple):
    """Hold what is asked of the plugins."""

    circuit: QuantumCircuit
    target: Target
    level: int
    seed: int
    stages: tuple[str | None, str | None]
    start: list[int] | None


@st.composite
def couplings(draw: st.DrawFn, width: int, spare: int = 2) -> list[tuple[int, int]]:
    """Draw the edges of a connected device, each in a direction."""
    size = max(2, width + draw(st.integers(0, spare)))
    edges = {(draw(st.integers(max(0, k - 2), k - 1)), k) for k in range(1, size)}
    edges |= {tuple(sorted(draw(st.permutations(range(size)))[:2])) for _ in range(draw(st.integers(0, 3)))}
    return [edge if draw(st.booleans()) else edge[::-1] for edge in sorted(edges)]


@st.composite
def circuits(draw: st.DrawFn, width: int, gates: int, *, clifford: bool = False) -> QuantumCircuit:
    """Draw a circuit with a rotation on every qubit in front."""
    circuit, rng = QuantumCircuit(width), np.random.default_rng(draw(st.integers(0, 2**20)))
    for _ in range(draw(st.integers(1, gates))):
        a, b = rng.choice(width, 2, replace=False).tolist()
        kind = str(rng.choice(["cx", "cx", "cx", "cz", "swap", "one", "one"] + ["cp", "rzz", "cx"] * (not clifford)))
        if kind in ("cp", "rzz"):
            getattr(circuit, kind)(float(rng.uniform(-3, 3)), a, b)
        elif kind != "one":
            getattr(circuit, kind)(a, b)
        elif clifford:
            getattr(circuit, str(rng.choice(["h", "s", "x"])))(a)
        else:
            circuit.u(*rng.uniform(-3, 3, 3).tolist(), a)
    return circuit


def fourier(width: int) -> QuantumCircuit:
    """Return a Fourier transform, whose gates and SWAPs on the same pair are fused."""
    circuit = QuantumCircuit(width)
    circuit.append(QFTGate(width), range(width))
    return circuit


@st.composite
def targets(draw: st.DrawFn, width: int) -> Target:
    """Draw a device: one two-qubit gate or several, one way or both, with and without error rates."""
    edges = draw(couplings(width))
    names = draw(st.sampled_from([["cx"], ["cz"], ["ecr"], ["iswap"], ["cx", "cz"], ["cz", "rzz"], ["cx", "ecr"]]))
    # Qiskit turns no iSWAP round, nor a gate where the other way has another one.
    both, rated = draw(st.booleans()) or names[-1] == "iswap" or len(names) > 1, draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 99)))

    def rate(scale: float) -> InstructionProperties | None:
        return InstructionProperties(error=float(scale * rng.uniform(0.1, 1))) if rated else None

    size = 1 + max(max(edge) for edge in edges)
    target = Target(num_qubits=size)
    for gate in (UGate(*map(Parameter, "abc")), RZGate(Parameter("p")), SXGate(), XGate(), Measure()):
        target.add_instruction(gate, {(k,): rate(1e-3) for k in range(size)})
    own = [names[int(rng.integers(len(names)))] for _ in edges] if draw(st.booleans()) else None
    for name in names:
        kept = [edge for k, edge in enumerate(edges) if own is None or own[k] == name]
        ways = kept + [edge[::-1] for edge in kept] * both
        if ways:
            target.add_instruction(PAIRS[name], {way: rate(1e-2) for way in ways})
    return target


@st.composite
def questions(draw: st.DrawFn) -> Asked:
    """Draw a circuit, a device that holds it, and the stages that map it."""
    width = draw(st.sampled_from([2, 3, 3, 4, 4, 5, 5, 6, 7]))
    target = draw(targets(width))
    stages, start = draw(st.sampled_from(STAGES)), None
    if stages[1] == "tiger" and draw(st.integers(0, 4)) == 0:
        start = draw(st.permutations(range(target.num_qubits)))[:width]
    circuit = draw(st.one_of(circuits(width, 30), st.just(fourier(width))))
    return Asked(circuit, target, draw(st.sampled_from(LEVELS)), draw(st.integers(0, 99)), stages, start)


@cases(quick=8, long=1_000)
@given(questions())
def test_the_plugins_never_end_with_more_than_qiskit(asked: Asked) -> None:
    """The circuit is the same, on the device's own gates, and has no more two-qubit gates from level 1 on."""
    layout, routing = asked.stages
    ours = _whole(asked, layout, routing)
    theirs = _whole(asked, *(None if method == "tiger" else method for method in asked.stages))
    assert _equal(asked.circuit, ours)
    assert _native(ours, asked.target)
    if asked.start is not None:
        assert ours.layout.initial_index_layout(filter_ancillas=True) == asked.start
    if asked.level > 0:
        assert _two_qubit_gates(ours) <= _two_qubit_gates(theirs)


@st.composite
def wide_questions(draw: st.DrawFn) -> tuple[QuantumCircuit, list[tuple[int, int]], int, int]:
    """Draw a Clifford circuit of up to 20 qubits, a device, a level and a seed."""
    width = draw(st.sampled_from([2, 3, 4, 5, 6, 7, 8, 12, 20]))
    level = draw(st.sampled_from(LEVELS))
    return draw(circuits(width, 40, clifford=True)), draw(couplings(width)), level, draw(st.integers(0, 99))


@cases(quick=6, long=1_000)
@given(wide_questions())
def test_layout_never_adds_more_than_qiskit(asked: tuple[QuantumCircuit, list[tuple[int, int]], int, int]) -> None:
    """The routed circuit is the same Clifford, on the edges, with no more extra CX from level 1 on."""
    circuit, edges, level, seed = asked
    report = tiger.layout(circuit, edges, level=level, seed=seed)
    routed = report.circuit
    assert routed is not None
    assert {frozenset(pair) for pair in _pairs(routed)} <= {frozenset(edge) for edge in edges}
    start, end = ([at[k] for k in range(circuit.num_qubits)] for at in (report.initial_layout, report.final_layout))
    assert _same_clifford(circuit, routed, start, end)
    if level > 0:
        assert report.extra_cx <= report.baseline_extra_cx
        assert report.extra_cx <= _extra_cx(circuit, edges, level, seed)


def _whole(asked: Asked, layout: str | None, routing: str | None) -> QuantumCircuit:
    """Run the whole transpiler."""
    return transpile(asked.circuit, target=asked.target, optimization_level=asked.level, seed_transpiler=asked.seed,
                     layout_method=layout, routing_method=routing, initial_layout=asked.start)  # fmt: skip


def _equal(circuit: QuantumCircuit, compiled: QuantumCircuit) -> bool:
    """Compare unitaries up to a phase, with the layout undone."""
    wide = QuantumCircuit(compiled.num_qubits).compose(circuit, range(circuit.num_qubits))
    overlap = np.vdot(Operator(wide).data, Operator.from_circuit(compiled).data) / 2**compiled.num_qubits
    return bool(abs(overlap) > 1 - TOLERANCE)


def _pairs(circuit: QuantumCircuit) -> set[tuple[int, ...]]:
    """Return the pairs of qubits that meet."""
    places = [tuple(circuit.find_bit(q).index for q in gate.qubits) for gate in circuit.data]
    return {pair for pair in places if len(pair) == 2}


def _native(circuit: QuantumCircuit, target: Target) -> bool:
    """Return whether a device has all gates of a circuit where they stand."""
    return all(
        target.instruction_supported(gate.name, tuple(circuit.find_bit(q).index for q in gate.qubits))
        for gate in circuit.data
    )


def _two_qubit_gates(circuit: QuantumCircuit) -> int:
    """Count the gates on two qubits."""
    return sum(len(gate.qubits) == 2 for gate in circuit.data)


def _same_clifford(circuit: QuantumCircuit, routed: QuantumCircuit, start: list[int], end: list[int]) -> bool:
    """Compare what both make of the Pauli operators on every qubit of the circuit, which the routed one moves."""
    small, large, size = Clifford(circuit), Clifford(routed), routed.num_qubits
    rows, columns = ([*places, *(size + k for k in places)] for places in (start, end))
    images, own = large.symplectic_matrix[rows][:, columns], small.symplectic_matrix
    idle = np.delete(large.symplectic_matrix[rows], columns, axis=1)
    return bool((images == own).all() and not idle.any() and (large.phase[rows] == small.phase).all())


def _extra_cx(circuit: QuantumCircuit, edges: list[tuple[int, int]], level: int, seed: int) -> int:
    """Return three for every SWAP that Qiskit's layout and routing stages add."""
    device = CouplingMap([*edges, *(edge[::-1] for edge in edges)])
    target = Target.from_configuration(sorted({*circuit.count_ops(), "cx", "u", "swap"}), device.size(), device)
    preset = generate_preset_pass_manager(optimization_level=level, target=target, seed_transpiler=seed)
    routed = PassManager([*preset.layout.to_flow_controller().tasks, *preset.routing.to_flow_controller().tasks]).run(
        circuit
    )
    return 3 * (routed.count_ops().get("swap", 0) - circuit.count_ops().get("swap", 0))
