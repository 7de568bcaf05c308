"""All mappings of a small problem, judged by the definitions in exact arithmetic: the oracle of the mapping fuzzer."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tiger.model.problem import Problem
from tiger.objectives.shortest_paths import Transfers, routes_of

CLOSE = 1e-11

Places = NDArray[np.int64]


def feasible_mappings(problem: Problem) -> Places:
    """Return places[r, n] of every feasible mapping."""
    tasks, topology = problem.tasks, problem.topology
    every = np.indices((topology.size,) * tasks.size).reshape(tasks.size, -1).T
    good = (topology.slots[every] > 0).all(axis=1)
    for t, pin in enumerate(problem.pins):
        good &= (pin < 0) | (every[:, t] == pin)
    for t, p in problem.banned:
        good &= every[:, t] != p
    for group in problem.groups:
        shared = np.sort(every[:, group], axis=1)
        good &= (np.diff(shared, axis=1) > 0).all(axis=1)
    for p in range(topology.size):
        here = every == p
        if problem.rule == "capacity":
            good &= here.sum(axis=1) <= topology.slots[p]
        if tasks.memory is not None and topology.memory is not None:
            need = here * tasks.memory
            good &= (need.sum(axis=1) if problem.rule == "capacity" else need.max(axis=1)) <= topology.memory[p]
    away = _distances(problem)
    for t, u in zip(*tasks.traffic.nonzero(), strict=True):
        good &= np.isfinite(away[every[:, t], every[:, u]])
    return every[good]


def exact_cost(problem: Problem, places: Places) -> Fraction:
    """Return the cost of a mapping without rounding."""
    tasks, away = problem.tasks, _distances(problem)
    compute = zip(tasks.work.tolist(), problem.topology.cost[places].tolist(), strict=True)
    edges = tasks.traffic.tocoo()
    volumes = zip(edges.data.tolist(), away[places[edges.row], places[edges.col]].tolist(), strict=True)
    return sum((Fraction(a) * Fraction(b) for pairs in (compute, volumes) for a, b in pairs), Fraction(0))


def exact_makespan(problem: Problem, order: Places, places: Places) -> Fraction:
    """Return the makespan of a mapping without rounding, given the order in which nodes run the tasks."""
    tasks, away = problem.tasks, _distances(problem)
    volumes = tasks.traffic.toarray()
    finish: dict[int, Fraction] = {}
    free = [Fraction(0)] * problem.topology.size
    for t in order.tolist():
        arrivals = [
            finish[u] + Fraction(volumes[u, t]) * Fraction(away[places[u], places[t]])
            for u in np.flatnonzero(volumes[:, t]).tolist()
        ]
        lasts = Fraction(tasks.work[t]) * Fraction(problem.topology.cost[places[t]])
        finish[t] = free[places[t]] = max([free[places[t]], *arrivals]) + lasts
    return max(finish.values())


def exact_load(problem: Problem, crossed: NDArray[np.bool_], width: NDArray[np.float64], places: Places) -> Fraction:
    """Return the max link load of a mapping without rounding, given crossed[m, m, l], which links routes cross."""
    edges = problem.tasks.traffic.tocoo()
    loads = [Fraction(0)] * len(width)
    for volume, p, q in zip(edges.data.tolist(), places[edges.row], places[edges.col], strict=True):
        for link in np.flatnonzero(crossed[p, q]).tolist():
            loads[link] += Fraction(volume)
    return max(
        (x / Fraction(w) for x, w in zip(loads, width.tolist(), strict=True) if np.isfinite(w)), default=Fraction(0)
    )


def links_crossed(problem: Problem) -> tuple[NDArray[np.bool_], NDArray[np.float64]] | None:
    """Return crossed[m, m, l] and bandwidths[l], asking for the load of one transfer at a time; None without links."""
    routes, nodes = routes_of(problem.topology), range(problem.topology.size)
    if routes is None:
        return None
    one = np.ones(1)
    loads = [[routes.loads(Transfers(np.array([p]), np.array([q]), one)) for q in nodes] for p in nodes]
    return np.array(loads) > 0.5, routes.width


def least(exact: Callable[[Places], Fraction], rough: NDArray[np.float64], mappings: Places) -> Fraction:
    """Return the least exact value over mappings whose values in floating point are known."""
    close = np.flatnonzero(rough <= rough.min() * (1 + CLOSE))
    return min(exact(places) for places in mappings[close])


def rough_costs(problem: Problem, mappings: Places) -> NDArray[np.float64]:
    """Return the costs of mappings in floating point, which errs by far less than 1e-11 of each."""
    tasks, away = problem.tasks, _distances(problem)
    edges = tasks.traffic.tocoo()
    traffic = away[mappings[:, edges.row], mappings[:, edges.col]] @ edges.data
    return np.asarray(problem.topology.cost[mappings] @ tasks.work + traffic)


def rough_loads(
    problem: Problem, crossed: NDArray[np.bool_], width: NDArray[np.float64], mappings: Places
) -> NDArray[np.float64]:
    """Return the max link loads of mappings in floating point."""
    edges = problem.tasks.traffic.tocoo()
    loads = np.zeros((len(mappings), len(width)))
    for volume, t, u in zip(edges.data, edges.row, edges.col, strict=True):
        loads += volume * crossed[mappings[:, t], mappings[:, u]]
    return np.asarray((loads / width).max(axis=1, initial=0.0))


def rough_makespans(problem: Problem, order: Places, mappings: Places) -> NDArray[np.float64]:
    """Return the makespans of mappings in floating point."""
    tasks, away, rows = problem.tasks, _distances(problem), np.arange(len(mappings))
    volumes = tasks.traffic.toarray()
    finish, free = np.zeros(mappings.shape), np.zeros((len(mappings), problem.topology.size))
    for t in order.tolist():
        begin = free[rows, mappings[:, t]]
        for u in np.flatnonzero(volumes[:, t]).tolist():
            begin = np.maximum(begin, finish[:, u] + volumes[u, t] * away[mappings[:, u], mappings[:, t]])
        finish[:, t] = begin + tasks.work[t] * problem.topology.cost[mappings[:, t]]
        free[rows, mappings[:, t]] = finish[:, t]
    return np.asarray(finish.max(axis=1))


def _distances(problem: Problem) -> NDArray[np.float64]:
    """Return the distances of the hardware, infinite between unconnected nodes."""
    nodes = np.arange(problem.topology.size)
    return problem.topology.metric.between(nodes[:, None], nodes[None, :])
