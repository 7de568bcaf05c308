"""Circuits on some qubits of a device alone: what Qiskit's stages and ours see of it, and a check of what they make."""

import copy

from qiskit.dagcircuit import DAGCircuit
from qiskit.transpiler import AnalysisPass, CouplingMap, PassManagerConfig, TranspilerError

from tiger.circuits.transpiler.environment import QUBITS
from tiger.circuits.transpiler.target import restrict

# What does nothing to a qubit.
WAITING = frozenset({"barrier", "delay"})


def allow_qubits(config: PassManagerConfig, allowed: frozenset[int]) -> PassManagerConfig:
    """Return a configuration whose device has operations and pairs on some qubits alone; their numbers stay."""
    own = copy.copy(config)
    if config.target is not None:
        own.target = restrict(config.target, lambda qubits: allowed >= {*qubits})
    if config.coupling_map is not None:
        pairs = CouplingMap([pair for pair in config.coupling_map.get_edges() if allowed >= {*pair}])
        for qubit in sorted(set(config.coupling_map.physical_qubits) - set(pairs.physical_qubits)):
            pairs.add_physical_qubit(qubit)
        own.coupling_map = pairs
    return own


class CheckQubits(AnalysisPass):  # type: ignore[misc]  # Qiskit has no types
    """Raise TranspilerError where a circuit on device qubits has an operation on one that it may not use."""

    def __init__(self, allowed: frozenset[int]) -> None:
        """Take the device qubits."""
        super().__init__()
        self.allowed = allowed

    def run(self, dag: DAGCircuit) -> None:
        """Check a circuit."""
        wires = {dag.qubits[qubit] for qubit in range(dag.num_qubits()) if qubit not in self.allowed}
        used = {qubit for node in dag.op_nodes() if node.name not in WAITING for qubit in node.qargs} & wires
        if used:
            found = sorted(dag.find_bit(qubit).index for qubit in used)
            raise TranspilerError(
                f"{QUBITS}: expected a circuit that fits on these {len(self.allowed)} device qubits and a layout on"
                f" them, found operations on qubits {found}"
            )
