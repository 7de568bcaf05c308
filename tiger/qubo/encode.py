r"""A window as a QUBO: one bit per task and allowed node, penalties for what a mapping may not do.

With :math:`x_{tp} = 1` for task t on node p, C the linear costs, c the traffic and d the distances,

.. math::
    E = c_0 + \sum_{tp} C_{tp} x_{tp} + \sum_{i<j} \sum_{pq} (c_{ij} d_{pq} + c_{ji} d_{qp})\, x_{ip} x_{jq}
        + \sum_t A_t \Bigl(1 - \sum_p x_{tp}\Bigr)^2 + \sum_p B_p \sum_{\{i,j\} \subseteq G} x_{ip} x_{jp}
        + \sum_p M_p \Bigl(\sum_t m_t x_{tp} + s_p - K_p\Bigr)^2

over exclusivity groups G and capacities K with loads m and a slack s. A group that fills all nodes has :math:`B_p (1 -
\sum_t x_{tp})^2` instead. Pairs of one group on one node get the penalty and no cost. On a feasible mapping with the
slack filled in, E is the cost of the full mapping. What every node costs a task at least is taken from its linear costs
into the constant, as penalties need to outweigh only the rest.

Centred, each distance is split into :math:`d_{pq} = g + r_p + s_q + e_{pq}`, with e as small as can be, and as every
task has one node the first three become constant and linear: the same energy for every mapping, but couplers that a far
smaller penalty holds in check. That is the model for tuned penalties, which are below any proven bound.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple

import dimod
import numpy as np

from tiger.model.arrays import BitArray, FloatArray, IntArray, entries_of
from tiger.model.window import Capacity, Window
from tiger.qubo.centring import centre
from tiger.qubo.params import CapacityEncoding
from tiger.qubo.penalties import STEPS, Penalties, fills, units

# 70 tasks that all exchange traffic; dimod takes 75 bytes a coupler, 370 MB in all.
COUPLER_LIMIT = 5_000_000
# A dense matrix of this many variables takes 128 MB.
DENSE_SIZE = 4096


class QuadraticTerms(NamedTuple):
    """Hold quadratic terms: variables `row[l]` < `col[l]`, no pair twice, and a coefficient `value[l]`."""

    row: IntArray
    col: IntArray
    value: FloatArray


class QuboTerms(NamedTuple):
    """Hold the biases of a model: `linear[v]`, the offset, and couplers in parts, which are made as they are read.

    A pair of variables may be in several parts, whose coefficients add up.
    """

    linear: FloatArray
    offset: float
    parts: Iterator[QuadraticTerms]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CapacityEquation:
    """Hold a node's capacity as an equality: `weight[v]` of `variable[v]`, task then slack bits, add up to `limit`."""

    node: int
    variable: IntArray
    weight: FloatArray
    limit: float
    slack: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Qubo:
    """Hold the bits of a window's QUBO; penalties complete it.

    `index[k, q]` is the variable of a task on a node, -1 where that is not allowed; variables `0..size-1` are integers,
    slack bits last.
    """

    window: Window
    index: IntArray
    size: int
    budgets: tuple[CapacityEquation, ...]

    def bqm(self, penalties: Penalties) -> dimod.BinaryQuadraticModel:
        """Return the binary quadratic model at the given penalties; O(couplers)."""
        made = self.expand(penalties)
        none = QuadraticTerms(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        terms = QuadraticTerms(*map(np.concatenate, zip(none, *made.parts, strict=True)))
        return _model(made.linear, terms, made.offset)

    def expand(self, penalties: Penalties, most: int | None = None) -> QuboTerms:
        """Return the biases at the given penalties, the couplers in parts of about `most`, a few without it."""
        window, allowed = self.window, self.index >= 0
        split = centre(window) if penalties.centred else None
        costs = window.linear if split is None else split.linear
        least = np.where(allowed, costs, np.inf).min(axis=1, initial=np.inf)
        filled = penalties.exclusive if fills(window) else np.zeros(window.shape[1])
        biases = costs - (least + penalties.one_hot)[:, None] - filled
        offset = (window.constant if split is None else split.constant) + float(least.sum() + filled.sum())
        linear = np.zeros(self.size)
        linear[self.index[allowed]] = biases[allowed]
        for budget in self.budgets:
            weight, a = float(penalties.capacity[budget.node]), budget.weight
            np.add.at(linear, budget.variable, weight * (a * a - 2 * budget.limit * a))
            offset += weight * budget.limit**2
        parts = chain(
            _traffic(window, self.index, (window.distance, window.distance) if split is None else split.rest, most),
            _same_task(self.index, 2 * penalties.one_hot, most),
            _clashes(window, self.index, penalties.exclusive * (2 if fills(window) else 1), most),
            (_square(budget, float(penalties.capacity[budget.node])) for budget in self.budgets),
        )
        return QuboTerms(linear, offset + float(penalties.one_hot.sum()), parts)

    def sample(self, local: IntArray) -> BitArray:
        """Return the bits of local places `local[k]`, each slack filled up to its node's capacity."""
        bits = np.zeros(self.size, np.int8)
        bits[self.index[np.arange(len(local)), local]] = 1
        for budget in self.budgets:
            tasks, slack = np.split(budget.variable, [len(budget.variable) - budget.slack])
            unit = budget.weight[len(tasks)] if budget.slack else 1.0
            left = round((budget.limit - float(budget.weight[: len(tasks)] @ bits[tasks])) / unit)
            coins = np.round(budget.weight[len(tasks) :] / unit).astype(np.int64)
            for variable, coin in sorted(zip(slack, coins, strict=True), key=lambda pair: -pair[1]):
                if coin <= left:
                    bits[variable] = 1
                    left -= coin
        return bits


def coupler_count(window: Window) -> int:
    """Return how many couplers the QUBO of a window would have at most, without building it."""
    tasks, nodes = window.shape
    pairs = window.traffic.nnz * nodes * nodes
    clashes = sum(len(group) * (len(group) - 1) // 2 for group in window.groups) * nodes
    slack = ((STEPS * max(tasks, 1)).bit_length() + 1) * len(window.capacities)
    return int(
        pairs + tasks * nodes * (nodes - 1) // 2 + clashes + nodes * (tasks + slack) ** 2 // 2 * bool(window.capacities)
    )


def encode(window: Window, capacity: CapacityEncoding = "slack", limit: int | None = None) -> Qubo:
    """Encode a window; O(variables), raises ValueError above 5 million couplers or another limit (partition instead).

    With "slack", a node that can overflow has slack bits for each free unit, the greatest common divisor of the loads;
    above 32 units they are coarsened, loads rounded down and room up, so that every mapping which fits keeps its exact
    energy, and one that overflows by less than the rounding is left to repair. "slack-free" has none: it draws the
    loads to their mean by a squared penalty, which adds to the energy, and leaves the rest to repair.
    """
    most = COUPLER_LIMIT if limit is None else limit
    if coupler_count(window) > most:
        raise ValueError(f"expected at most {most} couplers, the window needs up to {coupler_count(window)}")
    allowed = window.allowed
    index = np.full(window.shape, -1, np.int64)
    index[allowed] = np.arange(int(allowed.sum()))
    size, budgets = int(allowed.sum()), []
    for sums in window.capacities:
        for node in np.flatnonzero(sums.load @ allowed > sums.room).tolist():
            make = partial(_slack, size=size) if capacity == "slack" else _balance
            budgets.append(make(sums, index, node))
            size += budgets[-1].slack
    return Qubo(window=window, index=index, size=size, budgets=tuple(budgets))


def _traffic(
    window: Window, index: IntArray, distances: tuple[FloatArray, FloatArray], most: int | None
) -> Iterator[QuadraticTerms]:
    """Yield the terms of tasks that exchange traffic, by distances within one group and between groups.

    Two tasks of one group on one node have none.
    """
    tasks, nodes = window.shape
    edges = entries_of(window.traffic)
    low, high = np.minimum(edges.row, edges.col), np.maximum(edges.row, edges.col)
    key, pair = np.unique(low * np.int64(tasks) + high, return_inverse=True)
    volume = [np.bincount(pair, edges.data * side, len(key)) for side in (edges.row == low, edges.row != low)]
    first, second = np.divmod(key, tasks)
    together = (window.group_of[first] == window.group_of[second]) & (window.group_of[first] >= 0)
    for same, distance in zip((True, False), distances, strict=True):
        of = np.flatnonzero(together == same)
        for part in _slices(len(of), nodes * nodes, most):
            i, j, (out, back) = first[of[part]], second[of[part]], [v[of[part]] for v in volume]
            value = out[:, None, None] * distance + back[:, None, None] * distance.T
            keep = (index[i] >= 0)[:, :, None] & (index[j] >= 0)[:, None, :] & (value != 0)
            if same:
                keep &= ~np.eye(nodes, dtype=bool)
            row, col = (
                np.broadcast_to(index[i][:, :, None], keep.shape),
                np.broadcast_to(index[j][:, None, :], keep.shape),
            )
            yield QuadraticTerms(row[keep], col[keep], value[keep])


def _same_task(index: IntArray, weight: FloatArray, most: int | None) -> Iterator[QuadraticTerms]:
    """Yield the terms of nodes that one task may not both take, by weight[k]."""
    first, second = np.triu_indices(index.shape[1], 1)
    for part in _slices(len(index), len(first), most):
        row, col = index[part][:, first], index[part][:, second]
        keep = (row >= 0) & (col >= 0)
        yield QuadraticTerms(row[keep], col[keep], np.broadcast_to(weight[part][:, None], keep.shape)[keep])


def _clashes(window: Window, index: IntArray, weight: FloatArray, most: int | None) -> Iterator[QuadraticTerms]:
    """Yield the terms of tasks of one group that one node may not both hold, by weight[q]."""
    for group in window.groups:
        first, second = np.triu_indices(len(group), 1)
        for part in _slices(len(first), index.shape[1], most):
            row, col = index[group[first[part]]], index[group[second[part]]]
            keep = (row >= 0) & (col >= 0)
            yield QuadraticTerms(row[keep], col[keep], np.broadcast_to(weight, keep.shape)[keep])


def _slices(count: int, each: int, most: int | None) -> Iterator[slice]:
    """Yield slices of a number of things, which come to about `most` couplers at so many each; one without a limit."""
    step = count if most is None else max(most // max(each, 1), 1)
    yield from (slice(begin, begin + step) for begin in range(0, count, max(step, 1)))


def _slack(capacity: Capacity, index: IntArray, node: int, *, size: int) -> CapacityEquation:
    """Return a node's capacity with slack bits from variable `size` on; weights are in typical loads."""
    tasks = np.flatnonzero((index[:, node] >= 0) & (capacity.load > 0))
    unit = int(units(capacity)[node])
    coarse = bool((capacity.load[tasks] % unit).any())
    scale = unit / float(capacity.typical[node])
    coins = _coins((int(capacity.room[node]) + (unit - 1 if coarse else 0)) // unit)
    weight = np.concatenate([capacity.load[tasks] // unit, np.array(coins, np.int64)]) * scale
    variable = np.concatenate([index[tasks, node], np.arange(size, size + len(coins))])
    limit = sum(coins) * scale
    return CapacityEquation(node=node, variable=variable, weight=weight, limit=limit, slack=len(coins))


def _balance(capacity: Capacity, index: IntArray, node: int) -> CapacityEquation:
    """Return a node's share of all loads, by its room, as what it is to hold; no slack, weights in typical loads."""
    tasks = np.flatnonzero((index[:, node] >= 0) & (capacity.load > 0))
    share = float(capacity.load.sum()) * float(capacity.room[node]) / float(capacity.room.sum())
    typical = float(capacity.typical[node])
    return CapacityEquation(
        node=node,
        variable=index[tasks, node],
        weight=capacity.load[tasks] / typical,
        limit=share / typical,
        slack=0,
    )


def _coins(limit: int) -> list[int]:
    """Return 1, 2, 4, .. and a rest whose sums are exactly 0..limit."""
    coins: list[int] = []
    while limit > 0:
        coins.append(min(1 << len(coins), limit))
        limit -= coins[-1]
    return coins


def _square(budget: CapacityEquation, weight: float) -> QuadraticTerms:
    """Return the quadratic terms of M (sum w x - K)^2."""
    a, v = budget.weight, budget.variable
    first, second = np.triu_indices(len(v), 1)
    return QuadraticTerms(v[first], v[second], 2 * weight * a[first] * a[second])


def _model(linear: FloatArray, terms: QuadraticTerms, offset: float) -> dimod.BinaryQuadraticModel:
    """Return the model; through a dense matrix where that is not mostly empty, as dimod is much faster so."""
    size = len(linear)
    dense = size <= DENSE_SIZE and size * size <= 32 * len(terms.row)
    pairs = QuadraticTerms(terms.row[:0], terms.col[:0], terms.value[:0]) if dense else terms
    model = dimod.BinaryQuadraticModel.from_numpy_vectors(linear, pairs, offset, dimod.BINARY)
    if dense:
        matrix = np.bincount(terms.row * size + terms.col, terms.value, size * size)
        model.add_quadratic_from_dense(matrix.reshape(size, size))
    return model
