"""Compiled annealing at boundaries: tasks move to where their neighbours are, and overfull nodes pay a penalty.

Single moves under a soft balance get through where exchanges at exact capacity are all refused. Source: D. S. Johnson,
C. R. Aragon, L. A. McGeoch, C. Schevon, doi:10.1287/opre.37.6.865 (annealing for graph partitioning with a penalty).
"""

from typing import NamedTuple

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.annealing.boundary import Boundary, update_boundary
from tiger.solvers.annealing.moves import is_open_to
from tiger.solvers.generator import Generator, draw_below, draw_uniform, is_accepted
from tiger.solvers.instance import Instance
from tiger.solvers.kernel import inner_kernel, kernel


# Kernels that take the 25 fields of Instance in place of these make refinement 30 to 50 % slower: CPU seconds at effort
# 1 on the problems of `python -m benchmarks sparse` with 4,096 tasks.
class CsrInstance(NamedTuple):
    """Hold what the cost of a move depends on: the arrays of a plain Instance in compressed sparse rows."""

    indptr: IntArray
    indices: IntArray
    out: FloatArray
    distances: FloatArray
    row: IntArray
    col: IntArray
    loop: FloatArray
    work: FloatArray
    price: FloatArray


class Occupancy(NamedTuple):
    """Hold a mapping `place[n]` that may overfill nodes, and the tasks at the boundaries of their domains.

    `label[k, m]` is the domain of a node in k tiers, each nested in the next; the first are those that tasks move
    between. `load[k, m]` counts a domain's tasks against `limit[k, m]`; `used[m]` is a node's memory in use, which is
    never exceeded.
    """

    place: IntArray
    label: IntArray
    load: IntArray
    limit: IntArray
    used: IntArray
    boundary: Boundary


class BoundarySchedule(NamedTuple):
    """Hold what one call does: `proposals` at each of `temperatures[h]` with `overload_penalties[h]`, from a generator.

    For a part `near_share` of the proposals a node near that of the neighbour is proposed instead of that itself.
    """

    temperatures: FloatArray
    overload_penalties: FloatArray
    proposals: int
    near_share: float
    generator: Generator


def csr_graph_of(inst: Instance) -> CsrInstance:
    """Return the part of a plain instance that costs depend on."""
    return CsrInstance(
        inst.indptr, inst.indices, inst.out, inst.distances, inst.row, inst.col, inst.loop, inst.work, inst.price
    )


@inner_kernel
def relocation_change(graph: CsrInstance, place: IntArray, t: int, q: int, skip: int) -> float:
    """Return the cost change of moving task t to node q, traffic with task `skip` left out; O(degree)."""
    p = place[t]
    # Distances follow from differences of coordinates: one addition an edge, whatever the metric.
    there, here = graph.row[q], graph.row[p]
    change = graph.work[t] * (graph.price[q] - graph.price[p])
    if graph.loop[t] != 0.0:
        change += graph.loop[t] * (graph.distances[there + graph.col[q]] - graph.distances[here + graph.col[p]])
    for e in range(graph.indptr[t], graph.indptr[t + 1]):
        u = graph.indices[e]
        if u != skip:
            other = graph.col[place[u]]
            change += graph.out[e] * (graph.distances[there + other] - graph.distances[here + other])
    return float(change)


@kernel
def collect_boundary(graph: CsrInstance, occupancy: Occupancy) -> None:
    """Find the tasks at boundaries; O(edges)."""
    for t in range(len(occupancy.place)):
        home = occupancy.label[0, occupancy.place[t]]
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            occupancy.boundary.external[t] += occupancy.label[0, occupancy.place[graph.indices[e]]] != home
        update_boundary(occupancy.boundary, t)


