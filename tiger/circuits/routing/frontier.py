"""A routing under way: which gates are done, which wait for distance alone, and where the qubits are."""

from typing import NamedTuple

import numpy as np

from tiger.circuits.coupling import Coupling, HopArray, IndexArray
from tiger.circuits.gate_dag import GateDag, adjacency
from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel

FRONT, STACK, STEPS, COST, LINKS, ACTIVE, WORK, DICE, HERE, THERE, HEAT, QUIET, LOW, HIGH, LEFT, TALLIES = range(16)
SIZE, WEIGHT, FADE, TIRE, SHORT, NEAR, SECOND, KNOBS = range(8)
DICE_FACTOR, DICE_SIZE = 48_271, 2_147_483_647
REST, WARM = 5, 8
FAINT = 0.03
NOWHERE, NEVER, TOO_MUCH = -1, 1e18, 1_000_000_000


class Kit(NamedTuple):
    """Hold a circuit of g nodes in one direction and the device it goes on; fields as in `GateDag` and `Coupling`."""

    pairs: IndexArray
    first: IndexArray
    after: IndexArray
    waits: IndexArray
    bridge: IntArray
    neighbours: IndexArray
    hops: HopArray


class State(NamedTuple):
    """Hold a routing under way, allocated once and used for many.

    `place[N]` and `holds[N]` are the mapping and its inverse, `need[g]` how many nodes a node still waits for, -1 when
    it is done. `front` are gates that wait for nothing but distance, `stack` nodes to try. The gates looked at hang on
    their circuit qubits: `head[N]`, then `link[i]`, with the `other` qubit and the `weight`. `active` are the circuit
    qubits of the front. `steps[k, 2]` are as in `Route`; `heat[N]` is what tires a device qubit; `tally` counts.
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
    active: IndexArray
    mark: IndexArray
    queue: IndexArray
    touched: IndexArray
    steps: IndexArray
    heat: IndexArray
    tally: IntArray


def kits_of(dag: GateDag, coupling: Coupling) -> tuple[Kit, Kit]:
    """Return the circuit forwards and backwards; nodes keep their numbers, so that backward steps only turn around."""
    count = len(dag.pairs)
    heads = np.repeat(np.arange(count, dtype=np.int32), np.diff(dag.first))
    shared = (np.array(dag.bridge, np.int64), coupling.neighbours.copy(), coupling.hops.copy())
    pairs = dag.pairs.copy()
    first, before = adjacency(dag.after, heads, count)
    backward = Kit(pairs, first.copy(), before.copy(), np.diff(dag.first).astype(np.int32), *shared)
    return Kit(pairs, dag.first.copy(), dag.after.copy(), dag.waits.copy(), *shared), backward


def state_of(kit: Kit, most: int) -> State:
    """Allocate what a routing of up to `most` SWAPs and BRIDGEs needs."""
    count, size, edges = len(kit.pairs), len(kit.hops), len(kit.after)
    links = 4 * count + 2

    def whole(length: int) -> IndexArray:
        return np.full(length, -1, np.int32)

    tally = np.zeros(TALLIES, np.int64)
    tally[DICE] = 1
    return State(
        place=whole(size),
        holds=whole(size),
        need=whole(count),
        front=whole(count + 1),
        stack=whole(count + 1),
        head=whole(size),
        link=whole(links),
        other=whole(links),
        weight=np.zeros(links),
        active=whole(size),
        mark=whole(size),
        queue=whole(count + 1),
        touched=whole(edges + 1),
        steps=np.zeros((count + most + 1, 2), np.int32),
        heat=np.zeros(size, np.int32),
        tally=tally,
    )


@kernel
def begin(kit: Kit, state: State, start: IndexArray) -> None:
    """Set the mapping, with nothing done."""
    tally = state.tally
    for v in range(len(start)):
        state.place[v] = start[v]
        state.holds[start[v]] = v
        state.head[v] = -1
        state.mark[v] = -1
        state.heat[v] = 0
    for k in (FRONT, STACK, STEPS, COST, LINKS, ACTIVE, HEAT, QUIET):
        tally[k] = 0
    tally[LEFT] = 0
    for v in range(len(kit.waits) - 1, -1, -1):
        tally[LEFT] += kit.pairs[v, 0] >= 0
        state.need[v] = kit.waits[v]
    ready(state)


@kernel
def ready(state: State) -> None:
    """Put all nodes that wait for nothing on the stack, and nothing else."""
    tally = state.tally
    tally[STACK] = 0
    for v in range(len(state.need) - 1, -1, -1):
        if state.need[v] == 0:
            state.stack[tally[STACK]] = v
            tally[STACK] += 1


@kernel
def settle(kit: Kit, state: State) -> None:
    """Carry out every node on the stack that can be, and what becomes ready by it."""
    tally = state.tally
    while tally[STACK] > 0:
        tally[STACK] -= 1
        v = state.stack[tally[STACK]]
        a, b = kit.pairs[v, 0], kit.pairs[v, 1]
        if a >= 0 and kit.hops[state.place[a], state.place[b]] > 1:
            state.front[tally[FRONT]] = v
            tally[FRONT] += 1
        else:
            finish(kit, state, v, NOWHERE)


@kernel
def finish(kit: Kit, state: State, v: int, middle: int) -> None:
    """Note that a node is carried out, and put what becomes ready on the stack."""
    tally = state.tally
    state.steps[tally[STEPS], 0] = v
    state.steps[tally[STEPS], 1] = middle
    tally[STEPS] += 1
    tally[QUIET] = 0
    if kit.pairs[v, 0] >= 0:
        tally[LEFT] -= 1
    state.need[v] = -1
    for e in range(kit.first[v], kit.first[v + 1]):
        h = kit.after[e]
        state.need[h] -= 1
        tally[LOW] = min(tally[LOW], h)
        tally[HIGH] = max(tally[HIGH], h + 1)
        if state.need[h] == 0:
            state.stack[tally[STACK]] = h
            tally[STACK] += 1


@kernel
def exchange(state: State, p: int, q: int) -> None:
    """Swap what two device qubits hold."""
    a, b = state.holds[p], state.holds[q]
    state.holds[p], state.holds[q] = b, a
    state.place[a], state.place[b] = q, p


@inner_kernel
def gather(kit: Kit, state: State) -> None:
    """Move the gates of the front whose qubits are adjacent to the stack."""
    tally, kept = state.tally, 0
    for i in range(tally[FRONT]):
        v = state.front[i]
        if kit.hops[state.place[kit.pairs[v, 0]], state.place[kit.pairs[v, 1]]] == 1:
            state.stack[tally[STACK]] = v
            tally[STACK] += 1
        else:
            state.front[kept] = v
            kept += 1
    tally[FRONT] = kept


@kernel
def drop(state: State, v: int) -> None:
    """Take a gate out of the front."""
    kept = 0
    for i in range(state.tally[FRONT]):
        if state.front[i] != v:
            state.front[kept] = state.front[i]
            kept += 1
    state.tally[FRONT] = kept


@kernel
def skip(kit: Kit, state: State, steps: IndexArray, count: int) -> None:
    """Carry out the first `count` known steps without cost, right after `begin`, whatever made them possible."""
    tally = state.tally
    for i in range(count):
        if steps[i, 0] < 0:
            exchange(state, -1 - steps[i, 0], steps[i, 1])
        else:
            finish(kit, state, steps[i, 0], steps[i, 1])
    tally[STEPS] = 0
    ready(state)


@kernel
def roll(tally: IntArray, sides: int) -> int:
    """Return a number from 0 to sides - 1 by lot (minimal standard generator, doi:10.1145/63039.63042)."""
    if sides < 2:
        return 0
    tally[DICE] = tally[DICE] * DICE_FACTOR % DICE_SIZE
    return int(tally[DICE] % sides)
