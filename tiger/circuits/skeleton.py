"""What routing sees of a circuit: pairs of qubits that have to meet, and the order they have to keep."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from tiger.circuits.coupling import IndexArray
from tiger.model.arrays import BoolArray, IntArray, locked

Axis = Literal["z", "x"]
NONE = (-1, -1)


class Step(NamedTuple):
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
class Skeleton:
    """Hold the g nodes of a circuit on n qubits, in an order that respects all dependencies.

    `pairs[g, 2]`: circuit qubits that have to be adjacent, or -1, -1 for a node that only keeps others in order.
    `after[first[v]:first[v + 1]]`: nodes that wait for v, `waits[v]`: how many nodes v waits for.
    `bridge[g]`: whether a node may be carried out as a BRIDGE. `inner[k, 3]`: node, qubit, qubit of every two-qubit
    gate inside a block of control flow, which wants its qubits near.
    """

    qubits: int
    pairs: IndexArray
    first: IndexArray
    after: IndexArray
    bridge: BoolArray
    inner: IndexArray = field(default_factory=lambda: np.empty((0, 3), np.int32))
    waits: IndexArray = field(init=False)

    def __post_init__(self) -> None:
        """Count what every node waits for."""
        waits = np.bincount(self.after, minlength=len(self.pairs)).astype(np.int32)
        object.__setattr__(self, "waits", locked(waits))

    @property
    def gates(self) -> int:
        """Return how many nodes are two-qubit gates."""
        return int((self.pairs[:, 0] >= 0).sum())

    def reversed(self) -> "Skeleton":
        """Return the skeleton of the circuit backwards; node v becomes node g - 1 - v."""
        count = len(self.pairs)
        heads = np.repeat(np.arange(count), np.diff(self.first))
        ends = np.stack([count - 1 - self.after, count - 1 - heads], axis=1)
        first, after = _adjacency(ends, count)
        inner = self.inner.copy()
        inner[:, 0] = count - 1 - inner[:, 0]
        return Skeleton(
            qubits=self.qubits,
            pairs=locked(self.pairs[::-1].copy()),
            first=first,
            after=after,
            bridge=locked(self.bridge[::-1].copy()),
            inner=locked(inner),
        )


class Wire:
    """Hold the runs of commuting operations on a wire, in order; a run waits for all before it.

    `nodes[r]`: how many nodes run r has; `singles[lone[r]:lone[r + 1]]`: its operations on this wire alone.
    """

    __slots__ = ("axis", "earlier", "lone", "members", "nodes", "singles")

    def __init__(self) -> None:
        self.axis: Axis | None = None
        self.nodes: list[int] = []
        self.singles: list[int] = []
        self.lone: list[int] = []
        self.members: list[int] = []
        self.earlier: list[int] = []

    def turn(self, axis: Axis | None) -> None:
        """Begin a run; `earlier` are the nodes of the last one that had any."""
        if self.members:
            self.earlier, self.members = self.members, []
        self.axis = axis
        self.nodes.append(0)
        self.lone.append(len(self.singles))


class Build(NamedTuple):
    """Return a skeleton, the node of every operation, -1 for those on a single wire, and what waits for what.

    `due[i][k]`: how many operations on wire k of operation i alone come before it and do not commute with it; () for an
    operation on a single wire. `wires`: the runs of every wire, operations being numbers i.
    """

    skeleton: Skeleton
    node: list[int]
    due: list[tuple[int, ...]]
    wires: dict[int, Wire]


def skeleton_of(qubits: int, steps: Sequence[Step]) -> Build:
    """Build the skeleton of a circuit; operations on one wire alone get no node, but part those that do not commute.

    O(g + wires touched).
    """
    builder = _Builder()
    node = [-1] * len(steps)
    due: list[tuple[int, ...]] = [()] * len(steps)
    wires = builder.wires
    for i, step in enumerate(steps):
        touched = step[0]
        if len(touched) != 1:
            node[i], due[i] = builder.add(step)
            continue
        wire = wires.get(touched[0]) or builder.wire(touched[0])
        axis = step[1][0]
        if axis is None or axis != wire.axis:
            wire.turn(axis)
        wire.singles.append(i)
    return Build(builder.skeleton(qubits, steps, node), node, due, wires)


class _Builder:
    """Collect nodes and the order between them, wire by wire."""

    def __init__(self) -> None:
        self.wires: dict[int, Wire] = {}
        self._pairs: list[int] = []
        self._bridge: list[bool] = []
        self._order: list[int] = []

    def wire(self, number: int) -> Wire:
        """Return a new wire."""
        self.wires[number] = wire = Wire()
        return wire

    def add(self, step: Step) -> tuple[int, tuple[int, ...]]:
        """Append an operation on several wires; return its node and the lone operations due on each."""
        wires = [self.wires.get(number) or self.wire(number) for number in step.wires]
        before = set()
        for wire, axis in zip(wires, step.axes, strict=True):
            if axis is None or axis != wire.axis:
                wire.turn(axis)
            if wire.earlier:
                before.add(wire.earlier[0] if len(wire.earlier) == 1 else self._joined(wire))
        if not wires:
            return -1, ()
        node = self._node(step.wires if step.pair else NONE, step.bridge)
        for earlier in before:
            self._order += (earlier, node)
        for wire in wires:
            wire.members.append(node)
            wire.nodes[-1] += 1
        return node, tuple([wire.lone[-1] for wire in wires])

    def _joined(self, wire: Wire) -> int:
        """Return a node that waits for all of the run before, so that what waits for them all does it once."""
        node = self._node(NONE, False)
        for member in wire.earlier:
            self._order += (member, node)
        wire.earlier = [node]
        return node

    def _node(self, wires: tuple[int, ...], bridge: bool) -> int:  # noqa: FBT001 (a field)
        """Append a node."""
        self._pairs += wires[:2]
        self._bridge.append(bridge)
        return len(self._bridge) - 1

    def skeleton(self, qubits: int, steps: Sequence[Step], node: list[int]) -> Skeleton:
        """Return the skeleton of all nodes."""
        first, after = _adjacency(np.array(self._order, np.int64).reshape(-1, 2), len(self._bridge))
        inner = [(node[i], *pair) for i, step in enumerate(steps) if step.inner for pair in step.inner]
        return Skeleton(
            qubits=qubits,
            pairs=locked(np.array(self._pairs, np.int32).reshape(-1, 2)),
            first=first,
            after=after,
            bridge=locked(np.array(self._bridge, np.bool_)),
            inner=locked(np.array(inner, np.int32).reshape(-1, 3)),
        )


def _adjacency(ends: IntArray | IndexArray, count: int) -> tuple[IndexArray, IndexArray]:
    """Return the successors of every node as a compressed list."""
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    first = np.concatenate([[0], np.cumsum(np.bincount(ends[:, 0], minlength=count))]).astype(np.int32)
    return locked(first), locked(ends[:, 1].astype(np.int32))
