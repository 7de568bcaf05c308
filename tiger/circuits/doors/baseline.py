"""What Qiskit's own layout and routing add to a circuit."""

from qiskit.circuit import (
    CircuitInstruction,
    ControlFlowOp,
    ForLoopOp,
    IfElseOp,
    QuantumCircuit,
    SwitchCaseOp,
    WhileLoopOp,
)
from qiskit.circuit.library import CXGate
from qiskit.transpiler import CouplingMap, PassManager, Target, TranspilerError
from qiskit.transpiler.preset_passmanagers import generate_preset_pass_manager

from tiger.circuits.coupling import Coupling
from tiger.circuits.params import LayoutParams

# Qiskit looks for layouts without SWAPs only where it knows the gates of a circuit.
FLOWS = {"if_else": IfElseOp, "while_loop": WhileLoopOp, "for_loop": ForLoopOp, "switch_case": SwitchCaseOp}
BASIS = ["cx", "u", "swap", "measure", "reset", "delay", *FLOWS]


def preset_extra_cx(
    circuit: QuantumCircuit, coupling: Coupling, params: LayoutParams, fixed: list[int] | None = None
) -> int | None:
    """Return the extra CX gates of Qiskit's preset layout and routing stages at a level and seed, None if they fail.

    Every two-qubit gate stands as a CX, since only SWAPs are counted; `fixed[n]` is a layout to start from.
    """
    device = CouplingMap([[a, b] for a, b in coupling.edges.tolist()])
    for qubit in sorted(set(range(coupling.size)) - set(device.physical_qubits)):
        device.add_physical_qubit(qubit)
    device.make_symmetric()
    target = Target.from_configuration(
        BASIS, num_qubits=coupling.size, coupling_map=device, custom_name_mapping=dict(FLOWS)
    )
    whole = generate_preset_pass_manager(
        optimization_level=params.level,
        target=target,
        seed_transpiler=params.seed % 2**32,
        initial_layout=fixed,
    )
    stages = PassManager()
    for stage in filter(None, (whole.layout, whole.routing)):
        stages += stage
    try:
        return 3 * swaps(stages.run(_reduced(circuit))) - 3 * swaps(_reduced(circuit))
    except TranspilerError:
        return None


def swaps(circuit: QuantumCircuit) -> int:
    """Return the SWAP gates of a circuit, those in blocks of control flow included once."""
    inner = (block for each in circuit.data if each.is_control_flow() for block in each.operation.blocks)
    return int(circuit.count_ops().get("swap", 0)) + sum(map(swaps, inner))


def _reduced(circuit: QuantumCircuit) -> QuantumCircuit:
    """Return a circuit whose two-qubit gates are CX, without gates on one qubit."""
    plain = circuit.copy_empty_like()
    for instruction in circuit.data:
        if len(instruction.qubits) > 1 or instruction.clbits or instruction.is_control_flow():
            plain.append(_plain(instruction))
    return plain


def _plain(instruction: CircuitInstruction) -> CircuitInstruction:
    """Return an operation, a CX for a gate on two qubits."""
    operation = instruction.operation
    if isinstance(operation, ControlFlowOp):
        return instruction.replace(operation=operation.replace_blocks([_reduced(block) for block in operation.blocks]))
    gate = len(instruction.qubits) == 2 and not instruction.clbits and not instruction.is_directive()
    return instruction.replace(operation=CXGate(), params=()) if gate else instruction
