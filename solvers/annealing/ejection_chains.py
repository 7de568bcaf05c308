"""Compiled ejection chains: each takes one task off an overfull node and puts one more on a node with room.

Along a chain every task moves on to the next node, so that all nodes in between hold as many as before. Source:
F. Glover, doi:10.1016/0166-218X(94)00037-E (ejection chains), here the cheapest ones by Dijkstra's algorithm.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.annealing.boundary_annealing import CsrInstance, relocation_change
from tiger.solvers.annealing.moves import is_open_to
from tiger.solvers.instance import Instance
from tiger.solvers.kernel import inner_kernel, kernel


class Chains(NamedTuple):
    """Hold who is on which node, as lists that are quick to change, and the shortest chains from one node.

    Node p's tasks that may move are `head[p]`, `after[head[p]]`, .. until -1; `before[n]` is the way back. A chain to
    node q costs `cost[m]` (inf: none known), its last task is `mover[m]`; `done[m]` is 1 where it is the shortest;
    `asked[m]` is the last task that was to move there.
    """

    place: IntArray
    occupied: IntArray
    used: IntArray
    head: IntArray
    after: IntArray
    before: IntArray
    cost: FloatArray
    mover: IntArray
    done: IntArray
    asked: IntArray


@kernel
def clear_overload(inst: Instance, graph: CsrInstance, chains: Chains, most: int) -> int:
    """Apply chains until no node is overfull, at most `most`; return how many tasks are still too many, -1 if stuck.

    O(m + what is reached) time a node on the way, and O(m tasks degree) where no chain follows the traffic.
    """
    left = 0
    # One chain at a time, as each changes the costs of the next.
    for p in range(len(chains.occupied)):
        while chains.occupied[p] > inst.slots[p] and most > 0:
            q = find_chain(inst, graph, chains, p)
            if q < 0:
                q = find_direct_move(inst, graph, chains, p)
            if q < 0:
                return -1
            apply_chain(inst, chains, p, q)
            most -= 1
        left += max(chains.occupied[p] - inst.slots[p], 0)
    return left


@inner_kernel
def find_chain(inst: Instance, graph: CsrInstance, chains: Chains, start: int) -> int:
    """Find the shortest chain from a node to one with room, and return that, or -1.

    Each task of a chain moves to the node of one of its neighbours; Dijkstra's algorithm, gains counted as nothing.
    """
    chains.cost[:] = np.inf
    chains.done[:] = 0
    chains.asked[:] = -1
    chains.cost[start] = 0.0
    # Dijkstra 1959, over nodes: the unsettled one that is cheapest to reach ends the search if it has room.
    while True:
        p, least = -1, np.inf
        for q in inst.hosts:
            if chains.done[q] == 0 and chains.cost[q] < least:
                p, least = q, chains.cost[q]
        if p < 0 or chains.occupied[p] < inst.slots[p]:
            return p
        chains.done[p] = 1
        # Relax the arcs of every task on the node: to the nodes of its neighbours, where a move costs least.
        t = chains.head[p]
        while t >= 0:
            for e in range(graph.indptr[t], graph.indptr[t + 1]):
                q = chains.place[graph.indices[e]]
                # Once a node: a task may have thousands of neighbours there, all of which its change counts.
                if chains.asked[q] != t and chains.done[q] == 0 and chains.cost[q] > least:
                    chains.asked[q] = t
                    relax(inst, graph, chains, t, q)
            t = chains.after[t]


@inner_kernel
def relax(inst: Instance, graph: CsrInstance, chains: Chains, t: int, q: int) -> None:
    """Keep the chain that ends with task t moving to node q, if that is legal and cheaper than what is known."""
    if is_open_to(inst, t, q) and chains.used[q] + inst.memory[t] <= inst.room[q]:
        # Gains count as nothing, as Dijkstra's algorithm asks for; the tolerance prefers short chains among equals.
        change = max(relocation_change(graph, chains.place, t, q, -1), 0.0) + inst.tolerance
        if chains.cost[chains.place[t]] + change < chains.cost[q]:
            chains.cost[q] = chains.cost[chains.place[t]] + change
            chains.mover[q] = t


@inner_kernel
def find_direct_move(inst: Instance, graph: CsrInstance, chains: Chains, start: int) -> int:
    """Find the cheapest move of one task from a node to any with room, and return that node, or -1."""
    # Where traffic leads to no node with room, every such node is one arc away.
    chains.cost[:] = np.inf
    chains.cost[start] = 0.0
    best = -1
    for q in inst.hosts:
        if chains.occupied[q] >= inst.slots[q]:
            continue
        t = chains.head[start]
        while t >= 0:
            relax(inst, graph, chains, t, q)
            t = chains.after[t]
        if chains.cost[q] < np.inf and (best < 0 or chains.cost[q] < chains.cost[best]):
            best = q
    return best


@inner_kernel
def apply_chain(inst: Instance, chains: Chains, start: int, end: int) -> None:
    """Apply the chain from one node to another, last task first."""
    # Back along the movers that the search noted: the last task goes first and makes room for the one before.
    q = end
    while q != start:
        t = chains.mover[q]
        p = chains.place[t]
        # Unlink the task from the list of its node, then put it first on the next one.
        before, after = chains.before[t], chains.after[t]
        if before >= 0:
            chains.after[before] = after
        else:
            chains.head[p] = after
        if after >= 0:
            chains.before[after] = before
        insert(chains, t, q)
        chains.used[p] -= inst.memory[t]
        chains.used[q] += inst.memory[t]
        q = p
    # Nodes in between gave one task and got one.
    chains.occupied[start] -= 1
    chains.occupied[end] += 1


@inner_kernel
def insert(chains: Chains, t: int, q: int) -> None:
    """Put task t first among those of node q."""
    first = chains.head[q]
    chains.after[t], chains.before[t], chains.head[q] = first, -1, t
    if first >= 0:
        chains.before[first] = t
    chains.place[t] = q


def chains_of(inst: Instance, places: IntArray) -> Chains:
    """Return the lists for a mapping `places[n]` that may overfill nodes, sharing no memory with it; O(n log n + m)."""
    tasks, nodes = len(places), len(inst.slots)
    head, after, before = np.full(nodes, -1, np.int64), np.full(tasks, -1, np.int64), np.full(tasks, -1, np.int64)
    order = inst.movable[np.argsort(places[inst.movable], kind="stable")]
    same = places[order[1:]] == places[order[:-1]]
    after[order[:-1][same]], before[order[1:][same]] = order[1:][same], order[:-1][same]
    first = np.ones(len(order), bool)
    first[1:] = ~same
    head[places[order[first]]] = order[first]
    used = np.zeros(nodes, np.int64)
    np.add.at(used, places, inst.memory)
    size = np.bincount(places, minlength=nodes)
    return Chains(
        places.copy(), size, used, head, after, before, np.empty(nodes), np.empty(nodes, np.int64), size * 0, size * 0
    )
