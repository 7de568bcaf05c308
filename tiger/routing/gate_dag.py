"""What routing sees of a circuit: pairs of qubits that have to meet, and the order they have to keep."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, IntArray, lock
from tiger.routing.coupling import IndexArray

Axis = Literal["z", "x", "y"]
# Stands for the two qubits of a node that has not two.
NONE = (-1, -1)
CODES: dict[Axis | None, int] = {None: 0, "z": 1, "x": 2, "y": 3}


class Operation(NamedTuple):
    """Describe an operation of a circuit by the wires it touches, qubits first as 0 .. n - 1, then any others.

    `axes[k]` is the axis it leaves alone on wire k, None where it commutes with nothing there: operations of one axis
    on a wire may change places. A `pair` has to meet on the device, as a two-qubit gate, and a `bridge` may be written
    as four CX over a qubit in the middle, as CX. `inner` are the pairs of qubits that meet inside control flow.
    """

    wires: tuple[int, ...]
    axes: tuple[Axis | None, ...]
    pair: bool = False
    bridge: bool = False
    inner: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GateDag:
    """Hold the g nodes of a circuit on n qubits, in an order that respects all dependencies.

    `pairs[g, 2]`: circuit qubits that have to be adjacent, or -1, -1 for a node that only keeps others in order.
    `after[first[v]:first[v + 1]]`: nodes that wait for v, `waits[v]`: how many nodes v waits for.
    `bridge[g]`: whether a node may be carried out as a BRIDGE. `inner[k, 3]`: node, qubit, qubit of every two-qubit
    gate inside a block of control flow, which wants its qubits near. `price[g + 1]`: what a SWAP right beside a node on
    its pair costs, and last what any other does; 1 where it is SWAPs that count. `layers[g]`: the gates in a row that
    a node takes, 1 unless it is said how many.
    """

    qubits: int
    pairs: IndexArray
    first: IndexArray
    after: IndexArray
    bridge: BoolArray
    inner: IndexArray = field(default_factory=lambda: np.empty((0, 3), np.int32))
    price: IndexArray = field(default_factory=lambda: np.empty(0, np.int32))
    layers: IndexArray = field(default_factory=lambda: np.empty(0, np.int32))
    waits: IndexArray = field(init=False)

    def __post_init__(self) -> None:
        """Count what every node waits for; SWAPs cost the same everywhere unless it is said what they do."""
        waits = np.bincount(self.after, minlength=len(self.pairs)).astype(np.int32)
        object.__setattr__(self, "waits", lock(waits))
        if not len(self.price):
            object.__setattr__(self, "price", lock(np.ones(len(self.pairs) + 1, np.int32)))
        if not len(self.layers):
            object.__setattr__(self, "layers", lock(np.ones(len(self.pairs), np.int32)))

    @property
    def gates(self) -> int:
        """Return how many nodes are two-qubit gates."""
        return int((self.pairs[:, 0] >= 0).sum())

    def reverse(self) -> "GateDag":
        """Return the gate DAG of the circuit backwards; node v becomes node g - 1 - v."""
        count = len(self.pairs)
        heads = np.repeat(np.arange(count), np.diff(self.first))
        first, after = build_adjacency(count - 1 - self.after, count - 1 - heads, count)
        inner = self.inner.copy()
        inner[:, 0] = count - 1 - inner[:, 0]
        return GateDag(
            qubits=self.qubits,
            pairs=lock(self.pairs[::-1].copy()),
            first=first,
            after=after,
            bridge=lock(self.bridge[::-1].copy()),
            inner=lock(inner),
            price=lock(np.append(self.price[-2::-1], self.price[-1:])),
            layers=lock(self.layers[::-1].copy()),
        )


class Runs(NamedTuple):
    """Hold the runs of commuting nodes on all wires: each waits for the one before it on its wire.

    `nodes[first[k]:first[k + 1]]` are those of run k. `behind[i]` is the last run that operation i on a single wire
    comes after, -1 for none; it is -1 for operations on several wires, too.
    """

    first: IntArray
    nodes: IntArray
    behind: IntArray


class Build(NamedTuple):
    """Return a gate DAG, the node of every operation, -1 for those on a single wire, and the runs of nodes."""

    gate_dag: GateDag
    node: list[int]
    runs: Runs


def gate_dag_of(qubits: int, steps: Sequence[Operation]) -> Build:
    """Build the gate DAG of a circuit; operations on one wire alone get no node, but part those that do not commute.

    Quickest where operations that are alike share a step. O(w log w) for w wires touched.
    """
    different, which = _distinct_steps(steps)
    touches = _list_touches(different, which)
    runs = _find_runs(touches)
    number = _number_nodes(touches, runs)
    node = np.full(len(steps), -1, np.int64)
    node[touches.op[runs.entries]] = number.member
    first, after = build_adjacency(*_list_edges(runs, number), number.total)
    mine = node >= 0
    pairs, bridge = np.full((number.total, 2), NONE, np.int32), np.zeros(number.total, np.bool_)
    pairs[node[mine]] = np.array([k.wires[:2] if k.pair else NONE for k in different], np.int32).reshape(-1, 2)[
        which[mine]
    ]
    bridge[node[mine]] = np.array([k.bridge for k in different], np.bool_)[which[mine]]
    inner = [(int(node[i]), *p) for i in _with_inner(different, which) for p in steps[i].inner]
    dag = GateDag(
        qubits=qubits,
        pairs=lock(pairs),
        first=first,
        after=after,
        bridge=lock(bridge),
        inner=lock(np.array(inner, np.int32).reshape(-1, 3)),
    )
    ends = np.append(runs.first, len(runs.entries))
    return Build(dag, node.tolist(), Runs(ends, number.member, _find_run_before(touches, runs, len(steps))))


class _Touches(NamedTuple):
    """Hold what operations `op` touch, wire by wire and in circuit order on each: their `slot`-th `wire`.

    `run` numbers the runs of commuting operations over all wires; `lone` are operations on a single wire.
    """

    op: IntArray
    slot: IntArray
    wire: IntArray
    run: IntArray
    lone: BoolArray


class _NodeRuns(NamedTuple):
    """Hold the runs that have nodes: touch `entries[e]` is one by a node, in run `of[e]`, which begins at `first`.

    `followed` runs have another after them on their wire, and `joined` ones need a node of their own for that.
    """

    entries: IntArray
    of: IntArray
    first: IntArray
    followed: BoolArray
    joined: BoolArray


class _Numbers(NamedTuple):
    """Hold the node of every entry, the one that what follows a run waits for, and how many nodes there are."""

    member: IntArray
    gate: IntArray
    total: int


def _distinct_steps(steps: Sequence[Operation]) -> tuple[list[Operation], IntArray]:
    """Return the different objects among the steps, and which of them every operation has."""
    addresses = np.fromiter(map(id, steps), np.int64, len(steps))
    _, first, which = np.unique(addresses, return_index=True, return_inverse=True)
    return [steps[i] for i in first.tolist()], which.astype(np.int64)


def _with_inner(different: list[Operation], which: IntArray) -> list[int]:
    """Return the operations that have pairs inside."""
    flows = np.array([len(k.inner) > 0 for k in different], np.bool_)
    return [] if not flows.any() else np.flatnonzero(flows[which]).tolist()


def _list_touches(different: list[Operation], which: IntArray) -> _Touches:
    """Return the wires that operations touch."""
    widths = np.array([len(step.wires) for step in different], np.int64)
    wires = np.array([wire for step in different for wire in step.wires], np.int64)
    axes = np.array([CODES[axis] for step in different for axis in step.axes], np.int64)
    width = widths[which]
    op = np.repeat(np.arange(len(which)), width)
    slot = np.arange(len(op)) - np.repeat(np.cumsum(width) - width, width)
    source = (np.cumsum(widths) - widths)[which[op]] + slot
    order = np.argsort(wires[source] * len(which) + op)
    op, slot, source = op[order], slot[order], source[order]
    wire, axis = wires[source], axes[source]
    run = np.cumsum(_find_changes(wire) | _find_changes(axis) | (axis == CODES[None])) - 1
    return _Touches(op, slot, wire, run, width[op] == 1)


def _find_runs(touches: _Touches) -> _NodeRuns:
    """Return the runs that have nodes."""
    entries = np.flatnonzero(~touches.lone)
    starts = _find_changes(touches.run[entries])
    of, first = np.cumsum(starts) - 1, np.flatnonzero(starts)
    followed = np.append(~_find_changes(touches.wire[entries[first]]), np.False_)[1:]
    return _NodeRuns(entries, of, first, followed, followed & (np.bincount(of, minlength=len(first)) > 1))


def _number_nodes(touches: _Touches, runs: _NodeRuns) -> _Numbers:
    """Count the nodes off in circuit order; one that joins a run comes just before the first that waits for it."""
    op, slot = touches.op[runs.entries], touches.slot[runs.entries]
    span = int(slot.max(initial=0)) + 2
    waiting = runs.first[1:][runs.joined[:-1]]
    keys = np.concatenate([op * span + span - 1, op[waiting] * span + slot[waiting]])
    order = sort_distinct(keys)
    number = np.searchsorted(order, keys)
    gate = number[runs.first]
    gate[runs.joined] = number[len(op) :]
    return _Numbers(number[: len(op)], gate, len(order))


def _list_edges(runs: _NodeRuns, number: _Numbers) -> tuple[IntArray, IntArray]:
    """Return nodes, and what waits for each of them, some of it twice."""
    joining, waiting = runs.joined[runs.of], np.append(np.False_, runs.followed)[runs.of]
    heads = number.member[joining], number.gate[runs.of[waiting] - 1]
    tails = number.gate[runs.of[joining]], number.member[waiting]
    return np.concatenate(heads), np.concatenate(tails)


def _find_run_before(touches: _Touches, runs: _NodeRuns, count: int) -> IntArray:
    """Return the run with nodes that every operation on a single wire comes after, -1 for none."""
    begin = runs.entries[runs.first]
    last = np.searchsorted(touches.run[begin], touches.run[touches.lone]) - 1
    last[np.append(touches.wire[begin], -1)[last] != touches.wire[touches.lone]] = -1
    behind = np.full(count, -1, np.int64)
    behind[touches.op[touches.lone]] = last
    return behind


def _find_changes(values: IntArray) -> BoolArray:
    """Return where a value differs from the one before it."""
    changes = np.ones(len(values), np.bool_)
    changes[1:] = values[1:] != values[:-1]
    return changes


def sort_distinct(values: IntArray) -> IntArray:
    """Return every value once, sorted; quicker than numpy's own way, which hashes. O(n log n)."""
    ordered = np.sort(values)
    return ordered[_find_changes(ordered)]


def build_adjacency(
    heads: IntArray | IndexArray, tails: IntArray | IndexArray, count: int
) -> tuple[IndexArray, IndexArray]:
    """Return the successors of each of `count` nodes as a compressed list, ascending and each once; O(e log e)."""
    keys = sort_distinct(heads.astype(np.int64) * count + tails)
    first = np.searchsorted(keys, np.arange(count + 1) * count)
    return lock(first.astype(np.int32)), lock((keys % max(count, 1)).astype(np.int32))
