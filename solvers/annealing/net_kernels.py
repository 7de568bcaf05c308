"""Compiled annealing of the cost of multicasts: volume times the spanning tree of the nodes that hold a set of tasks.

A move changes a set only where its task leaves the set's last place on a node, or is the first there, which counts of
tasks by set and node tell; trees of the sets that change are built again.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.objective_arrays import NetArrays
from tiger.model.rounding import TIE
from tiger.solvers.annealing.cost_changes import distance
from tiger.solvers.annealing.moves import can_move, can_swap, copy, relocate, swap
from tiger.solvers.generator import Generator, draw_below, draw_uniform
from tiger.solvers.instance import Instance, State
from tiger.solvers.kernel import inner_kernel, kernel

# Shares of the proposals that go to a node of one of the task's sets, and, of these, next to it and not there.
JOINING, BESIDE = 0.9, 0.25
# Partners of a swap that are drawn until one is found whose sets are on several nodes. One cost 0.1 % more there, where
# temperatures were chosen (`NetParams`).
DRAWS = 4
# Share of the proposals to tasks whose sets are each on one node that are looked at.
INNER = 0.1
# The golden ratio's multiplier of 61 bits, for hashing (D. E. Knuth, The Art of Computer Programming, vol. 3, 6.4).
GOLDEN = 0x1E3779B97F4A7C15


class NetState(NamedTuple):
    """Hold the sets of each task, and on which nodes each set is.

    Those of task t are `sets[first[t] : first[t + 1]]`. The different nodes of set e, `distinct[e]` of them, are
    `nodes[starts[e] : ..]`, with `counts` of its tasks on each, and its spanning tree has length `span[e]`. `cut[t]`
    are the sets of a task on more than one node. `mark[h]` is work space, `seen[1]` the last mark given; `tree[k]` and
    `distances[k]` hold the nodes of a tree that is built.

    On up to 64 nodes bit p of `occupied[e]` says that set e is on node p, and that of `once[e]` that one task of it is.
    `key[h]` are such bits, with the lengths of their trees in `length[h]`; on more nodes there are none.
    """

    first: IntArray
    sets: IntArray
    nodes: IntArray
    counts: IntArray
    distinct: IntArray
    span: FloatArray
    cut: IntArray
    mark: IntArray
    seen: IntArray
    tree: IntArray
    distances: FloatArray
    mask: IntArray
    once: IntArray
    key: IntArray
    length: FloatArray


@inner_kernel
def find_span(key: IntArray, length: FloatArray, bits: int) -> float:
    """Return the length of the spanning tree of the nodes whose bits are set, -1 where it is not kept."""
    if bits & (bits - 1) == 0:
        return 0.0
    at = ((bits * GOLDEN) >> 32) & (len(key) - 1)
    return float(length[at]) if key[at] == bits else -1.0


@inner_kernel
def keep_span(inst: Instance, net: NetState, bits: int) -> float:
    """Return the length of the spanning tree of the nodes whose bits are set, and keep it."""
    count = 0
    for node in range(len(inst.slots)):
        if (bits >> node) & 1:
            net.tree[count] = node
            count += 1
    at = ((bits * GOLDEN) >> 32) & (len(net.key) - 1)
    net.key[at], net.length[at] = bits, span_tree(inst, net, count)
    return float(net.length[at])


@inner_kernel
def span_tree(inst: Instance, net: NetState, count: int) -> float:
    """Return the length of the minimum spanning tree of `tree[:count]`; O(count^2), by Prim's algorithm (1957)."""
    if count < 2:
        return 0.0
    if count == 2:
        return float(distance(inst, net.tree[0], net.tree[1]))
    length = 0.0
    for k in range(1, count):
        net.distances[k] = distance(inst, net.tree[0], net.tree[k])
    for joined in range(1, count):
        nearest = joined
        for k in range(joined + 1, count):
            if net.distances[k] < net.distances[nearest]:
                nearest = k
        length += net.distances[nearest]
        # The nearest node changes places with the first that has not joined.
        node = net.tree[nearest]
        net.tree[nearest], net.distances[nearest] = net.tree[joined], net.distances[joined]
        for k in range(joined + 1, count):
            net.distances[k] = min(net.distances[k], distance(inst, node, net.tree[k]))
    return float(length)


