"""Plans on given devices that are worth a look: exact cuts, those that trade bottleneck for sum, and even ones."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.pipeline.chain.baselines import by_time, uniform
from tiger.pipeline.chain.frontier import mixes
from tiger.pipeline.chain.params import LineParams
from tiger.pipeline.chain.programme import split
from tiger.pipeline.cluster import Cluster
from tiger.pipeline.layers import Layers
from tiger.pipeline.params import Schedule
from tiger.pipeline.plan import Plan
from tiger.pipeline.schedules.memory import peak_held
from tiger.pipeline.stages import Position, position_of, transfers_s


def balanced(layers: Layers, cluster: Cluster, grid: IntArray, params: LineParams) -> tuple[int, ...]:
    """Return the cuts of one stage a position with the least bottleneck on a grid `[p, d, t]`, none if nothing fits."""
    found = split(layers, *_costs(layers, cluster, grid, len(grid)), _by_position(params, grid))
    return () if found is None else found.cuts


def candidates(layers: Layers, cluster: Cluster, grid: IntArray, virtual: int, params: LineParams) -> Iterator[Plan]:
    """Yield plans on a grid `[p, d, t]` with so many stages a position; not all of them need fit."""
    stages = len(grid) * virtual
    costs, pinned = _costs(layers, cluster, grid, stages), _by_position(params, grid)
    seen: set[tuple[int, ...]] = set()
    for cuts in (*mixes(layers, *costs, pinned), uniform(layers, stages), by_time(layers, stages)):
        if cuts not in seen:
            seen.add(cuts)
            yield Plan(cuts=cuts, grid=grid)


def chunks_in_flight(schedule: Schedule, positions: int, virtual: int, microbatches: int) -> Callable[[int], float]:
    """Return the mean microbatches in flight of a stage by the stages behind it, where a position has several."""
    most = [float(held.sum(axis=1).max()) for held in peak_held(schedule, positions, virtual, microbatches)]
    return lambda after: most[(positions * virtual - 1 - after) % positions] / virtual


def _costs(layers: Layers, cluster: Cluster, grid: IntArray, stages: int) -> tuple[list[Position], FloatArray]:
    """Return the positions of a grid, and the seconds of messages [S - 1, L + 1] between its stages."""
    count = len(grid)
    hops = [transfers_s(layers, cluster, grid[p], grid[(p + 1) % count]) for p in range(count)]
    table = np.array([hops[stage % count] for stage in range(stages - 1)]).reshape(stages - 1, layers.size + 1)
    return [position_of(layers, cluster, ranks) for ranks in grid], table


def _by_position(params: LineParams, grid: IntArray) -> LineParams:
    """Return the parameters with positions for the devices of pins; one that is not in the grid fits nowhere."""
    place: Mapping[int, int] = {int(device): p for p, ranks in enumerate(grid) for device in ranks.ravel()}
    pinned = {layer: place.get(device, len(grid)) for layer, device in params.pinned.items()}
    return LineParams(stages=params.stages, in_flight=params.in_flight, pinned=pinned)
