"""What Qiskit's own layout and routing make of a circuit."""

from qiskit.circuit import (
    BoxOp,
    BreakLoopOp,
    CircuitInstruction,
    ContinueLoopOp,
    ControlFlowOp,
    ForLoopOp,
    IfElseOp,
    QuantumCircuit,
    SwitchCaseOp,
    WhileLoopOp,
)
from qiskit.circuit.library import CXGate, UGate
from qiskit.converters import circuit_to_dag
from qiskit.transpiler import CouplingMap, InstructionProperties, PassManager, Target, TranspilerError
from qiskit.transpiler.preset_passmanagers import generate_preset_pass_manager

from tiger.circuits.params import LayoutParams
from tiger.circuits.transpiler.exits import keeps_exits
from tiger.circuits.transpiler.panic import catch_panics, may_panic
from tiger.routing.coupling import Coupling
from tiger.routing.error_rates import Errors

# Qiskit looks for layouts without SWAPs only where it knows the gates of a circuit.
FLOWS = {
    "if_else": IfElseOp,
    "while_loop": WhileLoopOp,
    "for_loop": ForLoopOp,
    "switch_case": SwitchCaseOp,
    "box": BoxOp,
    "break_loop": BreakLoopOp,
    "continue_loop": ContinueLoopOp,
}
GATES = ["cx", "u", "measure", "reset", "delay", *FLOWS]
BASIS = [*GATES, "swap"]


def run_preset(
    circuit: QuantumCircuit,
    coupling: Coupling,
    params: LayoutParams,
    fixed: list[int] | None = None,
    errors: Errors | None = None,
) -> QuantumCircuit | None:
    """Return what Qiskit's preset layout and routing stages make of a circuit at a level and seed, None if they fail.

    They fail, too, where they route in a loop that is left early, as what they return is another circuit then.

    Other gates than SWAPs stand as CX or U, as they keep their number and their order; `fixed[n]` is a layout to start
    from, and errors let Qiskit look for better qubits at the end.
    """
    whole = generate_preset_pass_manager(
        optimization_level=params.level,
        target=target_of(coupling, BASIS, errors),
        seed_transpiler=params.seed % 2**32,
        initial_layout=fixed,
    )
    stages = PassManager()
    for stage in filter(None, (whole.layout, whole.routing)):
        stages += stage
    reduced = _reduce(circuit)
    if fixed is None and may_panic(circuit_to_dag(reduced), coupling):
        return None
    try:
        with catch_panics():
            routed = stages.run(reduced)
    except TranspilerError:
        return None
    return routed if keeps_exits(circuit_to_dag(reduced), circuit_to_dag(routed)) else None


def target_of(coupling: Coupling, names: list[str], errors: Errors | None = None) -> Target:
    """Return a device of operations in both directions, of which CX, U and readout get errors where they are known."""
    device = CouplingMap([[a, b] for a, b in coupling.edges.tolist()])
    for qubit in sorted(set(range(coupling.size)) - set(device.physical_qubits)):
        device.add_physical_qubit(qubit)
    device.make_symmetric()
    target = Target.from_configuration(
        names, num_qubits=coupling.size, coupling_map=device, custom_name_mapping=dict(FLOWS)
    )
    if errors is None:
        return target
    for qubit in range(coupling.size):
        for name, error in (("u", errors.single[qubit]), ("measure", errors.readout[qubit])):
            target.update_instruction_properties(name, (qubit,), InstructionProperties(error=float(error)))
    for a, b in device.get_edges():
        target.update_instruction_properties("cx", (a, b), InstructionProperties(error=float(errors.pair[a, b])))
    return target


def count_swaps(circuit: QuantumCircuit) -> int:
    """Return the SWAP gates of a circuit, those in blocks of control flow included once."""
    inner = (block for each in circuit.data if each.is_control_flow() for block in each.operation.blocks)
    return int(circuit.count_ops().get("swap", 0)) + sum(map(count_swaps, inner))


def _reduce(circuit: QuantumCircuit) -> QuantumCircuit:
    """Return a circuit whose gates are CX, U and SWAP."""
    plain = circuit.copy_empty_like()
    for instruction in circuit.data:
        plain.append(_plain_operation(instruction))
    return plain


def _plain_operation(instruction: CircuitInstruction) -> CircuitInstruction:
    """Return an operation, a CX for a gate on two qubits and a U for one on one."""
    operation = instruction.operation
    if isinstance(operation, ControlFlowOp):
        return instruction.replace(operation=operation.replace_blocks([_reduce(block) for block in operation.blocks]))
    if instruction.clbits or not instruction.qubits or instruction.is_directive() or instruction.name in BASIS:
        return instruction
    gate = CXGate() if len(instruction.qubits) == 2 else UGate(0, 0, 0)
    return instruction.replace(operation=gate, params=gate.params)
