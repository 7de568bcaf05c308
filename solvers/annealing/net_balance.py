"""Compiled annealing of multicasts under a soft balance: nodes and wider domains may be overfull at a price."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.objective_arrays import NetArrays
from tiger.solvers.annealing.net_kernels import NetState, move_pin, reset_spans, rise_of
from tiger.solvers.generator import Generator, draw_below, draw_uniform
from tiger.solvers.instance import Instance
from tiger.solvers.kernel import inner_kernel, kernel

# Share of the proposals that go next to a node of a set, and not there.
NEAR = 0.15


class NetBalance(NamedTuple):
    """Hold where n clusters are, `place[n]`, and what they weigh, `weight[n]`, in k tiers of domains.

    Domain `label[k, m]` of a node holds `load[k, m]`, where `limit[k, m]` is free of charge. The first `size[0]` of
    `listed[n]` are the clusters with a set on several nodes, and perhaps others; `rank[n]` is where each is, or -1.
    """

    place: IntArray
    weight: IntArray
    label: IntArray
    load: IntArray
    limit: IntArray
    listed: IntArray
    rank: IntArray
    size: IntArray


@inner_kernel
def change_overload(balance: NetBalance, penalties: FloatArray, move: tuple[int, int, int]) -> float:
    """Return the rise of the cost of squared overload by a move of cluster t from node p to node q."""
    t, p, q = move
    change, weight = 0.0, balance.weight[t]
    for k in range(len(balance.label)):
        a, b = balance.label[k, p], balance.label[k, q]
        # Domains are nested: what shares one shares all wider ones.
        if a == b:
            break
        over, under = balance.load[k, a] - balance.limit[k, a], balance.load[k, b] - balance.limit[k, b]
        more = float(max(under + weight, 0)) ** 2 - float(max(under, 0)) ** 2
        change += penalties[k] * (more + float(max(over - weight, 0)) ** 2 - float(max(over, 0)) ** 2)
    return change


@inner_kernel
def apply_move(inst: Instance, nets: NetArrays, net: NetState, balance: NetBalance, move: tuple[int, int, int]) -> None:
    """Move cluster t from node p to node q, and list those whose sets it spreads over nodes."""
    t, p, q = move
    balance.place[t] = q
    for k in range(len(balance.label)):
        balance.load[k, balance.label[k, p]] -= balance.weight[t]
        balance.load[k, balance.label[k, q]] += balance.weight[t]
    for at in range(net.first[t], net.first[t + 1]):
        e = net.sets[at]
        step = move_pin(inst, nets, net, e, p, q)
        if step == 0:
            continue
        for pin in range(nets.starts[e], nets.starts[e + 1]):
            u = nets.pins[pin]
            net.cut[u] += step
            if step > 0:
                list_cluster(balance, u)


@inner_kernel
def list_cluster(balance: NetBalance, t: int) -> None:
    """List a cluster once."""
    if balance.rank[t] < 0:
        balance.listed[balance.size[0]], balance.rank[t] = t, balance.size[0]
        balance.size[0] += 1


@inner_kernel
def draw_node(inst: Instance, nets: NetArrays, net: NetState, generator: Generator, t: int) -> int:
    """Draw a node of a set of cluster t, or one next to that, -1 where there is none."""
    e = net.sets[net.first[t] + draw_below(generator, net.first[t + 1] - net.first[t])]
    q = net.nodes[nets.starts[e] + draw_below(generator, net.distinct[e])]
    if draw_uniform(generator) < NEAR:
        q = inst.near[q, draw_below(generator, inst.near.shape[1])]
    return int(q) if q >= 0 and inst.slots[q] > 0 else -1


@kernel
def anneal_balance(
    inst: Instance,
    nets: NetArrays,
    net: NetState,
    balance: NetBalance,
    plan: FloatArray,
    moves: int,
    generator: Generator,
) -> float:
    """Anneal `moves` moves at each row of `plan[s, 1 + k]`, a temperature and k penalties; return the sets' cost."""
    cost = reset_spans(inst, balance.place, nets, net)
    balance.size[0] = 0
    balance.rank[:] = -1
    for t in range(len(balance.place)):
        if net.cut[t] > 0:
            list_cluster(balance, t)
    for s in range(len(plan)):
        for _ in range(moves):
            if balance.size[0] == 0:
                return cost
            at = draw_below(generator, balance.size[0])
            t = balance.listed[at]
            if net.cut[t] == 0:
                # All its sets are on one node: the last one listed takes its place.
                balance.size[0] -= 1
                last = balance.listed[balance.size[0]]
                balance.listed[at], balance.rank[last], balance.rank[t] = last, at, -1
                continue
            p, q = balance.place[t], draw_node(inst, nets, net, generator, t)
            if q < 0 or p == q:
                continue
            net.seen[0] += 1
            rise = rise_of(inst, nets, net, t, p, q)
            change = rise + change_overload(balance, plan[s, 1:], (t, p, q))
            # The rule of N. Metropolis et al., doi:10.1063/1.1699114.
            if change > 0.0 and draw_uniform(generator) >= np.exp(-change / plan[s, 0]):
                continue
            apply_move(inst, nets, net, balance, (t, p, q))
            cost += rise
    return cost
