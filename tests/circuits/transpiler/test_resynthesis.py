"""Tests of circuits written in other ways, through the whole transpiler."""

from collections.abc import Iterator

import numpy as np
import pytest
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister, transpile
from qiskit.circuit import IfElseOp
from qiskit.circuit.library import CXGate, QFTGate, efficient_su2, real_amplitudes
from qiskit.converters import circuit_to_dag
from qiskit.dagcircuit import DAGCircuit
from qiskit.passmanager import PropertySet
from qiskit.providers.basic_provider import BasicSimulator
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.quantum_info import Operator, random_clifford
from qiskit.transpiler import CouplingMap, PassManager, Target, TransformationPass, TranspilerError

from tests.circuits.strategies import quick_search
from tests.circuits.synthesis.test_rotations import DOUBLES, ladders
from tiger.circuits.params import LayoutParams
from tiger.circuits.transpiler import mapping, resynthesis
from tiger.circuits.transpiler.delivery import CircuitQuality, DeliveryObjective
from tiger.circuits.transpiler.mapping import Mapping, find_mapping
from tiger.circuits.transpiler.resynthesis import try_variants
from tiger.circuits.transpiler.source import Source


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    with quick_search():
        yield


def line_of(width: int) -> Target:
    """Return a line with CX gates."""
    return Target.from_configuration(["u", "cx", "measure"], width, CouplingMap.from_line(width))


def run(circuit: QuantumCircuit, target: Target, **options: object) -> QuantumCircuit:
    """Return a circuit after the whole transpile at level 3."""
    return transpile(circuit, target=target, optimization_level=3, seed_transpiler=1, layout_method="tiger",
                     routing_method="tiger", **options)  # fmt: skip


def ansatz(width: int) -> QuantumCircuit:
    """Return a full ansatz with numbers."""
    free = real_amplitudes(width, entanglement="full", reps=2)
    return free.assign_parameters(np.linspace(0.1, 2.0, free.num_parameters))


def swaps() -> QuantumCircuit:
    """Return a circuit whose CX gates change places of qubits in the middle and at the end."""
    circuit = QuantumCircuit(5)
    circuit.rx(0.2, range(5))
    for a, b in ((0, 1), (1, 0), (0, 1), (2, 4), (4, 2), (2, 4)):
        circuit.cx(a, b)
    circuit.ry(0.3, 1)
    for a, b in ((0, 4), (4, 0), (0, 4), (1, 3)):
        circuit.cx(a, b)
    return circuit


def same(original: QuantumCircuit, compiled: QuantumCircuit) -> bool:
    """Compare unitaries up to the layout."""
    wide = QuantumCircuit(compiled.num_qubits).compose(original, range(original.num_qubits))
    return bool(Operator.from_circuit(compiled).equiv(Operator(wide)))


@pytest.mark.parametrize("made", [ansatz(5), swaps(), QFTGate(5).definition])
@pytest.mark.slow
def test_the_unitary_stays(made: QuantumCircuit) -> None:
    """Where qubits end is in the layout, also of a circuit whose layout is given."""
    assert same(made, run(made, line_of(6)))
    fixed = run(made, line_of(6), initial_layout=[3, 1, 5, 0, 2])
    assert fixed.layout.initial_index_layout(filter_ancillas=True) == [3, 1, 5, 0, 2]
    assert same(made, fixed)


@pytest.mark.slow
def test_measured_bits_stay() -> None:
    """A circuit that ends in one word gives that word, whatever its qubits are called on the device."""
    circuit = QuantumCircuit(QuantumRegister(3, "a"), QuantumRegister(2, "b"), ClassicalRegister(5, "c"))
    circuit.x([0, 3])
    for a, b in ((0, 1), (1, 0), (0, 1), (3, 4), (4, 3), (3, 4), (1, 2), (0, 4), (4, 0), (0, 4)):
        circuit.cx(a, b)
    circuit.measure([4, 3, 2, 1, 0], [0, 1, 2, 3, 4])
    compiled = run(circuit, line_of(6))
    words = [
        BasicSimulator().run(each, shots=20, seed_simulator=1).result().get_counts() for each in (circuit, compiled)
    ]
    assert words[0] == words[1]
    assert len(words[0]) == 1


@pytest.mark.slow
def test_parameters_and_barriers_stay() -> None:
    """Free angles are those of the circuit, and nothing crosses a barrier."""
    free = efficient_su2(5, entanglement="full", reps=1)
    free.barrier()
    free.compose(real_amplitudes(5, entanglement="full", reps=1, parameter_prefix="x"), inplace=True)
    compiled = run(free, line_of(6))
    assert compiled.parameters == free.parameters
    assert compiled.count_ops()["barrier"] == 1
    values = np.linspace(0.2, 2.5, free.num_parameters)
    assert same(*(each.assign_parameters(values) for each in (free, compiled)))


@pytest.mark.slow
def test_control_flow_is_left_alone() -> None:
    """A circuit with a branch between two layers compiles, with the branch in it."""
    circuit = QuantumCircuit(5, 1)
    circuit.compose(ansatz(5), inplace=True)
    circuit.measure(0, 0)
    with circuit.if_test((0, 1)):
        circuit.cx(1, 2)
    circuit.compose(ansatz(5), inplace=True)
    target = line_of(6)
    target.add_instruction(IfElseOp, name="if_else")
    assert run(circuit, target).count_ops()["if_else"] == 1


