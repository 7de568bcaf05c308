"""The fronts of a beam: what states that have done the same gates share, with the gates that come soon.

Which gates wait for distance alone, which come soon and what these weigh depends on the gates done and not on the
mapping; of the states of a level many have done the same. A set of gates done is known by the gates ready after it.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiger.model.arrays import FloatArray
from tiger.routing.coupling import IndexArray
from tiger.routing.swaps.frontier import RouterParams, RoutingArrays
from tiger.routing.swaps.lookahead import LEAST_WEIGHT
from tiger.solvers.kernel import inner_kernel
from tiger.solvers.records import allocate_records

# Fronts kept for each state that goes on; only those of states that go on stay when there are more.
KEPT = 6
# Entries for a front: some, and this many for each qubit. Long fronts borrow from short ones.
ENTRIES, ENTRIES_EACH = 128, 8

LinkArray = NDArray[np.int16]


class Front:
    """Say where a front is: its first entry and link, how many gates, qubits, nodes begun and links it has.

    `left` is how many gates are left, `key` the hash of the nodes done.
    """

    entry: int
    link: int
    gates: int
    qubits: int
    begun: int
    links: int
    left: int
    key: int


class FrontCounters:
    """Count fronts kept, their entries and links; then the gates, nodes touched, gates left, and hash of one in work.

    `slots` are the qubits with gates left; `near` is 1 where gates that come soon do not count.
    """

    fronts: int
    entries: int
    links: int
    front: int
    touched: int
    left: int
    key: int
    slots: int
    near: int


class Fronts(NamedTuple):
    """Hold the fronts of a beam, and one in the making.

    The entries of a front, `entry[i]`, are its gates, the slots of their qubits, nodes begun (some of what they wait
    for is done), and how many nodes each of these waits for. Links are gates looked at, those of the front first:
    `link[i, 2]` are their slots, `weight[i]` what they count. `table` finds fronts by hash. `need[g]` is for how many
    nodes each waits, `front`, `stack`, `queue` and `touched` are lists of nodes, `mark[g]` is 1 for the nodes of a list
    for a while. `first_gate[s]` is a slot's lowest gate in the front while one is linked or scored, else -1. `target`
    says where fronts go when some are dropped.
    """

    record: Sequence[Front]
    counters: Sequence[FrontCounters]
    entry: IndexArray
    link: LinkArray
    weight: FloatArray
    table: IndexArray
    need: IndexArray
    front: IndexArray
    stack: IndexArray
    queue: IndexArray
    touched: IndexArray
    mark: IndexArray
    first_gate: IndexArray
    target: IndexArray


def allocate_fronts(count: int, slots: int, width: int) -> Fronts:
    """Allocate the fronts of the states of a beam, for a circuit of `count` nodes on `slots` qubits."""
    rows = KEPT * width
    # However long the circuit's fronts are, a few of them fit.
    entries = rows * min(ENTRIES + ENTRIES_EACH * slots, 2 * count + slots) + KEPT * (2 * count + slots)

    def zeros(length: int) -> IndexArray:
        return np.zeros(length, np.int32)

    return Fronts(
        record=allocate_records(Front, rows),
        counters=allocate_records(FrontCounters),
        entry=zeros(entries),
        link=np.zeros((entries, 2), np.int16),
        weight=np.zeros(entries),
        table=zeros(4 * rows),
        need=zeros(count),
        front=zeros(count + 1),
        stack=zeros(count + 1),
        queue=zeros(count + 1),
        touched=zeros(count + 1),
        mark=zeros(count),
        first_gate=np.full(slots, -1, np.int32),
        target=zeros(rows),
    )


@inner_kernel
def load_front(fronts: Fronts, f: int) -> None:
    """Take up a front, to be changed: its gates, and what the nodes begun wait for."""
    counters, record = fronts.counters[0], fronts.record[f]
    for i in range(record.gates):
        fronts.front[i] = fronts.entry[record.entry + i]
    counters.front = record.gates
    counters.left = record.left
    counters.key = record.key
    counters.touched = record.begun
    begun = record.entry + record.gates + record.qubits
    for i in range(record.begun):
        v = fronts.entry[begun + i]
        fronts.touched[i] = v
        fronts.need[v] = fronts.entry[begun + record.begun + i]


@inner_kernel
def carry_out(arrays: RoutingArrays, fronts: Fronts, key: int, v: int, stack: int) -> int:
    """Note that a node is carried out, put what becomes ready on the stack, and return how long that is then."""
    counters = fronts.counters[0]
    counters.key ^= key
    counters.left -= arrays.pairs[v, 0] >= 0
    # Kahn 1962: a node is ready when the last that it waits for is done.
    for e in range(arrays.first[v], arrays.first[v + 1]):
        h = arrays.after[e]
        if fronts.need[h] == arrays.waits[h]:
            fronts.touched[counters.touched] = h
            counters.touched += 1
        fronts.need[h] -= 1
        if fronts.need[h] == 0:
            fronts.stack[stack] = h
            stack += 1
    return stack


@inner_kernel
def leave_front(arrays: RoutingArrays, fronts: Fronts) -> None:
    """Put the counts that were changed back to those of nodes of which nothing is done."""
    for i in range(fronts.counters[0].touched):
        v = fronts.touched[i]
        fronts.need[v] = arrays.waits[v]


@inner_kernel
def find_front(fronts: Fronts) -> int:
    """Return the kept front that is like the one in the making, -1 for none."""
    counters, key, found = fronts.counters[0], fronts.counters[0].key, -1
    for i in range(counters.front):
        fronts.mark[fronts.front[i]] = 1
    t = key % len(fronts.table)
    while found < 0 and fronts.table[t] >= 0:
        record = fronts.record[fronts.table[t]]
        # Hashes may be equal by chance; equal gates at the front mean equal gates done.
        if record.key == key and record.gates == counters.front:
            found = fronts.table[t]
            for i in range(record.gates):
                if fronts.mark[fronts.entry[record.entry + i]] == 0:
                    found = -1
        t = (t + 1) % len(fronts.table)
    for i in range(counters.front):
        fronts.mark[fronts.front[i]] = 0
    return int(found)


@inner_kernel
def keep_front(arrays: RoutingArrays, fronts: Fronts, slot: IndexArray, params: RouterParams) -> int:
    """Keep the front in the making with the gates that come soon; return its number, -1 where there is no room."""
    counters, front = fronts.counters[0], fronts.counters[0].front
    room = 3 * front + 2 * counters.touched
    if counters.entries + room > len(fronts.entry) or counters.links + front + params.lookahead > len(fronts.weight):
        return -1
    f, i = counters.fronts, counters.entries
    record = fronts.record[f]
    record.entry, record.link, record.gates = i, counters.links, front
    record.left, record.key = counters.left, counters.key
    for k in range(front):
        fronts.entry[i] = fronts.front[k]
        i += 1
    i = list_qubits(arrays, fronts, slot, i)
    record.qubits = i - record.entry - front
    record.begun = 0
    for k in range(counters.touched):
        v = fronts.touched[k]
        if fronts.need[v] > 0:
            fronts.entry[i + record.begun] = v
            record.begun += 1
    for k in range(record.begun):
        fronts.entry[i + record.begun + k] = fronts.need[fronts.entry[i + k]]
    counters.entries = i + 2 * record.begun
    link_gates(arrays, fronts, slot, params, record.qubits / 2)
    record.links = counters.links - record.link
    counters.fronts += 1
    insert_front(fronts, f)
    return int(f)


@inner_kernel
def list_qubits(arrays: RoutingArrays, fronts: Fronts, slot: IndexArray, i: int) -> int:
    """Write the slots of the front's qubits from an entry on, and note the first gate of each; return the end."""
    for k in range(fronts.counters[0].front):
        v = fronts.front[k]
        for side in range(2):
            a = slot[arrays.pairs[v, side]]
            if fronts.first_gate[a] < 0:
                fronts.first_gate[a] = v
                fronts.entry[i] = a
                i += 1
            # Commuting gates of a qubit may all be in the front: the earliest in the circuit is remembered.
            fronts.first_gate[a] = min(fronts.first_gate[a], v)
    return i


