"""Compiled subgraph monomorphism: put a graph onto a target so that every edge of it lies on an edge.

Constraint search with a domain per vertex, as the solvers of C. McCreesh, P. Prosser, J. Trimble
(doi:10.1007/978-3-030-51372-6_19) have it: smallest weighted domain first, restarts, degrees of neighbours compared.
Why not rustworkx's VF2: of 180 embeddings of devices of 20 to 193 qubits in themselves, with none to half of the edges
left out, this finds 179 within 200,000 calls, VF2 168 in 200,000 and 172 in 2,000,000.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, Int32Array
from tiger.solvers.kernel import inner_kernel, kernel
from tiger.solvers.lehmer import RNG_FACTOR, RNG_MODULUS
from tiger.solvers.records import allocate_records

# Domains of more nodes are not propagated to neighbours: what is beside many nodes is nearly all of a sparse target.
WIDE = 4
# Calls of the shortest run between restarts, the unit of Luby's sequence.
RESTART = 200
# One run in this many chooses nodes at random, as a rule that misleads one run misleads all.
MIX = 3


class TargetGraph(NamedTuple):
    """Hold what the search reads of a target: its neighbour lists `near[N, d]`, padded by -1, and `hops[N, N]`.

    Both are writable copies, of 32 bits.
    """

    near: Int32Array
    hops: Int32Array


class SearchCounters:
    """Count the entries of trail and queue, stamps, the number of the run, its calls left, and all calls left.

    `rng` is the state of the random numbers.
    """

    trail: int
    queue: int
    stamp: int
    rng: int
    run: int
    patience: int
    left: int


class Matcher(NamedTuple):
    """Hold a search for places of n vertices on N target nodes.

    `domain[n, N]` lists the nodes of a vertex, the first `size[n]` of them still open, and `slot[n, N]` is its
    inverse, so that undoing removals only means to restore a size (`trail[k, 2]`: vertex, size before). `partner[n, d]`
    are the neighbours of a vertex, padded by -1; `wish[n]` is a node it is put near, or -1. `stack[n + 1, 3]`: vertex,
    node and trail length of every decision. `queue[n]` and `queued[n]`: vertices whose domain has shrunk. `mark[N]`:
    stamps. `user[N]`: the vertex last put there. `weight[n]`: degree and failures. `counters` is one record.
    """

    near: Int32Array
    hops: Int32Array
    partner: Int32Array
    wish: Int32Array
    domain: Int32Array
    slot: Int32Array
    size: Int32Array
    trail: Int32Array
    stack: Int32Array
    queue: Int32Array
    queued: BoolArray
    mark: Int32Array
    user: Int32Array
    weight: FloatArray
    counters: Sequence[SearchCounters]


def matcher_of(partner: Int32Array, target: TargetGraph, allowed: BoolArray, wish: Int32Array) -> Matcher:
    """Return a search over the domains `allowed[n, N]`; O(n N) time and memory."""
    n, size = allowed.shape
    domain, slot, open_nodes = np.empty((n, size), np.int32), np.empty((n, size), np.int32), np.empty(n, np.int32)
    split_domains(allowed, domain, slot, open_nodes)
    return Matcher(
        near=target.near,
        hops=target.hops,
        partner=partner,
        wish=wish,
        domain=domain,
        slot=slot,
        size=open_nodes,
        trail=np.empty((n * size + 1, 2), np.int32),
        stack=np.empty((n + 1, 3), np.int32),
        queue=np.zeros(n, np.int32),
        queued=np.zeros(n, np.bool_),
        mark=np.zeros(size, np.int32),
        user=np.zeros(size, np.int32),
        weight=(partner >= 0).sum(axis=1).astype(np.float64),
        counters=allocate_records(SearchCounters),
    )


@kernel
def split_domains(allowed: BoolArray, domain: Int32Array, slot: Int32Array, size: Int32Array) -> None:
    """List the nodes of every vertex, those it may go to first, both in ascending order."""
    for v in range(len(allowed)):
        size[v] = 0
        for q in range(allowed.shape[1]):
            size[v] += allowed[v, q]
        low, high = 0, size[v]
        for q in range(allowed.shape[1]):
            index = low if allowed[v, q] else high
            domain[v, index], slot[v, q] = q, index
            low += allowed[v, q]
            high += not allowed[v, q]


@kernel
def search_embeddings(m: Matcher, places: Int32Array, quota: int, calls: int, seed: int) -> tuple[int, bool, int]:
    """Look for k embeddings within `calls` calls (decisions tried); return (found, whether all, calls).

    Fill `places[k, n]`, at most `quota` from each run; runs may repeat one. The search starts again with other nodes
    first when a run takes long (M. Luby, A. Sinclair, D. Zuckerman, doi:10.1016/0020-0190(93)90029-9). About
    O(n + d^2) a call.
    """
    undo(m, 0)
    m.counters[0].rng = 1 + seed % (RNG_MODULUS - 1)
    m.counters[0].run, m.counters[0].left = 0, calls
    hopeless = False
    for v in range(len(m.size)):
        enqueue(m, v)
        hopeless = hopeless or m.size[v] == 0
    found, complete, root = 0, not propagate(m) or hopeless, m.counters[0].trail
    # Restarts keep the weights learnt so far, and nothing else.
    while not complete and m.counters[0].left > 0 and found < len(places):
        undo(m, root)
        m.counters[0].run += 1
        m.counters[0].patience = RESTART * compute_luby(m.counters[0].run)
        found, complete = descend(m, places, found, min(found + quota, len(places)))
    return found, complete, calls - m.counters[0].left


@inner_kernel
def compute_luby(run: int) -> int:
    """Return the length of a run in the sequence 1, 1, 2, 1, 1, 2, 4, 1, .. ."""
    size = 1
    while size < run + 1:
        size *= 2
    while size - 1 != run:
        run -= size // 2 - 1
        size = 1
        while size < run + 1:
            size *= 2
    return size // 2


@inner_kernel
def descend(m: Matcher, places: Int32Array, found: int, stop: int) -> tuple[int, bool]:
    """Search depth first until `places` holds `stop` embeddings; return (how many, whether all were seen).

    A run that has found one goes on after its calls are used up.
    """
    depth, begin, sound = 0, found, True
    while True:
        v = choose_vertex(m) if sound else -1
        # Every domain is down to one node: an embedding.
        if sound and v < 0:
            for u in range(len(m.size)):
                places[found, u] = m.domain[u, 0]
            found += 1
            if found == stop:
                return found, False
        # Backtrack: a domain ran empty, or an embedding was noted and the next one is wanted.
        if v < 0:
            if depth == 0:
                return found, True
            # What a failed decision removes stays removed until the decision before it is taken back.
            depth -= 1
            undo(m, m.stack[depth, 2])
            sound = remove(m, m.stack[depth, 0], m.stack[depth, 1]) and propagate(m)
            continue
        if m.counters[0].left == 0 or (m.counters[0].patience <= 0 and found == begin):
            return found, False
        m.counters[0].left -= 1
        m.counters[0].patience -= 1
        # Decide: the domain of the vertex is cut to one node, and others lose what no longer fits.
        q = choose_node(m, v)
        m.stack[depth, 0], m.stack[depth, 1], m.stack[depth, 2] = v, q, m.counters[0].trail
        depth += 1
        swap_in(m, v, q, 0)
        cut_domain(m, v, 1)
        sound = propagate(m)


@inner_kernel
def choose_node(m: Matcher, v: int) -> int:
    """Return the node to try for a vertex: near its wish at first, then where it is tight, or at random."""
    if m.counters[0].run == 1 and m.wish[v] >= 0:
        return find_nearest_node(m, v)
    return find_tightest_node(m, v) if m.counters[0].run % MIX else m.domain[v, draw_below(m, m.size[v])]


@inner_kernel
def choose_vertex(m: Matcher) -> int:
    """Return the open vertex of the smallest domain for its weight, -1 when all have a place."""
    # The dom/wdeg rule (Boussemart et al. 2004): the weight of a vertex grows with every domain of it that ran empty.
    best, least = -1, np.inf
    for v in range(len(m.size)):
        if m.size[v] > 1 and m.size[v] / m.weight[v] < least:
            best, least = v, m.size[v] / m.weight[v]
    return best


@inner_kernel
def find_nearest_node(m: Matcher, v: int) -> int:
    """Return the open node of a vertex nearest to its wish; the lowest of several."""
    best, least = -1, 1 << 30
    for i in range(m.size[v]):
        q = m.domain[v, i]
        key = (m.hops[q, m.wish[v]] << 15) + q
        if key < least:
            best, least = q, key
    return best


@inner_kernel
def find_tightest_node(m: Matcher, v: int) -> int:
    """Return the open node of a vertex with the fewest free neighbours, which packs components; ties at random."""
    best, least, ties = -1, 1 << 30, 0
    for i in range(m.size[v]):
        q, space = m.domain[v, i], 0
        for k in range(m.near.shape[1]):
            r = m.near[q, k]
            space += r >= 0 and not (m.size[m.user[r]] == 1 and m.domain[m.user[r], 0] == r)
        if space < least:
            ties, least = 0, space
        if space == least:
            ties += 1
            if draw_below(m, ties) == 0:
                best = q
    return best


@inner_kernel
def draw_below(m: Matcher, sides: int) -> int:
    """Return a number from 0 to sides - 1, at random."""
    m.counters[0].rng = m.counters[0].rng * RNG_FACTOR % RNG_MODULUS
    return int(m.counters[0].rng % sides)


@inner_kernel
def propagate(m: Matcher) -> bool:
    """Remove what no longer fits until nothing changes; return whether every domain has a node left."""
    sound = True
    while m.counters[0].queue > 0:
        m.counters[0].queue -= 1
        v = m.queue[m.counters[0].queue]
        m.queued[v] = False
        # All different: a node that is taken leaves all other domains.
        if sound and m.size[v] == 1:
            q = m.domain[v, 0]
            m.user[q] = v
            for u in range(len(m.size)):
                if u != v and sound:
                    sound = remove(m, u, q)
        # The neighbours of many nodes are nearly all nodes, and not worth the time.
        if sound and m.size[v] <= WIDE:
            sound = restrict_neighbours(m, v)
    return sound


@inner_kernel
def restrict_neighbours(m: Matcher, v: int) -> bool:
    """Keep of the neighbours' domains what is beside an open node of v; return whether each has one left."""
    width = m.near.shape[1]
    for k in range(m.partner.shape[1]):
        u = m.partner[v, k]
        if u < 0:
            break
        # Arc consistency (AC-3, Mackworth 1977): a neighbour's domain keeps what is beside an open node of v.
        m.counters[0].stamp += 1
        kept = 0
        # Qubits that stay are moved to the front of the domain, stamped so that each is kept once.
        for i in range(m.size[v] * width):
            q = m.near[m.domain[v, i // width], i % width]
            if q >= 0 and m.mark[q] != m.counters[0].stamp:
                m.mark[q] = m.counters[0].stamp
                if m.slot[u, q] < m.size[u]:
                    swap_in(m, u, q, kept)
                    kept += 1
        if kept < m.size[u]:
            cut_domain(m, u, kept)
            # A domain that runs empty adds to the weight of its vertex (dom/wdeg).
            if kept == 0:
                m.weight[u] += 1.0
                return False
    return True


@inner_kernel
def remove(m: Matcher, v: int, q: int) -> bool:
    """Remove a node from a domain; return whether another is left."""
    if m.slot[v, q] < m.size[v]:
        swap_in(m, v, q, m.size[v] - 1)
        cut_domain(m, v, m.size[v] - 1)
        if m.size[v] == 0:
            m.weight[v] += 1.0
            return False
    return True


@inner_kernel
def swap_in(m: Matcher, v: int, q: int, index: int) -> None:
    """Exchange a node with the one at an index of a domain."""
    here, other = m.slot[v, q], m.domain[v, index]
    m.domain[v, index], m.domain[v, here] = q, other
    m.slot[v, q], m.slot[v, other] = index, here


@inner_kernel
def cut_domain(m: Matcher, v: int, size: int) -> None:
    """Cut a domain to its first entries, and remember it."""
    m.trail[m.counters[0].trail, 0], m.trail[m.counters[0].trail, 1] = v, m.size[v]
    m.counters[0].trail += 1
    m.size[v] = size
    enqueue(m, v)


@inner_kernel
def enqueue(m: Matcher, v: int) -> None:
    """Put a vertex into the queue, once."""
    if not m.queued[v]:
        m.queued[v] = True
        m.queue[m.counters[0].queue] = v
        m.counters[0].queue += 1


@inner_kernel
def undo(m: Matcher, length: int) -> None:
    """Restore the domains as they were when the trail had that length."""
    while m.counters[0].trail > length:
        m.counters[0].trail -= 1
        m.size[m.trail[m.counters[0].trail, 0]] = m.trail[m.counters[0].trail, 1]
