"""A Qiskit circuit as routing reads it: its operations, the wires they touch, and its gate DAG."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from qiskit.circuit import ControlFlowOp, QuantumCircuit, Qubit
from qiskit.converters import circuit_to_dag
from qiskit.dagcircuit import DAGCircuit, DAGOpNode

from tiger.circuits.transpiler.exits import EXITS, may_leave
from tiger.errors import InputError
from tiger.routing.gate_dag import Axis, Build, GateDag, Operation, gate_dag_of

Z: tuple[Axis, Axis] = ("z", "z")
AXES: dict[str, tuple[Axis | None, ...]] = {
    **dict.fromkeys(("id", "rz", "p", "u1", "z", "s", "sdg", "t", "tdg"), ("z",)),
    **dict.fromkeys(("x", "rx", "sx", "sxdg"), ("x",)),
    **dict.fromkeys(("y", "ry"), ("y",)),
    **dict.fromkeys(("cz", "cp", "crz", "cu1", "cs", "csdg", "rzz"), Z),
    **dict.fromkeys(("cx", "crx", "csx"), ("z", "x")),
    **dict.fromkeys(("cy", "cry"), ("z", "y")),
    **dict.fromkeys(("ch", "cu", "cu3"), ("z", None)),
    "ecr": (None, "x"),
    "rxx": ("x", "x"),
    "ryy": ("y", "y"),
    "rzx": ("z", "x"),
}
ROTATIONS = ("u", "u3")
# Stands for the wire that exits of a loop share with what is on no qubits.
EXIT = "exit"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CircuitModel:
    """Hold a circuit of n qubits; operation i is on `qubits[i]`, ordered by `steps[i].wires`, and `build.node[i]`.

    `axes[i][k]` is the axis it leaves alone on wire k, whether or not operations may change places.
    """

    dag: DAGCircuit
    operations: list[DAGOpNode]
    qubits: list[tuple[int, ...]]
    steps: list[Operation]
    axes: list[tuple[Axis | None, ...]]
    build: Build

    @property
    def gate_dag(self) -> GateDag:
        """Return what routing sees of the circuit."""
        return self.build.gate_dag


def model_of(circuit: DAGCircuit | QuantumCircuit, *, commute: bool = True) -> CircuitModel:
    """Read a circuit; without `commute` all operations on a wire keep their order.

    Gates on three or more qubits are bad input. O(g + wires touched).
    """
    if isinstance(circuit, QuantumCircuit):
        # In its own order, which is one of those of its graph.
        dag = circuit_to_dag(circuit, copy_operations=False)
        operations = dag.op_nodes()
    else:
        dag, operations = circuit, list(circuit.topological_op_nodes())
    uses = _Reader(dag, commute=commute).uses(operations)
    steps = [use.step for use in uses]
    return CircuitModel(
        dag=dag,
        operations=operations,
        qubits=[use.qubits for use in uses],
        steps=steps,
        axes=[use.axes for use in uses],
        build=gate_dag_of(dag.num_qubits(), steps),
    )


class _Use(NamedTuple):
    """Hold what an operation does: on which qubits, as which step, and the axes it leaves alone in any case."""

    qubits: tuple[int, ...]
    step: Operation
    axes: tuple[Axis | None, ...]


class _Reader:
    """Read operations one by one, and number their classical wires as they come up."""

    def __init__(self, dag: DAGCircuit, *, commute: bool) -> None:
        self._dag, self._first, self._commute = dag, dag.num_qubits(), commute
        self._index = {qubit: k for k, qubit in enumerate(dag.qubits)}
        self._wires: dict[object, int] = {}
        self._known: dict[tuple[str, tuple[Qubit, ...]], _Use] = {}
        others = EXITS & dag.count_ops(recurse=False).keys()
        self._exits = bool(others) or any(map(may_leave, dag.control_flow_op_nodes() or ()))

    def uses(self, operations: list[DAGOpNode]) -> list[_Use]:
        """Return what operations do; those alike share what they return."""
        uses, others, known = list[_Use](), list[int](), self._known
        for node in operations:
            if not node.is_standard_gate():
                others.append(len(uses))
                uses.append(self._read_other(node))
                continue
            name = node.name
            if name in ROTATIONS:
                theta = node.params[0]
                name = "rz" if isinstance(theta, (int, float)) and theta == 0 else name
            key = name, node.qargs
            uses.append(known.get(key) or known.setdefault(key, self._read_standard(*key)))
        return self._without_private(uses, others)

    def _without_private(self, uses: list[_Use], others: list[int]) -> list[_Use]:
        """Leave out classical wires that a single operation touches, since they order nothing."""
        users = Counter(wire for i in others for wire in uses[i].step.wires if wire >= self._first)
        lone = {wire for wire, count in users.items() if count == 1}
        for i in others if lone else ():
            uses[i] = _drop_wires(uses[i], lone)
        return uses

    def _read_standard(self, name: str, bits: tuple[Qubit, ...]) -> _Use:
        """Return what a standard gate does."""
        qubits = self._numbers(bits)
        pair, axes = _needs_adjacency(name, len(qubits), directive=False), AXES.get(name, (None,) * len(qubits))
        return _Use(
            qubits, Operation(qubits, axes if self._commute else (None,) * len(qubits), pair, name == "cx"), axes
        )

    def _read_other(self, node: DAGOpNode) -> _Use:
        """Return what an operation does that is not a standard gate; it keeps its order on all its wires."""
        qubits = self._numbers(node.qargs)
        wires = qubits + tuple([self._number(wire) for wire in self._list_classical(node)])
        axes = (None,) * len(wires)
        if node.is_control_flow():
            return _Use(qubits, Operation(wires, axes, inner=tuple(list_inner_pairs(node.op, qubits))), axes)
        pair = _needs_adjacency(node.name, len(qubits), directive=node.is_directive())
        return _Use(qubits, Operation(wires, axes, pair), axes)

    def _numbers(self, bits: tuple[Qubit, ...]) -> tuple[int, ...]:
        """Return the numbers of qubits."""
        return tuple([self._index[bit] for bit in bits])

    def _list_classical(self, node: DAGOpNode) -> list[object]:
        """Return the bits and variables an operation reads or writes, in a fixed order."""
        wires = dict.fromkeys(node.cargs)
        wires.update((wire, None) for _, _, wire in self._dag.edges(node) if not isinstance(wire, Qubit))
        # Nothing else keeps what is on no qubits in front of an exit of the loop, or behind it.
        if self._exits and (not node.qargs or may_leave(node)):
            wires[EXIT] = None
        return list(wires)

    def _number(self, wire: object) -> int:
        """Return the number of a wire."""
        return self._wires.setdefault(wire, self._first + len(self._wires))


def list_inner_pairs(flow: ControlFlowOp, qubits: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield the pairs that meet in the blocks of control flow, blocks inside them included."""
    for block in flow.blocks:
        for instruction in block.data:
            touched = tuple([qubits[block.find_bit(qubit).index] for qubit in instruction.qubits])
            if instruction.is_control_flow():
                yield from list_inner_pairs(instruction.operation, touched)
            elif _needs_adjacency(instruction.name, len(touched), directive=instruction.is_directive()):
                yield touched[0], touched[1]


def _needs_adjacency(name: str, width: int, *, directive: bool) -> bool:
    """Return whether an operation needs its qubits adjacent."""
    if directive or name in EXITS:
        return False
    if width > 2:
        raise InputError(
            "circuit",
            f"expected gates on one or two qubits, found {name} on {width}: decompose it first"
            " (QuantumCircuit.decompose, or the pass Unroll3qOrMore)",
        )
    return width == 2


def _drop_wires(use: _Use, lone: set[int]) -> _Use:
    """Return what an operation does without some of its wires."""
    step = use.step
    kept = [k for k, wire in enumerate(step.wires) if wire not in lone]
    axes = tuple([step.axes[k] for k in kept])
    return use._replace(step=step._replace(wires=tuple([step.wires[k] for k in kept]), axes=axes), axes=axes)
