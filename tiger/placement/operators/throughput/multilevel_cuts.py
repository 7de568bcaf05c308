"""Contiguous stages of very many groups: cuts of a line in blocks, then again around these cuts in smaller blocks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.seeds import derive
from tiger.placement.operators.linear_orders import draw_linear_order
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.annealer import largest_load_s
from tiger.placement.operators.throughput.coarsening import blocks
from tiger.placement.operators.throughput.cut_dp import OrderedPlacement, cut


@dataclass(frozen=True, slots=True, kw_only=True)
class CutParams:
    """Set how many `lines` are cut, `effort` times as many, each in so many `blocks` at a time.

    A cut is looked for again within `window` blocks of where it was, at `fewest` places at the least, and then within
    an eighth (`narrower`) of that.
    """

    seed: int = 0
    effort: int = 1
    lines: int = 4
    blocks: int = 1000
    window: int = 2
    narrower: int = 8
    fewest: int = 3


def cut_lines(
    terms: Terms, params: CutParams, stop: Callable[[], bool], on_step: Callable[[str, IntArray, float], None]
) -> OrderedPlacement | None:
    """Return the line of stages with the smallest largest load of several lines of groups, None where none fits.

    Blocks of a line are cut into stages, then what is around these cuts in smaller blocks, down to single groups.
    O(lines (k n + e log e + k blocks^2)) where all devices are alike.
    """
    best, least = None, np.inf
    for number in range(params.lines * params.effort):
        if number and stop():
            break
        for line in _cuts(terms, draw_linear_order(terms, derive(params.seed, number)), params):
            load = largest_load_s(terms, line.place)
            if load < least:
                best, least = line, load
                on_step("lines", best.place, least)
            if stop():
                return best
    return best


def _cuts(terms: Terms, position: IntArray, params: CutParams) -> Iterator[OrderedPlacement]:
    """Yield stages along a line, with ever more exact cuts."""
    count = int(position.max()) + 1
    line = cut(terms, blocks(terms, position, params.blocks), params.seed)
    radius = params.window * count / params.blocks
    while line is not None:
        yield line
        # Around each cut in smaller blocks, elsewhere in whole stages.
        ends = _ends(position, line)
        if radius < 1 or not len(ends):
            break
        steps = np.linspace(-radius, radius, max(params.blocks // len(ends), params.fewest))
        edges = np.unique(np.append(ends, np.rint(ends[:, None] + steps)).clip(0, count))
        block = np.unique(np.searchsorted(edges, position, side="right"), return_inverse=True)[1]
        line = cut(terms, block.astype(np.int64), params.seed)
        radius /= params.narrower


def _ends(position: IntArray, line: OrderedPlacement) -> IntArray:
    """Return the positions where the stages behind the first begin."""
    begin = np.full(max(line.devices) + 1, np.iinfo(np.int64).max)
    np.minimum.at(begin, line.place, position)
    return begin[list(line.devices)][1:]
