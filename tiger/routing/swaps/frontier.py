"""A routing under way: which gates are done, which wait for distance alone, and where the qubits are.

The front is SABRE's front layer (Li, Ding, Xie 2019, doi:10.1145/3297858.3304023): gates whose
predecessors in the gate DAG are all done, and whose qubits are not adjacent.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.routing.coupling import Coupling, HopArray, IndexArray
from tiger.routing.gate_dag import GateDag, build_adjacency
from tiger.routing.swaps.prices import NOTHING, price_bridge, price_gate
from tiger.solvers.kernel import inner_kernel, kernel
from tiger.solvers.lehmer import RNG_FACTOR, RNG_MODULUS
from tiger.solvers.records import allocate_records

# Markers: no BRIDGE, a score above all, and a number of SWAPs above all that a route may have.
NOWHERE, NEVER, TOO_MUCH = -1, 1e18, 1_000_000_000


class RoutingArrays(NamedTuple):
    """Hold a circuit of g nodes in one direction and the device it goes on; fields as in `GateDag` and `Coupling`."""

    pairs: IndexArray
    first: IndexArray
    after: IndexArray
    waits: IndexArray
    bridge: IntArray
    price: IndexArray
    neighbours: IndexArray
    hops: HopArray


class RouterCounters:
    """Count what a routing has done and holds: the record that kernels update.

    `front`, `stack`, `steps`, `links` and `front_qubits` are lengths of the arrays of `RoutingState`; `moves` counts
    SWAPs and BRIDGEs, `cost` is their price and `gate_cost` what it was after the last gate, `left` the gates not done,
    `since_gate` the SWAPs since the last gate. `work` counts candidates scored and gates looked at. `here`, `there` are
    the step chosen, `rng` the state of the random numbers, `decay_floor` what every qubit's decay is at least.
    """

    front: int
    stack: int
    steps: int
    moves: int
    cost: int
    gate_cost: int
    links: int
    front_qubits: int
    work: int
    rng: int
    here: int
    there: int
    decay_floor: int
    since_gate: int
    left: int


class RouterParams:
    """Set how a router scores: the record that a search draws for every attempt.

    `lookahead` gates behind the front count, the first with `lookahead_weight` and each less than the one before, the
    more slowly the larger `fade` is. A SWAP costs `decay` for every recent SWAP of its qubits, and `fusion` for all
    that its price is above 1. A gate of the front that is h hops long weighs 1 / (h - 1) ** `distance_power`, and
    `later_weight` where another on its qubits is earlier in the circuit. Where no SWAP scores below `bridge_score`, a
    BRIDGE is taken. Beams alone use `gate_price`, what a gate that is not looked at is expected to cost in SWAPs,
    `noise`, the range of random numbers added to estimates, and `width`, how many states go on.
    """

    lookahead: float
    lookahead_weight: float
    fade: float
    decay: float
    bridge_score: float
    distance_power: float
    later_weight: float
    gate_price: float
    noise: float
    width: float
    fusion: float


class RoutingState(NamedTuple):
    """Hold a routing under way, allocated once and used for many.

    `place[N]` and `holds[N]` are the mapping and its inverse, `need[g]` how many nodes a node still waits for, -1 when
    it is done. `front` are gates that wait for nothing but distance, `stack` nodes to try. The gates looked at are
    linked to their circuit qubits: `head[N]`, then `link[i]`, with the `other` qubit and the `weight`. `front_qubits`
    are the circuit qubits of the front, and `first_gate[N]` the lowest gate of the front on a qubit, -1 for none.
    `queue` and `touched` are scratch. `steps[k, 2]` are as in `Route`; `decay[N]` counts recent SWAPs of device qubits,
    and `last[N]` is what was last on circuit qubits, as prices take it.
    """

    place: IndexArray
    holds: IndexArray
    need: IndexArray
    front: IndexArray
    stack: IndexArray
    head: IndexArray
    link: IndexArray
    other: IndexArray
    weight: FloatArray
    front_qubits: IndexArray
    first_gate: IndexArray
    queue: IndexArray
    touched: IndexArray
    steps: IndexArray
    decay: IndexArray
    last: IndexArray
    counters: Sequence[RouterCounters]


def build_arrays(dag: GateDag, coupling: Coupling) -> tuple[RoutingArrays, RoutingArrays]:
    """Return the circuit forwards and backwards; nodes keep their numbers, so that backward steps only turn around."""
    count = len(dag.pairs)
    heads = np.repeat(np.arange(count, dtype=np.int32), np.diff(dag.first))
    shared = (np.array(dag.bridge, np.int64), dag.price.copy(), coupling.neighbours.copy(), coupling.hops.copy())
    pairs = dag.pairs.copy()
    first, before = build_adjacency(dag.after, heads, count)
    backward = RoutingArrays(pairs, first.copy(), before.copy(), np.diff(dag.first).astype(np.int32), *shared)
    return RoutingArrays(pairs, dag.first.copy(), dag.after.copy(), dag.waits.copy(), *shared), backward


def allocate_state(arrays: RoutingArrays, most: int) -> RoutingState:
    """Allocate what a routing of up to `most` SWAPs and BRIDGEs needs."""
    count, size, edges = len(arrays.pairs), len(arrays.hops), len(arrays.after)
    links = 4 * count + 2

    def fill(length: int) -> IndexArray:
        return np.full(length, -1, np.int32)

    counters = allocate_records(RouterCounters)
    counters[0].rng = 1
    return RoutingState(
        place=fill(size),
        holds=fill(size),
        need=fill(count),
        front=fill(count + 1),
        stack=fill(count + 1),
        head=fill(size),
        link=fill(links),
        other=fill(links),
        weight=np.zeros(links),
        front_qubits=fill(size),
        first_gate=fill(size),
        queue=fill(count + 1),
        touched=fill(edges + 1),
        steps=np.zeros((count + most + 1, 2), np.int32),
        decay=np.zeros(size, np.int32),
        last=fill(size),
        counters=counters,
    )


@kernel
def begin(arrays: RoutingArrays, state: RoutingState, start: IndexArray) -> None:
    """Set the mapping, with nothing done."""
    counters = state.counters[0]
    for v in range(len(start)):
        state.place[v] = start[v]
        state.holds[start[v]] = v
        state.head[v] = -1
        state.first_gate[v] = -1
        state.decay[v] = 0
        state.last[v] = NOTHING
    counters.front = counters.stack = counters.steps = counters.cost = counters.moves = counters.gate_cost = 0
    counters.links = counters.front_qubits = counters.decay_floor = counters.since_gate = 0
    counters.left = 0
    # Barriers and other nodes without a pair are no gates.
    for v in range(len(arrays.waits) - 1, -1, -1):
        counters.left += arrays.pairs[v, 0] >= 0
        state.need[v] = arrays.waits[v]
    stack_ready(state)


@inner_kernel
def stack_ready(state: RoutingState) -> None:
    """Put all nodes that wait for nothing on the stack, and nothing else."""
    counters = state.counters[0]
    counters.stack = 0
    for v in range(len(state.need) - 1, -1, -1):
        if state.need[v] == 0:
            state.stack[counters.stack] = v
            counters.stack += 1


@inner_kernel
def carry_out_ready(arrays: RoutingArrays, state: RoutingState) -> None:
    """Carry out every node on the stack that can be, and what becomes ready by it."""
    counters = state.counters[0]
    while counters.stack > 0:
        counters.stack -= 1
        v = state.stack[counters.stack]
        a, b = arrays.pairs[v, 0], arrays.pairs[v, 1]
        # A gate over more than one hop joins the front layer; a node without a pair only keeps others in order.
        if a >= 0 and arrays.hops[state.place[a], state.place[b]] > 1:
            state.front[counters.front] = v
            counters.front += 1
        else:
            carry_out(arrays, state, v, NOWHERE)


@inner_kernel
def carry_out(arrays: RoutingArrays, state: RoutingState, v: int, middle: int) -> None:
    """Note that a node is carried out, and put what becomes ready on the stack."""
    counters = state.counters[0]
    state.steps[counters.steps, 0] = v
    state.steps[counters.steps, 1] = middle
    counters.steps += 1
    counters.since_gate = 0
    a, b = arrays.pairs[v, 0], arrays.pairs[v, 1]
    if a >= 0:
        counters.left -= 1
        if middle < 0:
            counters.cost += price_gate(arrays.price, state.last, a, b, v)
        else:
            state.last[state.holds[middle]] = NOTHING
            counters.cost += price_bridge(arrays.price, state.last, a, b)
    counters.gate_cost = counters.cost
    # Below 0, so that it is never taken for one that waits for nothing.
    state.need[v] = -1
    # Kahn 1962: a node is ready when the last that it waits for is done.
    for e in range(arrays.first[v], arrays.first[v + 1]):
        h = arrays.after[e]
        state.need[h] -= 1
        if state.need[h] == 0:
            state.stack[counters.stack] = h
            counters.stack += 1


@inner_kernel
def exchange(state: RoutingState, p: int, q: int) -> None:
    """Swap what two device qubits hold."""
    a, b = state.holds[p], state.holds[q]
    state.holds[p], state.holds[q] = b, a
    state.place[a], state.place[b] = q, p


@inner_kernel
def stack_adjacent(arrays: RoutingArrays, state: RoutingState) -> None:
    """Move the gates of the front whose qubits are adjacent to the stack."""
    counters, kept = state.counters[0], 0
    for i in range(counters.front):
        v = state.front[i]
        if arrays.hops[state.place[arrays.pairs[v, 0]], state.place[arrays.pairs[v, 1]]] == 1:
            state.stack[counters.stack] = v
            counters.stack += 1
        else:
            state.front[kept] = v
            kept += 1
    counters.front = kept


@inner_kernel
def remove_from_front(state: RoutingState, v: int) -> None:
    """Take a gate out of the front."""
    counters, kept = state.counters[0], 0
    for i in range(counters.front):
        if state.front[i] != v:
            state.front[kept] = state.front[i]
            kept += 1
    counters.front = kept


@inner_kernel
def carry_out_nodes(arrays: RoutingArrays, state: RoutingState, steps: IndexArray, low: int, high: int) -> None:
    """Carry out the nodes of some known steps without cost, right after `begin`, whatever made them possible.

    Their SWAPs are left out: the mapping is that after them already.
    """
    for i in range(low, high):
        if steps[i, 0] >= 0:
            carry_out(arrays, state, steps[i, 0], NOWHERE)
    begin_counting(state)


@inner_kernel
def begin_counting(state: RoutingState) -> None:
    """Count steps and costs from here on, and put what is ready on the stack."""
    counters = state.counters[0]
    counters.steps = counters.moves = counters.cost = counters.gate_cost = 0
    for v in range(len(state.last)):
        state.last[v] = NOTHING
    stack_ready(state)


@inner_kernel
def draw_below(counters: RouterCounters, sides: int) -> int:
    """Return a random number from 0 to sides - 1."""
    if sides < 2:
        return 0
    counters.rng = counters.rng * RNG_FACTOR % RNG_MODULUS
    return int(counters.rng % sides)
