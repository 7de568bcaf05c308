"""A first feasible mapping, or the reasons why there is none."""

from itertools import islice

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.window import allowed_pairs, whole
from tiger.objective import Violation, violations

CELLS = 2_000_000
MILP_LIMIT_S = 30.0
MILP_UNITS = 1e9
MEANING = {
    "one-to-one": "one task per node",
    "levels": "one task of a level per node",
    "slots": "the slots of the nodes",
    "memory": "the memory of the nodes",
    "disconnected": "connected hardware between tasks that exchange traffic",
    "forbidden": "the forbidden pairs",
    "pinned": "the pins",
}


def launch_order(problem: Problem) -> IntArray | tuple[Violation, ...]:
    """Return places[n] as a launcher would choose them, or what cannot be met.

    Tasks in input order take the first node, in node order, that pins, forbidden pairs, groups, slots and memory leave
    open to them. Where that ends in a dead end, a matching (groups) or a mixed-integer programme (memory, disconnected
    hardware) decides; it is exact, within 30 s and 2 million task-node pairs.
    """
    blocked = _pin_conflicts(problem) or _shortages(problem)
    if blocked:
        return blocked
    places = _first_fit(problem)
    if places is None or violations(problem, places):
        return _decide(problem)
    return places


def _pin_conflicts(problem: Problem) -> tuple[Violation, ...]:
    """Return what the pinned tasks violate among themselves."""
    return violations(problem, problem.pins)


def _shortages(problem: Problem) -> tuple[Violation, ...]:
    """Return what counts alone show: too few nodes, slots or bytes, or a task that fits nowhere."""
    tasks, topology = problem.tasks, problem.topology
    limit = int(topology.hosts.size if problem.groups else topology.slots.sum())
    wanted = max(map(len, problem.groups)) if problem.groups else tasks.size
    if wanted > limit:
        unit = "nodes with a slot" if problem.groups else "slots"
        return (Violation(kind="slots", message=f"{wanted} tasks need {wanted} {unit}, there are {limit}"),)
    if tasks.memory is not None and topology.memory is not None:
        need, room = int(tasks.memory.sum()), int(topology.memory[topology.hosts].sum())
        if not problem.groups and need > room:
            return (Violation(kind="memory", message=f"the tasks need {need} bytes, the nodes have {room}"),)
        largest, most = int(tasks.memory.argmax()), int(topology.memory[topology.hosts].max())
        if tasks.memory[largest] > most:
            message = f"task {tasks.names[largest]!r} needs {tasks.memory[largest]} bytes, the largest node has {most}"
            return (Violation(kind="memory", message=message),)
    return ()


def _first_fit(problem: Problem) -> IntArray | None:
    """Return every task on the first node open to it, in input order; None when one finds no node."""
    places, hosts = problem.pins.copy(), problem.topology.hosts.tolist()
    pinned = np.flatnonzero(places >= 0)
    banned: dict[int, set[int]] = {}
    for task, node in problem.banned.tolist():
        banned.setdefault(task, set()).add(node)
    count = np.bincount(places[pinned], minlength=problem.topology.size)
    taken = set(zip(problem.group_of[pinned].tolist(), places[pinned].tolist(), strict=True))
    used, room = np.zeros(problem.topology.size, np.int64), problem.topology.memory
    memory = np.zeros(problem.tasks.size, np.int64) if problem.tasks.memory is None else problem.tasks.memory
    np.add.at(used, places[pinned], memory[pinned])
    first: dict[int, int] = {}
    for task in problem.free.tolist():
        group, no = int(problem.group_of[task]), banned.get(task, set())
        cursor = first.get(group, 0)
        while cursor < len(hosts) and _full(problem, taken, count, group, hosts[cursor]):
            cursor += 1
        first[group] = cursor
        for node in islice(hosts, cursor, None):
            held = 0 if problem.groups else int(used[node])
            fits = room is None or held + int(memory[task]) <= int(room[node])
            if node not in no and fits and not _full(problem, taken, count, group, node):
                break
        else:
            return None
        places[task] = node
        taken.add((group, node))
        count[node] += 1
        used[node] += memory[task]
    return places


