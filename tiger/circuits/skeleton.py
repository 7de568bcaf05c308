"""What routing sees of a circuit: pairs of qubits that have to meet, and the order they have to keep."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from tiger.circuits.coupling import IndexArray
from tiger.model.arrays import BoolArray, IntArray, locked

Axis = Literal["z", "x"]


class Step(NamedTuple):
    """Describe an operation of a circuit by the wires it touches, qubits first as 0 .. n - 1, then any others.

    `axes[k]` is the axis it leaves alone on wire k, None where it commutes with nothing there: operations of one axis
    on a wire may change places. A `pair` has to meet on the device, as a two-qubit gate, and a `bridge` may be written
    as four CX over a qubit in the middle, as CX.
    """

    wires: tuple[int, ...]
    axes: tuple[Axis | None, ...]
    pair: bool = False
    bridge: bool = False


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


class Build(NamedTuple):
    """Return a skeleton with the node of every operation, -1 for those without one."""

    skeleton: Skeleton
    node: list[int]


def skeleton_of(qubits: int, steps: Sequence[Step]) -> Build:
    """Build the skeleton of a circuit; operations on one wire alone get no node, but part those that do not commute."""
    builder = _Builder()
    node = [builder.add(step) for step in steps]
    first, after = _adjacency(np.array(builder.order, np.int64).reshape(-1, 2), len(builder.pairs))
    skeleton = Skeleton(
        qubits=qubits,
        pairs=locked(np.array(builder.pairs, np.int32).reshape(-1, 2)),
        first=first,
        after=after,
        bridge=locked(np.array(builder.bridge, np.bool_)),
    )
    return Build(skeleton, node)


class _Run:
    """Hold a run of operations of one axis on a wire, and what all of them wait for, one node at most."""

    def __init__(self) -> None:
        self.axis: Axis | None = None
        self.members: list[int] = []
        self.before: int = -1


class _Builder:
    """Collect nodes and the order between them, wire by wire."""

    def __init__(self) -> None:
        self.pairs: list[tuple[int, int]] = []
        self.bridge: list[bool] = []
        self.order: list[tuple[int, int]] = []
        self._runs: dict[int, _Run] = {}

    def add(self, step: Step) -> int:
        """Append an operation; return its node, -1 for one on a single wire."""
        runs = [self._turned(wire, axis) for wire, axis in zip(step.wires, step.axes, strict=True)]
        if len(step.wires) < 2:
            return -1
        node = self._node((step.wires[0], step.wires[1]) if step.pair else (-1, -1), step.bridge)
        self.order += [(before, node) for before in {run.before for run in runs} if before >= 0]
        for run in runs:
            run.members.append(node)
        return node

    def _turned(self, wire: int, axis: Axis | None) -> _Run:
        """Return the run of a wire that an operation of an axis belongs to, a new one unless it commutes with all."""
        run = self._runs.setdefault(wire, _Run())
        if axis is None or axis != run.axis:
            if run.members:
                run.before = run.members[0] if len(run.members) == 1 else self._join(run.members)
            run.axis, run.members = axis, []
        return run

    def _join(self, members: Iterable[int]) -> int:
        """Return a node that waits for all members, so that what waits for them all does it once."""
        node = self._node((-1, -1), bridge=False)
        self.order += [(member, node) for member in members]
        return node

    def _node(self, pair: tuple[int, int], bridge: bool) -> int:  # noqa: FBT001
        """Append a node."""
        self.pairs.append(pair)
        self.bridge.append(bridge)
        return len(self.pairs) - 1


def _adjacency(ends: IntArray | IndexArray, count: int) -> tuple[IndexArray, IndexArray]:
    """Return the successors of every node as a compressed list."""
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    first = np.concatenate([[0], np.cumsum(np.bincount(ends[:, 0], minlength=count))]).astype(np.int32)
    return locked(first), locked(ends[:, 1].astype(np.int32))
