"""Compiled boundary refinement: tasks move on to where their neighbours are, and overfull nodes pay a toll meanwhile.

Single moves under a soft balance get through where exchanges at exact capacity are all refused. Source: D. S. Johnson,
C. R. Aragon, L. A. McGeoch, C. Schevon, doi:10.1287/opre.37.6.865 (annealing for graph partitioning with a penalty).
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.annealing.moves import is_open_to
from tiger.solvers.instance import Instance
from tiger.solvers.kernel import inner_kernel, kernel

BESIDE = 0.25


class Web(NamedTuple):
    """Hold what the cost of a move depends on, as in a plain Instance.

    An array more makes every call slower that is not compiled into its caller.
    """

    indptr: IntArray
    indices: IntArray
    out: FloatArray
    away: FloatArray
    row: IntArray
    col: IntArray
    loop: FloatArray
    work: FloatArray
    price: FloatArray


class Crowd(NamedTuple):
    """Hold a mapping `place[n]` that may overfill nodes, and the tasks at the boundaries of their domains.

    `label[k, m]` is the domain of a node in k tiers, each nested in the next; the first are those that tasks move
    between. `load[k, m]` counts a domain's tasks against `limit[k, m]`; `used[m]` is a node's memory in use, which is
    never exceeded. `border[: listed[0]]` are the tasks that move, `rank[n]` where a task stands among them, -1 outside
    and -2 for one that may not move. `apart[n]` counts its neighbours in other domains.
    """

    place: IntArray
    label: IntArray
    load: IntArray
    limit: IntArray
    used: IntArray
    border: IntArray
    listed: IntArray
    rank: IntArray
    apart: IntArray


def web_of(inst: Instance) -> Web:
    """Return the part of a plain instance that costs depend on."""
    return Web(inst.indptr, inst.indices, inst.out, inst.away, inst.row, inst.col, inst.loop, inst.work, inst.price)


@kernel
def relocation_change(web: Web, place: IntArray, t: int, q: int, skip: int) -> float:
    """Return the cost change of moving task t to node q, traffic with task `skip` left out; O(degree)."""
    p = place[t]
    there, here = web.row[q], web.row[p]
    change = web.work[t] * (web.price[q] - web.price[p])
    if web.loop[t] != 0.0:
        change += web.loop[t] * (web.away[there + web.col[q]] - web.away[here + web.col[p]])
    for e in range(web.indptr[t], web.indptr[t + 1]):
        u = web.indices[e]
        if u != skip:
            other = web.col[place[u]]
            change += web.out[e] * (web.away[there + other] - web.away[here + other])
    return float(change)


@kernel
def enlist(web: Web, crowd: Crowd) -> None:
    """Find the tasks at boundaries; O(edges)."""
    for t in range(len(crowd.place)):
        home = crowd.label[0, crowd.place[t]]
        for e in range(web.indptr[t], web.indptr[t + 1]):
            crowd.apart[t] += crowd.label[0, crowd.place[web.indices[e]]] != home
        list_or_drop(crowd, t)


@inner_kernel
def list_or_drop(crowd: Crowd, t: int) -> None:
    """Keep task t among those at boundaries if it has a neighbour in another domain, and only then."""
    k = crowd.rank[t]
    if crowd.apart[t] > 0 and k == -1:
        crowd.border[crowd.listed[0]] = t
        crowd.rank[t] = crowd.listed[0]
        crowd.listed[0] += 1
    elif crowd.apart[t] == 0 and k >= 0:
        crowd.listed[0] -= 1
        last = crowd.border[crowd.listed[0]]
        crowd.border[k] = last
        crowd.rank[last] = k
        crowd.rank[t] = -1


@inner_kernel
def depart(web: Web, crowd: Crowd, t: int, q: int) -> None:
    """Move task t to node q and keep count of boundaries; O(degree)."""
    p = crowd.place[t]
    for k in range(len(crowd.label)):
        crowd.load[k, crowd.label[k, p]] -= 1
        crowd.load[k, crowd.label[k, q]] += 1
    crowd.place[t] = q
    a, b = crowd.label[0, p], crowd.label[0, q]
    for e in range(web.indptr[t], web.indptr[t + 1]):
        u = web.indices[e]
        other = crowd.label[0, crowd.place[u]]
        step = int(other == a) - int(other == b)
        if step != 0:
            crowd.apart[t] += step
            crowd.apart[u] += step
            list_or_drop(crowd, u)
    list_or_drop(crowd, t)


@kernel
def drift(inst: Instance, web: Web, crowd: Crowd, plan: FloatArray, draw: tuple[int, int]) -> float:
    """Let tasks at boundaries move to the node of a neighbour or near it; return the cost change.

    draw[0] proposals are made at each row (heat, toll) of `plan[h, 2]`, and accepted by Metropolis' rule on the cost
    change and the toll on the change in squared overload, summed over all tiers. draw[1] is the seed. O(degree) each.
    """
    np.random.seed(draw[1])
    change = 0.0
    for step in range(len(plan)):
        heat, toll = plan[step, 0], plan[step, 1]
        for _ in range(draw[0] if crowd.listed[0] > 0 else 0):
            t = crowd.border[np.random.randint(max(crowd.listed[0], 1))]
            degree = web.indptr[t + 1] - web.indptr[t]
            if degree == 0:
                continue
            p, q = crowd.place[t], crowd.place[web.indices[web.indptr[t] + np.random.randint(degree)]]
            if np.random.random() < BESIDE:
                near = inst.near[q, np.random.randint(inst.near.shape[1])]
                q = near if near >= 0 else q
            if crowd.label[0, p] == crowd.label[0, q]:
                continue
            most = -heat * np.log(np.random.random())
            for k in range(len(crowd.label)):
                a, b = crowd.label[k, p], crowd.label[k, q]
                if a == b:
                    break
                over, under = crowd.load[k, a] - crowd.limit[k, a], crowd.load[k, b] - crowd.limit[k, b]
                most -= toll * (max(2 * under + 1, 0) - max(2 * over - 1, 0))
            cost = relocation_change(web, crowd.place, t, q, -1)
            if cost <= most and is_open_to(inst, t, q) and crowd.used[q] + inst.memory[t] <= inst.room[q]:
                crowd.used[p] -= inst.memory[t]
                crowd.used[q] += inst.memory[t]
                depart(web, crowd, t, q)
                change += cost
    return change


@kernel
def sample_changes(web: Web, place: IntArray, tasks: IntArray, nodes: IntArray, found: FloatArray) -> None:
    """Put the size of the cost change of moving tasks[k] to nodes[k] into `found[k]`; no move is made."""
    for k in range(len(found)):
        found[k] = abs(relocation_change(web, place, tasks[k], nodes[k], -1))
