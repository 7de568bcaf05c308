"""Annealing of tasks that share nodes, with what every task would cost on every node kept up to date.

A move is drawn from many at once by their Boltzmann weights, each priced in O(1), so that few draws are in vain where
most moves are refused one by one. Sources: a table of costs such as E. Taillard keeps for tabu search,
doi:10.1016/S0167-8191(05)80147-4; draws by the largest of perturbed weights, E. J. Gumbel, 1954 (as in C. J. Maddison,
D. Tarlow, T. Minka, arXiv:1411.0030).
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage, left_of
from tiger.model.seeds import derive
from tiger.solvers.annealing.cost_changes import smallest_gain, total
from tiger.solvers.annealing.local import descend_from
from tiger.solvers.annealing.moves import copy, relocate, swap
from tiger.solvers.annealing.tiers import tiers_of
from tiger.solvers.instance import DENSE_NODES, Instance, State, instance_of, state_of
from tiger.solvers.kernel import inner_kernel, kernel

# Entries of the table of costs up to which it stays in a cache of the second level: 1,000 tasks on 128 nodes.
ENTRIES = 1 << 17
# Work is counted in moves that are looked at, 1 to 2 ns each: this many for a draw itself, and entries of the table
# changed in as much time. The table is worked out anew after so much work at the latest, as sums of many changes drift;
# calls of so much take 20 to 40 ms and can't be stopped: 0.1 s where 1,000 tasks all talk, whose neighbours each draw
# looks at, and up to 0.5 s with 65,536 tasks on 2 nodes, which stay in no cache.
DRAW, ENTRIES_A_UNIT, CHUNK = 50, 5, 20_000_000
# Variates of Gumbel's distribution drawn once, of which a draw takes a stretch: drawing would cost more than pricing.
NOISE_BITS = 14
# Swaps that are priced together, by vector instructions.
STRETCH = 256
# Tasks at least that a move is drawn from.
FEWEST = 8


def applies(problem: Problem) -> bool:
    """Return whether tasks share nodes, tables are small, and distances are finite, mutual, and 0 to a node itself."""
    tasks, metric, nodes = problem.tasks.size, problem.metric, problem.topology.size
    if problem.groups or tasks * nodes > ENTRIES or nodes > DENSE_NODES:
        return False
    same = np.arange(nodes)
    return metric is problem.topology.metric and metric.symmetric and not metric.between(same, same).any()


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedParams:
    """Set the annealer: `task_work` for each task at effort 1, at most `most_work`, at falling temperatures.

    There are `temperatures` of them, from `hot` times the mean deviation of what a task costs on all nodes. A pilot
    with a part `pilot` of the work cools by the factor `pilot_ratio`, at most `pilot_temperatures` times, until less
    than a part `frozen` of the draws change the cost, where the annealing ends. A start that is cheaper than the
    pilot's end by more than a part `near` is kept: the annealing begins at `warm` times the temperature at which the
    pilot cost as much. As many moves are drawn from, where there are, that a part `drawn` of the draws is not in vain.
    """

    task_work: int = 1_500_000
    most_work: int = 400_000_000
    temperatures: int = 64
    hot: float = 1.0
    pilot: float = 0.05
    pilot_ratio: float = 0.85
    pilot_temperatures: int = 40
    frozen: float = 0.1
    near: float = 0.05
    warm: float = 4.0
    drawn: float = 0.5

    def work(self, tasks: int, effort: int) -> int:
        """Return the work of all temperatures together."""
        return effort * min(self.task_work * tasks, self.most_work)


@dataclass(frozen=True, slots=True)
class SharedAnnealing:
    """Anneal once, as slowly as the effort allows, and descend.

    One long annealing ends lower than several short ones, at equal cost of time.
    """

    params: SharedParams = SharedParams()
    usage: ClassVar[Usage] = Usage(long=True)

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest mapping found from the feasible `start[n]`; O(effort n) draws, O(n m) memory.

        The problem is one that `applies` names.
        """
        inst = instance_of(problem)
        if not inst.movable.size:
            return Assignment(places=start.copy())
        first = descend_from(problem, inst, start, stop)
        annealing = AnnealedMapping(problem, inst, first, seed, stop)
        work = self.params.work(inst.movable.size, effort)
        annealing.cool(annealing.find_temperatures(self.params, work), work, self.params.drawn)
        found = descend_from(problem, inst, annealing.best, stop)
        # Where costs are many decades apart, small ones are lost in sums of changes, and what seemed lower is not.
        return Assignment(places=found if total(inst, found) <= total(inst, first) else first)


