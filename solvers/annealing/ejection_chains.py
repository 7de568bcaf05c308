"""Compiled chains of moves: each takes one task off an overfull node and puts one more on a node with room.

Along a chain every task moves on to the next node, so that all nodes in between hold as many as before.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.annealing.boundary_annealing import Web, relocation_change
from tiger.solvers.annealing.moves import is_open_to
from tiger.solvers.instance import Instance
from tiger.solvers.kernel import inner_kernel, kernel


class Chains(NamedTuple):
    """Hold who is on which node, as lists that are quick to change, and the shortest chains from one node.

    Node p's tasks that may move are `head[p]`, `after[head[p]]`, .. until -1; `before[n]` is the way back. A chain to
    node q costs `cost[m]` (inf: none known), its last task is `mover[m]`; `done[m]` is 1 where it is the shortest.
    """

    place: IntArray
    held: IntArray
    used: IntArray
    head: IntArray
    after: IntArray
    before: IntArray
    cost: FloatArray
    mover: IntArray
    done: IntArray


@kernel
def settle(inst: Instance, web: Web, chains: Chains, most: int) -> int:
    """Make chains until no node is overfull, at most `most`; return how many tasks are still too many, -1 if stuck.

    O(m + what is reached) time a node on the way, and O(m tasks degree) where no chain follows the traffic.
    """
    left = 0
    for p in range(len(chains.held)):
        while chains.held[p] > inst.slots[p] and most > 0:
            q = reach(inst, web, chains, p)
            if q < 0:
                q = jump(inst, web, chains, p)
            if q < 0:
                return -1
            pull(inst, chains, p, q)
            most -= 1
        left += max(chains.held[p] - inst.slots[p], 0)
    return left


@kernel
def reach(inst: Instance, web: Web, chains: Chains, start: int) -> int:
    """Find the shortest chain from a node to one with room, and return that, or -1.

    Each task of a chain moves to the node of one of its neighbours; Dijkstra's algorithm, gains counted as nothing.
    """
    chains.cost[:] = np.inf
    chains.done[:] = 0
    chains.cost[start] = 0.0
    while True:
        p, least = -1, np.inf
        for q in inst.hosts:
            if chains.done[q] == 0 and chains.cost[q] < least:
                p, least = q, chains.cost[q]
        if p < 0 or chains.held[p] < inst.slots[p]:
            return p
        chains.done[p] = 1
        t = chains.head[p]
        while t >= 0:
            for e in range(web.indptr[t], web.indptr[t + 1]):
                q = chains.place[web.indices[e]]
                if chains.done[q] == 0 and chains.cost[q] > least:
                    lengthen(inst, web, chains, t, q)
            t = chains.after[t]


@inner_kernel
def lengthen(inst: Instance, web: Web, chains: Chains, t: int, q: int) -> None:
    """Note the chain that ends with task t moving to node q, if it may and that is cheaper than what is known."""
    if is_open_to(inst, t, q) and chains.used[q] + inst.memory[t] <= inst.room[q]:
        change = max(relocation_change(web, chains.place, t, q, -1), 0.0) + inst.tolerance
        if chains.cost[chains.place[t]] + change < chains.cost[q]:
            chains.cost[q] = chains.cost[chains.place[t]] + change
            chains.mover[q] = t


@inner_kernel
def jump(inst: Instance, web: Web, chains: Chains, start: int) -> int:
    """Find the cheapest move of one task from a node to any with room, and return that node, or -1."""
    chains.cost[:] = np.inf
    chains.cost[start] = 0.0
    best = -1
    for q in inst.hosts:
        if chains.held[q] >= inst.slots[q]:
            continue
        t = chains.head[start]
        while t >= 0:
            lengthen(inst, web, chains, t, q)
            t = chains.after[t]
        if chains.cost[q] < np.inf and (best < 0 or chains.cost[q] < chains.cost[best]):
            best = q
    return best


@kernel
def pull(inst: Instance, chains: Chains, start: int, end: int) -> None:
    """Make the chain from one node to another, last task first."""
    q = end
    while q != start:
        t = chains.mover[q]
        p = chains.place[t]
        before, after = chains.before[t], chains.after[t]
        if before >= 0:
            chains.after[before] = after
        else:
            chains.head[p] = after
        if after >= 0:
            chains.before[after] = before
        seat(chains, t, q)
        chains.used[p] -= inst.memory[t]
        chains.used[q] += inst.memory[t]
        q = p
    chains.held[start] -= 1
    chains.held[end] += 1


@kernel
def seat(chains: Chains, t: int, q: int) -> None:
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
    held = np.bincount(places, minlength=nodes)
    return Chains(places.copy(), held, used, head, after, before, np.empty(nodes), np.empty(nodes, np.int64), held * 0)
