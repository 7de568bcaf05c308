"""The routed circuit: a route written out as gates on device qubits."""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from qiskit.circuit import ControlFlowOp, Qubit
from qiskit.circuit.library import CXGate, SwapGate
from qiskit.dagcircuit import DAGCircuit, DAGOpNode

from tiger.circuits.transpiler.model import CircuitModel
from tiger.model.arrays import IntArray
from tiger.routing.gate_dag import Axis, GateDag
from tiger.routing.route import Route

SWAP, CX = SwapGate(), CXGate()
# Stands for the cell of an operation that is emitted by itself.
APART = -1
FlowRouter = Callable[[ControlFlowOp, list[int]], tuple[ControlFlowOp, list[int]]]


class Emission(NamedTuple):
    """Return a circuit on N device qubits; `start[N]` and `end[N]` place its qubits, then N - n spare ones."""

    dag: DAGCircuit
    start: list[int]
    end: list[int]


def emit(model: CircuitModel, route: Route, flow_router: FlowRouter) -> Emission:
    """Write a route out as a circuit, a SWAP as a swap gate and a BRIDGE as four CX in a row.

    Of both orders of the four, one is taken that does not begin with a CX that the circuit has next, if there is one:
    so who reads the result gate by gate can tell them apart.
    `flow_router` gets control flow and the places of its qubits and returns it routed, with the places it touches now.
    Operations on a single wire come as soon as the earlier runs of the wire are done. O(k log k) for k operations and
    steps, control flow apart.
    """
    track, time = _track(route, model.gate_dag), _times(model, route)
    writer = _Writer(model, track, time, flow_router)
    gates = [*model.operations, DAGOpNode(SWAP, (), ())]
    numbers, cells = _sequence(model, route, track, time)
    bits, write = _Bits(writer.dag.qubits), writer.write
    for i, cell in zip(numbers, cells, strict=True):
        if cell == APART:
            writer.write_apart(i)
        else:
            gate = gates[i]
            # As a node, since asking for its operation would make that again in Python.
            gate.qargs = bits[cell]
            write(gate)
    return Emission(writer.dag, route.start.tolist(), track.end)


class _Track(NamedTuple):
    """Hold where N qubits are over time: from `key[e]`, the qubit times `span` plus the step after, at `place[e]`.

    `end[N]` is where they are last; `bridges` has the device qubits of the BRIDGE of a step, and who is in the middle.
    """

    key: IntArray
    place: IntArray
    span: int
    end: list[int]
    bridges: dict[int, tuple[int, int, int, int]]

    def at(self, qubits: IntArray, time: IntArray | int) -> IntArray:
        """Return the device qubits after the steps of a time, -1 for before all of them."""
        place: IntArray = self.place[np.searchsorted(self.key, qubits * self.span + time + 1, side="right") - 1]
        return place


def _track(route: Route, gate_dag: GateDag) -> _Track:
    """Follow the qubits along a route."""
    place, holds = route.start.tolist(), np.argsort(route.start).tolist()
    bridges = dict[int, tuple[int, int, int, int]]()
    span = len(route.steps) + 1
    keys, places = [k * span for k in range(len(place))], place.copy()
    moving = np.flatnonzero((route.steps[:, 0] < 0) | (route.steps[:, 1] >= 0))
    for time, (step, there) in zip(moving.tolist(), route.steps[moving].tolist(), strict=True):
        if step >= 0:
            a, b = gate_dag.pairs[step].tolist()
            bridges[time] = place[a], there, place[b], holds[there]
            continue
        here = -1 - step
        a, b = holds[here], holds[there]
        holds[here], holds[there] = b, a
        place[a], place[b] = there, here
        keys += (a * span + time + 1, b * span + time + 1)
        places += (there, here)
    key = np.array(keys, np.int64)
    order = np.argsort(key)
    return _Track(key[order], np.array(places, np.int64)[order], span, place, bridges)


def _times(model: CircuitModel, route: Route) -> IntArray:
    """Return the step that carries out each operation, or that one on a single wire comes after, -1 for none."""
    runs, node = model.build.runs, np.array(model.build.node, np.int64)
    carried = np.flatnonzero(route.steps[:, 0] >= 0)
    when = np.full(len(model.gate_dag.pairs) + 1, -1, np.int64)
    when[route.steps[carried, 0]] = carried
    begin = runs.first[:-1]
    last = np.maximum.reduceat(when[runs.nodes], begin) if len(begin) else begin
    return np.where(node >= 0, when[node], np.append(last, -1)[runs.behind])


