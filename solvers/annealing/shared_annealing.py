"""Annealing of tasks that share nodes, with what every task would cost on every node kept up to date.

A proposal is then priced in O(1), and at low temperatures few are accepted. Source: the rule of N. Metropolis et al.,
doi:10.1063/1.1699114, on a table of costs such as E. Taillard keeps for tabu search, doi:10.1016/S0167-8191(05)80147-4.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop
from tiger.model.seeds import derive
from tiger.solvers.annealing.local import descend_from, find_scales
from tiger.solvers.annealing.moves import copy, relocate, smallest_gain, swap, total
from tiger.solvers.instance import DENSE_NODES, Instance, State, instance_of, state_of
from tiger.solvers.kernel import inner_kernel, kernel

# Entries of the table of costs up to which it stays in a cache of the second level: 1,000 tasks on 128 nodes.
ENTRIES = 1 << 17
# Proposals between which the table is worked out anew, as sums of many changes drift. Calls of so many take 15 to 40 ms
# and can't be stopped. They are shorter where a move changes more than LONG entries of the table, those of the task's
# neighbours, which then takes most of the time: 1.2 s a call for 1,000 tasks that all talk, on 100 nodes.
CHUNK, LONG = 1_000_000, 2_048
# Exponential variates drawn once, of which proposals take one at random: drawing would cost more than pricing.
NOISE_BITS = 12


def applies(problem: Problem) -> bool:
    """Return whether tasks share nodes, tables are small, and distances are finite, mutual, and 0 to a node itself."""
    tasks, metric, nodes = problem.tasks.size, problem.metric, problem.topology.size
    if problem.groups or tasks * nodes > ENTRIES or nodes > DENSE_NODES:
        return False
    same = np.arange(nodes)
    return metric is problem.topology.metric and metric.symmetric and not metric.between(same, same).any()


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedParams:
    """Set the annealer: `task_proposals` for each task at effort 1, at most `most_proposals`, at falling temperatures.

    There are `temperatures` of them, from `hot` to `cold` times the median size of a cost change at a local optimum.
    Half as hot changes costs by less than 0.3 %, on 8 problems of 200 tasks with memory, and so does half as cold.
    """

    task_proposals: int = 100_000
    most_proposals: int = 20_000_000
    temperatures: int = 64
    hot: float = 0.3
    cold: float = 0.006

    def calls(self, inst: Instance, effort: int, scale: float) -> Iterator[tuple[float, int, int]]:
        """Yield temperatures, proposals made since the table was to be worked out anew, and proposals to make."""
        proposals = effort * min(self.task_proposals * inst.movable.size, self.most_proposals)
        repeats = -(-proposals // (self.temperatures * CHUNK))
        each = -(-proposals // (self.temperatures * repeats))
        changed = inst.indices.size * len(inst.price) // len(inst.work)
        longest = CHUNK * LONG // max(changed, LONG)
        falling = scale * np.geomspace(self.hot, self.cold, self.temperatures)
        for k in range(self.temperatures * repeats):
            for done in range(0, each, longest):
                yield float(falling[k // repeats]), done, min(longest, each - done)


@dataclass(frozen=True, slots=True)
class SharedAnnealing:
    """Anneal once, as slowly as the effort allows, and descend.

    One long annealing ends lower than several short ones, at equal cost of time.
    """

    params: SharedParams = SharedParams()

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest mapping found from the feasible `start[n]`; O(effort n) proposals, O(n m) memory.

        The problem is one that `applies` names.
        """
        inst = instance_of(problem)
        if not inst.movable.size:
            return Assignment(places=start.copy())
        first = descend_from(problem, inst, start, stop)
        best = first.copy()
        scale = find_scales(problem, inst, first, derive(seed))[1]
        state, costs = state_of(problem, first), node_costs(problem, inst, derive(seed, 1))
        costs.sums[1] = total(inst, first)
        for temperature, done, proposals in self.params.calls(inst, effort, scale):
            if stop():
                break
            if not done:
                fill(inst, costs, state.place)
            anneal_shared(inst, costs, state, best, temperature, proposals)
        found = descend_from(problem, inst, best, stop)
        # Where costs are many decades apart, small ones are lost in sums of changes, and what seemed lower is not.
        return Assignment(places=found if total(inst, found) <= total(inst, first) else first)


class NodeCosts(NamedTuple):
    """Hold what tasks cost where: `cost[n, m]` of each on every node with the others where they are, inf: not allowed.

    `alone[n, m]` is the part of it without traffic, `away[m, m]` the distances, `noise[2**NOISE_BITS]` exponential
    variates, `draw[1]` the state of a generator, and `sums[2]` the cost of the mapping under change and the lowest.
    """

    cost: FloatArray
    alone: FloatArray
    away: FloatArray
    noise: FloatArray
    draw: IntArray
    sums: FloatArray


