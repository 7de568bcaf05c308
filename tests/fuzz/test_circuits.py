"""Circuits through the plugins and `tiger.layout`, against Qiskit's own result and operators."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister, transpile
from qiskit.circuit import ForLoopOp, IfElseOp, Measure, Parameter, Reset, SwitchCaseOp
from qiskit.circuit.library import CXGate, CZGate, ECRGate, QFTGate, RZGate, RZZGate, SXGate, UGate, XGate, iSwapGate
from qiskit.quantum_info import Clifford, Operator
from qiskit.transpiler import CouplingMap, InstructionProperties, PassManager, Target, generate_preset_pass_manager

import tiger
from tests.fuzz.outcomes import outcomes
from tests.fuzz.profile import LONG, cases
from tests.fuzz.unitaries import same

TOLERANCE = 1e-6
# A search of levels 2 and 3 takes seconds.
LEVELS = (0, 1, 2, 3) if LONG else (0, 1)
PAIRS = {"cx": CXGate(), "cz": CZGate(), "ecr": ECRGate(), "iswap": iSwapGate(), "rzz": RZZGate(Parameter("t"))}
STAGES = (("tiger", "tiger"), ("tiger", None), (None, "tiger"), ("tiger", "basic"), ("trivial", "tiger"))
# Qiskit's basic routing takes no control flow.
FLOW_STAGES = tuple(stages for stages in STAGES if "basic" not in stages)
FLOWS = {"if_else": IfElseOp, "for_loop": ForLoopOp, "switch_case": SwitchCaseOp}
BITS, DEEPEST = 2, 2


class PluginCase(NamedTuple):
    """Hold what is asked of the plugins; `plain` says that they get a coupling map and a basis, not the target."""

    circuit: QuantumCircuit
    target: Target
    plain: bool
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
def questions(draw: st.DrawFn) -> PluginCase:
    """Draw a circuit, a device that holds it, and the stages that map it."""
    width = draw(st.sampled_from([2, 3, 3, 4, 4, 5, 5, 6, 7]))
    target = draw(targets(width))
    stages, start = draw(st.sampled_from(STAGES)), None
    if stages[1] == "tiger" and draw(st.integers(0, 4)) == 0:
        start = draw(st.permutations(range(target.num_qubits)))[:width]
    circuit = draw(st.one_of(circuits(width, 30), st.just(fourier(width))))
    target, plain = draw(descriptions(target))
    return PluginCase(circuit, target, plain, draw(st.integers(0, 99)), stages, start)


@st.composite
def descriptions(draw: st.DrawFn, target: Target) -> tuple[Target, bool]:
    """Draw whether a device is described by its target, or by a coupling map and a basis of all its edges."""
    if draw(st.integers(0, 2)):
        return target, False
    flows = {name: FLOWS[name] for name in FLOWS if name in target.operation_names}
    return Target.from_configuration(_basis(target), target.num_qubits, target.build_coupling_map(),
                                     custom_name_mapping=flows), True  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@cases(quick=4, long=300)
@given(asked=questions())
def test_the_plugins_never_end_with_more_than_qiskit(level: int, asked: PluginCase) -> None:
    """The circuit is the same, on the device's own gates, and has no more two-qubit gates from level 1 on."""
    layout, routing = asked.stages
    ours = _whole(asked, level, layout, routing)
    theirs = _whole(asked, level, *(None if method == "tiger" else method for method in asked.stages))
    assert _equal(asked.circuit, ours)
    assert _native(ours, asked.target)
    if asked.start is not None:
        assert ours.layout.initial_index_layout(filter_ancillas=True) == asked.start
    if level > 0:
        assert _two_qubit_gates(ours) <= _two_qubit_gates(theirs)


@st.composite
def flow_questions(draw: st.DrawFn) -> PluginCase:
    """Draw a circuit with measurements, resets and control flow, a device that holds it, and the stages that map it."""
    width = draw(st.sampled_from([2, 3, 3, 4]))
    target = draw(targets(width))
    target.add_instruction(Reset(), {(k,): None for k in range(target.num_qubits)})
    for name, flow in FLOWS.items():
        target.add_instruction(flow, name=name)
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    whole = QuantumCircuit(QuantumRegister(width), ClassicalRegister(BITS), ClassicalRegister(width))
    for qubit in range(width):
        _turn(whole, qubit, rng)
    _fill(whole, int(rng.integers(1, 9)), DEEPEST, rng)
    for qubit in range(width):
        _turn(whole, qubit, rng)
    whole.measure(range(width), range(BITS, BITS + width))
    target, plain = draw(descriptions(target))
    return PluginCase(whole, target, plain, draw(st.integers(0, 99)), draw(st.sampled_from(FLOW_STAGES)), None)


