"""Cut a graph in two at least cost: coarsen, grow a side from a vertex, and refine by Fiduccia and Mattheyses' moves.

Sources: B. Hendrickson, R. Leland, doi:10.1145/224170.224228; G. Karypis, V. Kumar, doi:10.1137/S1064827595287997;
C. M. Fiduccia, R. M. Mattheyses, doi:10.1109/DAC.1982.1585498.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import allocating_kernel, inner_allocating_kernel, inner_kernel, kernel
from tiger.solvers.multilevel.coarsening import Graph, cluster, contract

# Vertices of the coarsest graph, and the share of its vertices that coarsening must leave behind to go on.
COARSEST, SHRINK = 64, 0.95
# Vertices of graphs of which all cuts are compared.
TINY = 4
# Passes over a cut, and moves of a pass that may bring nothing before it ends (and a hundredth of the vertices more).
# Costs of mappings differ by 0.3 % between 30 and 150 such moves (four graphs of 2,048 to 4,096 tasks, three seeds).
PASSES, PATIENCE = 8, 150
# Part of the largest gain that may be rounding alone.
ROUNDING = 1e-9
# More than any excess of memory, in bytes, so that weights come first.
HEAVY = 1e24


class Cut(NamedTuple):
    """Hold a cut under change: `side[n]`, what flipping a vertex gains, and how many neighbours are on the other side.

    `mass[4]` are the weights, then the memories, of side 0 and side 1. Vertices of side s that may flip wait in
    `heap[s, : length[s]]`, the one that gains most on top; `heap_index[n]` is a vertex's place there, -1 outside and -2
    where it has flipped. `flipped[n]` are vertices in the order of their flips.
    """

    side: IntArray
    gain: FloatArray
    external: IntArray
    mass: IntArray
    heap: IntArray
    length: IntArray
    heap_index: IntArray
    flipped: IntArray


@allocating_kernel
def bisect(graph: Graph, side: IntArray, bounds: IntArray, tries: int, seed: int) -> float:
    """Cut a graph in two (in place, `side[n]`) by one multilevel cycle and return the cost of the cut.

    With `tries` > 0 the coarsest graph is cut again, the best of these; with 0 the cut given is improved. Side 0 gets
    a weight within `bounds[0]`, `bounds[1]` where the weights of vertices allow it, always where they are 1, and the
    sides hold at most `bounds[2]` and `bounds[3]` bytes where the search finds out how. O(entries log n) time.
    """
    np.random.seed(seed)
    # A cluster weighs at most 1.5 times what a vertex of the coarsest graph does on average, so that cuts can balance.
    weight = 0
    for t in range(len(side)):
        weight += graph.weight[t]
        if tries > 0:
            side[t] = 0
    graphs, labels, sides = [graph], [side], [side]
    cap = max(3 * weight // (2 * COARSEST), 1)
    # Coarsening (Hendrickson and Leland 1995): clusters of one side become vertices, until few are left or none join.
    while len(graphs[-1].weight) > COARSEST:
        fine, within = graphs[-1], sides[-1]
        size = len(within)
        label = np.empty(size, np.int64)
        count = cluster(fine, within, cap, label)
        if count > SHRINK * size:
            break
        coarse = np.empty(count, np.int64)
        for t in range(size):
            coarse[label[t]] = within[t]
        graphs.append(contract(fine, label, count))
        labels.append(label)
        sides.append(coarse)
    cost = cut_coarsest(graphs[-1], sides[-1], bounds, tries) if tries > 0 else refine(graphs[-1], sides[-1], bounds)
    # Uncoarsening: the cut of each graph is that of the coarser one, refined.
    for level in range(len(graphs) - 2, -1, -1):
        for t in range(len(sides[level])):
            sides[level][t] = sides[level + 1][labels[level + 1][t]]
        cost = refine(graphs[level], sides[level], bounds)
    return cost


@inner_allocating_kernel
def cut_coarsest(graph: Graph, side: IntArray, bounds: IntArray, tries: int) -> float:
    """Put the best of `tries` cuts, grown from random vertices and refined, into `side[n]`, and return its cost.

    Of up to 4 vertices all cuts are compared.
    """
    if len(side) <= TINY:
        return cut_exactly(graph, side, bounds)
    best, least = np.inf, np.inf
    found = np.empty(len(side), np.int64)
    for attempt in range(tries):
        # Goals in turn: the middle of the bounds, the least and the most.
        share = attempt % 3 if bounds[0] < bounds[1] else 0
        goal = (bounds[0] + bounds[1]) // 2 if share == 0 else bounds[share - 1]
        grow(graph, found, goal, attempt)
        cost = refine(graph, found, bounds)
        # Balance comes first, then cost.
        over = excess(masses(graph, found), relax_bounds(graph, bounds))
        if over < least or (over == least and cost < best):
            best, least = cost, over
            for t in range(len(side)):
                side[t] = found[t]
    return float(best)


@inner_allocating_kernel
def cut_exactly(graph: Graph, side: IntArray, bounds: IntArray) -> float:
    """Put the best of all cuts of a tiny graph into `side[n]` and return its cost; O(2^n entries) time."""
    best, least, chosen, size = np.inf, np.inf, 0, len(side)
    wide, mass = relax_bounds(graph, bounds), np.empty(4, np.int64)
    for number in range(1 << size):
        cost = 0.0
        mass[:] = 0
        for t in range(size):
            here = (number >> t) & 1
            mass[here] += graph.weight[t]
            mass[2 + here] += graph.memory[t]
            cost += here * graph.pull[t]
            for e in range(graph.indptr[t], graph.indptr[t + 1]):
                if (number >> graph.indices[e]) & 1 != here:
                    cost += graph.flow[e] / 2
        # Balance comes first, then cost.
        over = excess(mass, wide)
        if over < least or (over == least and cost < best):
            best, least, chosen = cost, over, number
    for t in range(size):
        side[t] = (chosen >> t) & 1
    return float(best)


@inner_allocating_kernel
def masses(graph: Graph, side: IntArray) -> IntArray:
    """Return the weights, then the memories, of the two sides."""
    mass = np.zeros(4, np.int64)
    for t in range(len(side)):
        mass[side[t]] += graph.weight[t]
        mass[2 + side[t]] += graph.memory[t]
    return mass


@inner_allocating_kernel
def open_cut(graph: Graph, side: IntArray) -> Cut:
    """Return the cut of `side[n]`, which it changes, with empty heaps; O(entries)."""
    size = len(side)
    gain, external = np.zeros(size), np.zeros(size, np.int64)
    for t in range(size):
        # Gain of a flip: the pull saved, edges to the other side saved, and those to its own side paid.
        gain[t] = graph.pull[t] if side[t] == 1 else -graph.pull[t]
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            if side[graph.indices[e]] == side[t]:
                gain[t] -= graph.flow[e]
            else:
                gain[t] += graph.flow[e]
                external[t] += 1
    heap, length = np.empty((2, size), np.int64), np.zeros(2, np.int64)
    heap_index, flipped = np.full(size, -1, np.int64), np.empty(size, np.int64)
    return Cut(side, gain, external, masses(graph, side), heap, length, heap_index, flipped)


@inner_allocating_kernel
def grow(graph: Graph, side: IntArray, goal: int, attempt: int) -> None:
    """Grow side 0 from a vertex, always by the one that gains most, to a weight of `goal`; in place.

    The first attempt starts where the pull is strongest, the others at random.
    """
    size, first = len(side), np.random.randint(len(side))
    for t in range(size):
        side[t] = 1
        if attempt == 0 and graph.pull[t] > graph.pull[first]:
            first = t
    # Greedy graph growing (Karypis and Kumar 1998): the vertex of the frontier that gains most comes next.
    cut = open_cut(graph, side)
    following = 0
    while cut.mass[0] < goal and following < size:
        if cut.length[1] == 0:
            # The component is used up: go on from the next vertex.
            if cut.heap_index[(first + following) % size] == -1:
                heap_push(cut, (first + following) % size)
            following += 1
            continue
        t = cut.heap[1, 0]
        heap_remove(cut, t)
        # A vertex so heavy that half of it would exceed the goal is left out.
        if cut.mass[0] + graph.weight[t] // 2 <= goal:
            flip(graph, cut, t)
            for e in range(graph.indptr[t], graph.indptr[t + 1]):
                if cut.heap_index[graph.indices[e]] == -1:
                    heap_push(cut, graph.indices[e])


@allocating_kernel
def refine(graph: Graph, side: IntArray, bounds: IntArray) -> float:
    """Improve a cut (in place) by passes of moves of which the best prefix is kept, and return its cost."""
    cut = open_cut(graph, side)
    scale = 0.0
    for t in range(len(side)):
        scale = max(scale, abs(cut.gain[t]))
    wide = relax_bounds(graph, bounds)
    for _ in range(PASSES):
        if not run_pass(graph, cut, wide, ROUNDING * scale):
            break
    return value(graph, side)


@kernel
def value(graph: Graph, side: IntArray) -> float:
    """Return the cost of a cut; O(entries)."""
    cost = 0.0
    for t in range(len(side)):
        cost += side[t] * graph.pull[t]
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            if side[graph.indices[e]] != side[t]:
                cost += graph.flow[e] / 2
    return cost


@inner_allocating_kernel
def relax_bounds(graph: Graph, bounds: IntArray) -> IntArray:
    """Return bounds that heavy vertices can keep: wider by half the heaviest one, none wider where all weigh 1."""
    heaviest, largest = 1, 0
    for t in range(len(graph.weight)):
        heaviest, largest = max(heaviest, graph.weight[t]), max(largest, graph.memory[t])
    wide = np.empty(4, np.int64)
    wide[0], wide[1] = bounds[0] - heaviest // 2, bounds[1] + heaviest // 2
    more = largest if heaviest > 1 else 0
    wide[2], wide[3] = bounds[2] + more, bounds[3] + more
    return wide


@inner_kernel
def run_pass(graph: Graph, cut: Cut, bounds: IntArray, tolerance: float) -> bool:
    """Flip vertices, each at most once, the one that gains most first, and undo what follows the best cut.

    A cut within the bounds is better than any outside. Return whether the cut has become better.
    """
    # A pass of Fiduccia and Mattheyses 1982: boundary vertices wait in heaps by gain, in place of buckets, as gains are
    # no small integers.
    over = excess(cut.mass, bounds)
    fill_heaps(cut, -np.inf if over > 0.0 or len(cut.side) <= 2 * COARSEST else 0.0)
    total, best, kept, made = 0.0, tolerance, 0, 0
    while made - kept < PATIENCE + len(cut.side) // 100:
        t = next_vertex(cut, bounds)
        if t < 0:
            break
        # Losses are accepted too, which leads out of local optima; each vertex moves once, so that a pass ends.
        total += cut.gain[t]
        heap_remove(cut, t)
        flip(graph, cut, t)
        cut.heap_index[t], cut.flipped[made] = -2, t
        made += 1
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            if cut.heap_index[graph.indices[e]] == -1:
                heap_push(cut, graph.indices[e])
        off = excess(cut.mass, bounds)
        if off < over or (off == over and total > best):
            over, best, kept = off, total + tolerance, made
    # Back to the best prefix of the moves.
    for step in range(made - 1, kept - 1, -1):
        flip(graph, cut, cut.flipped[step])
    return kept > 0


@inner_kernel
def excess(mass: IntArray, bounds: IntArray) -> float:
    """Return by how much the sides break their bounds; a unit of weight counts more than any memory."""
    weight = max(bounds[0] - mass[0], mass[0] - bounds[1], 0)
    return float(weight * HEAVY + max(mass[2] - bounds[2], 0) + max(mass[3] - bounds[3], 0))


@inner_kernel
def fill_heaps(cut: Cut, floor: float) -> None:
    """Put into the heaps the vertices at the border and those that gain more than `floor`."""
    cut.length[0] = cut.length[1] = 0
    for t in range(len(cut.side)):
        cut.heap_index[t] = -1
        if cut.external[t] > 0 or cut.gain[t] > floor:
            heap_push(cut, t)


@inner_kernel
def next_vertex(cut: Cut, bounds: IntArray) -> int:
    """Return the vertex to flip next, -1 for none: from a side with too much, else the one that gains most."""
    first = cut.heap[0, 0] if cut.length[0] > 0 else -1
    second = cut.heap[1, 0] if cut.length[1] > 0 else -1
    # Weights out of bounds decide, then memory, then the larger gain.
    if cut.mass[0] > bounds[1]:
        return first
    if cut.mass[0] < bounds[0]:
        return second
    if cut.mass[2] > bounds[2] and first >= 0:
        return first
    if cut.mass[3] > bounds[3] and second >= 0:
        return second
    if first < 0 or (second >= 0 and cut.gain[second] > cut.gain[first]):
        return second
    return first


@inner_kernel
def flip(graph: Graph, cut: Cut, t: int) -> None:
    """Put vertex t on the other side; O(degree log n)."""
    here = cut.side[t]
    there = 1 - here
    cut.side[t] = there
    # The flip back would lose what this one gains.
    cut.gain[t] = -cut.gain[t]
    cut.mass[here] -= graph.weight[t]
    cut.mass[there] += graph.weight[t]
    cut.mass[2 + here] -= graph.memory[t]
    cut.mass[2 + there] += graph.memory[t]
    # An edge to u is now cut, or no longer: its flow counts twice in the gain of u, once as saved and once as paid.
    external = 0
    for e in range(graph.indptr[t], graph.indptr[t + 1]):
        u = graph.indices[e]
        if cut.side[u] == there:
            cut.gain[u] -= 2 * graph.flow[e]
            cut.external[u] -= 1
            # Where u waits in a heap, it sinks now that it gains less.
            if cut.heap_index[u] >= 0:
                sift_down(cut, u)
        else:
            external += 1
            cut.gain[u] += 2 * graph.flow[e]
            cut.external[u] += 1
            # Here it gains more and rises.
            if cut.heap_index[u] >= 0:
                sift_up(cut, u)
    cut.external[t] = external


@inner_kernel
def heap_push(cut: Cut, t: int) -> None:
    """Put vertex t into the heap of its side."""
    s = cut.side[t]
    cut.heap[s, cut.length[s]] = t
    cut.heap_index[t] = cut.length[s]
    cut.length[s] += 1
    sift_up(cut, t)


@inner_kernel
def heap_remove(cut: Cut, t: int) -> None:
    """Take vertex t out of the heap of its side."""
    s, k = cut.side[t], cut.heap_index[t]
    cut.length[s] -= 1
    last = cut.heap[s, cut.length[s]]
    cut.heap_index[t] = -1
    if last != t:
        cut.heap[s, k] = last
        cut.heap_index[last] = k
        sift_up(cut, last)
        sift_down(cut, last)


@inner_kernel
def sift_up(cut: Cut, t: int) -> None:
    """Move vertex t towards the top of its heap."""
    s, k = cut.side[t], cut.heap_index[t]
    # Parents that gain less move down until there is none; the vertex is written once.
    while k > 0:
        above = (k - 1) // 2
        u = cut.heap[s, above]
        if cut.gain[u] >= cut.gain[t]:
            break
        cut.heap[s, k] = u
        cut.heap_index[u] = k
        k = above
    cut.heap[s, k] = t
    cut.heap_index[t] = k


@inner_kernel
def sift_down(cut: Cut, t: int) -> None:
    """Move vertex t away from the top of its heap."""
    s, k = cut.side[t], cut.heap_index[t]
    # The child that gains more moves up while it gains more than the vertex.
    while True:
        below = 2 * k + 1
        if below >= cut.length[s]:
            break
        # Of two children the one that gains more moves up, to be above the other.
        if below + 1 < cut.length[s] and cut.gain[cut.heap[s, below + 1]] > cut.gain[cut.heap[s, below]]:
            below += 1
        u = cut.heap[s, below]
        if cut.gain[u] <= cut.gain[t]:
            break
        cut.heap[s, k] = u
        cut.heap_index[u] = k
        k = below
    # No child gains more: the vertex is written once, where the last one came from.
    cut.heap[s, k] = t
    cut.heap_index[t] = k
