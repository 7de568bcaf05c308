"""A peer for constrained mapping: simulated annealing by swaps and moves, as most people would write it on a page."""

import time

import numpy as np
from numba import njit

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem

# Temperatures fall from the mean traffic of a task to the least that costs change by, 1. From half of it down to 0.15
# costs are 1.0 % higher after 1 to 2 s, in the mean of 14 of the problems, 4 % on trees with 6 neighbours a task, and
# from twice as hot 0.4 %; of twelve other pairs none ends lower.
TEMPERATURES, HOT, COLD = 100, 1.0, 1.0
# Moves a temperature that tell how many fit into the time.
TRIAL = 2_000


def anneal_plainly(problem: Problem, start: IntArray, seconds: float, seed: int, hot: float = HOT) -> IntArray:
    """Return the cheapest mapping of one annealing of about so many seconds of the processor.

    It begins at `hot` times the mean traffic of a task: what is good about a start is lost at 1.
    """
    begun = time.process_time()
    traffic = (problem.tasks.traffic + problem.tasks.traffic.T).tocsr()
    nodes = np.arange(problem.topology.size)
    away = np.ascontiguousarray(problem.metric.between(nodes[:, None], nodes[None, :]), np.float64)
    allowed = np.ones((problem.tasks.size, problem.topology.size), bool)
    allowed[problem.banned[:, 0], problem.banned[:, 1]] = False
    graph = traffic.indptr.astype(np.int64), traffic.indices.astype(np.int64), traffic.data, away
    rest = problem.tasks.work, problem.topology.cost, problem.tasks.memory, problem.topology.memory, allowed
    temperatures = np.geomspace(hot * traffic.data.sum() / problem.tasks.size, COLD, TEMPERATURES)
    _anneal(*graph, *rest, start.copy(), problem.free, temperatures[:1], 1, seed, start.copy())
    tried = time.process_time()
    _anneal(*graph, *rest, start.copy(), problem.free, temperatures, TRIAL, seed, start.copy())
    took, best = time.process_time() - tried, start.copy()
    moves = int(TRIAL * max(seconds - (time.process_time() - begun), 0.0) / took)
    _anneal(*graph, *rest, start.copy(), problem.free, temperatures, moves, seed, best)
    return best


@njit(cache=True)
def _anneal(
    indptr: IntArray,
    indices: IntArray,
    volume: FloatArray,
    away: FloatArray,
    work: FloatArray,
    price: FloatArray,
    memory: IntArray,
    room: IntArray,
    allowed: IntArray,
    place: IntArray,
    free: IntArray,
    temperatures: FloatArray,
    moves: int,
    seed: int,
    best: IntArray,
) -> None:
    """Make random moves and swaps that keep the rules, by Metropolis' rule; `best[n]` becomes the cheapest mapping."""
    np.random.seed(seed)
    used, change, lowest = np.zeros(len(room), np.int64), 0.0, 0.0
    for t in range(len(place)):
        used[place[t]] += memory[t]
    for temperature in temperatures:
        for _ in range(moves):
            t = free[np.random.randint(len(free))]
            p, u, more = place[t], -1, memory[t]
            if np.random.random() < 0.5:
                q = np.random.randint(len(room))
            else:
                u = free[np.random.randint(len(free))]
                q, more = place[u], memory[t] - memory[u]
            if p == q or not allowed[t, q] or used[q] + more > room[q]:
                continue
            if u >= 0 and (not allowed[u, p] or used[p] - more > room[p]):
                continue
            step = (work[t] - (work[u] if u >= 0 else 0.0)) * (price[q] - price[p])
            for e in range(indptr[t], indptr[t + 1]):
                if indices[e] != u:
                    step += volume[e] * (away[q, place[indices[e]]] - away[p, place[indices[e]]])
            if u >= 0:
                for e in range(indptr[u], indptr[u + 1]):
                    if indices[e] != t:
                        step += volume[e] * (away[p, place[indices[e]]] - away[q, place[indices[e]]])
            if step > 0.0 and np.random.random() >= np.exp(-step / temperature):
                continue
            place[t] = q
            used[p] -= more
            used[q] += more
            if u >= 0:
                place[u] = p
            change += step
            # A sum of whole numbers and halves is exact, so that any fall counts.
            if change < lowest:
                lowest = change
                best[:] = place