class NodeCosts(NamedTuple):
    """Hold what tasks cost where: `cost[n, m]` of each on every node with the others where they are, inf: not allowed.

    `own[n]` is that on the task's node, `alone[n, m]` the part of it without traffic, `distances[m, m]` the distances,
    `label[k, m]` the domain of every node in k tiers, `noise[2**NOISE_BITS + n + m + 1]` variates of Gumbel's
    distribution, and `sums[2]` the cost of the mapping under change and the lowest. `change[n]` is scratch.
    """

    cost: FloatArray
    own: FloatArray
    alone: FloatArray
    distances: FloatArray
    label: IntArray
    noise: FloatArray
    sums: FloatArray
    change: FloatArray


class Draws(NamedTuple):
    """Hold what a call does: draw from `width` tasks to swap with and their share of nodes, until `work` is done."""

    temperature: float
    width: int
    work: int
    seed: int


class AnnealedMapping:
    """Hold a mapping under annealing, the cheapest one seen as `best[n]`, and from how many tasks moves are drawn."""

    def __init__(self, problem: Problem, inst: Instance, start: IntArray, seed: int, stop: Stop) -> None:
        self._problem, self._inst, self._start, self._stop = problem, inst, start, stop
        self._seed, self._calls, self._width = seed, 0, min(FEWEST, len(start))
        self._state, self._costs = state_of(problem, start), node_costs(problem, inst, derive(seed))
        self._costs.sums[1] = total(inst, start)
        # Working the table out anew takes a twentieth of the time at most.
        self._most_drift = max(CHUNK, 20 * inst.indices.size * len(inst.price) // ENTRIES_A_UNIT)
        self._drift = self._most_drift
        self.best = start.copy()

    def find_temperatures(self, params: SharedParams, work: int) -> FloatArray:
        """Return falling temperatures from what a pilot tells, none where no move changes the cost."""
        hot = params.hot * self._find_deviation()
        # Nor where costs are so small that the coldest temperature would be 0.
        if not np.finfo(float).tiny <= hot * params.pilot_ratio**params.pilot_temperatures < np.inf:
            return np.empty(0)
        sums, before, warm = self._costs.sums, self._costs.sums[1], hot
        each = max(int(params.pilot * work / params.pilot_temperatures), 1)
        for temperature in hot * params.pilot_ratio ** np.arange(params.pilot_temperatures):
            changing = self.run(temperature, each, params.drawn)
            warm = temperature if sums[0] > before else warm
            if self._stop() or (changing < params.frozen and self._width == len(self.best)):
                break
        if sums[0] > before * (1.0 + params.near):
            # What slower cooling from the hottest gains is less than what a good start would lose.
            self._state, self._drift = state_of(self._problem, self._start), self._most_drift
            hot = max(min(params.warm * warm, hot), temperature)
        return np.geomspace(hot, temperature, params.temperatures)

    def _find_deviation(self) -> float:
        """Return how far the costs of a task on all nodes are from their mean, in the mean, at a random mapping."""
        inst, costs, rng = self._inst, self._costs.cost, np.random.default_rng(self._seed)
        fill(inst, self._costs, rng.choice(inst.hosts, len(costs)))
        allowed = np.where(np.isinf(costs[inst.movable]), np.nan, costs[inst.movable])
        return float(np.nanmean(np.abs(allowed - np.nanmean(allowed, axis=1, keepdims=True))))

    def cool(self, temperatures: FloatArray, work: int, drawn: float) -> None:
        """Make moves at every temperature, fewer where time would be up before the last one, and then until it is.

        That is told by the mean pace from an eighth of the temperatures on, so that no single delay changes anything.
        """
        each, made, begun_s, hurried = max(work // max(len(temperatures), 1), 1), 0, left_of(self._stop), False
        for rest, temperature in zip(range(len(temperatures) - 1, -1, -1), temperatures, strict=True):
            self.run(temperature, each, drawn)
            made, left_s = made + each, left_of(self._stop)
            if begun_s is None or left_s is None or 8 * rest > 7 * len(temperatures):
                continue
            fitting = left_s * made / max((begun_s - left_s) * rest, 1e-9)
            hurried |= fitting < each
            each = max(int(fitting), 1) if hurried and rest else each
        while hurried and not self._stop():
            self.run(temperatures[-1], each, drawn)

    def run(self, temperature: float, work: int, drawn: float) -> float:
        """Make moves at one temperature; return the part of the last call's draws that changed the cost."""
        part = 1.0
        for done in range(0, work, CHUNK):
            if self._stop():
                break
            if self._drift >= self._most_drift:
                fill(self._inst, self._costs, self._state.place)
                self._drift = 0
            draws = Draws(temperature, self._width, min(CHUNK, work - done), derive(self._seed, self._calls))
            made, changing, tried = anneal_shared(self._inst, self._costs, self._state, self.best, draws)
            self._calls, self._drift = self._calls + 1, self._drift + draws.work
            # From half or twice as many tasks next time, if fewer or more draws than wanted were in vain.
            factor = min(max(drawn * tried / max(made, 1), 0.5), 2.0)
            self._width = int(min(max(self._width * factor, FEWEST), len(self.best)))
            part = changing / tried
        return part


def node_costs(problem: Problem, inst: Instance, seed: int) -> NodeCosts:
    """Return the tables of a problem, with `cost`, `own` and `sums` yet to be worked out; O(n m)."""
    nodes = np.arange(problem.topology.size)
    alone = np.multiply.outer(inst.work, inst.price)
    alone[problem.banned[:, 0], problem.banned[:, 1]] = np.inf
    alone[:, inst.slots == 0] = np.inf
    pinned = np.flatnonzero(problem.pins >= 0)
    pinned_costs = alone[pinned, problem.pins[pinned]]
    alone[pinned] = np.inf
    alone[pinned, problem.pins[pinned]] = pinned_costs
    return NodeCosts(
        cost=np.empty_like(alone),
        own=np.empty(len(alone)),
        alone=alone,
        distances=np.ascontiguousarray(problem.metric.between(nodes[:, None], nodes[None, :]), np.float64),
        label=np.ascontiguousarray(tiers_of(problem)),
        noise=np.random.default_rng(seed).gumbel(size=(1 << NOISE_BITS) + sum(alone.shape) + 1),
        sums=np.full(2, np.inf),
        change=np.zeros(len(alone)),
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
            there = costs.distances[place[inst.indices[e]]]
            for q in range(len(row)):
                row[q] += inst.out[e] * there[q]
        costs.own[t] = row[place[t]]
        # Traffic is in the costs of both of its tasks.
        total += (costs.own[t] + alone[place[t]]) / 2
    costs.sums[0] = total


@inner_kernel
def tell_neighbours(inst: Instance, costs: NodeCosts, place: IntArray, t: int, p: int) -> None:
    """Update what the neighbours of task t cost everywhere after its move from node p; O(degree m)."""
    here, there = costs.distances[p], costs.distances[place[t]]
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        u, volume = inst.indices[e], inst.out[e]
        row = costs.cost[u]
        for r in range(len(row)):
            row[r] += volume * (there[r] - here[r])
        costs.own[u] = row[place[u]]


@kernel
def anneal_shared(inst: Instance, costs: NodeCosts, state: State, best: IntArray, draws: Draws) -> tuple[int, int, int]:
    """Draw moves of random tasks by their weights; return how many were made, how many changed the cost, and draws.

    `best[n]` becomes the cheapest mapping seen, where that costs less than the lowest before.
    """
    np.random.seed(draws.seed)
    lowest = costs.sums[1]
    tolerance = smallest_gain(inst, lowest)
    nodes = max(draws.width * len(inst.price) // len(best), 1)
    made, changing, tried, work = 0, 0, 0, 0
    while work < draws.work:
        t = inst.movable[np.random.randint(len(inst.movable))]
        tried += 1
        work += DRAW + draws.width + nodes
        q, u = draw_move(inst, costs, state, t, draws.temperature, (draws.width, nodes))
        if q < 0:
            continue
        change = make_move(inst, costs, state, t, q, u)
        degree = inst.indptr[t + 1] - inst.indptr[t] + (inst.indptr[u + 1] - inst.indptr[u] if u >= 0 else 0)
        work += degree * len(inst.price) // ENTRIES_A_UNIT
        made += 1
        changing += abs(change) > tolerance
        costs.sums[0] += change
        if costs.sums[0] < lowest - tolerance:
            lowest = costs.sums[0]
            copy(state.place, best)
    costs.sums[1] = lowest
    return made, changing, tried


@inner_kernel
def price_swaps(
    costs: NodeCosts,
    place: IntArray,
    tasks: tuple[int, int, int],
    limits: tuple[float, float, float],
    of_task: tuple[FloatArray, FloatArray],
) -> int:
    """Put perturbed cost changes of swaps into `change`; return how many are less than the least drawn before.

    The swaps are those of a task on node p with the tasks from u up to an end; `limits` are what that task costs there,
    the temperature and the least, and the arrays what it costs everywhere and the noise from the first swap on.
    """
    p, u, end = tasks
    stay, temperature, least = limits
    row, noise = of_task
    # What is read by an index comes first, as the rest is then done by vector instructions.
    change, column = costs.change[: end - u], costs.cost[u:end, p]
    own, here = costs.own[u:end], place[u:end]
    for k in range(len(change)):
        change[k] = row[np.uint64(here[k])] - stay + column[k]
    less = 0
    for k in range(len(change)):
        change[k] = change[k] - own[k] - temperature * noise[k]
        less += change[k] < least
    return less


@inner_kernel
def draw_move(
    inst: Instance, costs: NodeCosts, state: State, t: int, temperature: float, among: tuple[int, int]
) -> tuple[int, int]:
    """Return a node for task t and the task to swap with, -1 for none, or twice -1 if t stays.

    Legal moves to other domains of a random tier and staying are drawn by exp(-change / temperature): by the largest of
    -change / temperature plus Gumbel's variates. Among them are numbers of tasks to swap with, and of nodes, in a row
    from a random one.
    """
    p, row, label = state.place[t], costs.cost[t], costs.label[np.random.randint(len(costs.label))]
    home, stay, need, noise = label[p], costs.own[t], inst.memory[t], np.random.randint(1 << NOISE_BITS)
    least, node, partner = -temperature * costs.noise[noise], -1, -1
    q, first = np.random.randint(len(row)), noise + 1
    for k in range(among[1]):
        change = row[q] - stay - temperature * costs.noise[first + k]
        open_to = change < least and label[q] != home and state.occupied[q] < inst.slots[q]
        if open_to and state.used[q] + need <= inst.room[q]:
            least, node = change, q
        q = q + 1 if q + 1 < len(row) else 0
    # Each cost takes the other task for one that stays, so what they send each other seems to come nearer.
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        u = inst.indices[e]
        costs.own[u] -= 2.0 * inst.out[e] * costs.distances[p, state.place[u]]
    spare, first = inst.room[p] - state.used[p] + need, first + len(row)
    u, done = np.random.randint(len(state.place)), 0
    while done < among[0]:
        # In stretches up to the last task, priced by vector instructions; most hold nothing cheaper than what is drawn.
        end = min(u + min(among[0] - done, STRETCH), len(state.place))
        if price_swaps(costs, state.place, (p, u, end), (stay, temperature, least), (row, costs.noise[first + done :])):
            for other in range(u, end):
                q, change = state.place[other], costs.change[other - u]
                open_to = change < least and label[q] != home and inst.memory[other] <= spare
                if open_to and state.used[q] + need - inst.memory[other] <= inst.room[q]:
                    least, node, partner = change, q, other
        done, u = done + end - u, end if end < len(state.place) else 0
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        u = inst.indices[e]
        costs.own[u] = costs.cost[u, state.place[u]]
    return node, partner


@inner_kernel
def make_move(inst: Instance, costs: NodeCosts, state: State, t: int, q: int, u: int) -> float:
    """Move task t to node q, or swap it with task u there; return the cost change."""
    p = state.place[t]
    change = costs.cost[t, q] - costs.own[t]
    if u < 0:
        relocate(inst, state, t, q)
    else:
        change += costs.cost[u, p] - costs.own[u]
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            if inst.indices[e] == u:
                change += 2.0 * inst.out[e] * costs.distances[p, q]
        swap(inst, state, t, u)
        costs.own[u] = costs.cost[u, p]
    costs.own[t] = costs.cost[t, q]
    tell_neighbours(inst, costs, state.place, t, p)
    if u >= 0:
        tell_neighbours(inst, costs, state.place, u, q)
    return float(change)
