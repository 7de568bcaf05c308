"""What a mapping costs and what it violates, evaluated on the mapping alone."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import IntArray, entries_of
from tiger.model.problem import Problem
from tiger.model.violation import Violation
from tiger.objectives.makespan import makespan
from tiger.objectives.shortest_paths import LinkLoads


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    r"""Hold the parts of a cost.

    .. math:: \sum_t w_t\, k_{p(t)} + \sum_{(u,v)} c_{uv}\, d_{p(u),p(v)}
    """

    compute: float
    communication: float

    @property
    def total(self) -> float:
        """Return the sum of both parts."""
        return self.compute + self.communication


def cost_of(problem: Problem, places: IntArray) -> Cost:
    """Return the cost of node indices `places[n]` in float64; O(edges)."""
    return next(costs_of(problem, (places,)))


def costs_of(problem: Problem, mappings: Iterable[IntArray]) -> Iterator[Cost]:
    """Yield the cost of the node indices `places[n]` of each mapping."""
    edges, size = entries_of(problem.tasks.traffic), problem.topology.size
    table = None
    if size * size <= len(edges.data):
        # Fewer pairs of nodes than edges: distances are worked out once each.
        nodes = np.arange(size)
        table = problem.metric.between(nodes[:, None], nodes).ravel()
    for places in mappings:
        rows, columns = places[edges.row], places[edges.col]
        distances = problem.metric.between(rows, columns) if table is None else table[rows * size + columns]
        compute = problem.tasks.work * problem.topology.cost[places]
        yield Cost(compute=float(compute.sum()), communication=float((edges.data * distances).sum()))


def violations(problem: Problem, places: IntArray) -> tuple[Violation, ...]:
    """Return the constraints that node indices `places[n]` break, -1 for unplaced tasks; O(n log n + edges).

    One entry per pin not kept, forbidden pair used, and node with too many tasks or too little memory; a single one for
    all traffic that crosses disconnected parts.
    """
    violated = _pin_violations(problem, places)
    violated += _sharing_violations(problem, places) if problem.groups else ()
    violated += _capacity_violations(problem, places)
    return violated + _reach_violations(problem, places)


def metrics(problem: Problem, places: IntArray, loads: LinkLoads | None) -> dict[str, float]:
    """Return how far node indices `places[n]` stretch the traffic, how they load the links, and how long all takes.

    `dilation` is the largest distance that any traffic crosses, `mean_dilation` the mean weighted by volume (0 without
    traffic), `max_link_load` the worst of the `loads`, left out without them, `makespan`
    as in tiger.objectives.makespan, left out for undirected task graphs and those with a cycle. Dilation is by the
    distances of the hardware, infinite between disconnected parts. O(edges).
    """
    edges = entries_of(problem.tasks.traffic)
    distances = problem.topology.metric.between(places[edges.row], places[edges.col])
    volume = float(edges.data.sum())
    values = {
        "dilation": float(distances.max(initial=0.0)),
        "mean_dilation": float((edges.data * distances).sum()) / volume if volume else 0.0,
    }
    others = {"max_link_load": None if loads is None else loads.worst, "makespan": makespan(problem, places)}
    return values | {name: value for name, value in others.items() if value is not None}


def _pin_violations(problem: Problem, places: IntArray) -> tuple[Violation, ...]:
    """Return pins that are not kept and forbidden pairs that are used."""
    tasks, nodes = problem.tasks.names, problem.topology.names
    moved = np.flatnonzero((problem.pins >= 0) & (places >= 0) & (problem.pins != places))
    used = problem.banned[places[problem.banned[:, 0]] == problem.banned[:, 1]]
    pins = [f"task {tasks[t]!r} is pinned to node {nodes[problem.pins[t]]!r}, not {nodes[places[t]]!r}" for t in moved]
    pairs = [f"task {tasks[t]!r} may not go to node {nodes[p]!r}" for t, p in used]
    return tuple(Violation(kind="pinned", message=m) for m in pins) + tuple(
        Violation(kind="forbidden", message=m) for m in pairs
    )


def _sharing_violations(problem: Problem, places: IntArray) -> tuple[Violation, ...]:
    """Return nodes that hold two tasks of one exclusivity group, and the first two tasks that do so."""
    placed = np.flatnonzero(places >= 0)
    key = problem.group_of[placed] * problem.topology.size + places[placed]
    rank = np.argsort(key, kind="stable")
    order, again = placed[rank], np.flatnonzero(np.diff(key[rank]) == 0)
    shared, first = np.unique(places[order[again]], return_index=True)
    names, nodes = problem.tasks.names, problem.topology.names
    pairs = zip(shared, order[again[first]], order[again[first] + 1], strict=True)
    return tuple(
        Violation(kind=problem.rule, message=f"tasks {names[t]!r} and {names[u]!r} may not share node {nodes[p]!r}")
        for p, t, u in pairs
    )


def _capacity_violations(problem: Problem, places: IntArray) -> tuple[Violation, ...]:
    """Return nodes that hold more tasks or need more memory than they have."""
    nodes, slots = problem.topology.names, problem.topology.slots
    placed = np.flatnonzero(places >= 0)
    count = np.bincount(places[placed], minlength=problem.topology.size)
    limit = np.where(slots > 0, np.iinfo(np.int64).max, 0) if problem.groups else slots
    found = [
        Violation(kind="slots", message=f"node {nodes[p]!r} has {slots[p]} slots and holds {count[p]} tasks")
        for p in np.flatnonzero(count > limit)
    ]
    memory, room = problem.tasks.memory, problem.topology.memory
    if memory is not None and room is not None:
        need = np.zeros(problem.topology.size, np.int64)
        (np.maximum if problem.groups else np.add).at(need, places[placed], memory[placed])
        found += [
            Violation(kind="memory", message=f"node {nodes[p]!r} has {room[p]} bytes and needs {need[p]}")
            for p in np.flatnonzero(need > room)
        ]
    return tuple(found)


def _reach_violations(problem: Problem, places: IntArray) -> tuple[Violation, ...]:
    """Return the first traffic that crosses disconnected parts of the hardware, and how much more does."""
    if problem.metric is problem.topology.metric:
        # Nothing had to be made finite.
        return ()
    edges = entries_of(problem.tasks.traffic)
    distances = problem.topology.metric.between(places[edges.row], places[edges.col])
    cut = np.flatnonzero(~np.isfinite(distances) & (places[edges.row] >= 0) & (places[edges.col] >= 0))
    if not cut.size:
        return ()
    u, v = edges.row[cut[0]], edges.col[cut[0]]
    names, nodes = problem.tasks.names, problem.topology.names
    where = f"{names[u]!r} on {nodes[places[u]]!r} and {names[v]!r} on {nodes[places[v]]!r}"
    more = f", one of {cut.size} such pairs" if cut.size > 1 else ""
    return (Violation(kind="disconnected", message=f"there is no way between {where}{more}"),)