def _full(problem: Problem, taken: set[tuple[int, int]], count: IntArray, group: int, node: int) -> bool:
    """Tell whether a node has no place left for a task of a group."""
    if group >= 0:
        return (group, node) in taken
    return int(count[node]) >= int(problem.topology.slots[node])


def _decide(problem: Problem) -> IntArray | tuple[Violation, ...]:
    """Decide by matching or programme whether a feasible mapping exists; return one, or what cannot be met."""
    parts = problem.topology.parts
    if problem.tasks.size * problem.topology.hosts.size > CELLS:
        message = (
            "first fit found no place for every task, and the problem is too large to decide whether any mapping does"
        )
        return (Violation(kind="undecided", message=message),)
    allowed = allowed_pairs(problem, whole(problem), problem.pins)
    stuck = np.flatnonzero(~allowed.any(axis=1))
    if stuck.size:
        name = problem.tasks.names[int(problem.free[stuck[0]])]
        return (Violation(kind="forbidden", message=f"task {name!r} has no node that may hold it"),)
    if problem.groups and not parts.any():
        return _matched(problem, problem.free, allowed)
    return _programmed(problem, parts, allowed)


def _matched(problem: Problem, tasks: IntArray, allowed: BoolArray) -> IntArray | tuple[Violation, ...]:
    """Match the tasks of every group to different nodes, or name a set of tasks that has too few."""
    places, hosts = problem.pins.copy(), problem.topology.hosts
    for group in problem.groups:
        rows = np.flatnonzero(np.isin(tasks, group))
        if not len(rows):
            continue
        open_ = sp.csr_array(allowed[rows].astype(np.int8))
        match = maximum_bipartite_matching(open_, perm_type="column")
        if (match < 0).any():
            return (_hall(problem, tasks[rows], allowed[rows], match),)
        places[tasks[rows]] = hosts[match]
    return places


def _hall(problem: Problem, tasks: IntArray, allowed: BoolArray, match: IntArray) -> Violation:
    """Name tasks that have fewer nodes between them than they are (Hall's condition)."""
    reached = np.zeros(len(tasks), bool)
    reached[np.flatnonzero(match < 0)[0]] = True
    while True:
        nodes: BoolArray = np.any(allowed[reached], axis=0)
        wider = reached | ((match >= 0) & nodes[np.maximum(match, 0)])
        if (wider == reached).all():
            break
        reached = wider
    names = [problem.tasks.names[t] for t in tasks[reached]]
    only = [problem.topology.names[p] for p in problem.topology.hosts[nodes]]
    message = f"{len(names)} tasks {_few(names)} that exclude each other have only {len(only)} nodes {_few(only)}"
    return Violation(kind=problem.rule, message=message)


def _few(names: list[str]) -> str:
    """Return the first few names in parentheses."""
    shown = ", ".join(map(repr, names[:4]))
    return f"({shown}{', ..' if len(names) > 4 else ''})"


