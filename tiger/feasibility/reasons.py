"""Reasons why there is no feasible mapping: violations that name tasks, nodes and figures."""

from dataclasses import replace

import numpy as np

from tiger.feasibility.components import ComponentSplit, Residual, Shortage, components, match_hosts, reachability
from tiger.feasibility.packing import pack
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.violation import Violation
from tiger.objectives.cost import violations

# About this many sizes are tried, as each costs a pass over the hosts.
SIZES = 200
MEANING = {
    "one-to-one": "one task per node",
    "levels": "one task of a level per node",
    "slots": "the slots of the nodes",
    "memory": "the memory of the nodes",
    "disconnected": "connected hardware between tasks that exchange traffic",
    "forbidden": "the forbidden pairs",
    "pinned": "the pins",
}


def name_obvious(problem: Problem) -> tuple[Violation, ...]:
    """Return what pins and counts alone show: pins that break a rule, too few nodes, slots or bytes."""
    return _name_unusable_pins(problem) or violations(problem, problem.pins) or _name_shortages(problem)


def name_conflict(problem: Problem, residual: Residual, part: IntArray) -> Violation | None:
    """Name tasks that no place is left for, alone or together, or pins to parts `part[host]` that are not connected."""
    found = _name_unplaceable_task(problem, residual) or _name_memory_excess(problem, residual)
    return found or _name_split_pins(problem, residual, part)


def name_shortage(problem: Problem, residual: Residual, shortage: Shortage) -> Violation:
    """Name tasks that have fewer places between them than they are (Hall's condition)."""
    tasks = _name_few(problem, residual.tasks[shortage.tasks])
    nodes = [problem.topology.names[p] for p in residual.hosts[shortage.hosts]]
    if problem.groups:
        message = (
            f"{len(shortage.tasks)} tasks {tasks} that exclude each other have only {len(nodes)} nodes {_list(nodes)}"
        )
    else:
        message = f"{len(shortage.tasks)} tasks {tasks} have only {shortage.room} slots, on nodes {_list(nodes)}"
    return Violation(kind=problem.rule if problem.groups else "slots", message=message + _say_given(problem))


def name_overfull_parts(problem: Problem, residual: Residual, split: ComponentSplit, until_s: float) -> Violation:
    """Name a component of tasks that fits into no part, or say which sets of tasks do not fit together."""
    packing, sizes = split.packing, split.mix.sum(axis=1)
    alone = packing.misfit
    if alone is not None:
        return _say_misfit(problem, residual, split, alone)
    anywhere = match_hosts(residual, np.arange(len(residual.tasks)), np.arange(len(residual.hosts)))
    if isinstance(anywhere, Shortage):
        return name_shortage(problem, residual, anywhere)
    classes = np.flatnonzero(sizes > 1)
    packed = pack(replace(packing, load=packing.load[classes], count=packing.count[classes], kind=classes), until_s)
    classes = classes if packed.bins is None and packed.proved else np.arange(len(sizes))
    rooms = np.bincount(split.part) if problem.groups else packing.room[:, 0]
    largest = _members(problem, residual, split, int(np.argmax(sizes)))
    message = (
        "tasks that exchange traffic need connected hardware: sets of "
        f"{_sizes(sizes[classes], packing.count[classes])} tasks, the largest with {_name_few(problem, largest)}, do "
        f"not fit together into connected parts with {_sizes(rooms, np.ones_like(rooms))} "
        f"{'nodes' if problem.groups else 'slots'}{_say_given(problem)}"
    )
    return Violation(kind="disconnected", message=message)


def say_memory_short(problem: Problem, residual: Residual) -> Violation:
    """Say that the tasks cannot be divided among the nodes so that their memory suffices."""
    need, room = (int(table[:, 1].sum()) for table in (residual.load, residual.room))
    nodes = _list([problem.topology.names[p] for p in residual.hosts])
    message = (
        f"there is no way to divide {len(residual.tasks)} tasks {_name_few(problem, residual.tasks)} that need {need} "
        f"bytes among {len(residual.hosts)} nodes {nodes} with {room} bytes in {int(residual.room[:, 0].sum())} slots"
        f"{_say_given(problem)}"
    )
    return Violation(kind="memory", message=message)


def say_unplaceable(problem: Problem) -> Violation:
    """Say that no mapping meets everything together."""
    limits = _limits(problem)
    return Violation(kind=limits[-1], message=f"no mapping meets all of these together: {_meanings(limits)}")


def say_undecided(problem: Problem, seconds: float | None) -> Violation:
    """Say that neither a mapping nor a proof was found, in the seconds given or before all ways were tried."""
    within = "" if seconds is None else f"within {seconds:g} s "
    why = ", and not every way could be tried" if seconds is None else ""
    message = f"{within}no mapping was found that meets all of these together: {_meanings(_limits(problem))}{why}"
    return Violation(kind="undecided", message=message)


def _name_unusable_pins(problem: Problem) -> tuple[Violation, ...]:
    """Return tasks that are pinned to nodes which can hold none."""
    tasks, nodes = problem.tasks.names, problem.topology.names
    lost = np.flatnonzero((problem.pins >= 0) & (problem.topology.slots[problem.pins] == 0)).tolist()
    why = "which has 0 slots: it is a switch, or outside the allocation"
    return tuple(
        Violation(kind="slots", message=f"task {tasks[t]!r} is pinned to node {nodes[problem.pins[t]]!r}, {why}")
        for t in lost
    )


def _name_shortages(problem: Problem) -> tuple[Violation, ...]:
    """Return the reasons that counts alone show: too few nodes, slots or bytes, or a task that fits nowhere."""
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


