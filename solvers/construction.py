"""Compiled greedy construction: one task after another, each on the node where it costs least."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.annealing.cost_changes import distance
from tiger.solvers.annealing.moves import can_move
from tiger.solvers.instance import Instance, State
from tiger.solvers.kernel import inner_kernel, kernel


class Tournament(NamedTuple):
    """Hold the tasks without a place as the leaves of a tournament tree, whose root is the next task.

    `pull[n]` is the traffic of every task with those placed so far, `weight[n]` all its traffic. `winner[n + t]` is
    task t while it waits, else -1; `winner[k]` the better one of `winner[2 k]` and `winner[2 k + 1]`, so that
    `winner[1]` is the next task.
    """

    pull: FloatArray
    weight: FloatArray
    winner: IntArray


class HostCosts(NamedTuple):
    """Hold what the task whose turn it is would cost.

    `hosts[: open_count[0]]` are the hosts that may have room, in ascending order, `cost[m]` what its traffic costs
    there. On a grid `coords[m, axes]` are coordinates and `axis_sums` sums along one axis after the other, else of size
    1. `symmetric` is 1 where distances are the same both ways.
    """

    hosts: IntArray
    open_count: IntArray
    cost: FloatArray
    coords: IntArray
    axis_sums: FloatArray
    symmetric: int


@inner_kernel
def better_of(tournament: Tournament, a: int, b: int) -> int:
    """Return the task with more pull, then more weight, then the lower number; -1 stands for none."""
    if a < 0 or b < 0:
        return max(a, b)
    if tournament.pull[a] != tournament.pull[b]:
        return a if tournament.pull[a] > tournament.pull[b] else b
    if tournament.weight[a] != tournament.weight[b]:
        return a if tournament.weight[a] > tournament.weight[b] else b
    return min(a, b)


@kernel
def build(tournament: Tournament) -> None:
    """Build the tree from its leaves; O(n)."""
    for k in range(len(tournament.weight) - 1, 0, -1):
        tournament.winner[k] = better_of(tournament, tournament.winner[2 * k], tournament.winner[2 * k + 1])


@inner_kernel
def replay(tournament: Tournament, t: int) -> None:
    """Play the matches on the way of task t to the root again; O(log n)."""
    k = (len(tournament.weight) + t) // 2
    while k > 0:
        tournament.winner[k] = better_of(tournament, tournament.winner[2 * k], tournament.winner[2 * k + 1])
        k //= 2


@inner_kernel
def sum_on_grid(inst: Instance, state: State, costs: HostCosts, t: int) -> None:
    """Enter what the traffic of task t costs on every host of a grid, axis by axis; O(degree extents + m axes)."""
    costs.axis_sums[:] = 0.0
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        r, begin = state.place[inst.indices[e]], 0
        # A distance on a grid is a sum over axes, so that costs by coordinate are enough: one sum for each axis.
        for axis in range(len(inst.shape) if r >= 0 else 0):
            extent = inst.shape[axis]
            for x in range(extent):
                gap = abs(x - costs.coords[r, axis])
                if inst.steps[axis] != 0.0:
                    gap = min(gap, extent - gap)
                costs.axis_sums[begin + x] += inst.out[e] * gap * inst.steps[-1]
            begin += extent
    # The cost of a host is the sum of those of its coordinates.
    for k in range(costs.open_count[0]):
        q, begin, cost = costs.hosts[k], 0, 0.0
        for axis in range(len(inst.shape)):
            cost += costs.axis_sums[begin + costs.coords[q, axis]]
            begin += inst.shape[axis]
        costs.cost[q] = cost


@inner_kernel
def sum_by_neighbour(inst: Instance, state: State, costs: HostCosts, t: int) -> None:
    """Enter what the traffic of task t costs on every host, neighbour by neighbour; O(m degree)."""
    costs.cost[:] = 0.0
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        # Only neighbours that have a place cost anything yet.
        r = state.place[inst.indices[e]]
        if r < 0:
            continue
        if inst.kind == 0 and costs.symmetric != 0:
            # A whole row of the table, full hosts included: vectorised, that is faster than to pick the open ones.
            for q in range(len(costs.cost)):
                costs.cost[q] += inst.out[e] * inst.table[r, q]
            continue
        for k in range(costs.open_count[0]):
            q = costs.hosts[k]
            costs.cost[q] += inst.out[e] * distance(inst, q, r)
            if inst.back[e] != 0.0:
                costs.cost[q] += inst.back[e] * distance(inst, r, q)


@inner_kernel
def cheapest_host(inst: Instance, state: State, costs: HostCosts, t: int) -> int:
    """Return the host where task t costs least beside the tasks that have a place, -1 if none is open.

    Hosts that are full are dropped on the way.
    """
    best, node, kept = np.inf, -1, 0
    for k in range(costs.open_count[0]):
        q = costs.hosts[k]
        # A full host never opens again, so it is dropped from the list.
        if state.occupied[q] >= (inst.slots[q] if inst.group_of[t] < 0 else len(state.occupant)):
            continue
        costs.hosts[kept] = q
        kept += 1
        cost = costs.cost[q] + inst.work[t] * inst.price[q]
        if inst.loop[t] != 0.0:
            cost += inst.loop[t] * distance(inst, q, q)
        if cost < best and can_move(inst, state, t, q):
            best, node = cost, q
    costs.open_count[0] = kept
    return node


@kernel
def construct(inst: Instance, state: State, tournament: Tournament, costs: HostCosts, count: int) -> bool:
    """Place `count` more tasks, each time the next one on its cheapest node; return whether all found one.

    Tasks without a place are at -1 and appear nowhere else in the state, whose slots are not kept up.
    """
    for _ in range(count):
        # The task with most traffic to those placed: where it goes matters most.
        t = tournament.winner[1]
        if inst.kind == 1:
            sum_on_grid(inst, state, costs, t)
        else:
            sum_by_neighbour(inst, state, costs, t)
        q = cheapest_host(inst, state, costs, t)
        if q < 0:
            return False
        state.place[t] = q
        state.occupied[q] += 1
        state.used[q] += inst.memory[t]
        if inst.group_of[t] >= 0:
            state.occupant[inst.group_of[t], q] = t
        # It leaves the tournament, and its neighbours have come closer to winning it.
        tournament.winner[len(tournament.weight) + t] = -1
        replay(tournament, t)
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            u = inst.indices[e]
            tournament.pull[u] += inst.out[e] + inst.back[e]
            if state.place[u] < 0:
                replay(tournament, u)
    return True
