"""A placement of very many groups: coarsen, place the coarsest level, uncoarsen and refine, in several cycles.

Sources: G. Karypis, V. Kumar, doi:10.1137/S1064827595287997; C. Walshaw, doi:10.1023/B:ANOR.0000039525.80601.15 (cycles
that join no groups of different devices).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.seeds import derive
from tiger.placement.operators.linear_orders import draw_linear_order
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.annealer import (
    UNSTAGED,
    Annealer,
    AnnealingParams,
    ideal_load_s,
    largest_load_s,
)
from tiger.placement.operators.throughput.coarsening import cluster_labels, coarsen
from tiger.placement.operators.throughput.cut_dp import cut
from tiger.placement.operators.throughput.descent import DescentParams, descend
from tiger.placement.operators.throughput.greedy import fill, spread
from tiger.placement.operators.throughput.multilevel_cuts import CutParams, cut_lines

# A level that is not smaller than so much of the one before ends coarsening: hardly any groups can be joined.
SHRINK = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleParams:
    """Set the cycles of a multilevel search.

    The first of `cycles` cycles begins with nothing, the second with the best of `lines` lines, the others with the
    best so far. Groups are joined until there are `per_device` for each device; these are annealed with each of the
    `temperatures`, in units of the largest load, by so many `tries`.
    """

    seed: int = 0
    effort: int = 1
    lines: int = 2
    cycles: int = 3
    per_device: int = 100
    temperatures: tuple[float, ...] = (0.003, 0.001)
    tries: int = 500_000


class CoarseTerms(NamedTuple):
    """Hold the terms of a level, the `label[C]` there of every group of the finer level, and places to start from."""

    terms: Terms
    label: IntArray
    place: IntArray | None


def search_multilevel(
    terms: Terms, params: CycleParams, stop: Callable[[], bool], on_step: Callable[[str, IntArray, float], None]
) -> IntArray | None:
    """Return the device of every group [C] at a small largest load within memory, or None where none was found.

    Heuristic. O(k n + e log e) for every line and cycle, beside the annealing of the coarsest terms.
    """
    along = cut_lines(terms, CutParams(seed=params.seed, lines=params.lines, effort=params.effort), stop, on_step)
    start = spread(terms) if along is None else along.place
    best, least = start, np.inf if start is None else largest_load_s(terms, start)
    for number in range(params.cycles * params.effort):
        if stop():
            break
        begin = (None, start)[number] if number < 2 else best
        found = run_cycle(terms, begin, params, derive(params.seed, number), stop)
        load = np.inf if found is None else largest_load_s(terms, found)
        if load < least:
            best, least = found, load
        if best is not None:
            on_step("levels", best, least)
    return best


def run_cycle(
    terms: Terms, place: IntArray | None, params: CycleParams, seed: int, stop: Callable[[], bool]
) -> IntArray | None:
    """Run one cycle from places [C] within memory or from nothing; return None if the coarsest terms fit nowhere.

    O(k n + e log e), and k a try.
    """
    levels = _join_levels(terms, place, params, seed, stop)
    if stop() and place is not None:
        # Time is up before the levels are small: places stay as they are.
        return place
    now = _anneal(levels[-1], params, seed, stop)
    for (finer, _, _), (_, label, _) in zip(levels[-2::-1], levels[:0:-1], strict=True):
        # Without time to improve them, places are as good on the finer level.
        if now is not None:
            now = now[label] if stop() else descend(finer, now[label], DescentParams(), seed, stop)
    return now


def _join_levels(
    terms: Terms, place: IntArray | None, params: CycleParams, seed: int, stop: Callable[[], bool]
) -> list[CoarseTerms]:
    """Return terms of ever fewer groups; groups on different devices are not joined."""
    levels = [CoarseTerms(terms, np.arange(terms.groups), place)]
    size = params.per_device * terms.devices
    while (finer := levels[-1]).terms.groups > size and not stop():
        part = np.zeros(finer.terms.groups, np.int64) if finer.place is None else finer.place
        label = cluster_labels(finer.terms, part, size, derive(seed, len(levels)))
        if int(label.max()) + 1 > SHRINK * finer.terms.groups:
            break
        carried = np.zeros(int(label.max()) + 1, np.int64)
        carried[label] = part
        levels.append(CoarseTerms(coarsen(finer.terms, label), label, None if place is None else carried))
    return levels


def _anneal(level: CoarseTerms, params: CycleParams, seed: int, stop: Callable[[], bool]) -> IntArray | None:
    """Anneal a level at every temperature, and return the best places, None where none fit."""
    terms, _, start = level
    start = _begin(terms, seed) if start is None else start
    if start is None:
        return None
    annealer = Annealer.of(terms, np.arange(terms.groups), UNSTAGED, stop)
    scale = min(largest_load_s(terms, start), 2 * ideal_load_s(terms))
    runs = (
        AnnealingParams(temperature=temperature, tries=params.tries, seed=seed) for temperature in params.temperatures
    )
    found, load = min((annealer.anneal(start, scale, run) for run in runs), key=lambda each: each[1])
    return found if np.isfinite(load) else None


def _begin(terms: Terms, seed: int) -> IntArray | None:
    """Return places along a line, exact cuts if these fit; None where groups fit nowhere."""
    position = draw_linear_order(terms, seed)
    found = cut(terms, position, seed)
    if found is not None:
        return found.place
    simple = fill(terms, position, terms.devices)
    return spread(terms) if simple is None else simple