def _sequence(model: CircuitModel, route: Route, track: _Track, time: IntArray) -> tuple[list[int], list[int]]:
    """Return what is written in order: numbers of operations, one more for a SWAP, and their cells or APART.

    Cell p (N + 1) + q + 1 stands for device qubits p and q, and p (N + 1) for p alone.
    """
    swaps, many = np.flatnonzero(route.steps[:, 0] < 0), len(model.operations)
    lone = np.array(model.build.node, np.int64) < 0
    order = np.argsort(np.concatenate([2 * time + lone, 2 * swaps]), kind="stable")
    pairs = route.steps[swaps]
    cells = [_cells(model, track, time), (-1 - pairs[:, 0]) * (len(track.end) + 1) + pairs[:, 1] + 1]
    return np.minimum(order, many).tolist(), np.concatenate(cells)[order].tolist()


def _cells(model: CircuitModel, track: _Track, time: IntArray) -> IntArray:
    """Return the cells of operations, APART for control flow, a BRIDGE, and what is on no qubit or more than two."""
    width = np.fromiter(map(len, model.qubits), np.int64, len(model.qubits))
    flat = np.append(np.fromiter(chain.from_iterable(model.qubits), np.int64), 0)
    begin = np.cumsum(width) - width
    second = np.where(width == 2, track.at(flat[begin + (width == 2)], time) + 1, 0)
    cells = track.at(flat[begin], time) * (len(track.end) + 1) + second
    cells[(width < 1) | (width > 2)] = APART
    cells[[i for i, node in enumerate(model.operations) if node.is_control_flow()]] = APART
    if track.bridges:
        cells[np.isin(time, list(track.bridges)) & (np.array(model.build.node) >= 0)] = APART
    return cells


class _Bits(dict[int, tuple[Qubit, ...]]):
    """Map cells to qubits of a circuit."""

    def __init__(self, bits: list[Qubit]) -> None:
        super().__init__()
        self._bits = bits

    def __missing__(self, cell: int) -> tuple[Qubit, ...]:
        """Make a tuple that is not there yet."""
        p, q = divmod(cell, len(self._bits) + 1)
        self[cell] = made = (self._bits[p], self._bits[q - 1]) if q else (self._bits[p],)
        return made


class _Writer:
    """Write operations on device qubits; those that are not just gates one by one."""

    def __init__(self, model: CircuitModel, track: _Track, time: IntArray, flow_router: FlowRouter) -> None:
        self._model, self._track, self._time, self._flow_router = model, track, time.tolist(), flow_router
        self.dag = model.dag.copy_empty_like()
        self.dag.make_physical(len(track.end))
        self.write = self.dag._apply_op_node_back
        self._bits = self.dag.qubits
        self._bridge = DAGOpNode(CX, (), ())
        self._lines = _lines(model) if track.bridges else {}

    def write_apart(self, i: int) -> None:
        """Write control flow, a BRIDGE, or an operation on no qubit or more than two."""
        node = self._model.operations[i]
        if node.is_control_flow():
            self._write_flow(i)
        elif self._time[i] in self._track.bridges and self._model.build.node[i] >= 0:
            self._write_bridge(i, *self._track.bridges[self._time[i]])
        else:
            node.qargs = tuple([self._bits[place] for place in self._places(i)])
            self.write(node)

    def _places(self, i: int) -> list[int]:
        """Return the device qubits of an operation."""
        qubits = np.array(self._model.qubits[i], np.int64)
        places: list[int] = self._track.at(qubits, self._time[i]).tolist()
        return places

    def _write_bridge(self, i: int, p: int, r: int, q: int, middle: int) -> None:
        """Write a CX from p to q over r, where another qubit is in the middle."""
        pairs = [(self._bits[p], self._bits[r]), (self._bits[r], self._bits[q])]
        if self._is_due(self._model.qubits[i][0], middle, self._time[i]):
            pairs.reverse()
        for pair in pairs * 2:
            self._bridge.qargs = pair
            self.write(self._bridge)

    def _is_due(self, control: int, target: int, time: int) -> bool:
        """Return whether a CX is among the circuit's next operations on both of its qubits."""
        both = set(self._front(control, "z", time)) & set(self._front(target, "x", time))
        return any(self._model.steps[i].bridge and self._model.qubits[i] == (control, target) for i in both)

    def _front(self, qubit: int, axis: Axis, time: int) -> Iterator[int]:
        """Yield the operations to come on a qubit from a step on, up to the first that does not leave an axis alone."""
        line, when = self._lines.get(qubit, deque()), self._time
        while line and when[line[0]] < time:
            line.popleft()
        for i in line:
            if when[i] >= time:
                if self._model.axes[i][self._model.steps[i].wires.index(qubit)] != axis:
                    return
                yield i

    def _write_flow(self, i: int) -> None:
        """Write control flow, which may touch more qubits than before."""
        node = self._model.operations[i]
        flow, places = self._flow_router(node.op, self._places(i))
        self.dag.apply_operation_back(flow, tuple([self._bits[place] for place in places]), node.cargs, check=False)


def _lines(model: CircuitModel) -> dict[int, deque[int]]:
    """Return the operations of every qubit."""
    lines: dict[int, deque[int]] = {}
    for i, qubits in enumerate(model.qubits):
        for qubit in qubits:
            lines.setdefault(qubit, deque()).append(i)
    return lines
