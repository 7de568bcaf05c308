"""The search for a small largest load: dynamic programming over linear orders, annealing, and path relinking."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.seeds import derive
from tiger.placement.operators.device_types import drop_cpus, keep_linked
from tiger.placement.operators.linear_orders import draw_linear_order
from tiger.placement.operators.loads import held_bytes
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.annealer import (
    UNSTAGED,
    Annealer,
    AnnealerParams,
    AnnealingParams,
    count_tries,
    ideal_load_s,
    largest_load_s,
)
from tiger.placement.operators.throughput.cut_dp import cut
from tiger.placement.operators.throughput.path_relinking import agreed_vertices
from tiger.training.costs.tolerances import MEMORY

__all__ = ["AnnealerParams", "search_placement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageParams:
    """Set the stages of a search; numbers of orders, runs and rounds are for one unit of effort.

    The lines of `orders` are cut. Annealing runs once with each of `runs`, a temperature in units of the largest load
    and the doublings of the power mean: cold ones improve a line, hot ones leave it. A run makes `tries` proposals, at
    most `tries_per_group` for each colocation group. Path relinking takes up to `rounds` rounds over all pairs of the
    `elite` best, ends after `patience` rounds without gain, and anneals the vertices that a pair agrees on at
    `relinked` and then single groups at `released`, with a quarter of the tries each.

    Where groups have more than `crowd` operators each, in the mean, and there are fewer than `plenty` tries for each
    group, too few to cool down from such temperatures, annealing makes the `cold` runs instead, with `longer` times as
    many tries each and without path relinking.
    """

    orders: int = 10
    runs: tuple[tuple[float, int], ...] = (
        (0.01, 4),
        (0.003, 4),
        (0.03, 4),
        (0.01, 6),
        (0.1, 4),
        (0.003, 4),
        (0.1, 6),
        (0.01, 4),
    )
    tries: int = 1_000_000
    tries_per_group: int = 5_000
    rounds: int = 8
    elite: int = 4
    patience: int = 2
    relinked: float = 0.01
    released: float = 0.003
    # Smaller groups end higher than from all temperatures (benchmarks/scale.py has groups to measure this on).
    crowd: int = 10
    plenty: int = 800
    longer: int = 4
    cold: tuple[tuple[float, int], ...] = ((0.0001, 3), (0.00003, 3))


STAGES = StageParams()


def search_placement(
    terms: Terms,
    params: AnnealerParams,
    stop: Callable[[], bool],
    on_step: Callable[[str, IntArray, float], None],
    start: IntArray | None = None,
) -> IntArray | None:
    """Return the device of every group [C] with the smallest largest load that is found, None where nothing fits.

    Exact cuts of some linear orders, annealing from them, and annealing of what pairs of the results agree on; over the
    graphs of dnn-partitioning that last stage lowers the largest load by 0.3 % on average and 4 % at most, in half of
    the time. A placement `start[C]` that fits is annealed and recombined like what is found. `on_step` is called with
    the best places so far, and their largest load in seconds, after each.
    """
    if not terms.allowed.any(axis=1).all():
        return None
    annealer = Annealer.of(terms, np.arange(terms.groups), UNSTAGED, stop)
    tries = count_tries(terms, STAGES.tries, STAGES.tries_per_group)
    cold = terms.operators > STAGES.crowd * terms.groups and tries < STAGES.plenty * terms.groups
    pool = _PlacementPool(terms, params, stop, annealer, tries * STAGES.longer if cold else tries, cold)
    if start is not None:
        pool.start.append(start)
        pool.add(start)
    stages = ("linear", pool.cut), ("annealing", pool.anneal), ("relinking", pool.relink)
    for name, stage in stages[: 2 if cold else 3]:
        stage()
        if pool.found:
            on_step(name, pool.found[0][1], pool.found[0][0])
    return pool.found[0][1] if pool.found else None


@dataclass(slots=True, eq=False)
class _PlacementPool:
    """Hold different placements `found`, (largest load, device of every group), the best first, and lines to `start`.

    Runs of annealing make so many `tries`, from `cold` temperatures alone where these are few.
    """

    terms: Terms
    params: AnnealerParams
    stop: Callable[[], bool]
    annealer: Annealer
    tries: int
    cold: bool
    found: list[tuple[float, IntArray]] = field(default_factory=list)
    start: list[IntArray] = field(default_factory=list)

    @property
    def scale(self) -> float:
        """Return the largest load of the best placement, or of the best line while none fits."""
        if self.found:
            return self.found[0][0]
        loads = [load for place in self.start if np.isfinite(load := largest_load_s(self.terms, place))]
        return min(loads, default=0.0) or ideal_load_s(self.terms)

    def cut(self) -> None:
        """Cut the best line of each of some orders, of one at least."""
        for number in range(STAGES.orders * self.params.effort):
            if number and self.stop():
                break
            position = draw_linear_order(self.terms, derive(self.params.seed, 0, number))
            line = cut(
                drop_cpus(keep_linked(self.terms, number), number), position, derive(self.params.seed, 1, number)
            )
            self.start.append(line.place if line else _spread(self.terms, position))
            self.add(self.start[-1])
        self.start.sort(key=lambda place: largest_load_s(self.terms, place))

    def anneal(self) -> None:
        """Anneal from the lines, cold and hot."""
        for number, (temperature, doublings) in enumerate(
            (STAGES.cold if self.cold else STAGES.runs) * self.params.effort
        ):
            if self.stop() or not self.start:
                break
            start = self.start[number % len(self.start)]
            seed = self.seed(2, number)
            run = AnnealingParams(temperature=temperature, doublings=doublings, tries=self.tries, seed=seed)
            self.run(self.annealer, start, run)

    def relink(self) -> None:
        """Anneal from pairs of the best: what they agree on moved as one, then single groups."""
        reached = [np.inf]
        for number in range(STAGES.rounds * self.params.effort):
            reached.append(self.scale)
            # Two rounds without gain: the elite agree on too much to combine.
            if len(reached) > STAGES.patience and reached[-1] >= reached[-1 - STAGES.patience]:
                break
            for pair, (first, second) in enumerate(itertools.combinations(self.found[: STAGES.elite], 2)):
                if self.stop():
                    return
                # What both agree on moves as one vertex; then single groups move again.
                agreed = agreed_vertices(self.terms, first[1], second[1])
                seed, tries = self.seed(3, number, pair), self.tries // 4
                together = AnnealingParams(temperature=STAGES.relinked, tries=tries, seed=seed)
                place = self.run(Annealer.of(self.terms, agreed, UNSTAGED, self.stop), first[1], together)
                self.run(self.annealer, place, AnnealingParams(temperature=STAGES.released, tries=tries, seed=seed))

    def run(self, annealer: Annealer, place: IntArray, params: AnnealingParams) -> IntArray:
        """Anneal from a placement, and add and return the result."""
        place, _ = annealer.anneal(place, self.scale, params)
        self.add(place)
        return place

    def add(self, place: IntArray) -> None:
        """Add a placement that fits, unless one of the same load is there."""
        load = largest_load_s(self.terms, place)
        over = held_bytes(self.terms, place) > self.terms.capacity * (1 + MEMORY)
        barred = ~self.terms.allowed[np.arange(self.terms.groups), place]
        if over.any() or barred.any() or not np.isfinite(load):
            return
        if all(abs(load - other) > 1e-9 * load for other, _ in self.found):
            self.found.append((load, place))
            self.found.sort(key=lambda entry: entry[0])

    def seed(self, *path: int) -> int:
        """Return a seed of its own for every run."""
        return derive(self.params.seed, *path)


def _spread(terms: Terms, position: IntArray) -> IntArray:
    """Return devices in turn along a line, each group on one that it is allowed on; it may not fit."""
    wish = position * terms.devices // (int(position.max()) + 1)
    away = np.abs(np.arange(terms.devices) - wish[:, None])
    return np.asarray(np.where(terms.allowed, away, terms.devices).argmin(axis=1), np.int64)
