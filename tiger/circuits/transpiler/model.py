"""A Qiskit circuit as routing reads it: its operations, the wires they touch, and its skeleton."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from qiskit.circuit import ControlFlowOp, QuantumCircuit, Qubit
from qiskit.converters import circuit_to_dag
from qiskit.dagcircuit import DAGCircuit, DAGOpNode

from tiger.circuits.skeleton import Axis, Build, Skeleton, Step, skeleton_of
from tiger.errors import InputError

Z: tuple[Axis, Axis] = ("z", "z")
AXES: dict[str, tuple[Axis | None, ...]] = {
    **dict.fromkeys(("id", "rz", "p", "u1", "z", "s", "sdg", "t", "tdg"), ("z",)),
    **dict.fromkeys(("x", "rx", "sx", "sxdg"), ("x",)),
    **dict.fromkeys(("cz", "cp", "crz", "cu1", "cs", "csdg", "rzz"), Z),
    **dict.fromkeys(("cx", "crx", "csx"), ("z", "x")),
    **dict.fromkeys(("cy", "ch", "cry", "cu", "cu3"), ("z", None)),
    "rxx": ("x", "x"),
    "rzx": ("z", "x"),
}
ROTATIONS = ("u", "u3")
ESCAPES = ("break_loop", "continue_loop")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CircuitModel:
    """Hold a circuit of n qubits; operation i is on `qubits[i]`, ordered by `steps[i].wires`, and `build.node[i]`.

    `axes[i][k]` is the axis it leaves alone on wire k, be it that operations may change places or not.
    """

    dag: DAGCircuit
    operations: list[DAGOpNode]
    qubits: list[tuple[int, ...]]
    steps: list[Step]
    axes: list[tuple[Axis | None, ...]]
    build: Build

    @property
    def skeleton(self) -> Skeleton:
        """Return what routing sees of the circuit."""
        return self.build.skeleton

    @property
    def flows(self) -> bool:
        """Tell whether the circuit has control flow."""
        return any(node.is_control_flow() for node in self.operations)


def model_of(circuit: DAGCircuit | QuantumCircuit, *, commute: bool = True) -> CircuitModel:
    """Read a circuit; without `commute` all operations on a wire keep their order.

    Gates on three or more qubits, and loops that are left early, are bad input. O(g + wires touched).
    """
    dag = circuit_to_dag(circuit, copy_operations=False) if isinstance(circuit, QuantumCircuit) else circuit
    operations = list(dag.topological_op_nodes())
    number = {qubit: k for k, qubit in enumerate(dag.qubits)}
    qubits = [tuple([number[qubit] for qubit in node.qargs]) for node in operations]
    reader = _Reader(dag)
    steps = _shared(dag.num_qubits(), [reader.step(*pair) for pair in zip(operations, qubits, strict=True)])
    axes = [step.axes for step in steps]
    if not commute:
        steps = [step._replace(axes=(None,) * len(step.wires)) for step in steps]
    build = skeleton_of(dag.num_qubits(), steps)
    return CircuitModel(dag=dag, operations=operations, qubits=qubits, steps=steps, axes=axes, build=build)


class _Reader:
    """Read operations one by one, and number their classical wires as they come up."""

    def __init__(self, dag: DAGCircuit) -> None:
        self._dag, self._first = dag, dag.num_qubits()
        self._wires: dict[object, int] = {}
        self._steps: dict[tuple[str, tuple[int, ...]], Step] = {}

    def step(self, node: DAGOpNode, qubits: tuple[int, ...]) -> Step:
        """Return what an operation touches and commutes with."""
        name = node.name
        if not node.is_standard_gate():
            return self._other(node, qubits)
        if name in ROTATIONS:
            theta = node.params[0]
            name = "rz" if isinstance(theta, (int, float)) and theta == 0 else name
        known = self._steps.get((name, qubits))
        if known is None:
            known = self._steps[name, qubits] = _standard(name, qubits)
        return known

    def _other(self, node: DAGOpNode, qubits: tuple[int, ...]) -> Step:
        """Return the step of what is not a standard gate; it keeps its order on all its wires."""
        wires = qubits + tuple([self._number(wire) for wire in self._classical(node)])
        if node.is_control_flow():
            return Step(wires, (None,) * len(wires), inner=tuple(_inner(node.op, qubits)))
        pair = _meets(node.name, len(qubits), directive=node.is_directive())
        return Step(wires, (None,) * len(wires), pair)

    def _classical(self, node: DAGOpNode) -> list[object]:
        """Return the bits and variables an operation reads or writes, in a fixed order."""
        wires = dict.fromkeys(node.cargs)
        wires.update((wire, None) for _, _, wire in self._dag.edges(node) if not isinstance(wire, Qubit))
        return list(wires)

    def _number(self, wire: object) -> int:
        """Return the number of a wire."""
        return self._wires.setdefault(wire, self._first + len(self._wires))


def _standard(name: str, qubits: tuple[int, ...]) -> Step:
    """Return the step of a standard gate."""
    pair = _meets(name, len(qubits), directive=False)
    return Step(qubits, AXES.get(name, (None,) * len(qubits)), pair, name == "cx")


def _inner(flow: ControlFlowOp, qubits: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield the pairs that meet in the blocks of control flow, blocks inside them included."""
    for block in flow.blocks:
        for instruction in block.data:
            touched = tuple([qubits[block.find_bit(qubit).index] for qubit in instruction.qubits])
            if instruction.is_control_flow():
                yield from _inner(instruction.operation, touched)
            elif _meets(instruction.name, len(touched), directive=instruction.is_directive()):
                yield touched[0], touched[1]


def _meets(name: str, width: int, *, directive: bool) -> bool:
    """Tell whether an operation needs its qubits adjacent."""
    if name in ESCAPES:
        raise InputError("circuit", f"expected loops that run to their end, found {name}, which cannot be routed")
    if directive:
        return False
    if width > 2:
        raise InputError(
            "circuit",
            f"expected gates on one or two qubits, found {name} on {width}: decompose it first"
            " (QuantumCircuit.decompose, or the pass Unroll3qOrMore)",
        )
    return width == 2


def _shared(qubits: int, steps: list[Step]) -> list[Step]:
    """Leave out classical wires that a single operation touches, since they order nothing."""
    mixed = [i for i, step in enumerate(steps) if step.wires and step.wires[-1] >= qubits]
    users = Counter(wire for i in mixed for wire in steps[i].wires if wire >= qubits)
    lone = {wire for wire, count in users.items() if count == 1}
    for i in mixed:
        steps[i] = _without(steps[i], lone)
    return steps


def _without(step: Step, lone: set[int]) -> Step:
    """Return a step without some of its wires."""
    kept = [k for k, wire in enumerate(step.wires) if wire not in lone]
    return step._replace(wires=tuple(step.wires[k] for k in kept), axes=tuple(step.axes[k] for k in kept))