def _name_unplaceable_task(problem: Problem, residual: Residual) -> Violation | None:
    """Name a task that no node may hold, beside the pinned ones."""
    order = np.lexsort((residual.load.sum(axis=1), residual.kind))
    heaviest = order[np.flatnonzero(np.diff(residual.kind[order], append=-1))]
    for task in np.sort(heaviest):
        if not (residual.open[residual.kind[task]] & (residual.load[task] <= residual.room).all(axis=1)).any():
            name = problem.tasks.names[int(residual.tasks[task])]
            return Violation(
                kind="forbidden", message=f"task {name!r} has no node that may hold it{_say_given(problem)}"
            )
    return None


def _name_memory_excess(problem: Problem, residual: Residual) -> Violation | None:
    """Name large tasks that are more than the nodes can hold of tasks so large, node by node."""
    if residual.load.shape[1] < 2:
        return None
    load = residual.load[:, 1]
    for least in np.unique(load[load > 0])[:: -max(len(load) // SIZES, 1)]:
        wanted = np.flatnonzero(load >= least)
        most = int(np.minimum(residual.room[:, 0], residual.room[:, 1] // least).sum())
        if len(wanted) > most:
            message = (
                f"{len(wanted)} tasks {_name_few(problem, residual.tasks[wanted])} need {least} bytes or more each, "
                f"and the memory of the nodes holds only {most} such tasks{_say_given(problem)}"
            )
            return Violation(kind="memory", message=message)
    return None


def _name_split_pins(problem: Problem, residual: Residual, part: IntArray) -> Violation | None:
    """Name two pinned tasks that need one connected part and are pinned to different parts of the hardware."""
    pinned = np.flatnonzero(problem.pins >= 0)
    label = components(problem, part)[pinned]
    where = part[np.searchsorted(residual.hosts, problem.pins[pinned])]
    order = np.lexsort((where, label))
    apart = np.flatnonzero((np.diff(label[order]) == 0) & (np.diff(where[order]) != 0))
    if not apart.size:
        return None
    ends = pinned[order[apart[0] : apart[0] + 2]]
    one, two = (f"{problem.tasks.names[t]!r} to {problem.topology.names[problem.pins[t]]!r}" for t in ends)
    message = (
        f"tasks that exchange traffic, directly or by way of others, are pinned to disconnected parts of the hardware: "
        f"{one} and {two}"
    )
    return Violation(kind="disconnected", message=message)


def _say_misfit(problem: Problem, residual: Residual, split: ComponentSplit, k: int) -> Violation:
    """Say why a component of class k fits into no part."""
    size = len(split.labels)
    members, open_ = _members(problem, residual, split, k), split.packing.open[k]
    rooms = split.packing.room[open_ if open_.any() else slice(None), :size]
    over = np.flatnonzero(split.packing.load[k, :size] > rooms.max(axis=0))
    reason = f"and no connected part of the hardware can hold them all{_say_given(problem)}"
    if over.size:
        need, most = split.packing.load[k, over[0]], rooms[:, over[0]].max()
        unit = "nodes" if problem.groups else ("slots", "bytes")[over[0]]
        some = f"{need} of them, which exclude each other, " if problem.rule == "levels" else ""
        reason = f"{some}on {need} {unit}; the largest connected part has {most}"
        if _say_given(problem):
            reason = f"{some}on {need} {unit}; no connected part open to them has more than {most}{_say_given(problem)}"
    message = (
        f"the {len(members)} tasks {_name_few(problem, members)} exchange traffic and need to lie together, {reason}"
    )
    return Violation(kind="disconnected", message=message)


def _limits(problem: Problem) -> list[str]:
    """Return the kinds of all that limits a mapping."""
    limits: list[str] = [problem.rule if problem.groups else "slots"]
    limits += ["memory"] if problem.tasks.memory is not None and problem.topology.memory is not None else []
    limits += ["disconnected"] if reachability(problem) is not None else []
    limits += ["forbidden"] if len(problem.banned) else []
    return limits + (["pinned"] if (problem.pins >= 0).any() else [])


def _meanings(limits: list[str]) -> str:
    """Return limits in words."""
    return ", ".join(MEANING[limit] for limit in limits)


def _say_given(problem: Problem) -> str:
    """Return the pins and forbidden pairs to be kept as well, as the end of a sentence."""
    limits = [MEANING["forbidden"]] if len(problem.banned) else []
    limits += [MEANING["pinned"]] if (problem.pins >= 0).any() else []
    return f" (given {' and '.join(limits)})" if limits else ""


def _members(problem: Problem, residual: Residual, split: ComponentSplit, k: int) -> IntArray:
    """Return all tasks, pinned ones too, of the first component of class k."""
    component = split.order[int(split.packing.count[:k].sum())]
    label = components(problem, split.part)
    return np.flatnonzero(label == label[residual.tasks[np.argmax(split.component == component)]])


def _name_few(problem: Problem, tasks: IntArray) -> str:
    """Return the names of the first few tasks in parentheses."""
    return _list([problem.tasks.names[t] for t in tasks])


def _list(names: list[str]) -> str:
    """Return the first few names in parentheses."""
    shown = ", ".join(map(repr, names[:4]))
    return f"({shown}{', ..' if len(names) > 4 else ''})"


def _sizes(sizes: IntArray, count: IntArray) -> str:
    """Return the largest few sizes and how often each occurs."""
    values, label = np.unique(-sizes, return_inverse=True)
    number = np.bincount(label.ravel(), weights=count).astype(int)
    shown = [f"{-v} (x {n})" if n > 1 else f"{-v}" for v, n in zip(values[:6], number, strict=False)]
    return ", ".join(shown) + (", .." if len(values) > 6 else "")
