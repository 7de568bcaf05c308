"""A mapping problem: tasks, hardware, the rule of sharing, pins and forbidden pairs."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError, pin_field
from tiger.model.arrays import IntArray, freeze, lock
from tiger.model.levels import levels
from tiger.model.metrics import DenseMetric, Metric
from tiger.model.sharing import Rule
from tiger.model.tasks import TaskGraph, seal
from tiger.model.topology import Topology

# The most that costs, and the figures that they are sums of, can come to: bounds add up a million of them in float64.
LARGEST = 1e300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """Ask where n tasks go on m nodes.

    Rules: `one-to-one` (no two tasks share a node), `levels` (tasks of one level exclude each other on a node),
    `capacity` (slots and memory per node). An exclusivity group is a set of tasks that may not share a node: one group
    is one-to-one, one per level is levels, none is capacity. A node with 0 slots holds nothing under any rule; memory
    is what is needed at once, so outside capacity it is held against one task at a time.

    `pinned` {task: node} and `forbidden` {(task, node)} are by name, kept as a dict and a frozenset; in a list of pairs
    errors name the position. The remaining fields are derived: `pins[n]` the
    node of a pinned task or -1; `banned[k, 2]` forbidden pairs by index, sorted; `groups` arrays of task indices;
    `group_of[n]` or -1; `inflow` the transposed traffic; `metric` the topology's, with unreachable pairs set so far
    apart that no other saving pays for one. Raises InputError for a name, rule or graph that does not fit, and for
    figures so large that a cost could leave the range of float64.
    """

    tasks: TaskGraph
    topology: Topology
    rule: Rule
    pinned: Mapping[str, str] = field(default_factory=dict)
    forbidden: Collection[tuple[str, str]] = frozenset()
    pins: IntArray = field(init=False)
    banned: IntArray = field(init=False)
    groups: tuple[IntArray, ...] = field(init=False)
    group_of: IntArray = field(init=False)
    inflow: sp.csr_array = field(init=False)
    metric: Metric = field(init=False)

    def __post_init__(self) -> None:
        """Resolve names to indices and derive groups and metric."""
        if self.rule not in get_args(Rule):
            raise InputError("rule", f"expected one of {', '.join(get_args(Rule))}, got {self.rule!r}")
        task_index = {name: k for k, name in enumerate(self.tasks.names)}
        node_index = {name: k for k, name in enumerate(self.topology.names)}
        groups = _groups(self.tasks, self.topology, self.rule)
        group_of = np.full(self.tasks.size, -1, np.int64)
        for k, group in enumerate(groups):
            group_of[group] = k
        object.__setattr__(self, "pinned", dict(self.pinned))
        object.__setattr__(self, "pins", _pins(self.pinned, task_index, node_index))
        object.__setattr__(self, "banned", _forbidden_pairs(self.forbidden, task_index, node_index))
        object.__setattr__(self, "forbidden", frozenset(self.forbidden))
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "group_of", freeze(group_of))
        object.__setattr__(self, "inflow", seal(sp.csr_array(self.tasks.traffic.T)))
        object.__setattr__(self, "metric", _make_finite(self.tasks, self.topology))

    @property
    def free(self) -> IntArray:
        """Return the indices of the tasks that are not pinned."""
        return np.flatnonzero(self.pins < 0)

    def mapping(self, places: IntArray) -> dict[str, str]:
        """Return {task: node} for node indices `places[n]`."""
        nodes = self.topology.names
        return {task: nodes[place] for task, place in zip(self.tasks.names, places.tolist(), strict=True)}


def default_rule(tasks: TaskGraph, topology: Topology) -> Rule:
    """Return one-to-one where the nodes suffice for it, capacity where they do not."""
    return "one-to-one" if tasks.size <= topology.hosts.size else "capacity"


def _groups(tasks: TaskGraph, topology: Topology, rule: Rule) -> tuple[IntArray, ...]:
    """Return the exclusivity groups of a rule."""
    if rule == "levels":
        return tuple(map(freeze, levels(tasks, max(topology.hosts.size, 1))))
    return (freeze(np.arange(tasks.size)),) if rule == "one-to-one" else ()


def _pins(pinned: Mapping[str, str], tasks: dict[str, int], nodes: dict[str, int]) -> IntArray:
    """Return the node index of every pinned task, -1 for the others."""
    pins = np.full(len(tasks), -1, np.int64)
    for task, node in pinned.items():
        if task not in tasks:
            raise InputError(pin_field(task), f"expected a task of the graph, got {task!r}")
        if node not in nodes:
            raise InputError(pin_field(task), f"expected a node of the topology, got {node!r}")
        pins[tasks[task]] = nodes[node]
    return freeze(pins)


def _forbidden_pairs(forbidden: Collection[tuple[str, str]], tasks: dict[str, int], nodes: dict[str, int]) -> IntArray:
    """Return the forbidden (task, node) pairs as sorted index pairs without repeats."""
    pairs = set()
    for position, (task, node) in enumerate(forbidden):
        at = f"/{position}" if isinstance(forbidden, Sequence) else ""
        if task not in tasks:
            raise InputError(f"forbidden{at and at + '/0'}", f"expected a task of the graph, got {task!r}")
        if node not in nodes:
            raise InputError(f"forbidden{at and at + '/1'}", f"expected a node of the topology, got {node!r}")
        pairs.add((tasks[task], nodes[node]))
    return freeze(np.array(sorted(pairs), np.int64).reshape(-1, 2))


def _make_finite(tasks: TaskGraph, topology: Topology) -> Metric:
    """Return the metric with infinite distances replaced by one that outweighs every finite cost."""
    metric, volumes = topology.metric, tasks.traffic.data
    total, least = float(volumes.sum()), float(volumes.min()) if volumes.size else 1.0
    with np.errstate(over="ignore"):
        work = float(tasks.work.sum())
    worst = metric.farthest * total + work * float(topology.cost.max())
    most = max(worst, metric.farthest, total, work)
    if not most <= LARGEST:
        raise InputError("tasks", f"expected costs within the range of float64, got up to {most:g}")
    _check_loads(total, topology)
    if not isinstance(metric, DenseMetric) or metric.connected:
        return metric
    # Relative to the other costs, so that no digit of theirs is lost to an offset, and no unit of cost plays a part.
    far = (2.0 * worst or 1.0) / least
    if not far * max(total, 1.0) <= LARGEST:
        raise InputError(
            "tasks/traffic", f"expected volumes closer to each other on split hardware, got {least:g} among them"
        )
    return DenseMetric(lock(np.where(np.isfinite(metric.table), metric.table, far)))


def _check_loads(total: float, topology: Topology) -> None:
    """Raise InputError for a link so narrow that all traffic together may load it beyond the range of float64."""
    narrowest = 1.0 if topology.links is None else float(topology.links.bandwidth.min(initial=math.inf))
    if not math.isfinite(total / narrowest):
        reason = f"expected loads within the range of float64, got {total:g} over a bandwidth of {narrowest:g}"
        raise InputError("topology/links/bandwidth", reason)
