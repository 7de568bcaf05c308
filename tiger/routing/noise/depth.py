"""How long a mapped circuit takes: in layers of gates, and in seconds."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import BoolArray, FloatArray
from tiger.routing.coupling import IndexArray
from tiger.routing.error_rates import Errors
from tiger.routing.gate_dag import Axis, Build, GateDag, Operation
from tiger.solvers.kernel import allocating_kernel, inner_kernel, kernel

# Kinds of operations in arrays.
ONE, PAIR, SWAP, READ = 0, 1, 2, 3
KINDS = {"swap": SWAP, "measure": READ}
# Operations that take no layer.
TIMELESS = frozenset({"barrier", "delay", "reset", "break_loop", "continue_loop"})


class Singles(NamedTuple):
    """Hold what n circuit qubits do on their own, in the runs of commuting operations on their wires, r in all.

    `first[n + 1]`: runs of every qubit; `gates[r]` one-qubit gates, `reads[r]` measurements, and `nodes[r]` nodes of
    the gate DAG in a run. `wire[begin[v]:begin[v + 1]]`: qubits of node v; `read[g]`: whether it is a measurement.
    """

    first: IndexArray
    gates: IndexArray
    reads: IndexArray
    nodes: IndexArray
    begin: IndexArray
    wire: IndexArray
    read: BoolArray


class ErrorCosts(NamedTuple):
    """Hold errors as kernels read them: the negative logarithms of success, seconds, and rates of decay."""

    pair: FloatArray
    single: FloatArray
    readout: FloatArray
    pair_s: FloatArray
    single_s: FloatArray
    decay: FloatArray


class Duration(NamedTuple):
    """Hold the seconds until the last gate ends, and the negative logarithms of success by errors and by waiting."""

    end: float
    loss: float
    idle: float

    @property
    def total(self) -> float:
        """Return all losses."""
        return self.loss + self.idle


class QubitTimes(NamedTuple):
    """Hold when device qubit p is `free[N]` again, whether what it holds is `live[N]`, and how long it has waited.

    What nothing has acted on, or is measured, is not live: it has nothing to lose. `waited[N]` counts the seconds of
    live qubits by the device qubit that the operations name.
    """

    free: FloatArray
    live: BoolArray
    waited: FloatArray

    @classmethod
    def of(cls, size: int) -> "QubitTimes":
        """Return the times of a device before the first operation."""
        return cls(np.zeros(size), np.zeros(size, np.bool_), np.zeros(size))


class RouteTape(NamedTuple):
    """Hold the `pairs` of a gate DAG and the singles of its circuit, as kernels read them."""

    pairs: IndexArray
    singles: Singles


class Expansion(NamedTuple):
    """Hold a route being unrolled: `place[N]` and `holds[N]`, the nodes `left[r]` in a run, and every wire's run `now`.

    `out[k, 3]` are the operations, `size[0]` of them.
    """

    place: IndexArray
    holds: IndexArray
    left: IndexArray
    now: IndexArray
    out: IndexArray
    size: IndexArray


def count_depth(operations: IndexArray) -> int:
    """Return the longest chain of gates of a circuit of `operations[k, 3]`, a SWAP being three; O(k + N^2)."""
    far = operations[operations[:, 0] != ONE, 2].max(initial=0)
    size = int(max(operations[:, 1].max(initial=0), far)) + 1
    return int(time_operations(operations, np.arange(size, dtype=np.int32), build_layer_costs(size)).end)


def build_layer_costs(size: int) -> ErrorCosts:
    """Return the costs of a device of N qubits on which every gate takes one second and nothing fails."""
    none = np.zeros(size)
    return ErrorCosts(np.zeros((size, size)), none, none.copy(), np.ones((size, size)), np.ones(size), none.copy())


def count_singles(qubits: int, steps: Sequence[Operation], build: Build, names: Sequence[str]) -> Singles:
    """Count the one-qubit gates of a circuit, whose operation i is `steps[i]`, named `names[i]`; O(g + wires touched).

    Barriers, delays and resets count as nothing.
    """
    runs = [_Runs() for _ in range(qubits)]
    wires: list[list[int]] = [[] for _ in build.gate_dag.pairs]
    read = np.zeros(len(wires), np.bool_)
    for step, name, node in zip(steps, names, build.node, strict=True):
        touched = [(wire, axis) for wire, axis in zip(step.wires, step.axes, strict=True) if wire < qubits]
        for wire, axis in touched:
            runs[wire].add(axis, name, node)
        if node >= 0:
            wires[node] = [wire for wire, _ in touched]
            read[node] = name == "measure"
    rows = np.array([row for own in runs for row in own.rows], np.int32).reshape(-1, 3)
    gates, reads, nodes = (column.copy() for column in rows.T)
    return Singles(
        first=_starts([own.rows for own in runs]),
        gates=gates,
        reads=reads,
        nodes=nodes,
        begin=_starts(wires),
        wire=np.array([*chain.from_iterable(wires)], np.int32),
        read=read,
    )


class _Runs:
    """Hold the runs of commuting operations of a wire: gates, measurements and nodes of each."""

    def __init__(self) -> None:
        self.axis: Axis | None = None
        self.rows: list[list[int]] = []

    def add(self, axis: Axis | None, name: str, node: int) -> None:
        """Count an operation, in a new run if it does not commute with the present one."""
        # Operations of one axis on a wire commute and form a run.
        if axis is None or axis != self.axis:
            self.axis = axis
            self.rows.append([0, 0, 0])
        if node >= 0:
            self.rows[-1][2] += 1
        elif name not in TIMELESS:
            self.rows[-1][name == "measure"] += 1


def _starts(lists: Sequence[Sequence[object]]) -> IndexArray:
    """Return where every list begins in all of them in a row."""
    return np.concatenate([[0], np.cumsum([len(part) for part in lists])]).astype(np.int32)


def build_tape(dag: GateDag, singles: Singles) -> RouteTape:
    """Return the arrays that all routes of a circuit share."""
    return RouteTape(pairs=dag.pairs.copy(), singles=singles)


def operations_of_gates(gates: Iterable[tuple[str, tuple[int, ...]]]) -> IndexArray:
    """Return the operations[k, 3] of a finished circuit: names of gates and the device qubits they act on, in order.

    Measurements count as readout; barriers, delays and what is on no qubit as nothing. Raises InputError for a gate on
    three qubits.
    """
    rows: list[tuple[int, ...]] = []
    for name, qubits in gates:
        if name in TIMELESS or not qubits:
            continue
        if len(qubits) > 2:
            raise InputError("circuit", f"expected gates on one or two qubits, got {name} on {len(qubits)}")
        if len(qubits) == 2:
            rows.append((KINDS.get(name, PAIR), *qubits))
        else:
            rows.append((READ, *qubits, *qubits) if name == "measure" else (ONE, *qubits, 1))
    return np.array(rows, np.int32).reshape(-1, 3)


def costs_of(errors: Errors) -> ErrorCosts:
    """Return the negative logarithms of success and the durations, as arrays that may be written to."""
    with np.errstate(divide="ignore"):
        pair, single, readout = (-np.log1p(-rate) for rate in (errors.pair, errors.single, errors.readout))
    return ErrorCosts(pair, single, readout, errors.pair_s.copy(), errors.single_s.copy(), errors.decay.copy())


def time_operations(operations: IndexArray, place: IndexArray, costs: ErrorCosts) -> Duration:
    """Run operations as soon as possible with device qubit p at `place[p]`; O(k)."""
    return Duration(*run_operations(operations, place, costs, QubitTimes.of(len(place))))


@allocating_kernel
def expand_route(tape: RouteTape, steps: IndexArray, place: IndexArray) -> IndexArray:
    """Return the operations of a route from the layout `place[N]`, which ends as the final one."""
    # At most four operations a step, as of a BRIDGE, and gates and measurements once a run.
    most = 4 * len(steps) + 2 * len(tape.singles.gates)
    holds = np.empty_like(place)
    for v in range(len(place)):
        holds[place[v]] = v
    out, size = np.empty((most, 3), np.int32), np.zeros(1, np.int32)
    expansion = Expansion(place, holds, tape.singles.nodes.copy(), tape.singles.first[:-1].copy(), out, size)
    # One-qubit gates of a run commute with its nodes; they are written when the run begins, before its first node.
    for a in range(len(expansion.now)):
        write_alone(tape, expansion, a)
    # The steps in order, each written with what it lets qubits do on their own.
    for k in range(len(steps)):
        v, m = steps[k, 0], steps[k, 1]
        if v < 0:
            write_swap(expansion, -1 - v, m)
        else:
            write_node(tape, expansion, v, m)
    return out[: size[0]]


@inner_kernel
def write_alone(tape: RouteTape, expansion: Expansion, a: int) -> None:
    """Write what a qubit does on its own in its present run, and in those after it as long as no node is left."""
    # Runs without nodes follow at once; one with nodes left has to wait for them.
    while expansion.now[a] < tape.singles.first[a + 1]:
        r = expansion.now[a]
        if tape.singles.gates[r] > 0:
            write(expansion, ONE, expansion.place[a], tape.singles.gates[r])
        if tape.singles.reads[r] > 0:
            write(expansion, READ, expansion.place[a], expansion.place[a])
        if expansion.left[r] > 0:
            return
        expansion.now[a] += 1


@inner_kernel
def write_node(tape: RouteTape, expansion: Expansion, v: int, middle: int) -> None:
    """Write a node, as a BRIDGE over `middle` unless that is -1, and what its qubits do on their own then."""
    if tape.pairs[v, 0] >= 0:
        a, b = expansion.place[tape.pairs[v, 0]], expansion.place[tape.pairs[v, 1]]
        # A BRIDGE: CX(a, m) CX(m, b) twice over is CX(a, b), and leaves the middle qubit as it was.
        if middle < 0:
            write(expansion, PAIR, a, b)
        else:
            for _ in range(2):
                write(expansion, PAIR, a, middle)
                write(expansion, PAIR, middle, b)
    for e in range(tape.singles.begin[v], tape.singles.begin[v + 1]):
        a = tape.singles.wire[e]
        if tape.singles.read[v]:
            write(expansion, READ, expansion.place[a], expansion.place[a])
        # The last node of a run lets the next run of its wire begin.
        expansion.left[expansion.now[a]] -= 1
        if expansion.left[expansion.now[a]] == 0:
            expansion.now[a] += 1
            write_alone(tape, expansion, a)


@inner_kernel
def write_swap(expansion: Expansion, p: int, q: int) -> None:
    """Write a SWAP."""
    write(expansion, SWAP, p, q)
    a, b = expansion.holds[p], expansion.holds[q]
    expansion.holds[p], expansion.holds[q] = b, a
    expansion.place[a], expansion.place[b] = q, p


@inner_kernel
def write(expansion: Expansion, kind: int, p: int, q: int) -> None:
    """Append an operation."""
    k = expansion.size[0]
    expansion.out[k, 0], expansion.out[k, 1], expansion.out[k, 2] = kind, p, q
    expansion.size[0] = k + 1


@kernel
def run_operations(
    operations: IndexArray, place: IndexArray, costs: ErrorCosts, times: QubitTimes
) -> tuple[float, float, float]:
    """Return when the last operation ends, and the losses by errors and by waiting."""
    loss = idle = end = 0.0
    for k in range(len(operations)):
        kind, p = operations[k, 0], place[operations[k, 1]]
        if kind == READ:
            loss += costs.readout[p]
            # What happens to the qubit after it was read does not matter any more.
            times.live[p] = False
        elif kind == ONE:
            count = operations[k, 2]
            loss += count * costs.single[p]
            times.free[p] += count * costs.single_s[p]
            times.live[p] = True
            end = max(end, times.free[p])
        else:
            q = place[operations[k, 2]]
            # Scheduled as soon as possible: a gate begins when both of its qubits are free.
            start = max(times.free[p], times.free[q])
            first = wait_until(times, costs, operations[k, 1], p, start)
            idle += first + wait_until(times, costs, operations[k, 2], q, start)
            loss += costs.pair[p, q]
            stop = start + costs.pair_s[p, q]
            # Three CX, the outer two in the better direction; what the qubits hold changes places.
            if kind == SWAP:
                there = costs.pair[p, q] <= costs.pair[q, p]
                loss += costs.pair[q, p] + min(costs.pair[p, q], costs.pair[q, p])
                stop += costs.pair_s[q, p] + (costs.pair_s[p, q] if there else costs.pair_s[q, p])
                times.live[p], times.live[q] = times.live[q], times.live[p]
            else:
                times.live[p] = times.live[q] = True
            times.free[p] = times.free[q] = stop
            end = max(end, stop)
    return end, loss, idle


@inner_kernel
def wait_until(times: QubitTimes, costs: ErrorCosts, named: int, p: int, start: float) -> float:
    """Return the loss of a qubit until `start`, and note how long it waits."""
    # Nothing is lost by a qubit in its initial state, or one that has been read.
    if not times.live[p]:
        return 0.0
    # Decoherence while a qubit waits: exp(-rate * seconds), as a logarithm.
    gap = start - times.free[p]
    times.waited[named] += gap
    return float(costs.decay[p] * gap)
