"""Gates as tasks: every two-qubit gate goes on a coupling edge, in a direction, and gates of one level stay apart.

What is minimized are the hops that qubits travel from gate to gate. The levels, and the windows in which they are
sampled (tiger.routing.ising.gatewindows), are those of arXiv:2009.10151; tiger.routing.ising.gateanneal takes all
levels at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import rustworkx as rx
from scipy.optimize import linear_sum_assignment

from tiger.model.arrays import IntArray
from tiger.routing.coupling import FAR, Coupling, IndexArray
from tiger.routing.gate_dag import GateDag
from tiger.routing.interaction import GateTimeline, build_timeline


class CouplingArcs(NamedTuple):
    """Hold the m directed coupling edges `ends[m, 2]`, those that leave p at `first[p]:first[p + 1]`, and distances.

    `back[m]` is the arc in the other direction, `hops[N, N]` as in Coupling.
    """

    ends: IndexArray
    first: IndexArray
    back: IndexArray
    hops: IndexArray


class GateTies(NamedTuple):
    """Hold what ties k gates together, sorted by level.

    `near[k, 2, 2, 2]`: for either end of a gate the gate before and after that its qubit visits and the end it has
    there, -1 without one; `home[k, 2]` where a qubit is before its first gate, -1 where open; `level[k]`.
    """

    near: IndexArray
    home: IndexArray
    level: IndexArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GateTasks:
    """Hold the k gates of a circuit as tasks and the m arcs of a device as nodes.

    `places` are arc[k]. `matched` are arcs of a largest matching in every part: a level has no more gates in a part.
    """

    gates: GateTimeline
    arcs: CouplingArcs
    flow: GateTies
    part: IndexArray
    matched: IndexArray

    def cost(self, arc: IndexArray) -> float:
        """Return the hops that qubits travel between gates, and from where they are settled; O(k)."""
        here = self.arcs.ends[arc]
        later, end = self.flow.near[:, :, 1, 0], self.flow.near[:, :, 1, 1]
        travel = self.arcs.hops[here, here[later, end]][later >= 0].sum()
        settled = self.arcs.hops[self.flow.home, here][self.flow.home >= 0].sum()
        return float(travel + settled)

    def clashes(self, arc: IndexArray) -> int:
        """Return how often two gates of a level share a device qubit."""
        visits = self.flow.level[:, None].astype(np.int64) * len(self.arcs.hops) + self.arcs.ends[arc]
        return visits.size - len(np.unique(visits))

    def visits(self, arc: IndexArray) -> IndexArray:
        """Return the qubits of every gate and where they are, for `tiger.routing.ising.movement`."""
        return np.concatenate([self.gates.pairs, self.arcs.ends[arc]], axis=1)


def build_gate_tasks(dag: GateDag, coupling: Coupling, place: IndexArray, fixed: IndexArray | None = None) -> GateTasks:
    """State gates as tasks; `fixed[n]` says where qubits start, and `place[N]` which part of the device they are in.

    Levels wider than a largest matching of the device are split, as no more gates than that run at once.
    """
    gates = build_timeline(dag)
    part = coupling.part[place[gates.pairs[:, 0]]]
    # A largest matching of the coupling map bounds the gates that run at once; wider levels are split.
    matched, width = _find_largest_matching(coupling)
    ends = np.concatenate([coupling.edges, coupling.edges[:, ::-1]])
    ends = np.ascontiguousarray(ends[np.lexsort((ends[:, 1], ends[:, 0]))]).reshape(-1, 2)
    # Arcs are sorted by their ends, so that the one in the other direction is found by binary search.
    key = ends[:, 0].astype(np.int64) * coupling.size + ends[:, 1]
    back = np.searchsorted(key, ends[:, 1].astype(np.int64) * coupling.size + ends[:, 0]).astype(np.int32)
    first = np.searchsorted(ends[:, 0], np.arange(coupling.size + 1)).astype(np.int32)
    arcs = CouplingArcs(ends, first, back, coupling.hops.astype(np.int32))
    pairs = matched.astype(np.int64)
    flow = _flow(gates, _split(gates.level, part, width), fixed)
    return GateTasks(
        gates=gates,
        arcs=arcs,
        flow=flow,
        part=part,
        matched=np.searchsorted(key, pairs[:, 0] * coupling.size + pairs[:, 1]).astype(np.int32),
    )


def _find_largest_matching(coupling: Coupling) -> tuple[IndexArray, IntArray]:
    """Return the edges of a largest matching, sorted, and how many of them every part has."""
    graph = rx.PyGraph()
    graph.add_nodes_from(range(coupling.size))
    graph.add_edges_from_no_data([(a, b) for a, b in coupling.edges.tolist()])
    pairs = sorted(tuple(sorted(pair)) for pair in rx.max_weight_matching(graph, max_cardinality=True))
    found = np.array(pairs, np.int32).reshape(-1, 2)
    return found, np.bincount(coupling.part[found[:, 0]], minlength=int(coupling.part.max(initial=0)) + 1)


def _split(level: IndexArray, part: IndexArray, width: IntArray) -> IndexArray:
    """Return levels cut in order, so that none has more than `width[c]` gates in part c."""
    rank, seen = np.zeros(len(level), np.int64), np.zeros(len(width), np.int64)
    for gate, here in enumerate(part.tolist()):
        if gate and level[gate] != level[gate - 1]:
            seen[:] = 0
        rank[gate] = seen[here] // max(width[here], 1)
        seen[here] += 1
    _, number = np.unique(np.stack([level, rank]), axis=1, return_inverse=True)
    return number.ravel().astype(np.int32)


def _flow(gates: GateTimeline, level: IndexArray, fixed: IndexArray | None) -> GateTies:
    """Return the ties between gates, following every qubit from gate to gate."""
    near = np.full((len(gates.node), 2, 2, 2), -1, np.int32)
    home = np.full((len(gates.node), 2), -1, np.int32)
    last: dict[int, tuple[int, int]] = {}
    for gate, pair in enumerate(gates.pairs.tolist()):
        for end, qubit in enumerate(pair):
            # The dataflow: a qubit leaves the gate before by one end and enters this one by another.
            if qubit in last:
                near[gate, end, 0] = last[qubit]
                near[(*last[qubit], 1)] = gate, end
            elif fixed is not None:
                home[gate, end] = fixed[qubit]
            last[qubit] = gate, end
    return GateTies(near, home, level)


def choose_start_arcs(tasks: GateTasks, place: IndexArray) -> IndexArray:
    """Return arc[k], level by level: every gate on a free arc near where its qubits are, and near their `place[N]`.

    Feasible: where greedy choice ends in a dead end, the level goes on a largest matching by linear assignment. A pull
    towards the layout, half as strong as that of where qubits are, keeps them from drifting apart.
    """
    where, arc = place.astype(np.int32), np.zeros(len(tasks.gates.node), np.int32)
    for gates in split_levels(tasks.flow.level, 1):
        pairs = tasks.gates.pairs[gates]
        # Twice the hops from where the qubits are now, and once those to where the static layout has them.
        walk = 2 * _walks(tasks.arcs, where[pairs]) + _walks(tasks.arcs, place[pairs])
        chosen = _choose_arcs_greedily(walk, tasks.arcs.ends)
        arc[gates] = _assign(walk, tasks) if chosen is None else chosen
        where[pairs] = tasks.arcs.ends[arc[gates]]
    return arc


def _walks(arcs: CouplingArcs, here: IndexArray) -> IndexArray:
    """Return hops[w, m] that the qubits of gates, at `here[w, 2]`, are from every arc."""
    return np.asarray(arcs.hops[here[:, 0]][:, arcs.ends[:, 0]] + arcs.hops[here[:, 1]][:, arcs.ends[:, 1]])


def _choose_arcs_greedily(walk: IndexArray, ends: IndexArray) -> IndexArray | None:
    """Return the arcs of a level by `walk[w, m]`, gates that are near theirs first, None where one is left without."""
    arc, free = np.zeros(len(walk), np.int32), np.ones(len(ends), bool)
    # Gates that have an arc nearby choose first.
    for gate in np.argsort(walk.min(axis=1), kind="stable").tolist():
        arc[gate] = np.where(free, walk[gate], FAR).argmin()
        if not free[arc[gate]] or walk[gate, arc[gate]] >= FAR:
            return None
        free &= ~np.isin(ends, ends[arc[gate]]).any(axis=1)
    return arc


def _assign(walk: IndexArray, tasks: GateTasks) -> IndexArray:
    """Return arcs of the largest matching for a level, the cheapest such choice."""
    # The linear assignment of gates to edges of the matching, each in its better direction (Jonker, Volgenant 1987).
    both = np.stack([tasks.matched, tasks.arcs.back[tasks.matched]])
    cost = walk[:, both]
    _, column = linear_sum_assignment(cost.min(axis=1))
    direction = cost.argmin(axis=1)[np.arange(len(walk)), column]
    return np.asarray(both[direction, column], np.int32)


def split_levels(level: IndexArray, span: int, first: int = 0) -> Iterator[IntArray]:
    """Yield the gates of every `span` consecutive levels, the first run ending at level `first`, if above 0."""
    order = np.argsort(level, kind="stable")
    depth = int(level.max(initial=-1)) + 1
    cuts = sorted({0, *range(first, depth, span), depth})
    bounds = np.searchsorted(level[order], cuts)
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        yield order[begin:end]
