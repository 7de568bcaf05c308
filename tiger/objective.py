"""What a mapping costs and what it violates, evaluated on the mapping alone."""

from dataclasses import asdict, dataclass

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Name a constraint that is broken or cannot be met: its `kind`, and a sentence that names tasks and nodes."""

    kind: str
    message: str

    def to_dict(self) -> dict[str, str]:
        """Return the two strings by name."""
        return asdict(self)


def cost_of(problem: Problem, places: IntArray) -> Cost:
    """Return the cost of node indices `places[n]` in float64; O(edges)."""
    edges = problem.tasks.traffic.tocoo()
    away = problem.metric.between(places[edges.row], places[edges.col])
    compute = problem.tasks.work * problem.topology.cost[places]
    return Cost(compute=float(compute.sum()), communication=float((edges.data * away).sum()))


def violations(problem: Problem, places: IntArray) -> tuple[Violation, ...]:
    """Return every constraint that node indices `places[n]` break, at most one entry of each kind and node; O(n + edges)."""
    found = _pin_violations(problem, places)
    found += _sharing_violations(problem, places) if problem.groups else ()
    found += _capacity_violations(problem, places)
    return found + _reach_violations(problem, places)


def _pin_violations(problem: Problem, places: IntArray) -> tuple[Violation, ...]:
    """Return pins that are not kept and forbidden pairs that are used."""
    tasks, nodes = problem.tasks.names, problem.topology.names
    moved = np.flatnonzero((problem.pins >= 0) & (problem.pins != places))
    used = problem.banned[places[problem.banned[:, 0]] == problem.banned[:, 1]]
    pins = [f"task {tasks[t]!r} is pinned to node {nodes[problem.pins[t]]!r}, not {nodes[places[t]]!r}" for t in moved]
    pairs = [f"task {tasks[t]!r} may not go to node {nodes[p]!r}" for t, p in used]
    return tuple(Violation(kind="pinned", message=m) for m in pins) + tuple(
        Violation(kind="forbidden", message=m) for m in pairs
    )


def _sharing_violations(problem: Problem, places: IntArray) -> tuple[Violation, ...]:
    """Return nodes that hold two tasks of one exclusivity group."""
    key = problem.group_of * problem.topology.size + places
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(key[order][1:] == key[order][:-1])
    names, nodes = problem.tasks.names, problem.topology.names
    pairs = [(order[k], order[k + 1]) for k in again]
    return tuple(
        Violation(kind=problem.rule, message=f"tasks {names[t]!r} and {names[u]!r} share node {nodes[places[t]]!r}")
        for t, u in pairs
    )


def _capacity_violations(problem: Problem, places: IntArray) -> tuple[Violation, ...]:
    """Return nodes that hold more tasks or need more memory than they have."""
    nodes, slots, found = problem.topology.names, problem.topology.slots, []
    count = np.bincount(places, minlength=problem.topology.size)
    limit = np.where(slots > 0, np.iinfo(np.int64).max, 0) if problem.groups else slots
    for p in np.flatnonzero(count > limit):
        found.append(
            Violation(kind="slots", message=f"node {nodes[p]!r} has {slots[p]} slots and holds {count[p]} tasks")
        )
    memory, room = problem.tasks.memory, problem.topology.memory
    if memory is not None and room is not None:
        need = np.zeros(problem.topology.size, np.int64)
        (np.maximum if problem.groups else np.add).at(need, places, memory)
        for p in np.flatnonzero(need > room):
            found.append(Violation(kind="memory", message=f"node {nodes[p]!r} has {room[p]} bytes and needs {need[p]}"))
    return tuple(found)


def _reach_violations(problem: Problem, places: IntArray) -> tuple[Violation, ...]:
    """Return the first traffic that crosses disconnected parts of the hardware."""
    edges = problem.tasks.traffic.tocoo()
    away = problem.topology.metric.between(places[edges.row], places[edges.col])
    cut = np.flatnonzero(~np.isfinite(away))
    if not cut.size:
        return ()
    u, v = edges.row[cut[0]], edges.col[cut[0]]
    names, nodes = problem.tasks.names, problem.topology.names
    where = f"{names[u]!r} on {nodes[places[u]]!r} and {names[v]!r} on {nodes[places[v]]!r}"
    return (
        Violation(kind="disconnected", message=f"there is no way between tasks {where}, and {cut.size - 1} more pairs"),
    )
