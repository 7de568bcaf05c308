"""Annealing from a pool of elite mappings: lanes start from chance or half way between two elites."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seams import Stop
from tiger.solvers.annealing import fields as kernels
from tiger.solvers.annealing.fields import DRAWS, Cooling, Lane
from tiger.solvers.annealing.quadratic import Quadratic

SLICE = 20_000_000
FEW, SOME = 30, 60
MOST_LANES, MOST_WORK = 16, 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class MemeticParams:
    """Set the pool and the lanes.

    The pool holds `elites` mappings that differ in more than a share `apart` of the entries. A share `crossed` of the
    lanes starts half way between two of them, the others from chance. A lane does `work` units times m^2 at effort 1
    (times m / 30 below 30 nodes), e^`length` as much at effort e; effort 1 is one lane, or as many as do `least` units.

    Temperatures are relative to the quantiles of the sizes of cost changes at a local optimum. Lanes from chance fall
    from `hot` times the square of the 90 % quantile over the median to `cold` times the 5 % quantile (and sqrt(60 / m)
    below 60 nodes); others from a random point of the upper share `reheat` of the way, on a log scale, from there up to
    `warm` times the median.
    """

    elites: int = 12
    apart: float = 0.05
    crossed: float = 0.5
    work: int = 3000
    least: int = 3_000_000
    length: float = 0.65
    hot: float = 0.04
    warm: float = 0.1
    cold: float = 0.08
    reheat: float = 0.6

    def lanes_at(self, effort: int, nodes: int) -> tuple[int, int]:
        """Return the work of a lane, at most 2**60, and how many there are; effort 1 is at most 16 of them."""
        unit = max(self.work * nodes**2 * min(nodes, FEW) // FEW, self.least // MOST_LANES)
        total = max(unit, self.least) * effort
        lanes = math.ceil(max(self.least / unit, 1.0) * math.pow(effort, 1.0 - self.length))
        return min(-(-total // lanes), MOST_WORK), lanes


class Elite(NamedTuple):
    """Hold a mapping as an order of the nodes, and its cost."""

    cost: float
    order: IntArray


class Heats(NamedTuple):
    """Hold the first temperature of a lane from chance, the highest of one from elites, and the last of both."""

    hot: float
    warm: float
    cold: float


class Pool:
    """Hold the cheapest mappings that differ enough, the cheapest first."""

    def __init__(self, most: int, apart: float) -> None:
        self._most, self._apart = most, apart
        self.elites: list[Elite] = []

    def offer(self, found: Elite) -> None:
        """Take a mapping in, unless one close to it is as cheap or all are cheaper; it replaces those close by."""
        bound = self._apart * len(found.order)
        close = [elite for elite in self.elites if (elite.order != found.order).sum() <= bound]
        if any(elite.cost <= found.cost for elite in close):
            return
        far = [elite for elite in self.elites if not any(elite is near for near in close)]
        self.elites = sorted([*far, found], key=lambda elite: elite.cost)[: self._most]


def evolve(
    model: Quadratic, known: list[IntArray], turn: tuple[int, int], params: MemeticParams, stop: Stop
) -> list[Elite]:
    """Return elites of the `known` orders and those found with an effort and a seed, the cheapest first.

    O(effort m^2) time, at least 3 million moves. Source: population-based annealing after U. Benlic and J.-K. Hao,
    doi:10.1016/j.eswa.2014.08.011.
    """
    effort, seed = turn
    rng, pool = np.random.default_rng(seed), Pool(params.elites, params.apart)
    for order in known:
        pool.offer(Elite(model.cost(order), order))
    heats = _estimate_heats(model, pool, params, rng, stop)
    if heats is None:
        return pool.elites
    work, lanes = params.lanes_at(effort, len(known[0]))
    for order, hot in _starts(model, pool, (heats, lanes), params, rng):
        if stop():
            break
        pool.offer(_anneal_lane(model, order, (hot, heats.cold, work), rng, stop))
    return pool.elites


def _estimate_heats(
    model: Quadratic, pool: Pool, params: MemeticParams, rng: np.random.Generator, stop: Stop
) -> Heats | None:
    """Descend from chance, offer the end, and return temperatures from it; None where no swap changes the cost."""
    found = _descend(model, model.shuffle(pool.elites[0].order, rng), rng, stop)
    pool.offer(found)
    sizes = _sizes(model, found.order)
    if not sizes.size:
        pool.offer(_descend(model, pool.elites[0].order, rng, stop))
        return None
    low, median, high = np.quantile(sizes, (0.05, 0.5, 0.9)).tolist()
    cold = params.cold * low * math.sqrt(max(SOME / len(found.order), 1.0))
    hot = max(params.hot * high**2 / median, 2.0 * cold)
    return Heats(hot, max(min(params.warm * median, hot), cold), cold)


def _starts(
    model: Quadratic, pool: Pool, plan: tuple[Heats, int], params: MemeticParams, rng: np.random.Generator
) -> Iterator[tuple[IntArray, float]]:
    """Yield the order and the first temperature of each lane, from the pool as it is by then."""
    heats, lanes = plan
    for _ in range(lanes):
        elites = pool.elites
        if len(elites) > 2 and rng.random() < params.crossed:
            one, other = rng.choice(len(elites), 2, replace=False).tolist()
            share = 1.0 - params.reheat * rng.random()
            start = model.between(elites[one].order, elites[other].order, rng)
            yield start, heats.cold * (heats.warm / heats.cold) ** share
        else:
            yield model.shuffle(elites[0].order, rng), heats.hot


def _anneal_lane(
    model: Quadratic, order: IntArray, plan: tuple[float, float, int], rng: np.random.Generator, stop: Stop
) -> Elite:
    """Anneal from an order by the first and last temperature and the work between them, and descend."""
    hot, cold, work = plan
    noise = rng.standard_exponential(DRAWS + len(order))
    cooling = Cooling(cold, math.log(hot / cold), work, model.tolerance, noise)
    return _descend(model, _run(model, order, cooling, rng, stop), rng, stop)


def _descend(model: Quadratic, order: IntArray, rng: np.random.Generator, stop: Stop) -> Elite:
    """Return the local optimum below an order, or as far as it got when told to stop."""
    noise = np.zeros(DRAWS + len(order))
    found = _run(model, order, Cooling(0.0, 0.0, np.iinfo(np.int64).max, model.tolerance, noise), rng, stop)
    return Elite(model.cost(found), found)


def _run(model: Quadratic, order: IntArray, cooling: Cooling, rng: np.random.Generator, stop: Stop) -> IntArray:
    """Return the cheapest order that a schedule sees, in slices so that `stop` is heard."""
    model.fields.place[:] = order
    kernels.recompute(model.fields)
    lane = Lane(np.zeros(2), np.array([rng.integers(1 << 31), 0, 0]), order.copy())
    while lane.counts[1] < cooling.work:
        lane.counts[2] = min(lane.counts[1] + SLICE, cooling.work)
        kernels.anneal(model.fields, cooling, lane)
        if stop():
            break
    return lane.lowest


def _sizes(model: Quadratic, order: IntArray) -> FloatArray:
    """Return the sizes of all finite cost changes that one swap of an order makes, in no order."""
    model.fields.place[:] = order
    kernels.recompute(model.fields)
    sizes = []
    for u in range(model.fields.tasks):
        kernels.price(model.fields, u, u + 1)
        sizes.append(np.abs(model.fields.change[u + 1 :]))
    found: FloatArray = np.concatenate(sizes)
    return found[np.isfinite(found) & (found > model.tolerance)]
