"""States of an exact search for routes: layouts with the nodes that are done, found by hash, and a queue of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.routing.coupling import IndexArray
from tiger.solvers.kernel import inner_kernel
from tiger.solvers.records import allocate_records

# Routes of more SWAPs and BRIDGEs than this are not looked for: far above what a search of this kind reaches.
MOST = 64
# Multipliers of the hash, odd and without a pattern: 2^64 over the golden ratio (D. Knuth, The Art of Computer
# Programming 3, section 6.4), and a constant of splitmix64.
MIX_LAYOUT, MIX_DONE = -7046029254386353131, -4658895280553007687


class ExactCounters:
    """Count states and entries of the queue; hold the least estimate in it, the goal or -1, and whether it is full."""

    states: int
    entries: int
    level: int
    goal: int
    full: int


class StateMove(NamedTuple):
    """Hold what leads to a state: the nodes done, the state before, the step from there, SWAPs and BRIDGEs with it."""

    done: int
    parent: int
    step: int
    spent: int


class ExactTask(NamedTuple):
    """Hold a circuit of g nodes on n qubits that have gates, and the device.

    `pairs[g, 2]` and `bridge[g]` as in the gate DAG, `before[g]` the set of what each node waits for. At least
    `onward[g]` SWAPs and BRIDGEs come from the begin of a node on and `later[g]` after it. `edges`, `hops[N, N]`: the
    device. A place takes `width` bits of a layout, all of them set for a qubit without a place.
    """

    pairs: IndexArray
    bridge: IntArray
    before: IntArray
    onward: IntArray
    later: IntArray
    edges: IndexArray
    hops: IntArray
    width: int


class ExactStates(NamedTuple):
    """Hold states by number: layout, nodes done, SWAPs and BRIDGEs so far, the state before, and the step from there.

    A step is 1 + e for a SWAP on edge e, -1 - v for a BRIDGE of node v, 0 for qubits that get a place. `slots` is a
    hash table of numbers, -1 where free. The queue is a list for each estimate: `first[MOST + 1]`, then `link` from
    entry to entry, each with a `number` and the `cost` it had. `place` and `user` are scratch.
    """

    layout: IntArray
    done: IntArray
    spent: IndexArray
    parent: IndexArray
    step: IndexArray
    slots: IndexArray
    first: IndexArray
    link: IndexArray
    number: IndexArray
    cost: IndexArray
    place: IndexArray
    user: IndexArray
    counters: Sequence[ExactCounters]


def allocate_states(task: ExactTask, most: int) -> ExactStates:
    """Allocate the arrays of a search with `most` states; none is filled before it is used."""
    entries = 2 * most
    return ExactStates(
        layout=np.empty(most, np.int64),
        done=np.empty(most, np.int64),
        spent=np.empty(most, np.int32),
        parent=np.empty(most, np.int32),
        step=np.empty(most, np.int32),
        slots=np.full(1 << (2 * most).bit_length(), -1, np.int32),
        first=np.full(MOST + 1, -1, np.int32),
        link=np.empty(entries, np.int32),
        number=np.empty(entries, np.int32),
        cost=np.empty(entries, np.int32),
        place=np.empty(int(task.pairs.max()) + 1, np.int32),
        user=np.empty(len(task.hops), np.int32),
        counters=allocate_records(ExactCounters),
    )


@inner_kernel
def add_state(task: ExactTask, states: ExactStates, move: StateMove) -> None:
    """Put the state of the scratch layout into the queue, unless it was reached as cheaply or costs too much."""
    counters = states.counters[0]
    done = carry_out_all(task, states, move.done)
    # An estimate is never below that of the state before (pathmax), as it bounds whatever follows that one.
    level = max(move.spent + estimate(task, states, done), counters.level)
    if level > MOST:
        return
    layout = pack_layout(task, states)
    slot = find_slot(states, layout, done)
    s = int(states.slots[slot])
    if s >= 0 and states.spent[s] <= move.spent:
        return
    if counters.states == len(states.layout) or counters.entries == len(states.link):
        counters.full = 1
        return
    if s < 0:
        s = counters.states
        counters.states += 1
        states.slots[slot] = s
        states.layout[s], states.done[s] = layout, done
    states.spent[s], states.parent[s], states.step[s] = move.spent, move.parent, move.step
    entry = counters.entries
    counters.entries += 1
    states.number[entry], states.cost[entry] = s, move.spent
    states.link[entry] = states.first[level]
    states.first[level] = entry


@inner_kernel
def carry_out_all(task: ExactTask, states: ExactStates, done: int) -> int:
    """Return the nodes that are done once all has run that can run in the scratch layout."""
    # In the order of nodes, which is that of the gate DAG, once through is enough.
    for v in range(len(task.pairs)):
        if done >> v & 1 == 0 and int(task.before[v]) & ~done == 0:
            a, b = task.pairs[v, 0], task.pairs[v, 1]
            if a < 0 or (
                states.place[a] >= 0 and states.place[b] >= 0 and task.hops[states.place[a], states.place[b]] == 1
            ):
                done |= 1 << v
    return done


@inner_kernel
def estimate(task: ExactTask, states: ExactStates, done: int) -> int:
    """Return how many SWAPs and BRIDGEs are left at least."""
    least = 0
    for v in range(len(task.pairs)):
        if done >> v & 1 == 0:
            least = max(least, task.onward[v])
            a, b = task.pairs[v, 0], task.pairs[v, 1]
            # Each step brings the qubits of a gate nearer by one hop at most, and the gate's own BRIDGE spans two.
            if a >= 0 and states.place[a] >= 0 and states.place[b] >= 0:
                least = max(least, task.hops[states.place[a], states.place[b]] - 1 + task.later[v])
    return int(least)


@inner_kernel
def find_slot(states: ExactStates, layout: int, done: int) -> int:
    """Return the slot of a state in the hash table, or the free one where it belongs."""
    mask = len(states.slots) - 1
    mixed = layout * MIX_LAYOUT ^ done * MIX_DONE
    slot = (mixed ^ mixed >> 29) & mask
    # Linear probing; the table is at most half full.
    while states.slots[slot] >= 0:
        s = states.slots[slot]
        if states.layout[s] == layout and states.done[s] == done:
            break
        slot = (slot + 1) & mask
    return int(slot)


@inner_kernel
def pack_layout(task: ExactTask, states: ExactStates) -> int:
    """Return the scratch layout as a number."""
    layout, none = 0, (1 << task.width) - 1
    for a in range(len(states.place)):
        layout = layout << task.width | (int(states.place[a]) if states.place[a] >= 0 else none)
    return layout


@inner_kernel
def unpack_layout(task: ExactTask, states: ExactStates, layout: int) -> None:
    """Set the scratch layout to that of a number."""
    none = (1 << task.width) - 1
    for p in range(len(states.user)):
        states.user[p] = -1
    for a in range(len(states.place) - 1, -1, -1):
        p = layout & none
        layout >>= task.width
        states.place[a] = -1 if p == none else p
        if p != none:
            states.user[p] = a


@inner_kernel
def exchange(states: ExactStates, p: int, q: int) -> None:
    """Swap what two device qubits hold in the scratch layout."""
    a, b = states.user[p], states.user[q]
    states.user[p], states.user[q] = b, a
    if a >= 0:
        states.place[a] = q
    if b >= 0:
        states.place[b] = p
