"""A one-to-one problem as matrices of a quadratic assignment, and mappings of it as permutations."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.window import Block, Window, fold
from tiger.solvers.annealing.fields import Fields
from tiger.solvers.annealing.price_lanes import LANES
from tiger.solvers.instance import uniform

# Free nodes up to which matrices pay off, and up to which they may exceed the tasks more than SPARE_SHARE times.
MOST_NODES, SPARE_NODES, SPARE_SHARE = 256, 64, 2
# The same where more than one in so many pairs of tasks exchange traffic, for which no other search is made.
MOST_DENSE, DENSITY = 768, 8
# Smallest gain that counts, in units near the largest single cost.
TOLERANCE = 1e-10
# The lowest temperature at which single precision proposes swaps, in rounding errors of the largest field that may be.
FINEST = 16.0


def applies(problem: Problem) -> bool:
    """Return whether the dense search is made for a problem: all tasks exclude each other, and matrices pay off.

    That is up to 256 free nodes, at most twice as many as free tasks or 64, and hardware in one part.
    """
    tasks = len(problem.free)
    nodes = len(problem.topology.hosts) - (problem.tasks.size - tasks)
    most = MOST_DENSE if problem.tasks.traffic.nnz * DENSITY > tasks * tasks else MOST_NODES
    return (
        len(problem.groups) == 1
        and tasks > 0
        and 1 < nodes <= min(max(SPARE_SHARE * tasks, SPARE_NODES), most)
        and problem.metric is problem.topology.metric
    )


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """Hold the matrices of a problem whose tasks all exclude each other, with m nodes free.

    A mapping is an order[m] of the nodes: the first k entries are where the window's tasks lie, the rest is idle.
    `fields` are in a `unit` of cost near the largest single one; `tolerance` is the smallest gain in it that counts,
    and `finest` the lowest temperature above 0 at which single precision is enough to propose swaps.
    """

    window: Window
    start: IntArray
    fields: Fields
    unit: float
    tolerance: float
    finest: float

    def order(self, places: IntArray) -> IntArray | None:
        """Return the order of a mapping `places[n]`, None for one that is not allowed."""
        local, nodes = self.window.local(places), self.window.shape[1]
        used = np.bincount(local[local >= 0], minlength=nodes)
        if (local < 0).any() or (used > 1).any() or not self.window.allowed[np.arange(len(local)), local].all():
            return None
        return np.concatenate([local, np.flatnonzero(used == 0)])

    def places(self, order: IntArray) -> IntArray:
        """Return the full mapping of an order."""
        return self.window.place(self.start, order[: self.window.shape[0]])

    def cost(self, order: IntArray) -> float:
        """Return the cost of the full mapping; O(edges)."""
        return self.window.cost(order[: self.window.shape[0]])

    def shuffle(self, order: IntArray, rng: np.random.Generator) -> IntArray:
        """Return a random order, by random legal swaps where pairs are forbidden."""
        if self.window.allowed.all():
            return rng.permutation(len(order))
        mixed = order.copy()
        for u, v in rng.integers(len(order), size=(4 * len(order), 2)).tolist():
            self._exchange(mixed, u, v)
        return mixed

    def shake(self, order: IntArray, share: float, rng: np.random.Generator) -> IntArray:
        """Return an order of which a share of the entries is moved round by legal swaps."""
        mixed = order.copy()
        chosen = rng.permutation(len(order))[: max(round(share * len(order)), 2)].tolist()
        for u, v in pairwise(chosen):
            self._exchange(mixed, u, v)
        return mixed

    def cross(self, one: IntArray, other: IntArray, rng: np.random.Generator) -> IntArray:
        """Return a random order half way from one to another by legal swaps; what they share stays.

        Source: path crossover, R. K. Ahuja, J. B. Orlin, A. Tiwari, doi:10.1016/S0305-0548(99)00067-2.
        """
        mixed = one.copy()
        task = np.argsort(mixed)
        # Each swap puts one more task where the other mapping has it; half of the tasks that differ are moved.
        differ = rng.permutation(np.flatnonzero(one != other))
        for u in differ[: len(differ) // 2].tolist():
            v = int(task[other[u]])
            if u != v and self._exchange(mixed, u, v):
                task[mixed[u]], task[mixed[v]] = u, v
        return mixed

    def _exchange(self, order: IntArray, u: int, v: int) -> bool:
        """Swap two entries where that is allowed, and return whether it is."""
        bias = self.fields.bias
        legal = math.isfinite(bias[u, order[v]]) and math.isfinite(bias[v, order[u]])
        if legal:
            order[u], order[v] = order[v], order[u]
        return legal


def quadratic(problem: Problem, start: IntArray) -> Quadratic:
    """Return the matrices of a problem around the feasible `start[n]`, from which pinned tasks are read; O(m^2)."""
    pinned = np.flatnonzero(problem.pins >= 0)
    nodes = np.setdiff1d(problem.topology.hosts, start[pinned])
    window = fold(problem, Block(tasks=problem.free, nodes=nodes), start)
    tasks, size = window.shape
    flow, distance, bias = np.zeros((size, size)), window.distance.copy(), np.zeros((size, size))
    flow[:tasks, :tasks] = window.traffic.toarray()
    np.fill_diagonal(distance, 0.0)
    bias[:tasks] = window.linear
    (flow, distance, bias), unit = _scale(flow, distance, bias)
    flows, distances = _pair_matrices(flow, distance)
    fields = fields_of(tasks, flows, distances, bias)
    widest = float(bias.max(where=np.isfinite(bias), initial=0.0))
    rounding = float(np.finfo(np.float32).eps) * (size * float(flows[0].max() * distances[0].max()) + widest)
    return Quadratic(window, start, fields, unit, TOLERANCE, FINEST * rounding)


def fields_of(tasks: int, flows: FloatArray, distances: FloatArray, bias: FloatArray) -> Fields:
    """Return fields of which the first `tasks` are no idle ones, to be laid out for a mapping; O(m^2)."""
    size = len(bias)
    padded = -(-size // LANES) * LANES
    return Fields(
        tasks=tasks,
        flow=uniform(flows),
        distances=uniform(distances),
        bias=uniform(bias),
        place=np.arange(size),
        apart=np.zeros_like(flows),
        field=np.zeros((size, padded), np.float32),
        own=np.zeros(size, np.float32),
        step=np.zeros(padded, np.float32),
        volume=np.zeros(size, np.float32),
        change=np.zeros(size, np.float32),
    )


def _scale(
    flow: FloatArray, distance: FloatArray, bias: FloatArray
) -> tuple[tuple[FloatArray, FloatArray, FloatArray], float]:
    """Return the matrices divided by powers of two, which is exact, so that no single cost exceeds 1, and that unit."""
    far = math.frexp(float(distance.max()))[1]
    spread = bias - np.min(bias, axis=1, keepdims=True)
    widest = float(spread.max(initial=0.0, where=np.isfinite(spread)))
    largest = [math.frexp(widest)[1]] if widest > 0.0 else []
    if flow.any() and distance.any():
        largest.append(math.frexp(float(flow.max()))[1] + far)
    unit = max(largest, default=0)
    return (np.ldexp(flow, far - unit), np.ldexp(distance, -far), np.ldexp(spread, -unit)), math.ldexp(1.0, unit)


def _pair_matrices(flow: FloatArray, distance: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return flows[c, m, m] and distances[c, m, m] for the sum of whose products each pair is counted twice.

    By symmetric and antisymmetric parts :math:`\sum f d = \sum f^s d^s + \sum f^a d^a`, both sums over all pairs; the
    second is 0 where one of the matrices is symmetric.
    """
    flows, distances = [flow + flow.T], [(distance + distance.T) / 2]
    if (flow != flow.T).any() and (distance != distance.T).any():
        flows.append(flow - flow.T)
        distances.append((distance - distance.T) / 2)
    return np.stack(flows), np.stack(distances)