@inner_kernel
def insert_front(fronts: Fronts, f: int) -> None:
    """Note in the table where a front is."""
    t = fronts.record[f].key % len(fronts.table)
    while fronts.table[t] >= 0:
        t = (t + 1) % len(fronts.table)
    fronts.table[t] = f


@inner_kernel
def link_gates(arrays: RoutingArrays, fronts: Fronts, slot: IndexArray, params: RouterParams, wide: float) -> None:
    """Link the gates of the front, and breadth first those that come soon, as `tiger.routing.swaps.lookahead`."""
    counters, touched, found, i = fronts.counters[0], fronts.counters[0].touched, 0, 0
    for k in range(counters.front):
        v = fronts.front[k]
        a, b = slot[arrays.pairs[v, 0]], slot[arrays.pairs[v, 1]]
        alone = fronts.first_gate[a] == v and fronts.first_gate[b] == v
        link_gate(fronts, a, b, 1.0 if alone else params.later_weight)
        fronts.queue[k] = v
    for k in range(counters.front):
        v = fronts.front[k]
        fronts.first_gate[slot[arrays.pairs[v, 0]]] = fronts.first_gate[slot[arrays.pairs[v, 1]]] = -1
    queued, most = counters.front, params.lookahead
    weight, fade = params.lookahead_weight, math.exp(-1.0 / (1.0 + params.fade * wide))
    # SABRE's extended set (Li, Ding, Xie 2019), walked as by `link_extended_set`, but stated again: what is counted
    # down here stays so until `leave_front`, and links lie side by side, where that restores at once and links by
    # qubit. One walk for both would list gates and weights first, and go through them again for every front.
    while i < queued and found < most and weight > LEAST_WEIGHT:
        v = fronts.queue[i]
        i += 1
        for e in range(arrays.first[v], arrays.first[v + 1]):
            h = arrays.after[e]
            # Nodes are touched once each, so that all can be put back after this front is done with.
            if fronts.need[h] == arrays.waits[h]:
                fronts.touched[touched] = h
                touched += 1
            fronts.need[h] -= 1
            if fronts.need[h] == 0:
                fronts.queue[queued] = h
                queued += 1
                if arrays.pairs[h, 0] >= 0 and found < most:
                    found += 1
                    link_gate(fronts, slot[arrays.pairs[h, 0]], slot[arrays.pairs[h, 1]], weight)
                    weight *= fade
    counters.touched = touched


