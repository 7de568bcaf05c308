"""Iterated tabu search of one-to-one problems whose flows and distances follow no pattern.

Source: A. Misevicius, doi:10.1007/s00291-011-0274-z.
"""

import math
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seams import Stop
from tiger.solvers.annealing import tabu_kernels as kernels
from tiger.solvers.annealing.fields import Fields
from tiger.solvers.annealing.price_lanes import LANES
from tiger.solvers.annealing.quadratic import Quadratic
from tiger.solvers.annealing.tabu_kernels import TabuState

# What an iteration takes in nanoseconds or so, for m nodes: an eighth of m^2, and so much times m. For tai20a to
# tai100a it takes 0.6 to 0.9 of that on a machine where annealing takes 0.74 to 1.1 ns a unit.
ROW = 24
# Iterations in a call that can't be stopped, as nanoseconds or so.
SLICE = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TabuParams:
    """Set the iterated tabu search: `iterations` in each round, from a mapping of which a share `moved` is shuffled.

    Tenures are between the shares `tenure` of the nodes, or of `few_nodes` where there are fewer. From `nodes` on, a
    matrix is random where no value is that of more than a share `common` of its entries, and the largest singular value
    of the centred ones, by `steps` steps of power iteration, is at most `edge` times that of a random matrix, 2 m^(1/2)
    standard deviations. What tasks cost on nodes by themselves varies at most `linear` times as much as what they cost
    with the others.

    Shorter tenures let a search of few tasks walk in circles: of uniform matrices with 20, 30 and 40 tasks it ended
    0.05, 0.13 and 0.30 % above the best known mapping, and ends 0, 0.07 and 0.20 % above it. With 50 tasks, longer ones
    gain nothing (five seeds or more on two or three problems each, 0.4 of the iterations of a second).
    """

    iterations: int = 5000
    moved: float = 0.2
    tenure: tuple[float, float] = (0.1, 0.4)
    few_nodes: int = 45
    nodes: int = 20
    common: float = 0.5
    edge: float = 1.2
    steps: int = 30
    linear: float = 10.0


def is_random(model: Quadratic, params: TabuParams) -> bool:
    """Return whether tasks fill the nodes, and neither flows nor distances follow a pattern; O(m^2).

    Which method finds most depends on that: robust tabu search is the best on random matrices, and not on others
    (E. D. Taillard, doi:10.1016/0966-8349(95)00008-6).
    """
    fields = model.fields
    full = fields.tasks == len(fields.place) >= max(params.nodes, 3)
    if not full or not all(_is_random(matrix, params) for matrix in (fields.flow[0], fields.distances[0])):
        return False
    # Where costs of tasks by themselves differ much more, they decide alone, and annealing finds their best mapping.
    others = ~np.eye(fields.tasks, dtype=bool)
    between = math.sqrt(fields.tasks) * fields.flow[0, others].std() * fields.distances[0, others].std()
    alone = fields.bias.std(axis=1, where=np.isfinite(fields.bias)).mean()
    return bool(alone <= params.linear * between)


def _is_random(matrix: FloatArray, params: TabuParams) -> bool:
    """Return whether the entries of a symmetric matrix beside the diagonal look as if drawn independently."""
    size, others = len(matrix), ~np.eye(len(matrix), dtype=bool)
    entries = matrix[others]
    # Where most entries are equal, 0 or not, few decide on the cost: it is that of a sparse matrix and a constant.
    if np.unique(entries, return_counts=True)[1].max() > params.common * len(entries):
        return False
    centred = np.where(others, matrix - entries.mean(), 0.0)
    vector, largest = np.random.default_rng(0).standard_normal(size), 0.0
    for _ in range(params.steps):
        vector = centred @ (vector / np.linalg.norm(vector))
        largest = float(np.linalg.norm(vector))
        if largest == 0.0:
            return False
    return largest <= params.edge * 2.0 * math.sqrt(size) * float(entries.std())


class Tabu:
    """Hold the arrays of a tabu search, to begin it from many mappings."""

    def __init__(self, fields: Fields, params: TabuParams) -> None:
        self._state = tabu_state(fields, params)
        size = len(fields.place)
        self.work = size * size // 8 + ROW * size

    def search(self, order: IntArray, iterations: int, seed: int, stop: Stop) -> IntArray:
        """Return the cheapest order seen in a number of iterations from one."""
        state = self._state
        state.place[:], state.clock[1] = order, seed
        kernels.begin(state)
        chunk = max(SLICE // self.work, 1)
        for done in range(0, iterations, chunk):
            if stop() or not kernels.search_tabu(state, min(chunk, iterations - done)):
                break
        return state.lowest.copy()


def tabu_state(fields: Fields, params: TabuParams) -> TabuState:
    """Return the state before a tabu search of the mappings of a problem."""
    size, pairs = len(fields.place), len(fields.flow)
    padded = -(-size // LANES) * LANES
    shortest, longest = (max(round(share * max(size, params.few_nodes)), 1) for share in params.tenure)
    # What all flows or all distances have in common costs the same on every mapping, and single precision would keep
    # little else of them.
    flow, distances = _subtract_least(fields.flow), _subtract_least(fields.distances)
    widest = float(fields.bias.max(where=np.isfinite(fields.bias), initial=0.0))
    # A rounding error of the largest sum that a field may be.
    rounding = float(np.finfo(np.float32).eps) * (size * float(flow.max() * distances.max()) + widest)

    def single(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        """Return zeros of single precision."""
        return np.zeros(shape, np.float32)

    return TabuState(
        shortest=shortest,
        spread=longest - shortest + 1,
        flow=flow.astype(np.float32),
        distances=distances.astype(np.float32),
        bias=fields.bias.astype(np.float32),
        place=np.arange(size),
        field=single(size, padded),
        own=single(size),
        price=single(size, padded),
        until=np.zeros((size, size), np.int32),
        barred=np.zeros((size, padded), np.int32),
        cost=np.array([0.0, 0.0, rounding]),
        lowest=np.arange(size),
        clock=np.zeros(2, np.int64),
        moved=single(pairs, padded),
        turned=single(pairs, padded),
        kept=np.ones(size, np.float32),
        pair=np.full(2, -1),
        fresh=single(2, padded),
        least=single(padded),
        free=single(padded),
    )


def _subtract_least(matrices: FloatArray) -> FloatArray:
    """Return symmetric and antisymmetric matrices[c, m, m], the first less its smallest entry beside the diagonal."""
    others, rest = ~np.eye(matrices.shape[1], dtype=bool), matrices.copy()
    rest[0, others] -= rest[0, others].min()
    return rest
