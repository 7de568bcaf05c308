r"""A window as a QUBO: one bit per task and allowed node, penalties for what a mapping may not do.

With :math:`x_{tp} = 1` for task t on node p, C the linear costs, c the traffic and d the distances,

.. math::
    E = c_0 + \sum_{tp} C_{tp} x_{tp} + \sum_{i<j} \sum_{pq} (c_{ij} d_{pq} + c_{ji} d_{qp})\, x_{ip} x_{jq}
        + \sum_t A_t \Bigl(1 - \sum_p x_{tp}\Bigr)^2 + B \sum_p \sum_{\{i,j\} \subseteq G} x_{ip} x_{jp}
        + M \sum_p \Bigl(\sum_t m_t x_{tp} + s_p - K_p\Bigr)^2

over exclusivity groups G and capacities K with loads m and a slack s. A group that fills all nodes has :math:`B (1 -
\sum_t x_{tp})^2` instead. Pairs of one group on one node get the penalty and no cost. On a feasible mapping with the
slack filled in, E is the cost of the full mapping. What every node costs a task at least is taken from its linear costs
into the constant, as penalties need to outweigh only the rest.
"""

from dataclasses import dataclass

import dimod
import numpy as np

from tiger.model.arrays import BitArray, FloatArray, IntArray
from tiger.model.window import Capacity, Window
from tiger.penalties import Penalties, fills

