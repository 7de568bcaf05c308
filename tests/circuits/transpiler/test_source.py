"""Tests of circuits kept for Qiskit's own stages to start from."""

from qiskit import QuantumCircuit, QuantumRegister
from qiskit.converters import circuit_to_dag
from qiskit.passmanager import PropertySet
from qiskit.transpiler import CouplingMap, PassManager
from qiskit.transpiler.passes import ElidePermutations, SetLayout
from qiskit.transpiler.preset_passmanagers import common

from tiger.circuits.transpiler.source import KeepSource, Source, remove_layout


def registers() -> QuantumCircuit:
    """Return a circuit on two registers, with a SWAP and a block."""
    circuit = QuantumCircuit(QuantumRegister(2, "b"), QuantumRegister(1, "a"), QuantumRegister(1, "q"))
    circuit.cx(0, 2)
    circuit.swap(0, 1)
    circuit.h(1)
    with circuit.box():
        circuit.cx(3, 0)
    return circuit


def keep(circuit: QuantumCircuit, *passes: object) -> Source:
    """Return a circuit after passes."""
    manager = PassManager([*passes, KeepSource("kept")])
    manager.run(circuit)
    return manager.property_set["kept"]


def embed(layout: list[int]) -> list[object]:
    """Return the passes that put a circuit on six device qubits."""
    embed = common.generate_embed_passmanager(CouplingMap.from_line(6))
    return [SetLayout(layout), *embed.to_flow_controller().tasks]


def test_a_layout_is_taken_back() -> None:
    """Qubits, registers and gates are those of before."""
    before = remove_layout(keep(registers(), *embed([5, 3, 0, 1])))
    assert before is not None
    assert before.dag == circuit_to_dag(registers())
    assert [register.name for register in before.dag.qregs.values()] == ["b", "a", "q"]
    assert before.properties["layout"] is None


def test_a_permutation_that_was_taken_out_is_known_again() -> None:
    """It is one of circuit qubits, as before the layout."""
    early = keep(registers(), ElidePermutations())
    before = remove_layout(keep(registers(), ElidePermutations(), *embed([5, 3, 0, 1])))
    assert before is not None
    name = "virtual_permutation_layout"
    assert before.properties[name].get_virtual_bits() == early.properties[name].get_virtual_bits()


def test_without_a_layout_nothing_is_taken_back() -> None:
    """A circuit that no stage has placed has no other."""
    assert remove_layout(Source(circuit_to_dag(registers()), PropertySet())) is None


def test_a_copy_is_left_alone_by_passes() -> None:
    """Neither gates nor what is known of the circuit change with the original."""
    source = keep(registers(), *embed([5, 3, 0, 1]))
    other = source.copy()
    source.dag.remove_op_node(source.dag.op_nodes()[0])
    source.properties["layout"].swap(0, 1)
    source.properties["original_qubit_indices"].clear()
    assert len(other.dag.op_nodes()) == 4
    assert other.properties["layout"] != source.properties["layout"]
    assert other.properties["original_qubit_indices"]


def test_a_copy_shares_operations_that_are_defined_by_circuits() -> None:
    """Their definitions take long to copy; gates of the library have none that is copied."""
    circuit = QuantumCircuit(2)
    circuit.cx(0, 1)
    circuit.append(circuit.to_gate(), (1, 0))
    source = Source(circuit_to_dag(circuit), PropertySet())
    (_, own), (_, other) = (each.dag.op_nodes() for each in (source, source.copy()))
    assert own.op is other.op
    assert other.qargs == tuple(source.dag.qubits[::-1])