@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
@cases(quick=2, long=300)
@given(asked=flow_questions())
def test_the_plugins_keep_what_measurements_and_control_flow_leave(level: int, asked: PluginCase) -> None:
    """All that the classical bits may read is as likely, on the device's own gates, with no more than Qiskit's."""
    ours = _whole(asked, level, *asked.stages)
    theirs = _whole(asked, level, *(None if method == "tiger" else method for method in asked.stages))
    wanted, found = outcomes(asked.circuit), outcomes(ours)
    assert max(abs(wanted.get(bits, 0) - found.get(bits, 0)) for bits in {*wanted, *found}) < TOLERANCE
    assert _native(ours, asked.target)
    if level > 0:
        assert _two_qubit_gates(ours) <= _two_qubit_gates(theirs)


@st.composite
def wide_questions(draw: st.DrawFn) -> tuple[QuantumCircuit, list[tuple[int, int]], int]:
    """Draw a Clifford circuit of up to 20 qubits, a device and a seed."""
    width = draw(st.sampled_from([2, 3, 4, 5, 6, 7, 8, 12, 20]))
    return draw(circuits(width, 40, clifford=True)), draw(couplings(width)), draw(st.integers(0, 99))


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@cases(quick=3, long=200)
@given(asked=wide_questions())
def test_layout_never_adds_more_than_qiskit(
    level: int, asked: tuple[QuantumCircuit, list[tuple[int, int]], int]
) -> None:
    """The routed circuit is the same Clifford, on the edges, with no more extra CX from level 1 on."""
    circuit, edges, seed = asked
    report = tiger.layout(circuit, edges, level=level, seed=seed)
    routed = report.circuit
    assert routed is not None
    assert {frozenset(pair) for pair in _pairs(routed)} <= {frozenset(edge) for edge in edges}
    start, end = ([at[k] for k in range(circuit.num_qubits)] for at in (report.initial_layout, report.final_layout))
    assert _same_clifford(circuit, routed, start, end)
    if level > 0:
        assert report.extra_cx <= report.baseline_extra_cx
        assert report.extra_cx <= _extra_cx(circuit, edges, level, seed)


@st.composite
def stage_questions(draw: st.DrawFn) -> PluginCase:
    """Draw a circuit and a device that has the same gates on all edges, in both directions."""
    width = draw(st.sampled_from([2, 3, 3, 4, 4, 5, 5, 6, 7]))
    edges, name = draw(couplings(width)), draw(st.sampled_from(["cx", "cz", "ecr"]))
    both = CouplingMap([*edges, *(edge[::-1] for edge in edges)])
    target = Target.from_configuration([name, "u", "rz", "sx", "x"], both.size(), both)
    circuit = draw(st.one_of(circuits(width, 30), st.just(fourier(width))))
    return PluginCase(circuit, target, draw(st.booleans()), draw(st.integers(0, 99)), (None, None), None)


@pytest.mark.slow
@pytest.mark.parametrize("level", [level for level in LEVELS if level > 0])
@cases(quick=6, long=350)
@given(asked=stage_questions())
def test_layout_between_the_stages_never_ends_with_more_than_qiskit(level: int, asked: PluginCase) -> None:
    """The same circuit comes out, with no more two-qubit gates in the end than by Qiskit's layout and routing."""
    preset = generate_preset_pass_manager(optimization_level=level, target=asked.target, seed_transpiler=asked.seed)
    circuit = preset.init.run(asked.circuit)
    if not circuit.data:
        return
    device = asked.target.build_coupling_map().get_edges() if asked.plain else asked.target
    report = tiger.layout(circuit, device, level=level, seed=asked.seed)
    assert report.circuit is not None
    start, end = ([at[k] for k in range(circuit.num_qubits)] for at in (report.initial_layout, report.final_layout))
    assert same(circuit, report.circuit, start, end)
    assert report.extra_cx <= report.baseline_extra_cx
    ours = preset.optimization.run(preset.translation.run(report.circuit))
    assert _native(ours, asked.target)
    assert _two_qubit_gates(ours) <= _two_qubit_gates(_whole(asked, level, None, None))


def _turn(circuit: QuantumCircuit, qubit: int, rng: np.random.Generator) -> None:
    """Append a gate on one qubit that leaves no axis alone."""
    circuit.u(*rng.uniform(-3, 3, 3).tolist(), qubit)