@inner_kernel
def move_task(graph: CsrInstance, occupancy: Occupancy, t: int, q: int) -> None:
    """Move task t to node q and keep count of boundaries; O(degree)."""
    p = occupancy.place[t]
    # Loads of the domains in every tier, by which overload is charged.
    for k in range(len(occupancy.label)):
        occupancy.load[k, occupancy.label[k, p]] -= 1
        occupancy.load[k, occupancy.label[k, q]] += 1
    # Neighbours in the domain left now have t outside, those in the new one no longer.
    occupancy.place[t] = q
    a, b = occupancy.label[0, p], occupancy.label[0, q]
    for e in range(graph.indptr[t], graph.indptr[t + 1]):
        u = graph.indices[e]
        other = occupancy.label[0, occupancy.place[u]]
        step = int(other == a) - int(other == b)
        if step != 0:
            occupancy.boundary.external[t] += step
            occupancy.boundary.external[u] += step
            update_boundary(occupancy.boundary, u)
    update_boundary(occupancy.boundary, t)


@kernel
def anneal_boundary(inst: Instance, graph: CsrInstance, occupancy: Occupancy, schedule: BoundarySchedule) -> float:
    """Let tasks at boundaries move to the node of a neighbour or near it; return the cost change.

    Proposals are accepted by Metropolis' rule on the cost change and the penalty on the change in squared overload,
    summed over all tiers. O(degree) each.
    """
    generator = schedule.generator
    change, at = 0.0, draw_below(generator, max(occupancy.boundary.size[0], 1))
    for step in range(len(schedule.temperatures)):
        temperature, overload_penalty = schedule.temperatures[step], schedule.overload_penalties[step]
        for _ in range(schedule.proposals if occupancy.boundary.size[0] > 0 else 0):
            # Proposal: a boundary task to the domain of a neighbour. Johnson et al. 1989 draw any vertex, of which at
            # low temperature nearly all are refused. One task follows another: refinement of 32,768 and 65,536 tasks
            # takes 0.6 to 0.8 of the time of random draws, as the next is close in memory, and costs are 0 to 0.9 %
            # lower.
            at = at + 1 if at + 1 < occupancy.boundary.size[0] else 0
            t = occupancy.boundary.vertices[at]
            degree = graph.indptr[t + 1] - graph.indptr[t]
            if degree == 0:
                continue
            p, q = occupancy.place[t], occupancy.place[graph.indices[graph.indptr[t] + draw_below(generator, degree)]]
            if draw_uniform(generator) < schedule.near_share:
                near = inst.near[q, draw_below(generator, inst.near.shape[1])]
                q = near if near >= 0 else q
            if occupancy.label[0, p] == occupancy.label[0, q]:
                continue
            overload_change = 0
            # The penalty is on squared overload, so one task more costs 2 (load - limit) + 1 units. Tiers are nested:
            # where both nodes share a domain, they share all wider ones, whose loads stay as they are.
            for k in range(len(occupancy.label)):
                a, b = occupancy.label[k, p], occupancy.label[k, q]
                if a == b:
                    break
                over, under = occupancy.load[k, a] - occupancy.limit[k, a], occupancy.load[k, b] - occupancy.limit[k, b]
                overload_change += max(2 * under + 1, 0) - max(2 * over - 1, 0)
            cost = relocation_change(graph, occupancy.place, t, q, -1)
            accepted = is_accepted(cost + overload_penalty * overload_change, temperature, draw_uniform(generator))
            if accepted and is_open_to(inst, t, q) and occupancy.used[q] + inst.memory[t] <= inst.room[q]:
                occupancy.used[p] -= inst.memory[t]
                occupancy.used[q] += inst.memory[t]
                move_task(graph, occupancy, t, q)
                change += cost
    return change


@kernel
def sample_changes(graph: CsrInstance, place: IntArray, tasks: IntArray, nodes: IntArray, changes: FloatArray) -> None:
    """Put the size of the cost change of moving tasks[k] to nodes[k] into `changes[k]`; no move is made."""
    for k in range(len(changes)):
        changes[k] = abs(relocation_change(graph, place, tasks[k], nodes[k], -1))