def _programmed(problem: Problem, parts: IntArray, allowed: BoolArray) -> IntArray | tuple[Violation, ...]:
    """Find a mapping within slots, memory and connected parts by mixed-integer programming, or say that none exists."""
    row, col = np.nonzero(allowed)
    tasks, hosts, cells = problem.free, problem.topology.hosts, np.arange(len(row))
    component = connected_components(problem.tasks.traffic, directed=False)[1]
    rooted = _rooted(problem, component, parts)
    if (rooted.sum(axis=1) > 1).any():
        message = "pinned tasks that exchange traffic lie on disconnected parts of the hardware"
        return (Violation(kind="disconnected", message=message),)
    flags = len(row) + np.arange(rooted.size).reshape(rooted.shape)
    size = len(row) + rooted.size
    flag = flags[component[tasks[row]], parts[hosts[col]]]
    follow = _sums(cells, cells, size) - _sums(cells, flag, size)
    answer = milp(
        np.zeros(size),
        integrality=np.ones(size),
        bounds=Bounds(np.concatenate([np.zeros(len(row)), rooted.ravel()]), 1),
        constraints=[
            LinearConstraint(_sums(row, cells, size), 1, 1),
            LinearConstraint(_sums(np.indices(flags.shape)[0].ravel(), flags.ravel(), size), 1, 1),
            LinearConstraint(follow, -np.inf, 0),
            *_limits(problem, tasks[row], hosts[col], size),
        ],
        options={"time_limit": MILP_LIMIT_S},
    )
    if answer.x is None:
        return (_unplaceable(problem, proved=answer.status == 2),)
    places = problem.pins.copy()
    chosen = answer.x[: len(row)] > 0.5
    places[tasks[row[chosen]]] = hosts[col[chosen]]
    # The programme is solved to a tolerance, which may be a few bytes too many.
    return (_unplaceable(problem, proved=False),) if violations(problem, places) else places


def _rooted(problem: Problem, component: IntArray, parts: IntArray) -> FloatArray:
    """Return rooted[c, r], 1 where a pinned task ties a connected component of the tasks to a part of the hardware."""
    rooted = np.zeros((int(component.max()) + 1, int(parts.max()) + 1))
    pinned = np.flatnonzero(problem.pins >= 0)
    rooted[component[pinned], parts[problem.pins[pinned]]] = 1.0
    return rooted


def _sums(row: IntArray, column: IntArray, size: int) -> sp.csr_array:
    """Return the constraint matrix whose row r adds up the variables listed for it."""
    return sp.csr_array((np.ones(len(row)), (row, column)), shape=(int(row.max(initial=-1)) + 1, size))


def _limits(problem: Problem, task: IntArray, node: IntArray, size: int) -> list[LinearConstraint]:
    """Return what groups, or slots and memory, leave on every node for the variables of (task, node) pairs."""
    pinned = np.flatnonzero(problem.pins >= 0)
    held, cells = problem.pins[pinned], np.arange(len(task))
    if problem.groups:
        clash = problem.group_of[task] * problem.topology.size + node
        return [LinearConstraint(_sums(np.unique(clash, return_inverse=True)[1], cells, size), -np.inf, 1)]
    count = np.bincount(held, minlength=problem.topology.size)
    limits = [
        LinearConstraint(_sums(node, cells, size), -np.inf, (problem.topology.slots - count)[: int(node.max()) + 1])
    ]
    memory, room = problem.tasks.memory, problem.topology.memory
    if memory is not None and room is not None:
        used = np.bincount(held, weights=memory[pinned], minlength=problem.topology.size)
        # Units small enough that the solver's absolute tolerance of 1e-6 is far below the smallest load that counts.
        unit = max(float(memory.max()) / MILP_UNITS, float(np.gcd.reduce(memory)), 1.0)
        need = sp.csr_array((memory[task] / unit, (node, cells)), shape=(problem.topology.size, size))
        limits.append(LinearConstraint(need, -np.inf, (room - used) / unit))
    return limits


def _unplaceable(problem: Problem, *, proved: bool) -> Violation:
    """Say that no mapping meets everything together, or that none was found in time."""
    limits = ["slots"] if not problem.groups else [problem.rule]
    limits += ["memory"] if problem.tasks.memory is not None and problem.topology.memory is not None else []
    limits += ["disconnected"] if problem.topology.parts.any() else []
    limits += ["forbidden"] if len(problem.banned) else []
    limits += ["pinned"] if (problem.pins >= 0).any() else []
    verb = "no mapping meets" if proved else f"within {MILP_LIMIT_S:g} s no mapping was found that meets"
    listed = ", ".join(MEANING[limit] for limit in limits)
    return Violation(kind=limits[-1] if proved else "undecided", message=f"{verb} all of these together: {listed}")
