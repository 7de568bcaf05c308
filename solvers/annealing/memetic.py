"""Memetic annealing: restarts from random mappings, or from half way between two of a pool of elites.

Source: population-based search after U. Benlic and J.-K. Hao, doi:10.1016/j.eswa.2014.08.011.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.seams import Stop
from tiger.solvers.annealing.cluster_trees import TreeParams, map_trees
from tiger.solvers.annealing.cooling import Elite, anneal_once, change_sizes, descend
from tiger.solvers.annealing.node_blocks import BlockMoves, BlockParams
from tiger.solvers.annealing.quadratic import Quadratic
from tiger.solvers.annealing.tabu import Tabu, TabuParams, is_random

# The largest work that leaves room for sums below 2**63.
MOST_WORK = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class MemeticParams:
    """Set the pool and the restarts.

    The pool holds `elites` mappings that differ in more than a share `distinct` of the entries. A share `crossed` of
    the restarts begins half way between two of them, the others at random. One does `work` units, nanoseconds or so,
    times m^2 at effort 1 (times m / `few_nodes` below that), e^`length` as much at effort e; effort 1 is one
    of them, or as many as do `least_work` units, at most `most_restarts`.

    Temperatures are relative to the quantiles of the sizes of cost changes at a local optimum. From random mappings
    they fall from `hot` times the square of the 90 % quantile over the median to `cold` times the 5 % quantile (and
    (`cold_nodes` / m)^1.5 below that number); from others from a random point of the upper share `reheat` of the way,
    on a log scale, from there up to `warm` times the median.

    A share `moved` of the work goes into moves of blocks of the cheapest mapping where these apply, until the part
    `patience` of that work has gained nothing. Those of `blocks` are followed by `brief` units times m^2 of annealing.
    """

    elites: int = 12
    distinct: float = 0.05
    crossed: float = 0.5
    work: int = 3000
    few_nodes: int = 30
    least_work: int = 3_000_000
    most_restarts: int = 16
    length: float = 0.65
    hot: float = 0.04
    warm: float = 0.1
    cold: float = 0.08
    cold_nodes: int = 60
    reheat: float = 0.6
    moved: float = 0.5
    patience: float = 0.25
    brief: int = 120
    blocks: BlockParams = field(default_factory=BlockParams)
    trees: TreeParams = field(default_factory=TreeParams)
    tabu: TabuParams = field(default_factory=TabuParams)

    def restarts_at(self, effort: int, nodes: int) -> tuple[int, int]:
        """Return the work of a restart, at most 2**60, and how many there are."""
        few = self.few_nodes
        unit = max(self.work * nodes**2 * min(nodes, few) // few, self.least_work // self.most_restarts)
        total = max(unit, self.least_work) * effort
        restarts = math.ceil(max(self.least_work / unit, 1.0) * math.pow(effort, 1.0 - self.length))
        return min(-(-total // restarts), MOST_WORK), restarts


class Temperatures(NamedTuple):
    """Hold the first temperature from a random mapping, the highest from elites, and the last of both."""

    hot: float
    warm: float
    cold: float


class MappingPool:
    """Hold the cheapest mappings that differ enough, the cheapest first."""

    def __init__(self, most: int, distinct: float) -> None:
        self._most, self._distinct = most, distinct
        self.elites: list[Elite] = []

    def offer(self, new: Elite) -> None:
        """Take a mapping in, unless one close to it is as cheap or all are cheaper; it replaces those close by."""
        bound = self._distinct * len(new.order)
        close = [elite for elite in self.elites if (elite.order != new.order).sum() <= bound]
        if any(elite.cost <= new.cost for elite in close):
            return
        far = [elite for elite in self.elites if not any(elite is near for near in close)]
        self.elites = sorted([*far, new], key=lambda elite: elite.cost)[: self._most]


def evolve(
    model: Quadratic, known: list[IntArray], effort_and_seed: tuple[int, int], params: MemeticParams, stop: Stop
) -> list[Elite]:
    """Return elites of the `known` orders and those found with an effort and a seed, the cheapest first.

    They are annealed, or searched by tabu search where that is made for them. O(effort m^2) time, at least 3 million
    units of work.
    """
    effort, seed = effort_and_seed
    rng, pool = np.random.default_rng(seed), MappingPool(params.elites, params.distinct)
    for order in known:
        pool.offer(Elite(model.cost(order), order))
    work, restarts = params.restarts_at(effort, len(known[0]))
    if is_random(model, params.tabu):
        _iterate_tabu(model, pool, (params.tabu, work * restarts), rng, stop)
        return pool.elites
    temperatures = _estimate_temperatures(model, pool, params, rng, stop)
    if temperatures is None:
        return pool.elites
    moves = BlockMoves(model, params.blocks)
    if moves.apply:
        for order in map_trees(model.fields, moves.differences, params.trees, rng, stop):
            pool.offer(descend(model, order, rng, stop))
    share = params.moved if moves.apply else 0.0
    single = max(round((1.0 - share) * work), 1)
    for order, hot in _starts(model, pool, (temperatures, restarts), params, rng):
        if stop():
            break
        pool.offer(anneal_once(model, order, (hot, temperatures.cold, single), rng, stop))
    left = restarts * (work - single)
    if moves.apply:
        left = _move_blocks(model, pool, moves, (temperatures, params, left), rng, stop)
    for order, hot in _starts(model, pool, (temperatures, 1 if left > 0 else 0), params, rng):
        pool.offer(anneal_once(model, order, (hot, temperatures.cold, left), rng, stop))
    return pool.elites


def _move_blocks(
    model: Quadratic,
    pool: MappingPool,
    moves: BlockMoves,
    plan: tuple[Temperatures, MemeticParams, int],
    rng: np.random.Generator,
    stop: Stop,
) -> int:
    """Move blocks of the cheapest mapping by temperatures, parameters and the work there is.

    Return the work that is left where nothing was gained for a while.
    """
    temperatures, params, left = plan
    best, patience = pool.elites[0], round(params.patience * left)
    until = left - patience
    while left > max(until, 0) and not stop():
        found, work = _move_and_anneal(model, best, moves, (temperatures, params), rng, stop)
        left -= work
        until = left - patience if found.cost < best.cost else until
        best = found if found.cost <= best.cost else best
    pool.offer(best)
    return max(left, 0)


def _move_and_anneal(
    model: Quadratic,
    best: Elite,
    moves: BlockMoves,
    plan: tuple[Temperatures, MemeticParams],
    rng: np.random.Generator,
    stop: Stop,
) -> tuple[Elite, int]:
    """Return a mapping with blocks moved and annealed by temperatures and parameters, and the work."""
    temperatures, params = plan
    order, work = moves.move(best.order, rng, stop)
    if (order == best.order).all():
        return best, work
    hot = temperatures.cold * (temperatures.warm / temperatures.cold) ** (1.0 - params.reheat * rng.random())
    brief = params.brief * len(order) ** 2
    return anneal_once(model, order, (hot, temperatures.cold, brief), rng, stop), work + brief


def _iterate_tabu(
    model: Quadratic, pool: MappingPool, plan: tuple[TabuParams, int], rng: np.random.Generator, stop: Stop
) -> None:
    """Offer the ends of tabu searches, by parameters and work, each from the end of the last one shuffled in part.

    Over ten seeds of as many iterations as a second has, on tai40a to tai100a, that with a share of 0.2 shuffled
    ends 0.55 % above the best known cost; beginning at the cheapest one, with 0.3, ends 0.58 % above it, and lower on
    tai40a alone. The standard error of each is 0.013 %.
    """
    params, work = plan
    search, found = Tabu(model.fields, params), descend(model, pool.elites[0].order, rng, stop)
    pool.offer(found)
    left = max(work // search.work, 1)
    while left > 0 and not stop():
        iterations = min(params.iterations, left)
        start = model.shake(found.order, params.moved, rng)
        found = descend(model, search.search(start, iterations, int(rng.integers(1 << 31)), stop), rng, stop)
        pool.offer(found)
        left -= iterations


def _estimate_temperatures(
    model: Quadratic, pool: MappingPool, params: MemeticParams, rng: np.random.Generator, stop: Stop
) -> Temperatures | None:
    """Descend from a random mapping, offer the end, and return temperatures; None where no swap changes the cost."""
    optimum = descend(model, model.shuffle(pool.elites[0].order, rng), rng, stop)
    pool.offer(optimum)
    sizes = change_sizes(model, optimum.order)
    if not sizes.size:
        pool.offer(descend(model, pool.elites[0].order, rng, stop))
        return None
    # Quantiles of one local optimum stand for all: below the 5 % one hardly any swap is accepted any more.
    low, median, high = np.quantile(sizes, (0.05, 0.5, 0.9)).tolist()
    cold = params.cold * low * max(params.cold_nodes / len(optimum.order), 1.0) ** 1.5
    hot = max(params.hot * high**2 / median, 2.0 * cold)
    return Temperatures(hot, max(min(params.warm * median, hot), cold), cold)


def _starts(
    model: Quadratic, pool: MappingPool, plan: tuple[Temperatures, int], params: MemeticParams, rng: np.random.Generator
) -> Iterator[tuple[IntArray, float]]:
    """Yield the order and the first temperature of each restart, from the pool as it is by then."""
    temperatures, restarts = plan
    for _ in range(restarts):
        elites = pool.elites
        if len(elites) > 2 and rng.random() < params.crossed:
            # Crossover of two elites; a lower first temperature keeps more of what they share.
            one, other = rng.choice(len(elites), 2, replace=False).tolist()
            share = 1.0 - params.reheat * rng.random()
            start = model.cross(elites[one].order, elites[other].order, rng)
            yield start, temperatures.cold * (temperatures.warm / temperatures.cold) ** share
        else:
            yield model.shuffle(elites[0].order, rng), temperatures.hot