@pytest.mark.slow
def test_no_circuit_has_more_gates_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a line with CX one way and on a grid with error rates."""
    one_way = Target.from_configuration(["u", "cx", "measure"], 6, CouplingMap([[k, k + 1] for k in range(5)]))
    noisy = GenericBackendV2(6, ["cz", "rz", "sx", "x"], coupling_map=CouplingMap.from_grid(2, 3), seed=1).target
    rng = np.random.default_rng(0)
    circuits = [
        ansatz(5),
        swaps(),
        QFTGate(5).definition,
        random_clifford(5, seed=2).to_circuit(),
        _draw(rng),
        _draw(rng),
    ]
    for target in (one_way, noisy):
        for circuit in circuits:
            ours = run(circuit, target)
            with monkeypatch.context() as patch:
                patch.setattr(resynthesis, "list_variants", lambda dag: [])
                before = run(circuit, target)
            assert ours.num_nonlocal_gates() <= before.num_nonlocal_gates()
            assert same(circuit, ours)


@pytest.mark.parametrize("effort", [1, 4])
def test_a_circuit_is_searched_in_full_where_no_variant_has_far_fewer_gates(
    monkeypatch: pytest.MonkeyPatch, effort: int
) -> None:
    """A full ansatz, whose variant is a chain, needs no search at level 3, but for an effort that does all work."""
    levels = list[int]()

    def note(*args: LayoutParams) -> Mapping:
        levels.append(args[2].level)
        return find_mapping(*args)

    monkeypatch.setattr(mapping, "find_mapping", note)
    monkeypatch.setenv("TIGER_LAYOUT_EFFORT", str(effort))
    assert run(ansatz(5), line_of(6)).num_nonlocal_gates() == 8
    assert (3 in levels) == (effort == 4)


def _draw(rng: np.random.Generator) -> QuantumCircuit:
    """Return CX gates and phases on random pairs, with rotations between."""
    circuit = QuantumCircuit(5)
    for _ in range(25):
        a, b = rng.choice(5, 2, replace=False).tolist()
        if rng.random() < 0.6:
            circuit.cx(a, b)
        else:
            circuit.cp(float(rng.random()), a, b)
        if rng.random() < 0.2:
            circuit.ry(0.3, a)
    return circuit


def test_what_qiskit_refuses_has_no_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    """A circuit is mapped as it is where writing it in another way fails."""

    def refuse(dag: object) -> list[object]:
        raise TranspilerError("no")

    monkeypatch.setattr(resynthesis, "list_variants", refuse)
    assert same(swaps(), run(swaps(), line_of(5)))


@pytest.mark.slow
@pytest.mark.parametrize(("qubits", "most"), [(8, 14), (14, 26)])
def test_a_full_ansatz_takes_two_chains_on_a_grid(qubits: int, most: int) -> None:
    """Two layers of n - 1 gates each."""
    grid = Target.from_configuration(["u", "cx", "measure"], 16, CouplingMap.from_grid(4, 4))
    assert run(efficient_su2(qubits, entanglement="full", reps=2), grid).num_nonlocal_gates() <= most


@pytest.mark.slow
@pytest.mark.parametrize("qubits", [8, 16, 24])
def test_a_fourier_transform_takes_few_gates_on_a_line(qubits: int) -> None:
    """At most n^2 + n - 4, and no more layers than Qiskit's, but for a few."""
    circuit = QuantumCircuit(qubits)
    circuit.append(QFTGate(qubits), range(qubits))
    ours = run(circuit, line_of(qubits))
    theirs = transpile(circuit, target=line_of(qubits), optimization_level=3, seed_transpiler=1)
    assert ours.num_nonlocal_gates() <= qubits**2 + qubits - 4
    depths = [each.depth(lambda gate: len(gate.qubits) == 2) for each in (ours, theirs)]
    assert depths[0] <= 1.1 * depths[1]


@pytest.mark.parametrize(("added", "objective", "mapped"), [(0, "auto", 1), (1, "auto", 2), (0, "depth", 2)])
def test_where_a_circuit_fits_only_variants_of_fewer_gates_are_mapped(
    monkeypatch: pytest.MonkeyPatch, added: int, objective: DeliveryObjective, mapped: int
) -> None:
    """Of one with more gates and one with fewer, the former wins only where mapping adds gates or depth comes first."""
    counts = {"as it is": 4, "more": 5, "fewer": 3}
    dags = [circuit_to_dag(_repeat_cx(count)) for count in counts.values()]
    monkeypatch.setattr(resynthesis, "list_variants", lambda dag: dags[1:])

    class Add(TransformationPass):  # type: ignore[misc]  # Qiskit has no types
        """Add gates, as a mapping does."""

        def run(self, dag: DAGCircuit) -> DAGCircuit:
            for _ in range(added):
                dag.apply_operation_back(CXGate(), dag.qubits)
            return dag

    def judge(source: Source) -> CircuitQuality:
        return CircuitQuality(source.dag.size(), source.dag.size())

    trials = try_variants(Source(dags[0], PropertySet()), PassManager(Add()), judge, objective)
    assert len(trials.variants) == mapped


def _repeat_cx(count: int) -> QuantumCircuit:
    """Return a CX gate over and over."""
    circuit = QuantumCircuit(2)
    for _ in range(count):
        circuit.cx(0, 1)
    return circuit


def test_qubits_that_are_all_coupled_take_fewer_gates() -> None:
    """A full ansatz is a chain a layer, and an excitation takes a third of its ladders."""
    full = Target.from_configuration(["u", "cx", "measure"], 6, CouplingMap.from_full(6))
    assert run(ansatz(5), full).num_nonlocal_gates() == 8
    excitation = ladders(*((letters, 0.1) for letters in DOUBLES))
    made = run(excitation, full)
    assert made.num_nonlocal_gates() <= 16
    assert same(excitation, made)
