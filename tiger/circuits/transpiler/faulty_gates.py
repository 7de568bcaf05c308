"""Circuits on pairs of which one gate, or one direction, has error 1, and another works."""

from qiskit.dagcircuit import DAGCircuit
from qiskit.transpiler import Target, TransformationPass
from qiskit.transpiler.preset_passmanagers import generate_preset_pass_manager

from tiger.circuits.transpiler.delivery import run_stage
from tiger.circuits.transpiler.faults import list_uses
from tiger.circuits.transpiler.source import Source
from tiger.circuits.transpiler.target import find_faulty_gates


class AvoidFaultyGates(TransformationPass):  # type: ignore[misc]  # Qiskit has no types
    """Translate a routed circuit to the gates that work, where it uses a pair of which one gate has error 1.

    Qiskit's translation takes gates and directions that are there, whatever their errors: it would not turn a CX round.
    """

    def __init__(self, target: Target, level: int, seed: int) -> None:
        """Take the device, and the level and seed of the preset whose translation runs."""
        super().__init__()
        self.target, self.level, self.seed = target, level, seed

    def run(self, dag: DAGCircuit) -> DAGCircuit:
        """Return the circuit, translated where it has to be."""
        faulty = find_faulty_gates(self.target)
        if not list_uses(dag).pairs & {(min(qubits), max(qubits)) for _, qubits in faulty}:
            return dag
        preset = generate_preset_pass_manager(
            self.level, target=_leave_out(self.target, faulty), seed_transpiler=self.seed % 2**32
        )
        return run_stage(preset.translation, Source(dag, self.property_set)).dag


def _leave_out(target: Target, gates: set[tuple[str, tuple[int, ...]]]) -> Target:
    """Return a Target without some of its gates."""
    kept = Target(num_qubits=target.num_qubits, qubit_properties=target.qubit_properties)
    for name in target.operation_names:
        places = {qubits: known for qubits, known in target[name].items() if (name, qubits) not in gates}
        if None in places:
            kept.add_instruction(target.operation_from_name(name), name=name)
        elif places:
            kept.add_instruction(target.operation_from_name(name), places, name=name)
    return kept
