"""The weights of the constraints in a QUBO, and the bound at which they are safe."""

from dataclasses import dataclass

import numpy as np

from tiger.bounds import rearranged
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.window import Window

MARGIN = 1 + 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Penalties:
    """Hold the weights of the constraints, in units of cost.

    `one_hot[k]` per task, `exclusive` per clash of two tasks of a group on a node, `capacity` per squared unit above a
    node's capacity. `scale` is their size relative to the safe bound.
    """

    one_hot: FloatArray
    exclusive: float
    capacity: float
    scale: float = 1.0

    def scaled(self, scale: float) -> "Penalties":
        """Return the same weights at another size relative to the safe bound."""
        factor = scale / self.scale
        return Penalties(
            one_hot=self.one_hot * factor,
            exclusive=self.exclusive * factor,
            capacity=self.capacity * factor,
            scale=scale,
        )


def fills(window: Window) -> bool:
    """Tell whether one group has as many tasks as there are nodes, all of them allowed: then every node takes one."""
    tasks, nodes = window.shape
    return len(window.groups) == 1 and tasks == nodes and bool(window.allowed.all())


def safe_penalties(window: Window) -> Penalties:
    r"""Return weights at which every ground state is feasible and optimal.

    With :math:`w_{tp}` the most that task t can cost at node p above its cheapest node, a sample is never worse for
    losing a second node or a clash while :math:`B > A`, and never worse for gaining a missing task while :math:`A_t`
    covers what that costs. Where a node is always free for it that is :math:`\max_p w_{tp}` (half of the largest for
    both when a group fills the nodes, as both its row and its column are then missing). Where forbidden pairs or other
    tasks outside leave a task fewer nodes than its group has tasks, others may have to move along: :math:`A_t` then
    covers all tasks of the group that are so restricted and the worst of the others. Where memory or restrictions meet
    capacities, it covers every task.
    """
    allowed = window.allowed
    linear = window.linear - np.where(allowed, window.linear, np.inf).min(axis=1, initial=np.inf)[:, None]
    worst = np.where(allowed, linear + rearranged(window, worst=True), 0.0).max(axis=1)
    one_hot = MARGIN * (_grouped(window, worst) if window.groups else _shared(window, worst))
    least = one_hot.max(initial=0.0) * 1e-3 or 1.0
    one_hot = np.maximum(one_hot, least)
    if fills(window):
        half = float(one_hot.max()) / 2
        return Penalties(one_hot=np.full(len(one_hot), half), exclusive=half, capacity=half)
    top = MARGIN * float(one_hot.max(initial=1.0))
    return Penalties(one_hot=one_hot, exclusive=top, capacity=top)


def _grouped(window: Window, worst: FloatArray) -> FloatArray:
    """Return what placing each missing task can cost, the moves it forces on its group included."""
    choices = window.allowed.sum(axis=1)
    cost = worst.copy()
    for group in window.groups:
        tight = choices[group] < len(group)
        if tight.any():
            cost[group] = worst[group][tight].sum() + worst[group][~tight].max(initial=0.0)
    return cost


def _shared(window: Window, worst: FloatArray) -> FloatArray:
    """Return what placing each missing task can cost where nodes are shared."""
    plain = bool(window.allowed.all()) and all(
        (c.load == 1).all() or _slack(int(c.load.sum()), c.room) for c in window.capacities
    )
    return worst if plain else np.full(len(worst), worst.sum())


def _slack(total: int, room: IntArray) -> bool:
    """Tell whether every node could hold everything."""
    return bool((room >= total).all())
