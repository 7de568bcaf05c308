"""The neighbourhood of annealing: a vertex, a connected set of vertices or an exchange, in keeping with the stages."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.operators.throughput.state import LoadState
from tiger.placement.operators.throughput.tables import Tables
from tiger.solvers.generator import Generator, draw_below, draw_uniform
from tiger.solvers.kernel import inner_kernel


class MoveProposalParams(NamedTuple):
    """Set the probabilities of proposals.

    `exchange` of two vertices and `joint` move of a connected set, of one more vertex with probability `growth` each
    time; a single vertex otherwise. A vertex of the most loaded device is looked for with probability `heaviest`, and
    the device of a neighbour is chosen with `nearby`, any device otherwise. Vertices with a wanted property are drawn
    up to `tries` times, and a proposal moves at most `most` vertices.
    """

    exchange: float = 0.15
    joint: float = 0.2
    growth: float = 0.75
    heaviest: float = 0.4
    nearby: float = 0.75
    tries: int = 6
    most: int = 64


# Compiled code reads it as a constant.
PARAMS = MoveProposalParams()


class MoveProposal(NamedTuple):
    """Hold the moves of a proposal in order, each of a `vertex` from an `origin` to a `target`, at most 64.

    `mark[V]` is 1 for vertices in the list while it is made, and 0 afterwards.
    """

    generator: Generator
    vertex: IntArray
    target: IntArray
    origin: IntArray
    mark: IntArray


def make_proposal(size: int, generator: Generator) -> MoveProposal:
    """Return an empty proposal for V vertices."""
    vertex, target, origin = np.zeros((3, PARAMS.most), np.int64)
    return MoveProposal(generator, vertex, target, origin, np.zeros(size, np.int64))


@inner_kernel
def propose(tables: Tables, state: LoadState, proposal: MoveProposal) -> int:
    """Write a random list of moves, and return how long it is, 0 for none; O(64 degree)."""
    g = _choose_vertex(state, proposal)
    b = _choose_device(tables, state, proposal, g)
    if b == state.place[g] or not tables.allowed[g, b]:
        return 0
    draw = draw_uniform(proposal.generator)
    if draw < PARAMS.exchange:
        return _propose_exchange(tables, state, proposal, g, b)
    # The size of a connected set is geometric; 1 for a single vertex.
    size = 1
    if draw < PARAMS.exchange + PARAMS.joint:
        while size < PARAMS.most // 2 and draw_uniform(proposal.generator) < PARAMS.growth:
            size += 1
    return _propose_set(tables, state, proposal, (g, b, size))


@inner_kernel
def _choose_vertex(state: LoadState, proposal: MoveProposal) -> int:
    """Draw a vertex, often one of the device with the largest load: only its moves lower the largest load."""
    g = draw_below(proposal.generator, len(state.place))
    if draw_uniform(proposal.generator) < PARAMS.heaviest:
        heaviest = np.argmax(state.load)
        for _ in range(PARAMS.tries):
            if state.place[g] == heaviest:
                break
            g = draw_below(proposal.generator, len(state.place))
    return g


@inner_kernel
def _choose_device(tables: Tables, state: LoadState, proposal: MoveProposal, g: int) -> int:
    """Draw a device for a vertex: mostly that of another one it has an edge with."""
    first, degree = tables.near_start[g], tables.near_start[g + 1] - tables.near_start[g]
    if degree > 0 and draw_uniform(proposal.generator) < PARAMS.nearby:
        return int(state.place[tables.near[first + draw_below(proposal.generator, degree)]])
    return draw_below(proposal.generator, len(state.load))


@inner_kernel
def _propose_exchange(tables: Tables, state: LoadState, proposal: MoveProposal, g: int, b: int) -> int:
    """Propose that vertex g changes places with one of device b, if a few draws find one that may."""
    a = state.place[g]
    for _ in range(PARAMS.tries):
        h = draw_below(proposal.generator, len(state.place))
        if state.place[h] == b and tables.allowed[h, a]:
            if not (_keeps_order(tables, state, (g, b, h)) and _keeps_order(tables, state, (h, a, g))):
                return 0
            proposal.vertex[0], proposal.target[0], proposal.vertex[1], proposal.target[1] = g, b, h, a
            return 2
    return 0


@inner_kernel
def _keeps_order(tables: Tables, state: LoadState, move: tuple[int, int, int]) -> bool:
    """Return whether (vertex, device, other) keeps to the order of stages, wherever the other vertex is."""
    g, b, other = move
    for j in range(tables.before_start[g], tables.before_start[g + 1]):
        if tables.before[j] == other or tables.rank[state.place[tables.before[j]]] > tables.rank[b]:
            return False
    for j in range(tables.after_start[g], tables.after_start[g + 1]):
        if tables.after[j] == other or tables.rank[state.place[tables.after[j]]] < tables.rank[b]:
            return False
    return True


@inner_kernel
def _propose_set(tables: Tables, state: LoadState, proposal: MoveProposal, aim: tuple[int, int, int]) -> int:
    """Propose that (vertex, device, size) goes to the device with about so many neighbours, and all that has to."""
    (g, b, size), a = aim, state.place[aim[0]]
    proposal.vertex[0] = g
    proposal.mark[g] = 1
    count, seen = 1, 0
    for _ in range(2 * size):
        # First close the set under the order of stages, then add a random neighbour on the same device.
        while count > 0 and seen < count:
            count, seen = _add_forced(tables, state, proposal, (count, seen, b)), seen + 1
        if count <= 0 or count >= size:
            break
        x = proposal.vertex[draw_below(proposal.generator, count)]
        degree = tables.near_start[x + 1] - tables.near_start[x]
        if degree > 0:
            y = tables.near[tables.near_start[x] + draw_below(proposal.generator, degree)]
            if state.place[y] == a and not proposal.mark[y] and tables.allowed[y, b]:
                count = _add(proposal, count, y)
    while count > 0 and seen < count:
        count, seen = _add_forced(tables, state, proposal, (count, seen, b)), seen + 1
    # A negative count is a set that cannot be closed: its marks are cleared, and nothing is proposed.
    for i in range(abs(count)):
        proposal.mark[proposal.vertex[i]] = 0
        proposal.target[i] = b
    return max(count, 0)


@inner_kernel
def _add_forced(tables: Tables, state: LoadState, proposal: MoveProposal, at: tuple[int, int, int]) -> int:
    """Add the vertices that (count, seen, device) forces to move with vertex `seen`; return the count.

    Those are its successors in earlier stages than the device, or its predecessors in later ones. The count is
    negative where one may not go to the device, or there are too many.
    """
    count, seen, b = at
    g, rank = proposal.vertex[seen], tables.rank[b]
    if rank > tables.rank[state.place[g]]:
        # To a later stage: successors left in an earlier one have to come along.
        for j in range(tables.after_start[g], tables.after_start[g + 1]):
            y = tables.after[j]
            if tables.rank[state.place[y]] < rank and not proposal.mark[y]:
                # The set cannot be closed: its size comes back negative, so that marks can be cleared.
                if count == PARAMS.most or not tables.allowed[y, b]:
                    return -count
                count = _add(proposal, count, y)
    else:
        # To an earlier stage: predecessors left in a later one have to come along.
        for j in range(tables.before_start[g], tables.before_start[g + 1]):
            y = tables.before[j]
            if tables.rank[state.place[y]] > rank and not proposal.mark[y]:
                if count == PARAMS.most or not tables.allowed[y, b]:
                    return -count
                count = _add(proposal, count, y)
    return count


@inner_kernel
def _add(proposal: MoveProposal, count: int, y: int) -> int:
    """Add a vertex to the list; return how long it is now."""
    proposal.vertex[count] = y
    proposal.mark[y] = 1
    return count + 1