@inner_kernel
def span_after(inst: Instance, nets: NetArrays, net: NetState, e: int, p: int, q: int) -> float:
    """Return the length of the spanning tree of set e once one of its tasks has moved from node p to node q."""
    begin, count, same = nets.starts[e], 0, True
    arrives = True
    for at in range(begin, begin + net.distinct[e]):
        node = net.nodes[at]
        if node == p and net.counts[at] == 1:
            same = False
            continue
        if node == q:
            arrives = False
        net.tree[count] = node
        count += 1
    if arrives:
        net.tree[count] = q
        count += 1
    elif same:
        return float(net.span[e])
    return span_tree(inst, net, count)


@inner_kernel
def rise_of(inst: Instance, nets: NetArrays, net: NetState, t: int, p: int, q: int) -> float:
    """Return the rise of the cost by a move of task t from node p to node q, marked sets left out."""
    rise = inst.work[t] * (inst.price[q] - inst.price[p])
    for at in range(net.first[t], net.first[t + 1]):
        e = net.sets[at]
        if net.mark[e] == net.seen[0]:
            continue
        if len(net.key) == 0:
            rise += nets.volumes[e] * (span_after(inst, nets, net, e, p, q) - net.span[e])
            continue
        bits = net.mask[e] | (1 << q)
        if (net.once[e] >> p) & 1:
            bits ^= 1 << p
        if bits == net.mask[e]:
            continue
        # A call that passes all arrays would take most of the time.
        span = find_span(net.key, net.length, bits)
        if span < 0.0:
            span = keep_span(inst, net, bits)
        rise += nets.volumes[e] * (span - net.span[e])
    return float(rise)


@inner_kernel
def mark_sets(net: NetState, t: int) -> None:
    """Mark the sets of a task, and no others; of none where t is -1."""
    net.seen[0] += 1
    if t >= 0:
        for at in range(net.first[t], net.first[t + 1]):
            net.mark[net.sets[at]] = net.seen[0]


@inner_kernel
def add_pin(nets: NetArrays, net: NetState, e: int, q: int) -> None:
    """Count one more task of set e on node q."""
    begin, count = nets.starts[e], net.distinct[e]
    for at in range(begin, begin + count):
        if net.nodes[at] == q:
            net.counts[at] += 1
            net.once[e] &= ~(1 << q)
            return
    net.nodes[begin + count], net.counts[begin + count] = q, 1
    net.distinct[e] = count + 1
    net.mask[e] |= 1 << q
    net.once[e] |= 1 << q


@inner_kernel
def drop_pin(nets: NetArrays, net: NetState, e: int, p: int) -> None:
    """Count one task of set e less on node p; the last node takes the place of one that is left."""
    begin, last = nets.starts[e], nets.starts[e] + net.distinct[e] - 1
    for at in range(begin, last + 1):
        if net.nodes[at] == p:
            net.counts[at] -= 1
            if net.counts[at] == 1:
                net.once[e] |= 1 << p
            elif net.counts[at] == 0:
                net.mask[e] &= ~(1 << p)
                net.once[e] &= ~(1 << p)
                net.nodes[at], net.counts[at] = net.nodes[last], net.counts[last]
                net.distinct[e] -= 1
            return


@inner_kernel
def move_pin(inst: Instance, nets: NetArrays, net: NetState, e: int, p: int, q: int) -> int:
    """Count a task of set e on node q and no longer on node p, and return by how much it cuts more sets: -1, 0 or 1."""
    before, kept = net.distinct[e], len(net.key) > 0
    if not kept:
        net.span[e] = span_after(inst, nets, net, e, p, q)
    drop_pin(nets, net, e, p)
    add_pin(nets, net, e, q)
    if kept:
        net.span[e] = find_span(net.key, net.length, net.mask[e])
        if net.span[e] < 0.0:
            net.span[e] = keep_span(inst, net, net.mask[e])
    return int(net.distinct[e] > 1) - int(before > 1)


@inner_kernel
def move_pins(inst: Instance, nets: NetArrays, net: NetState, t: int, p: int, q: int) -> None:
    """Count task t on node q and no longer on node p, in all its sets that are not marked."""
    for at in range(net.first[t], net.first[t + 1]):
        e = net.sets[at]
        if net.mark[e] == net.seen[0]:
            continue
        step = move_pin(inst, nets, net, e, p, q)
        if step != 0:
            for pin in range(nets.starts[e], nets.starts[e + 1]):
                net.cut[nets.pins[pin]] += step


