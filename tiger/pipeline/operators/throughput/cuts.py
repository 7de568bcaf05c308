"""Stages along lines of very many classes, cut in ever smaller blocks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.seeds import derive
from tiger.pipeline.operators.lines import draw_line
from tiger.pipeline.operators.terms import Terms
from tiger.pipeline.operators.throughput.coarsening import blocks
from tiger.pipeline.operators.throughput.cut_dp import Line, cut
from tiger.pipeline.operators.throughput.moves import largest_load_s

WINDOW, NARROWER, FEWEST = 2, 8, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CutParams:
    """Set how many `lines` are cut, `effort` times as many, each in so many `blocks` at a time."""

    seed: int = 0
    effort: int = 1
    lines: int = 4
    blocks: int = 1000


def cut_lines(
    terms: Terms, params: CutParams, stop: Callable[[], bool], tell: Callable[[str, IntArray, float], None]
) -> Line | None:
    """Return the line of stages with the smallest largest load of several lines of classes, None where none fits.

    Blocks of a line are cut into stages, then what is around these cuts in smaller blocks, down to single classes.
    O(lines (k n + e log e + k blocks^2)) where all devices are alike.
    """
    best, least = None, np.inf
    for number in range(params.lines * params.effort):
        if number and stop():
            break
        for found in _cuts(terms, draw_line(terms, derive(params.seed, number)), params):
            load = largest_load_s(terms, found.place)
            if load < least:
                best, least = found, load
                tell("lines", best.place, least)
            if stop():
                return best
    return best


def _cuts(terms: Terms, position: IntArray, params: CutParams) -> Iterator[Line]:
    """Yield stages along a line, with ever more exact cuts."""
    count = int(position.max()) + 1
    found = cut(terms, blocks(terms, position, params.blocks), params.seed)
    radius = WINDOW * count / params.blocks
    while found is not None:
        yield found
        ends = _ends(position, found)
        if radius < 1 or not len(ends):
            break
        steps = np.linspace(-radius, radius, max(params.blocks // len(ends), FEWEST))
        edges = np.unique(np.append(ends, np.rint(ends[:, None] + steps)).clip(0, count))
        block = np.unique(np.searchsorted(edges, position, side="right"), return_inverse=True)[1]
        found = cut(terms, block.astype(np.int64), params.seed)
        radius /= NARROWER


def _ends(position: IntArray, found: Line) -> IntArray:
    """Return the positions where the stages behind the first begin."""
    begin = np.full(max(found.devices) + 1, np.iinfo(np.int64).max)
    np.minimum.at(begin, found.place, position)
    return begin[list(found.devices)][1:]