def node_costs(problem: Problem, inst: Instance, seed: int) -> NodeCosts:
    """Return the tables of a problem, with `cost` and `sums` yet to be worked out; O(n m)."""
    nodes = np.arange(problem.topology.size)
    alone = np.multiply.outer(inst.work, inst.price)
    alone[problem.banned[:, 0], problem.banned[:, 1]] = np.inf
    alone[:, inst.slots == 0] = np.inf
    pinned = np.flatnonzero(problem.pins >= 0)
    held = alone[pinned, problem.pins[pinned]]
    alone[pinned] = np.inf
    alone[pinned, problem.pins[pinned]] = held
    rng = np.random.default_rng(seed)
    return NodeCosts(
        cost=np.empty_like(alone),
        alone=alone,
        away=np.ascontiguousarray(problem.metric.between(nodes[:, None], nodes[None, :]), np.float64),
        noise=rng.exponential(size=1 << NOISE_BITS),
        draw=rng.integers(1, 1 << 62, 1),
        sums=np.full(2, np.inf),
    )


@kernel
def fill(inst: Instance, costs: NodeCosts, place: IntArray) -> None:
    """Work the table of costs and the cost of the mapping out anew; O(edges m)."""
    total = 0.0
    for t in range(len(place)):
        row, alone = costs.cost[t], costs.alone[t]
        for q in range(len(row)):
            row[q] = alone[q]
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            there = costs.away[place[inst.indices[e]]]
            for q in range(len(row)):
                row[q] += inst.out[e] * there[q]
        # Traffic is in the costs of both of its tasks.
        total += (row[place[t]] + alone[place[t]]) / 2
    costs.sums[0] = total


@inner_kernel
def tell_neighbours(inst: Instance, costs: NodeCosts, t: int, p: int, q: int) -> None:
    """Update what the neighbours of task t cost everywhere after its move from node p to node q; O(degree m)."""
    here, there = costs.away[p], costs.away[q]
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        row, volume = costs.cost[inst.indices[e]], inst.out[e]
        for r in range(len(row)):
            row[r] += volume * (there[r] - here[r])


@inner_kernel
def next_bits(draw: IntArray) -> int:
    """Return 63 random bits: xorshift64, G. Marsaglia, doi:10.18637/jss.v008.i14."""
    bits = draw[0]
    bits ^= bits << 13
    # A shift of a signed number copies its sign, which the mask takes off.
    bits ^= (bits >> 7) & 0x1FFFFFFFFFFFFFF
    bits ^= bits << 17
    draw[0] = bits
    return int(bits & 0x7FFFFFFFFFFFFFFF)


@kernel
def anneal_shared(
    inst: Instance,
    costs: NodeCosts,
    state: State,
    best: IntArray,
    temperature: float,
    proposals: int,
) -> None:
    """Make relocations and swaps by Metropolis' rule at one temperature.

    `best[n]` becomes the cheapest mapping seen, where that costs less than the lowest before.
    """
    current, lowest = costs.sums
    tolerance = smallest_gain(inst, lowest)
    for _ in range(proposals):
        # Proposal: any task to any node, and there to a free seat or in exchange for one of its tasks.
        bits = next_bits(costs.draw)
        t = inst.movable[(bits & 0xFFFFFF) * len(inst.movable) >> 24]
        q = inst.hosts[(bits >> 24 & 0xFFFF) * len(inst.hosts) >> 16]
        if q != state.place[t]:
            seat = (next_bits(costs.draw) & 0xFFFFFF) * (state.held[q] + 1) >> 24
            threshold = temperature * costs.noise[bits >> 40 & ((1 << NOISE_BITS) - 1)]
            if seat == state.held[q]:
                current += try_relocation(inst, costs, state, t, q, threshold)
            else:
                current += try_swap(inst, costs, state, t, state.seats[state.seat_start[q] + seat], threshold)
            if current < lowest - tolerance:
                lowest = current
                copy(state.place, best)
    costs.sums[0], costs.sums[1] = current, lowest


@inner_kernel
def try_relocation(inst: Instance, costs: NodeCosts, state: State, t: int, q: int, threshold: float) -> float:
    """Move task t to node q if that is legal and costs no more than a threshold; return the cost change made."""
    p = state.place[t]
    change = costs.cost[t, q] - costs.cost[t, p]
    if change > threshold or state.held[q] >= inst.slots[q] or state.used[q] + inst.memory[t] > inst.room[q]:
        return 0.0
    relocate(inst, state, t, q)
    tell_neighbours(inst, costs, t, p, q)
    return float(change)


@inner_kernel
def try_swap(inst: Instance, costs: NodeCosts, state: State, t: int, u: int, threshold: float) -> float:
    """Swap tasks t and u if that is legal and costs no more than a threshold; return the cost change made."""
    p, q, more = state.place[t], state.place[u], inst.memory[t] - inst.memory[u]
    if state.used[q] + more > inst.room[q] or state.used[p] - more > inst.room[p]:
        return 0.0
    change = costs.cost[t, q] - costs.cost[t, p] + costs.cost[u, p] - costs.cost[u, q]
    if change > threshold:
        return 0.0
    # Each cost takes the other task for one that stays, so what they send each other seems to come nearer.
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        if inst.indices[e] == u:
            change += 2.0 * inst.out[e] * costs.away[p, q]
    if change > threshold:
        return 0.0
    swap(inst, state, t, u)
    tell_neighbours(inst, costs, t, p, q)
    tell_neighbours(inst, costs, u, q, p)
    return float(change)
