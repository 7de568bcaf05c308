"""Blocks of a circuit, found by the names of their gates, each written anew where a synthesis knows a better way."""

from collections.abc import Callable, Collection

from qiskit.circuit import QuantumCircuit
from qiskit.circuit.library import UnitaryGate
from qiskit.converters import circuit_to_dag
from qiskit.dagcircuit import DAGCircuit, DAGOpNode
from qiskit.dagcircuit.collect_blocks import BlockCollapser, BlockCollector

# What a block is collapsed to until it is written out again.
LABEL = "tiger_block"
# CX gates of gates on two qubits that take another number than one.
COSTS = {"swap": 0, "iswap": 2, "dcx": 2, "unitary": 2}
GateFilter = Callable[[DAGOpNode], bool]
BlockSynthesis = Callable[[QuantumCircuit], QuantumCircuit | None]


def rewrite_blocks(dag: DAGCircuit, belongs: GateFilter, synthesis: BlockSynthesis) -> DAGCircuit | None:
    """Return a circuit whose blocks of some gates are written anew, None where all blocks stay.

    `belongs` says which gates make blocks. `synthesis` gets each block as a circuit on its qubits, and returns one that
    is the same on them, which may have SWAPs, or None. Blocks are as large as the order of gates on every qubit allows.
    O(g) beside the synthesis.
    """
    return write_blocks(collapse_blocks(dag, belongs), synthesis)


def collapse_blocks(dag: DAGCircuit, belongs: GateFilter) -> DAGCircuit:
    """Return a circuit with an operation for each block, for `write_blocks`."""
    collapsed = _copy(dag)
    blocks = BlockCollector(collapsed).collect_all_matching_blocks(belongs, split_blocks=True, min_block_size=2)
    BlockCollapser(collapsed).collapse_to_operation(blocks, lambda circuit: circuit.to_instruction(label=LABEL))
    return collapsed


def write_blocks(collapsed: DAGCircuit, synthesis: BlockSynthesis) -> DAGCircuit | None:
    """Return a circuit whose blocks are collapsed with these written anew, None where all of them stay."""
    rewritten, changed = _copy(collapsed), False
    for node in rewritten.op_nodes():
        if node.label == LABEL:
            before = node.op.definition
            after = synthesis(before)
            changed |= after is not None
            rewritten.substitute_node_with_dag(node, circuit_to_dag(before if after is None else after))
    return rewritten if changed else None


def count_entangling(circuit: QuantumCircuit) -> int:
    """Return about how many CX gates a circuit takes, SWAPs apart, as these move out of it."""
    return sum(COSTS.get(each.name, 1) for each in circuit.data if len(each.qubits) > 1)


def find_gates(names: Collection[str]) -> GateFilter:
    """Return which gates are Qiskit's own of some names, and not others that are called like them."""
    return lambda node: node.name in names and bool(node.is_standard_gate())


def is_matrix(node: DAGOpNode) -> bool:
    """Return whether a gate is Qiskit's own that is given by its matrix, and no other that is called like it."""
    return node.name == "unitary" and isinstance(node.op, UnitaryGate)


def _copy(dag: DAGCircuit) -> DAGCircuit:
    """Return a circuit whose gates may be replaced."""
    copied = dag.copy_empty_like()
    for node in dag.topological_op_nodes():
        copied.apply_operation_back(node.op, node.qargs, node.cargs, check=False)
    return copied
