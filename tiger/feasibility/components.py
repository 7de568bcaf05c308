"""Connected components of the tasks, and which of them may go to which connected part of the hardware."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_flow

from tiger.feasibility.packing import Packing
from tiger.model.arrays import BoolArray, IntArray
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Residual:
    """Hold what the pins leave of h hosts to f free tasks.

    Tasks of one `kind[f]` of q belong to one exclusivity group, `group[q]` or -1, and may go to the hosts `open[q, h]`.
    What a host holds adds up, `load[f, d]` against `room[h, d]`: nothing with groups, slots and memory without.
    """

    tasks: IntArray
    hosts: IntArray
    kind: IntArray
    group: IntArray
    open: BoolArray
    load: IntArray
    room: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComponentSplit:
    """Hold c sets of tasks that have to lie together, in k classes of equal ones, and r parts of the hardware.

    `component[f]` and `part[h]` say where free tasks and hosts belong; `order[c]` lists the components class after
    class, and `mix[k, q]` how many tasks of each kind they have. `packing` is the question which part takes which
    component; its amounts are `labels[g]`, the exclusivity groups or the sums of the residual, then those of cuts.
    """

    component: IntArray
    part: IntArray
    order: IntArray
    mix: sp.csr_array
    labels: IntArray
    packing: Packing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shortage:
    """Name free tasks, and kinds[q] of tasks, that have only `room` places between them, on hosts of one part."""

    kinds: BoolArray
    tasks: IntArray
    hosts: IntArray
    room: int


def residual_of(problem: Problem, cells: int) -> Residual | None:
    """Return the tasks and the room that the pins leave; None where kinds times hosts are more than `cells`."""
    free, hosts = problem.free, problem.topology.hosts
    start = np.searchsorted(problem.banned[:, 0], np.arange(problem.tasks.size + 1)).tolist()
    banned = [problem.banned[start[task] : start[task + 1], 1] for task in free.tolist()]
    labels: dict[bytes, int] = {}
    no = np.array([labels.setdefault(nodes.tobytes(), len(labels)) for nodes in banned])
    need = _least_memory(problem)[free]
    key = np.stack([problem.group_of[free], need, no], axis=1)
    _, first, kind = np.unique(key, axis=0, return_index=True, return_inverse=True)
    if len(first) * len(hosts) > cells:
        return None
    group = problem.group_of[free[first]]
    load, room = _sums(problem)
    opened = np.ones((len(first), len(hosts)), bool)
    if problem.groups and problem.topology.memory is not None:
        opened &= need[first][:, None] <= problem.topology.memory[hosts]
    at = np.full(problem.topology.size, -1)
    at[hosts] = np.arange(len(hosts))
    for row, task in enumerate(first.tolist()):
        opened[row, at[banned[task][at[banned[task]] >= 0]]] = False
    pinned = np.flatnonzero(problem.pins >= 0)
    for label in np.unique(problem.group_of[pinned]) if problem.groups else ():
        pinned_hosts = problem.pins[pinned[problem.group_of[pinned] == label]]
        opened[np.ix_(group == label, np.isin(hosts, pinned_hosts))] = False
    opened &= (room[:, :1] > 0).all(axis=1)
    return Residual(tasks=free, hosts=hosts, kind=kind.ravel(), group=group, open=opened, load=load, room=room)


def _least_memory(problem: Problem) -> IntArray:
    """Return need[n], the memory of the smallest host that a task of an exclusivity group fits on; 0 without limits."""
    memory, room = problem.tasks.memory, problem.topology.memory
    if not problem.groups or memory is None or room is None:
        return np.zeros(problem.tasks.size, np.int64)
    steps = np.unique(room[problem.topology.hosts])
    return np.asarray(steps[np.minimum(np.searchsorted(steps, memory), len(steps) - 1)])


def _sums(problem: Problem) -> tuple[IntArray, IntArray]:
    """Return load[f, d] of the free tasks and what the pinned ones leave of room[h, d]."""
    free, hosts, topology = problem.free, problem.topology.hosts, problem.topology
    loads, rooms = [], []
    if not problem.groups:
        loads, rooms = [np.ones(problem.tasks.size, np.int64)], [topology.slots]
    if loads and problem.tasks.memory is not None and topology.memory is not None:
        loads, rooms = [*loads, problem.tasks.memory], [*rooms, topology.memory]
    load = np.array(loads, np.int64).reshape(len(loads), problem.tasks.size).T
    room = np.array(rooms, np.int64).reshape(len(rooms), topology.size).T.copy()
    pinned = np.flatnonzero(problem.pins >= 0)
    np.subtract.at(room, problem.pins[pinned], load[pinned])
    return load[free], room[hosts]


def reachability(problem: Problem) -> BoolArray | None:
    """Return reachable[h, h], whether a path leads from a host to another; None if it always does, or without need."""
    metric, hosts, edges = problem.topology.metric, problem.topology.hosts, problem.tasks.traffic.tocoo()
    if not isinstance(metric, DenseMetric) or not edges.nnz:
        return None
    reachable = np.isfinite(metric.table[np.ix_(hosts, hosts)])
    if (edges.row == edges.col).all() and reachable.diagonal().all():
        return None
    return None if reachable.all() else reachable


def parts_of(reachable: BoolArray) -> IntArray:
    """Return the part[h] of the hardware that a host belongs to: between two parts there is no path at all."""
    part = np.full(len(reachable), -1, np.int64)
    count = 0
    for seed in range(len(reachable)):
        if part[seed] >= 0:
            continue
        inside = np.zeros(len(reachable), bool)
        inside[seed] = True
        fresh = inside.copy()
        while fresh.any():
            near = reachable[fresh].any(axis=0) | reachable[:, fresh].any(axis=1)
            fresh = near & ~inside
            inside |= near
        part[inside] = count
        count += 1
    return part


def components(problem: Problem, part: IntArray) -> IntArray:
    """Return the label[n] of the tasks that have to lie in one part of the hardware."""
    if not part.any():
        return np.zeros(problem.tasks.size, np.int64)
    return np.asarray(connected_components(problem.tasks.traffic, directed=False)[1], np.int64)


def split_of(problem: Problem, residual: Residual, part: IntArray, cells: int) -> ComponentSplit | None:
    """Return the components of the free tasks against the parts; pinned tasks tie theirs to the part of their node.

    None where classes times parts are more than `cells`.
    """
    whole, pinned = components(problem, part), np.flatnonzero(problem.pins >= 0)
    root = np.full(int(whole.max()) + 1, -1, np.int64)
    root[whole[pinned]] = part[np.searchsorted(residual.hosts, problem.pins[pinned])]
    names, component = np.unique(whole[residual.tasks], return_inverse=True)
    component, root = component.ravel(), root[names]
    label, first = _classes(residual, component, root)
    if len(first) * (int(part.max()) + 1) > cells:
        return None
    chosen = np.isin(component, first)
    row = label[component[chosen]]
    mix = sp.csr_array(
        (np.ones(len(row), np.int64), (row, residual.kind[chosen])), shape=(len(first), len(residual.group))
    )
    parts = int(part.max()) + 1
    by_part, starts = np.argsort(part, kind="stable"), np.cumsum(np.bincount(part)) - np.bincount(part)
    never = ~np.logical_or.reduceat(residual.open[:, by_part], starts, axis=1)
    opened = (mix @ sp.csr_array(never.astype(np.int64))).toarray() == 0
    opened &= (root[first][:, None] < 0) | (root[first][:, None] == np.arange(parts))
    labels = np.unique(residual.group) if problem.groups else np.arange(residual.load.shape[1])
    if problem.groups:
        load = (mix @ sp.csr_array(residual.group[:, None] == labels).astype(np.int64)).toarray()
        taken = np.zeros((int(max(labels.max(), problem.group_of.max())) + 1, parts), np.int64)
        np.add.at(taken, (problem.group_of[pinned], part[np.searchsorted(residual.hosts, problem.pins[pinned])]), 1)
        room = np.bincount(part, minlength=parts)[:, None] - taken[labels].T
    else:
        load, largest, most = (
            np.zeros((size, residual.load.shape[1]), np.int64) for size in (len(first), len(first), parts)
        )
        np.add.at(load, row, residual.load[chosen])
        np.maximum.at(largest, row, residual.load[chosen])
        np.maximum.at(most, part, residual.room)
        opened &= (largest[:, None] <= most).all(axis=2)
        room = np.add.reduceat(residual.room[by_part], starts, axis=0)
    packing = Packing(load=load, count=np.bincount(label), room=room, kind=np.arange(len(first)), open=opened)
    order = np.argsort(label, kind="stable")
    return ComponentSplit(component=component, part=part, order=order, mix=mix, labels=labels, packing=packing)


def _classes(residual: Residual, component: IntArray, root: IntArray) -> tuple[IntArray, IntArray]:
    """Return the class label[c] of components that have equal tasks and root, and the first component of each."""
    key = np.column_stack([residual.kind, residual.load])
    sort = np.unique(key, axis=0, return_inverse=True)[1].ravel()
    order = np.lexsort((sort, component))
    sizes = np.bincount(component)
    label = np.empty(len(sizes), np.int64)
    known: dict[bytes, int] = {}
    first: list[int] = []
    for c, tasks in enumerate(np.split(sort[order], np.cumsum(sizes)[:-1])):
        label[c] = known.setdefault(np.append(tasks, root[c]).tobytes(), len(known))
        if label[c] == len(first):
            first.append(c)
    return label, np.array(first, np.int64)


def add_amount(split: ComponentSplit, part: int, load: IntArray, room: int) -> ComponentSplit:
    """Return the split with one amount more: load[k] of the components of a class, against what a part has of it."""
    packing = split.packing
    rooms = np.full(len(packing.room), int(load @ packing.count))
    rooms[part] = room
    more = replace(packing, load=np.column_stack([packing.load, load]), room=np.column_stack([packing.room, rooms]))
    return replace(split, packing=more)


def keep_apart(split: ComponentSplit, there: BoolArray) -> tuple[IntArray, int] | None:
    """Return load[k] and room that keep the components there[c], in their order, from being in one part together.

    None where others of their classes are elsewhere, since those could take their place.
    """
    count = split.packing.count
    present = np.bincount(np.repeat(np.arange(len(count)), count)[there], minlength=len(count))
    return (
        None if ((present > 0) & (present < count)).any() else ((present > 0).astype(np.int64), int(present.sum()) - 1)
    )


def level_parts(split: ComponentSplit, share: float) -> Packing:
    """Return the packing with parts to be filled to no more than `share` times an even level."""
    packing, sizes = split.packing, slice(len(split.labels))
    total, room = (packing.load.T @ packing.count)[sizes], packing.room[:, sizes]
    even = np.ceil(room * (share * total / np.maximum(room.sum(axis=0), 1))).astype(np.int64)
    rooms = packing.room.copy()
    rooms[:, sizes] = np.minimum(room, even)
    return replace(packing, room=rooms)


def match_hosts(residual: Residual, tasks: IntArray, hosts: IntArray) -> IntArray | Shortage:
    """Return a host for each of the free tasks, by groups and slots alone, or tasks that have too few."""
    found = np.empty(len(tasks), np.int64)
    groups = residual.group[residual.kind[tasks]]
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        kinds, row, count = np.unique(residual.kind[tasks[rows]], return_inverse=True, return_counts=True)
        places = residual.room[hosts, 0] if residual.room.shape[1] else np.ones(len(hosts), np.int64)
        amount, short = _flow(residual.open[np.ix_(kinds, hosts)], count, places)
        if short is not None:
            near = residual.open[np.ix_(kinds[short], hosts)].any(axis=0)
            within = (residual.group == group) & ~residual.open[:, hosts[~near]].any(axis=1)
            short_tasks = tasks[rows[np.isin(row.ravel(), short)]]
            return Shortage(kinds=within, tasks=short_tasks, hosts=hosts[near], room=int(places[near].sum()))
        rank = np.argsort(row.ravel(), kind="stable")
        found[rows[rank]] = np.repeat(hosts[amount.indices], amount.data)
    return found


def _flow(open_: BoolArray, count: IntArray, places: IntArray) -> tuple[sp.csr_array, IntArray | None]:
    """Return amount[q, h] of items that go where, or, as its second, kinds that have too few places between them."""
    kinds, hosts = open_.shape
    source, sink = kinds + hosts, kinds + hosts + 1
    q, h = np.nonzero(open_)
    places = np.minimum(places, count.sum())
    row = np.concatenate([np.full(kinds, source), q, kinds + np.arange(hosts)])
    column = np.concatenate([np.arange(kinds), kinds + h, np.full(hosts, sink)])
    limit = np.concatenate([count, np.minimum(count[q], places[h]), places]).astype(np.int32)
    graph = sp.csr_array((limit, (row, column)), shape=(sink + 1, sink + 1))
    answer = maximum_flow(graph, source, sink)
    flow = sp.csr_array(answer.flow)
    if answer.flow_value == count.sum():
        amount = sp.csr_array(flow[:kinds, kinds:source])
        amount.eliminate_zeros()
        amount.sort_indices()
        return amount, None
    left = sp.csr_array(graph - flow)
    left.eliminate_zeros()
    reached = breadth_first_order(left, source, return_predecessors=False)
    return flow, np.sort(reached[reached < kinds])
