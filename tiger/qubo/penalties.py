"""The weights of the constraints in a QUBO, and the bound at which they are safe."""

from dataclasses import dataclass, replace

import numpy as np

from tiger.bounds.lower_bound import rearrangement_bound
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.window import Capacity, Window
from tiger.qubo.centring import centre

# Safe weights have to be above their bounds, by more than rounding.
MARGIN = 1 + 1e-6
# Times the standard deviation of a task's cost. Of the reads of eight small problems (neal, two seeds) 0.38 to 0.72 are
# feasible over all rounds; from 0.75 on 0.25 to 0.68, with mappings of tai20a that cost 0.2 % less, from 3 on 0.52 to
# 0.92, with mappings that cost 0.4 % more.
TYPICAL = 1.5
# Units that a node's capacity is divided into: with 8, 32 and 128 four problems of 14 tasks with memory have
# 110, 115 and 125 variables, 17, 21 and 24 % of the reads are feasible, and the mappings cost the same.
STEPS = 32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Penalties:
    """Hold the weights of the constraints, in units of cost.

    `one_hot[k]` per task, `exclusive[q]` per clash of two tasks of a group on a node, `capacity[q]` per square of what
    a node holds too much, in typical loads. `scale` is their size relative to the safe bound, `centred` says whether
    they go with centred costs. `aim` are the weights to try after these, where these are the safe ones.
    """

    one_hot: FloatArray
    exclusive: FloatArray
    capacity: FloatArray
    scale: float = 1.0
    centred: bool = False
    aim: "Penalties | None" = None

    def scaled(self, scale: float) -> "Penalties":
        """Return the same weights at another size relative to the safe bound."""
        return replace(self.weighed(scale / self.scale, scale / self.scale), scale=scale, aim=None)

    def at(self, scale: float) -> "Penalties":
        """Return, of safe weights, those of a fixed scale: below 1 the ones to aim at, which go with centred costs."""
        return (self.aim if self.aim is not None and scale < 1 else self).scaled(scale)

    def weighed(self, task: FloatArray | float, node: FloatArray | float) -> "Penalties":
        """Return weights multiplied by task[k] for one-hot and node[q] for what a node may hold."""
        return replace(
            self, one_hot=self.one_hot * task, exclusive=self.exclusive * node, capacity=self.capacity * node
        )


def fills(window: Window) -> bool:
    """Return whether one group has as many tasks as there are nodes, all of them allowed: then every node takes one."""
    tasks, nodes = window.shape
    return len(window.groups) == 1 and tasks == nodes and bool(window.allowed.all())


def safe_penalties(window: Window) -> Penalties:
    r"""Return weights at which every ground state is feasible and optimal, and in `aim` those to tune.

    With :math:`w_{tp}` the most that task t can cost at node p above its cheapest node, a sample is never worse for
    losing a second node or a clash while :math:`B > A`, and never worse for gaining a missing task while :math:`A_t`
    covers what that costs. Where a node is always free for it that is :math:`\max_p w_{tp}` (half of the largest for
    both when a group fills the nodes, as both its row and its column are then missing). Where forbidden pairs or other
    tasks outside leave a task fewer nodes than its group has tasks, others may have to move along: :math:`A_t` then
    covers all tasks of the group that are so restricted and the worst of the others. Where memory or restrictions meet
    capacities, it covers every task. Capacities in more than 32 units are coarsened, so that a ground state may exceed
    them by the rounding.
    """
    allowed = window.allowed
    linear = window.linear - np.where(allowed, window.linear, np.inf).min(axis=1, initial=np.inf)[:, None]
    worst = np.where(allowed, linear + rearrangement_bound(window, worst=True), 0.0).max(axis=1, initial=0.0)
    one_hot = MARGIN * (_group_costs(window, worst) if window.groups else _shared_costs(window, worst))
    least = one_hot.max(initial=0.0) * 1e-3 or 1.0
    one_hot = np.maximum(one_hot, least)
    top = float(one_hot.max(initial=0.0)) or 1.0
    if fills(window):
        one_hot, top = np.full(len(one_hot), top / 2), top / 2 / MARGIN
    nodes = np.ones(window.shape[1])
    safe = Penalties(one_hot=one_hot, exclusive=MARGIN * top * nodes, capacity=MARGIN * top * _compute_finest(window))
    return replace(safe, aim=_compute_typical(window, safe))


def _compute_typical(window: Window, safe: Penalties) -> Penalties:
    """Return weights about as large as what a task's cost varies by, where reads tend to be just feasible."""
    spread = centre(window).spread
    largest = float(spread.max(initial=0.0)) or 1.0
    mean = largest * float(np.sqrt(((spread / largest) ** 2).mean())) if len(spread) else 0.0
    one_hot = TYPICAL * np.sqrt(np.maximum(spread, 1e-3 * mean)) * np.sqrt(mean) if mean else safe.one_hot
    level = float(one_hot.mean()) if len(one_hot) else 1.0
    nodes = np.full(window.shape[1], level)
    return Penalties(
        one_hot=one_hot,
        exclusive=nodes * (1 if fills(window) else 2),
        capacity=nodes,
        scale=level / float(safe.one_hot.mean()) if len(one_hot) else 1.0,
        centred=True,
    )


def units(capacity: Capacity) -> IntArray:
    """Return unit[q] in which a node's capacity counts: the loads' common divisor, or coarser.

    A 32nd of its room where that is more, but never above an eighth of the typical load that fits there.
    """
    exact = max(int(np.gcd.reduce(capacity.load)), 1)
    most = np.ceil(capacity.typical / 8).astype(np.int64)
    return np.maximum(exact, np.minimum(-(-capacity.room // STEPS), most))


def _compute_finest(window: Window) -> FloatArray:
    """Return by how much a penalty per square of a typical load must be larger on node q to count for a unit of any."""
    finest = np.ones(window.shape[1])
    for capacity in window.capacities:
        finest = np.maximum(finest, (capacity.typical / units(capacity)) ** 2)
    return finest


def _group_costs(window: Window, worst: FloatArray) -> FloatArray:
    """Return the most that placing each missing task can cost, the moves it forces on its group included."""
    choices = window.allowed.sum(axis=1)
    cost = worst.copy()
    for group in window.groups:
        tight = choices[group] < len(group)
        if tight.any():
            cost[group] = worst[group][tight].sum() + worst[group][~tight].max(initial=0.0)
    return cost


def _shared_costs(window: Window, worst: FloatArray) -> FloatArray:
    """Return the most that placing each missing task can cost where nodes are shared."""
    plain = bool(window.allowed.all()) and all(
        (c.load == 1).all() or _is_slack(int(c.load.sum()), c.room) for c in window.capacities
    )
    return worst if plain else np.full(len(worst), worst.sum())


def _is_slack(total: int, room: IntArray) -> bool:
    """Return whether every node could hold everything."""
    return bool((room >= total).all())