def _fill(circuit: QuantumCircuit, count: int, deepest: int, rng: np.random.Generator) -> None:
    """Append operations of any kind, control flow within control flow as deep as given."""
    for _ in range(count):
        a, b = rng.choice(circuit.num_qubits, 2, replace=False).tolist()
        kind = str(rng.choice(["cx", "cz", "cp", "swap", "u", "measure", "reset", "barrier", "flow", "flow"]))
        if kind in ("cx", "cz", "swap"):
            getattr(circuit, kind)(a, b)
        elif kind == "cp":
            circuit.cp(float(rng.uniform(-3, 3)), a, b)
        elif kind == "u":
            _turn(circuit, a, rng)
        elif kind == "measure":
            circuit.measure(a, int(rng.integers(BITS)))
        elif kind == "reset":
            circuit.reset(a)
        elif kind == "barrier":
            circuit.barrier(a, b)
        elif deepest:
            _add_flow(circuit, deepest, rng)


def _add_flow(circuit: QuantumCircuit, deepest: int, rng: np.random.Generator) -> None:
    """Append control flow on some of the qubits, which reads the first register or a bit of it."""
    qubits = rng.permutation(circuit.num_qubits)[: int(rng.integers(2, circuit.num_qubits + 1))].tolist()
    register = circuit.cregs[0]
    bodies = [QuantumCircuit(QuantumRegister(len(qubits)), register) for _ in range(2)]
    for body in bodies:
        _fill(body, int(rng.integers(1, 4)), deepest - 1, rng)
    kind, bit = int(rng.integers(4)), register[int(rng.integers(BITS))]
    if kind == 0:
        circuit.if_test((bit, int(rng.integers(2))), bodies[0], qubits, register)
    elif kind == 1:
        circuit.if_else((register, int(rng.integers(2**BITS))), *bodies, qubits, register)
    elif kind == 2:
        circuit.for_loop(range(2), None, bodies[0], qubits, register)
    else:
        circuit.switch(register, list(enumerate(bodies)), qubits, register)


def _whole(asked: PluginCase, level: int, layout: str | None, routing: str | None) -> QuantumCircuit:
    """Run the whole transpiler."""
    plain = {"coupling_map": asked.target.build_coupling_map(), "basis_gates": _basis(asked.target)}
    device = plain if asked.plain else {"target": asked.target}
    return transpile(asked.circuit, **device, optimization_level=level, seed_transpiler=asked.seed,
                     layout_method=layout, routing_method=routing, initial_layout=asked.start)  # fmt: skip


def _basis(target: Target) -> list[str]:
    """Return the names of all that a device does, in an order of their own."""
    return sorted(target.operation_names)


def _equal(circuit: QuantumCircuit, compiled: QuantumCircuit) -> bool:
    """Compare unitaries up to a phase, with the layout undone."""
    wide = QuantumCircuit(compiled.num_qubits).compose(circuit, range(circuit.num_qubits))
    overlap = np.vdot(Operator(wide).data, Operator.from_circuit(compiled).data) / 2**compiled.num_qubits
    return bool(abs(overlap) > 1 - TOLERANCE)


def _pairs(circuit: QuantumCircuit) -> set[tuple[int, ...]]:
    """Return the pairs of qubits that meet."""
    places = [tuple(circuit.find_bit(q).index for q in gate.qubits) for gate in circuit.data]
    return {pair for pair in places if len(pair) == 2}


def _native(circuit: QuantumCircuit, target: Target, places: Sequence[int] | None = None) -> bool:
    """Return whether a device has all operations of a circuit, or of a block on its qubits, where they stand."""
    places = range(circuit.num_qubits) if places is None else places
    for each in circuit.data:
        at = tuple(places[circuit.find_bit(qubit).index] for qubit in each.qubits)
        blocks = each.operation.blocks if each.is_control_flow() else ()
        listed = each.name in FLOWS if blocks else each.is_directive() or target.instruction_supported(each.name, at)
        if not (listed and all(_native(block, target, at) for block in blocks)):
            return False
    return True


def _two_qubit_gates(circuit: QuantumCircuit) -> int:
    """Count the gates on two qubits, those in blocks of control flow once."""
    inner = (block for each in circuit.data if each.is_control_flow() for block in each.operation.blocks)
    own = (each for each in circuit.data if not (each.is_control_flow() or each.is_directive()))
    return sum(len(each.qubits) == 2 for each in own) + sum(map(_two_qubit_gates, inner))


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
