"""Loops that are left early, by `break_loop` or `continue_loop`, and whether a routed circuit leaves them right.

What comes after an exit expects the qubits where the loop began. A SWAP that routing adds in the loop is undone at the
end of its block, which an exit before that never reaches. Qiskit's own routing adds such SWAPs (Qiskit issue 16857).
"""

from collections.abc import Iterable, Iterator

from qiskit.circuit import CircuitInstruction, ControlFlowOp, QuantumCircuit
from qiskit.dagcircuit import DAGCircuit, DAGOpNode

from tiger.errors import InputError

NEEDS_SWAPS = (
    "expected loops that break_loop or continue_loop leaves early to fit the device without a SWAP inside, as qubits"
    " would not be back in their places at the exit: found qubits that meet in such a loop and are not adjacent there"
)
LOSES_ORDER = (
    "expected break_loop and continue_loop on all qubits of their loop, and no store behind them in it, as Qiskit does"
    " not keep these in order"
)
EXITS, LOOPS = frozenset({"break_loop", "continue_loop"}), frozenset({"for_loop", "while_loop"})


def leaves_early(block: QuantumCircuit) -> bool:
    """Return whether a block has an exit of a loop that it is the body of, or that it stands in; O(operations)."""
    return any(map(may_leave, block.data))


def has_exits(dag: DAGCircuit) -> bool:
    """Return whether any loop of a circuit is left early; O(operations in control flow)."""
    return any(map(leaves_early, _list_blocks(node.op for node in dag.control_flow_op_nodes())))


def keeps_exits(original: DAGCircuit, routed: DAGCircuit) -> bool:
    """Return whether routing added no SWAP to a block with an exit of a loop around it; O(operations in control flow).

    Such a block begins and ends where its loop does, and so do blocks without exits, wherever they stand.
    """
    return _count_swaps(original) == _count_swaps(routed)


def check_order(block: QuantumCircuit, routed: QuantumCircuit) -> None:
    """Raise InputError where an operation of a block changed places with an exit of a loop.

    Qiskit's graphs keep exits in order with what is on their own qubits and bits alone: not with a store, nor with a
    gate on a qubit that an exit leaves out.
    """
    if not leaves_early(block):
        return
    exits = [set(part.qubits) for part in block.data if may_leave(part)]
    free = any(not set(part.qubits) <= qubits for part in block.data for qubits in exits)
    if free or _list_between_exits(block) != _list_between_exits(routed):
        raise InputError("circuit", LOSES_ORDER)


def _list_between_exits(block: QuantumCircuit) -> list[list[str]]:
    """Return the names of operations on no qubits in front of, between and behind exits, each part of them sorted."""
    parts = list[list[str]]([[]])
    for part in block.data:
        if may_leave(part):
            parts.append([])
        elif not part.qubits:
            parts[-1].append(part.name)
    return [sorted(names) for names in parts]


def may_leave(part: CircuitInstruction | DAGOpNode) -> bool:
    """Return whether an operation may end a turn of a loop around it."""
    if not part.is_control_flow():
        return part.name in EXITS
    operation = part.op if isinstance(part, DAGOpNode) else part.operation
    return part.name not in LOOPS and any(map(leaves_early, operation.blocks))


def _list_blocks(flows: Iterable[ControlFlowOp]) -> Iterator[QuantumCircuit]:
    """Yield the blocks of control flow, and those inside them."""
    for flow in flows:
        for block in flow.blocks:
            yield block
            yield from _list_blocks(part.operation for part in block.data if part.is_control_flow())


def _count_swaps(dag: DAGCircuit) -> int:
    """Return the SWAPs of all blocks that have exits."""
    blocks = _list_blocks(node.op for node in dag.control_flow_op_nodes())
    return sum(block.count_ops().get("swap", 0) for block in blocks if leaves_early(block))
