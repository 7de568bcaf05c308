"""Blocks of a circuit, found by the names of their gates, each written anew where a synthesis knows a better way."""

from collections.abc import Callable, Collection

from qiskit.circuit import QuantumCircuit
from qiskit.converters import circuit_to_dag
from qiskit.dagcircuit import DAGCircuit, DAGOpNode
from qiskit.dagcircuit.collect_blocks import BlockCollapser, BlockCollector

# What a block is collapsed to until it is written out again.
LABEL = "tiger_block"
BlockSynthesis = Callable[[QuantumCircuit], QuantumCircuit | None]


def rewrite_blocks(dag: DAGCircuit, names: Collection[str], synthesis: BlockSynthesis) -> DAGCircuit | None:
    """Return a circuit whose blocks of gates of some names are written anew, None where all blocks stay.

    `synthesis` gets each block as a circuit on its qubits, and returns one that is the same on them, which may end in
    SWAPs, or None. Blocks are as large as the order of gates on every qubit allows. O(g) beside the synthesis.
    """
    rewritten, changed = _copy(dag), False
    blocks = BlockCollector(rewritten).collect_all_matching_blocks(
        lambda node: node.name in names and _is_gate(node), split_blocks=True, min_block_size=2
    )
    BlockCollapser(rewritten).collapse_to_operation(blocks, lambda circuit: circuit.to_instruction(label=LABEL))
    for node in rewritten.op_nodes():
        if node.label == LABEL:
            before = node.op.definition
            after = synthesis(before)
            changed |= after is not None
            rewritten.substitute_node_with_dag(node, circuit_to_dag(before if after is None else after))
    return rewritten if changed else None


def count_entangling(circuit: QuantumCircuit) -> int:
    """Return the gates of a circuit on several qubits, SWAPs apart, as these move out of it."""
    return sum(len(each.qubits) > 1 and each.name != "swap" for each in circuit.data)


def _is_gate(node: DAGOpNode) -> bool:
    """Return whether an operation is a gate of Qiskit's own, and not another one of the same name."""
    return bool(node.is_standard_gate())


def _copy(dag: DAGCircuit) -> DAGCircuit:
    """Return a circuit whose gates may be replaced."""
    copied = dag.copy_empty_like()
    for node in dag.topological_op_nodes():
        copied.apply_operation_back(node.op, node.qargs, node.cargs, check=False)
    return copied
