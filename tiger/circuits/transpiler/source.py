"""Circuits as they come to a stage of the transpiler, kept for Qiskit's own stages to start from."""

import copy
from functools import cache
from typing import NamedTuple

from qiskit.circuit.library.standard_gates import get_standard_gate_name_mapping
from qiskit.dagcircuit import DAGCircuit
from qiskit.passmanager import PropertySet
from qiskit.transpiler import AnalysisPass, Layout


class Source(NamedTuple):
    """Hold a circuit and what the transpiler knows of it."""

    dag: DAGCircuit
    properties: PropertySet

    def copy(self) -> "Source":
        """Return a copy that passes may change; O(gates)."""
        properties = PropertySet(self.properties)
        if properties["layout"] is not None:
            properties["layout"] = properties["layout"].copy()
        if properties["original_qubit_indices"] is not None:
            properties["original_qubit_indices"] = dict(properties["original_qubit_indices"])
        return Source(copy_circuit(self.dag), properties)


def copy_circuit(dag: DAGCircuit) -> DAGCircuit:
    """Return a copy of a circuit that passes may change; it shares operations that passes replace as a whole. O(gates).

    Copies of their definitions, which may be nested, take several times as long as a transpilation at level 1.
    """
    others = dag.count_ops(recurse=False).keys() - _list_standard_names()
    nodes = dag.named_nodes(*others) if others else ()
    shared = [node.op for node in nodes if not (node.is_standard_gate() or node.is_control_flow())]
    return copy.deepcopy(dag, {id(operation): operation for operation in shared})


@cache
def _list_standard_names() -> frozenset[str]:
    """Return the names of Qiskit's standard gates, which take longer to list than a small circuit to copy."""
    return frozenset(get_standard_gate_name_mapping())


class KeepSource(AnalysisPass):  # type: ignore[misc]  # Qiskit has no types
    """Keep the circuit as it is now in the property that `key` names."""

    def __init__(self, key: str) -> None:
        """Take the name of the property."""
        super().__init__()
        self.key = key

    def run(self, dag: DAGCircuit) -> None:
        """Keep a circuit."""
        self.property_set[self.key] = Source(dag, self.property_set).copy()


def remove_layout(placed: Source) -> Source | None:
    """Return a circuit on device qubits as it was on its own, before any routing; None where that is not known.

    Gates keep their order; the permutation that an earlier stage took out of the circuit is one of circuit qubits
    again.
    """
    known = placed.properties
    layout, index, width = known["layout"], known["original_qubit_indices"], known["num_input_qubits"]
    if layout is None or index is None or width is None or len(layout) != placed.dag.num_qubits():
        return None
    own = sorted((qubit for qubit in index if index[qubit] < width), key=index.__getitem__)
    dag = placed.dag.copy_empty_like()
    dag.remove_qubits(*dag.qubits)
    dag.remove_qregs(*dag.qregs.values())
    dag.add_qubits(own)
    registers = [register for register in layout.get_registers() if register.size and set(register) <= set(own)]
    for register in sorted(registers, key=lambda each: index[each[0]]):
        dag.add_qreg(register)
    at = {placed.dag.qubits[layout[qubit]]: qubit for qubit in own}
    for node in placed.dag.topological_op_nodes():
        dag.apply_operation_back(node.op, tuple([at[qubit] for qubit in node.qargs]), node.cargs, check=False)
    properties = PropertySet({"original_qubit_indices": {qubit: index[qubit] for qubit in own}})
    properties["num_input_qubits"] = width
    final = known["final_layout"]
    if final is not None:
        ends = {qubit: placed.dag.find_bit(final[layout[qubit]]).index for qubit in own}
        properties["virtual_permutation_layout"] = Layout({qubit: index[layout[end]] for qubit, end in ends.items()})
    return Source(dag, properties)
