"""Candidate plans on given devices: exact cuts, those that trade bottleneck for sum, and uniform ones."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.chain.baselines import by_time, uniform_cuts
from tiger.placement.chain.fixed_order import split
from tiger.placement.chain.frontier import mix_weights
from tiger.placement.chain.params import LineParams
from tiger.training.costs.plan import Plan
from tiger.training.costs.stage_positions import stage_positions
from tiger.training.costs.stages import Position, positions_of, transfers_s
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


class LineSearch(NamedTuple):
    """Hold the limits of a line, and when to stop the search."""

    params: LineParams
    stop: Callable[[], bool]


def best_cuts(
    layers: Layers, cluster: Cluster, grid: IntArray, params: LineParams, virtual: int = 1
) -> tuple[int, ...]:
    """Return the cuts with the least largest load of a stage on a grid `[p, d, t]`, none if nothing fits."""
    pinned = _params_by_position(params, grid)
    found = split(layers, *_costs(layers, cluster, grid, pinned, len(grid) * virtual), pinned)
    return () if found is None else found.cuts


def candidate_plans(
    layers: Layers, cluster: Cluster, grid: IntArray, virtual: int, search: LineSearch
) -> Iterator[Plan]:
    """Yield plans on a grid `[p, d, t]` with so many stages a position; not all of them need fit."""
    stages = len(grid) * virtual
    pinned = _params_by_position(search.params, grid)
    costs = _costs(layers, cluster, grid, pinned, stages)
    mixed = mix_weights(layers, *costs, pinned, search.stop)
    for cuts in dict.fromkeys((*mixed, uniform_cuts(layers, stages), by_time(layers, stages))):
        yield Plan(cuts=cuts, grid=grid, style=search.params.style)


def _costs(
    layers: Layers, cluster: Cluster, grid: IntArray, params: LineParams, stages: int
) -> tuple[list[Position], FloatArray]:
    """Return the positions of a grid, and the seconds of messages [S - 1, L + 1] between its stages."""
    at = stage_positions(params.style, len(grid), stages)
    hops, which = np.unique(np.stack([at[:-1], at[1:]]), axis=1, return_inverse=True)
    spent = transfers_s(layers, cluster, grid[hops[0]], grid[hops[1]])
    return positions_of(layers, cluster, grid), spent[which.ravel()]


def _params_by_position(params: LineParams, grid: IntArray) -> LineParams:
    """Return the parameters with positions for the devices of pins; one that is not in the grid fits nowhere."""
    place: Mapping[int, int] = {int(device): p for p, ranks in enumerate(grid) for device in ranks.ravel()}
    pinned = {layer: place.get(device, len(grid)) for layer, device in params.pinned.items()}
    return replace(params, pinned=pinned)