@kernel
def reset_spans(inst: Instance, place: IntArray, nets: NetArrays, net: NetState) -> float:
    """Work out on which nodes every set is, and return the cost."""
    cost = 0.0
    for t in range(len(place)):
        net.cut[t] = 0
        cost += inst.work[t] * inst.price[place[t]]
    for e in range(len(nets.volumes)):
        net.distinct[e] = net.mask[e] = net.once[e] = 0
        for pin in range(nets.starts[e], nets.starts[e + 1]):
            add_pin(nets, net, e, place[nets.pins[pin]])
        for k in range(net.distinct[e]):
            net.tree[k] = net.nodes[nets.starts[e] + k]
        net.span[e] = span_tree(inst, net, net.distinct[e])
        cost += nets.volumes[e] * net.span[e]
        if net.distinct[e] > 1:
            for pin in range(nets.starts[e], nets.starts[e + 1]):
                net.cut[nets.pins[pin]] += 1
    return cost


@inner_kernel
def propose_node(inst: Instance, state: State, nets: NetArrays, net: NetState, generator: Generator, t: int) -> int:
    """Draw a node for task t: of one of its sets, most of the time, or next to that, else any host."""
    degree = net.first[t + 1] - net.first[t]
    if degree > 0 and draw_uniform(generator) < JOINING:
        e = net.sets[net.first[t] + draw_below(generator, degree)]
        r = net.nodes[nets.starts[e] + draw_below(generator, net.distinct[e])]
        if r != state.place[t] and draw_uniform(generator) >= BESIDE:
            return int(r)
        q = inst.near[r, draw_below(generator, inst.near.shape[1])]
        if q >= 0:
            return int(q)
    return int(inst.hosts[draw_below(generator, len(inst.hosts))])


@inner_kernel
def draw_partner(inst: Instance, state: State, net: NetState, generator: Generator, t: int, q: int) -> int:
    """Return a task on node q that task t may try to swap with, rather one with a set that is cut, -1 to relocate."""
    if inst.group_of[t] >= 0:
        return int(state.occupant[inst.group_of[t], q])
    if state.occupied[q] == 0 or (state.occupied[q] < inst.slots[q] and draw_uniform(generator) < 0.5):
        return -1
    u = -1
    for _ in range(DRAWS):
        u = state.slot_task[state.slot_start[q] + draw_below(generator, state.occupied[q])]
        if net.cut[u] > 0:
            break
    return int(u)


@kernel
def anneal_nets(
    inst: Instance,
    state: State,
    fixed: IntArray,
    nets: NetArrays,
    net: NetState,
    best: IntArray,
    temperatures: FloatArray,
    moves: int,
    generator: Generator,
    lowest: float,
) -> float:
    """Anneal, leave the cheapest mapping in `best`, and return its cost.

    :param state: the mapping to start from, changed in place
    :param fixed: 1 for tasks [n] that stay
    :param net: scratch of the nets
    :param best: a mapping [n], replaced by cheaper ones
    :param moves: tried at each of the temperatures
    :param lowest: the cost of `best`
    """
    cost = reset_spans(inst, state.place, nets, net)
    for temperature in temperatures:
        for _ in range(moves):
            t = inst.movable[draw_below(generator, len(inst.movable))]
            if net.cut[t] == 0 and draw_uniform(generator) >= INNER:
                continue
            p, q = state.place[t], propose_node(inst, state, nets, net, generator, t)
            if p == q:
                continue
            u = draw_partner(inst, state, net, generator, t, q)
            if not (can_swap(inst, state, fixed, t, u) if u >= 0 else can_move(inst, state, t, q)):
                continue
            # Sets that both tasks of a swap are in do not change.
            mark_sets(net, u)
            change = rise_of(inst, nets, net, t, p, q)
            if u >= 0:
                mark_sets(net, t)
                change += rise_of(inst, nets, net, u, q, p)
            # The rule of N. Metropolis et al., doi:10.1063/1.1699114.
            if change > 0.0 and draw_uniform(generator) >= np.exp(-change / temperature):
                continue
            if u >= 0:
                move_pins(inst, nets, net, u, q, p)
                mark_sets(net, u)
                swap(inst, state, t, u)
            else:
                relocate(inst, state, t, q)
            move_pins(inst, nets, net, t, p, q)
            cost += change
        if cost < lowest * (1 - TIE):
            lowest = cost
            copy(state.place, best)
    return lowest