COUPLER_LIMIT = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Couplers:
    """Hold quadratic terms: variables `row[l]`, `col[l]` and a coefficient `value[l]`."""

    row: IntArray
    col: IntArray
    value: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Budget:
    """Hold a node's capacity as an equality: `weight[v]` of `variable[v]`, task then slack bits, add up to `limit`."""

    variable: IntArray
    weight: FloatArray
    limit: float
    slack: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Qubo:
    """Hold the QUBO of a window before its penalties are chosen.

    `index[k, q]` is the variable of a task on a node, -1 where that is not allowed; variables `0..size-1` are integers,
    slack bits last. `offset`, `linear[size]` and `cost` are the objective, `same_task` and `clash` the pairs that a
    one-hot or an exclusivity penalty applies to (`owner[l]` the task of a pair).
    """

    window: Window
    index: IntArray
    size: int
    linear: FloatArray
    offset: float
    cost: Couplers
    same_task: Couplers
    owner: IntArray
    clash: Couplers
    filled: bool
    budgets: tuple[Budget, ...]

    @property
    def couplers(self) -> int:
        """Return the number of quadratic terms before those on the same pair are added up."""
        pairs = sum(len(budget.variable) * (len(budget.variable) - 1) // 2 for budget in self.budgets)
        return len(self.cost.row) + len(self.same_task.row) + len(self.clash.row) + pairs

    def bqm(self, penalties: Penalties) -> dimod.BinaryQuadraticModel:
        """Return the binary quadratic model at the given penalties; O(couplers)."""
        linear = self.linear.copy()
        task, node = np.nonzero(self.index >= 0)
        linear[self.index[task, node]] -= penalties.one_hot[task]
        offset = self.offset + float(penalties.one_hot.sum())
        same = 2 * penalties.one_hot[self.owner]
        clash = np.full(len(self.clash.row), penalties.exclusive)
        if self.filled:
            linear[self.index[task, node]] -= penalties.exclusive
            offset += penalties.exclusive * self.index.shape[1]
            clash *= 2
        parts = [(self.cost.row, self.cost.col, self.cost.value), (self.same_task.row, self.same_task.col, same)]
        parts.append((self.clash.row, self.clash.col, clash))
        for budget in self.budgets:
            pairs, offset = _squared(budget, penalties.capacity, linear, offset)
            parts.append(pairs)
        row, col, value = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return dimod.BinaryQuadraticModel.from_numpy_vectors(linear, (row, col, value), offset, dimod.BINARY)

    def sample(self, local: IntArray) -> BitArray:
        """Return the bits of local places `local[k]`, each slack filled up to its node's capacity."""
        bits = np.zeros(self.size, np.int8)
        bits[self.index[np.arange(len(local)), local]] = 1
        for budget in self.budgets:
            tasks, slack = np.split(budget.variable, [len(budget.variable) - budget.slack])
            left = budget.limit - float(budget.weight[: len(tasks)] @ bits[tasks])
            for variable, weight in sorted(
                zip(slack, budget.weight[len(tasks) :], strict=True), key=lambda pair: -pair[1]
            ):
                if weight <= left:
                    bits[variable] = 1
                    left -= weight
        return bits


def coupler_count(window: Window) -> int:
    """Return how many couplers the QUBO of a window would have at most, without building it."""
    tasks, nodes = window.shape
    pairs = window.traffic.nnz * nodes * nodes
    clashes = sum(len(group) * (len(group) - 1) // 2 for group in window.groups) * nodes
    slack = sum(int(np.log2(np.maximum(c.room, 1)).sum()) + nodes for c in window.capacities)
    return int(
        pairs + tasks * nodes * (nodes - 1) // 2 + clashes + nodes * (tasks + slack) ** 2 // 2 * bool(window.capacities)
    )


def encode(window: Window) -> Qubo:
    """Encode a window; O(couplers) time and memory, raises ValueError above 5 million couplers (partition instead)."""
    if coupler_count(window) > COUPLER_LIMIT:
        raise ValueError(f"expected at most {COUPLER_LIMIT} couplers, the window needs up to {coupler_count(window)}")
    allowed = window.allowed
    index = np.full(window.shape, -1, np.int64)
    index[allowed] = np.arange(int(allowed.sum()))
    budgets, size = _budgets(window, index, int(allowed.sum()))
    least = np.where(allowed, window.linear, np.inf).min(axis=1, initial=np.inf)
    linear = np.zeros(size)
    linear[index[allowed]] = (window.linear - least[:, None])[allowed]
    same_task, owner = _same_task(index)
    return Qubo(
        window=window,
        index=index,
        size=size,
        linear=linear,
        offset=window.constant + float(least.sum()),
        cost=_cost(window, index),
        same_task=same_task,
        owner=owner,
        clash=_clashes(window, index),
        filled=fills(window),
        budgets=budgets,
    )


def _cost(window: Window, index: IntArray) -> Couplers:
    """Return the traffic terms of every pair of tasks, less those of one group on one node."""
    group_of = np.full(window.shape[0], -1, np.int64)
    for number, group in enumerate(window.groups):
        group_of[group] = number
    edges = window.traffic.tocoo()
    i, j, volume = edges.row.astype(np.int64), edges.col.astype(np.int64), edges.data
    value = volume[:, None, None] * window.distance[None, :, :]
    together = (group_of[i] == group_of[j]) & (group_of[i] >= 0)
    keep = (index[i] >= 0)[:, :, None] & (index[j] >= 0)[:, None, :] & (value != 0)
    keep &= ~(together[:, None, None] & np.eye(window.shape[1], dtype=bool)[None])
    edge, p, q = np.nonzero(keep)
    return Couplers(row=index[i[edge], p], col=index[j[edge], q], value=value[edge, p, q])


def _same_task(index: IntArray) -> tuple[Couplers, IntArray]:
    """Return the pairs of nodes that one task may not both take, and the task of each pair."""
    first, second = np.triu_indices(index.shape[1], 1)
    row, col = index[:, first], index[:, second]
    task, pair = np.nonzero((row >= 0) & (col >= 0))
    return Couplers(row=row[task, pair], col=col[task, pair], value=np.ones(len(task))), task


def _clashes(window: Window, index: IntArray) -> Couplers:
    """Return the pairs of tasks of one group that one node may not both hold."""
    rows, cols = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for group in window.groups:
        first, second = np.triu_indices(len(group), 1)
        row, col = index[group[first]], index[group[second]]
        keep = (row >= 0) & (col >= 0)
        rows.append(row[keep])
        cols.append(col[keep])
    row, col = np.concatenate(rows), np.concatenate(cols)
    return Couplers(row=row, col=col, value=np.ones(len(row)))


def _budgets(window: Window, index: IntArray, size: int) -> tuple[tuple[Budget, ...], int]:
    """Return the capacity equalities of nodes that can overflow, with slack bits numbered from `size` on."""
    budgets = []
    for capacity in window.capacities:
        unit = max(int(np.gcd.reduce(capacity.load)), 1)
        for node in range(window.shape[1]):
            tasks = np.flatnonzero((index[:, node] >= 0) & (capacity.load > 0))
            if capacity.load[tasks].sum() <= capacity.room[node]:
                continue
            coins = _coins(int(capacity.room[node]) // unit)
            slack = np.arange(size, size + len(coins))
            budgets.append(_budget(capacity, tasks, index[tasks, node], slack, coins, unit))
            size += len(coins)
    return tuple(budgets), size


def _budget(
    capacity: Capacity, tasks: IntArray, variables: IntArray, slack: IntArray, coins: list[int], unit: int
) -> Budget:
    """Return one node's equality in units of the greatest common divisor of the loads."""
    return Budget(
        variable=np.concatenate([variables, slack]),
        weight=np.concatenate([capacity.load[tasks] / unit, coins]).astype(np.float64),
        limit=float(sum(coins)),
        slack=len(coins),
    )


def _coins(limit: int) -> list[int]:
    """Return 1, 2, 4, .. and a rest whose sums are exactly 0..limit."""
    coins: list[int] = []
    while limit > 0:
        coins.append(min(1 << len(coins), limit))
        limit -= coins[-1]
    return coins


def _squared(
    budget: Budget, weight: float, linear: FloatArray, offset: float
) -> tuple[tuple[IntArray, IntArray, FloatArray], float]:
    """Add M (sum w x - K)^2 to `linear` (in place); return its couplers and the new offset."""
    a, v = budget.weight, budget.variable
    np.add.at(linear, v, weight * (a * a - 2 * budget.limit * a))
    first, second = np.triu_indices(len(v), 1)
    pairs = (v[first], v[second], 2 * weight * a[first] * a[second])
    return pairs, offset + weight * budget.limit**2
