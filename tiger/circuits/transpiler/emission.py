"""The routed circuit: a route written out as gates on device qubits."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from qiskit.circuit import ControlFlowOp
from qiskit.circuit.library import CXGate, SwapGate
from qiskit.dagcircuit import DAGCircuit

from tiger.circuits.route import PLAIN, Route
from tiger.circuits.skeleton import Axis
from tiger.circuits.transpiler.model import CircuitModel

SWAP, CX = SwapGate(), CXGate()
FlowRouter = Callable[[ControlFlowOp, list[int]], tuple[ControlFlowOp, list[int]]]


class Emission(NamedTuple):
    """Return a circuit on N device qubits; `start[N]` and `end[N]` place its qubits, then N - n spare ones."""

    dag: DAGCircuit
    start: list[int]
    end: list[int]


def emitted(model: CircuitModel, route: Route, flow_router: FlowRouter) -> Emission:
    """Write a route out as a circuit, a SWAP as a swap gate and a BRIDGE as four CX in a row.

    Of both orders of the four, one is taken that does not begin with a CX that the circuit has next, if there is one:
    so who reads the result gate by gate can tell them apart.
    `flow_router` gets control flow and the places of its qubits and returns it routed, with the places it touches now.
    Operations on a single wire come as soon as the earlier runs of the wire are done. O(g + steps), control flow apart.
    """
    writer = _Writer(model, route, flow_router)
    at = {node: i for i, node in enumerate(model.build.node) if node >= 0}
    writer.begin()
    for step, place in route.steps.tolist():
        if step < 0:
            writer.swap(-1 - step, place)
        elif step in at:
            writer.meet(at[step], place)
    return Emission(writer.dag, route.start.tolist(), writer.place)


class _Writer:
    """Write operations where their qubits are; `now` is the run a wire is in, `left` its nodes that are to come."""

    def __init__(self, model: CircuitModel, route: Route, flow_router: FlowRouter) -> None:
        self._model, self._flow_router = model, flow_router
        self.place: list[int] = route.start.tolist()
        self._holds: list[int] = np.argsort(route.start).tolist()
        self.dag = model.dag.copy_empty_like()
        self.dag.make_physical(len(self.place))
        self._append = self.dag.apply_operation_back
        self._apply = self.dag._apply_op_node_back
        self._bits = self.dag.qubits
        self._at = [self._bits[place] for place in self.place]
        self._now = dict.fromkeys(model.build.wires, -1)
        self._left = dict.fromkeys(model.build.wires, 0)
        self._done = [False] * len(model.steps)
        self._lines = _lines(model) if route.bridges else {}

    def begin(self) -> None:
        """Write the operations that wait for no node."""
        self._write([i for i, step in enumerate(self._model.steps) if not step.wires])
        for wire in self._now:
            self._open(wire)

    def swap(self, here: int, there: int) -> None:
        """Exchange what two device qubits hold."""
        a, b = self._holds[here], self._holds[there]
        self._append(SWAP, (self._at[a], self._at[b]), check=False)
        self._holds[here], self._holds[there] = b, a
        self.place[a], self.place[b] = there, here
        self._at[a], self._at[b] = self._at[b], self._at[a]

    def meet(self, i: int, middle: int) -> None:
        """Write an operation on several wires, and what waited for it on each of them alone."""
        if middle == PLAIN:
            self._write((i,))
        else:
            self._bridge(i, self._holds[middle])
        left = self._left
        for wire in self._model.steps[i][0]:
            left[wire] -= 1
            if not left[wire]:
                self._open(wire)

    def _bridge(self, i: int, middle: int) -> None:
        """Write a CX over the qubit in the middle."""
        control, target = self._model.qubits[i]
        pairs = [(control, middle), (middle, target)]
        if self._due(control, middle):
            pairs.reverse()
        for a, b in pairs * 2:
            self._append(CX, (self._at[a], self._at[b]), check=False)
        self._done[i] = True

    def _due(self, control: int, target: int) -> bool:
        """Tell whether a CX is among the circuit's next operations on both of its qubits."""
        both = set(self._front(control, "z")) & set(self._front(target, "x"))
        return any(self._model.steps[i].bridge and self._model.qubits[i] == (control, target) for i in both)

    def _front(self, qubit: int, axis: Axis) -> Iterator[int]:
        """Yield the operations to come on a qubit, up to the first that does not leave an axis alone."""
        line = self._lines.get(qubit, deque())
        while line and self._done[line[0]]:
            line.popleft()
        for i in line:
            if not self._done[i]:
                if self._model.axes[i][self._model.steps[i].wires.index(qubit)] != axis:
                    return
                yield i

    def _open(self, number: int) -> None:
        """Go on to the next run of a wire that has nodes, and write the operations on the wire alone until there."""
        wire = self._model.build.wires[number]
        first = now = self._now[number] + 1
        while now < len(wire.nodes) and not wire.nodes[now]:
            now += 1
        if first < len(wire.nodes):
            last = wire.lone[now + 1] if now + 1 < len(wire.lone) else len(wire.singles)
            self._left[number] = wire.nodes[now] if now < len(wire.nodes) else 0
            self._now[number] = now
            self._write(wire.singles[wire.lone[first] : last])

    def _write(self, numbers: Sequence[int]) -> None:
        """Write operations."""
        operations, qubits, at = self._model.operations, self._model.qubits, self._at
        for i in numbers:
            node, self._done[i] = operations[i], True
            if node.is_control_flow():
                self._flow(i)
            else:
                # As a node, since asking for its operation would make that anew in Python.
                node.qargs = tuple([at[qubit] for qubit in qubits[i]])
                self._apply(node)

    def _flow(self, i: int) -> None:
        """Write control flow, which may touch more qubits than before."""
        node = self._model.operations[i]
        flow, places = self._flow_router(node.op, [self.place[qubit] for qubit in self._model.qubits[i]])
        self._append(flow, tuple([self._bits[place] for place in places]), node.cargs, check=False)


def _lines(model: CircuitModel) -> dict[int, deque[int]]:
    """Return the operations of every qubit."""
    lines: dict[int, deque[int]] = {}
    for i, qubits in enumerate(model.qubits):
        for qubit in qubits:
            lines.setdefault(qubit, deque()).append(i)
    return lines