@inner_kernel
def link_gate(fronts: Fronts, a: int, b: int, weight: float) -> None:
    """Link a gate to the front in the making."""
    i = fronts.counters[0].links
    fronts.link[i, 0] = a
    fronts.link[i, 1] = b
    fronts.weight[i] = weight
    fronts.counters[0].links = i + 1


@inner_kernel
def clear_table(fronts: Fronts) -> None:
    """Find no front any more."""
    for t in range(len(fronts.table)):
        fronts.table[t] = -1


@inner_kernel
def drop_fronts(fronts: Fronts) -> None:
    """Drop the fronts whose `target` is below 0, and set that of the others to their new numbers."""
    counters, kept, entries, links = fronts.counters[0], 0, 0, 0
    clear_table(fronts)
    # Fronts lie in the order of their numbers: what stays moves down, and overwrites only what was moved or dropped.
    for f in range(counters.fronts):
        if fronts.target[f] < 0:
            continue
        record = fronts.record[f]
        for i in range(record.gates + record.qubits + 2 * record.begun):
            fronts.entry[entries + i] = fronts.entry[record.entry + i]
        for i in range(record.links):
            fronts.link[links + i, 0] = fronts.link[record.link + i, 0]
            fronts.link[links + i, 1] = fronts.link[record.link + i, 1]
            fronts.weight[links + i] = fronts.weight[record.link + i]
        record.entry, record.link = entries, links
        entries += record.gates + record.qubits + 2 * record.begun
        links += record.links
        new = fronts.record[kept]
        new.entry, new.link, new.left, new.key = record.entry, record.link, record.left, record.key
        new.gates, new.qubits, new.begun, new.links = record.gates, record.qubits, record.begun, record.links
        fronts.target[f] = kept
        insert_front(fronts, kept)
        kept += 1
    counters.fronts, counters.entries, counters.links = kept, entries, links
