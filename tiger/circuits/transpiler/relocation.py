"""A circuit put on device qubits as it is, without routing."""

from collections.abc import Sequence

from qiskit.dagcircuit import DAGCircuit


def relocate(dag: DAGCircuit, start: Sequence[int]) -> DAGCircuit:
    """Return a circuit of n qubits on N device qubits, qubit v on `start[v]`; O(operations)."""
    placed = dag.copy_empty_like()
    placed.make_physical(len(start))
    at = {qubit: placed.qubits[place] for qubit, place in zip(dag.qubits, start, strict=False)}
    for node in dag.topological_op_nodes():
        placed.apply_operation_back(node.op, tuple([at[qubit] for qubit in node.qargs]), node.cargs, check=False)
    return placed
