"""Plans on given devices that are worth a look: exact cuts, those that trade bottleneck for sum, and even ones."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.pipeline.chain.baselines import by_time, uniform_cuts
from tiger.pipeline.chain.cut_dp import split
from tiger.pipeline.chain.frontier import mixes
from tiger.pipeline.chain.params import LineParams
from tiger.pipeline.costs.plan import Plan
from tiger.pipeline.costs.stages import Position, position_of, transfers_s
from tiger.pipeline.hardware.cluster import Cluster
from tiger.pipeline.models.layers import Layers
from tiger.pipeline.schedules.memory import peak_held
from tiger.pipeline.schedules.orders import Schedule


class LineSearch(NamedTuple):
    """Hold what a line has to keep to, and when to stop looking."""

    params: LineParams
    stop: Callable[[], bool]


def best_cuts(
    layers: Layers, cluster: Cluster, grid: IntArray, params: LineParams, virtual: int = 1
) -> tuple[int, ...]:
    """Return the cuts with the least largest load of a stage on a grid `[p, d, t]`, none if nothing fits."""
    found = split(layers, *_costs(layers, cluster, grid, len(grid) * virtual), _params_by_position(params, grid))
    return () if found is None else found.cuts


def candidates(layers: Layers, cluster: Cluster, grid: IntArray, virtual: int, search: LineSearch) -> Iterator[Plan]:
    """Yield plans on a grid `[p, d, t]` with so many stages a position; not all of them need fit."""
    stages = len(grid) * virtual
    costs, pinned = _costs(layers, cluster, grid, stages), _params_by_position(search.params, grid)
    seen: set[tuple[int, ...]] = set()
    for cuts in (*mixes(layers, *costs, pinned, search.stop), uniform_cuts(layers, stages), by_time(layers, stages)):
        if cuts not in seen:
            seen.add(cuts)
            yield Plan(cuts=cuts, grid=grid)


def distinct_orders(kinds: IntArray, count: int) -> Iterator[tuple[int, ...]]:
    """Yield `count` devices in all orders that differ by more than devices of one kind, first ones first."""
    alike = {int(kind): np.flatnonzero(kinds == kind).tolist() for kind in np.unique(kinds)}

    def longer(order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(order) == count:
            yield order
            return
        for devices in alike.values():
            spare = next((device for device in devices if device not in order), None)
            if spare is not None:
                yield from longer((*order, spare))

    yield from longer(())


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


def _params_by_position(params: LineParams, grid: IntArray) -> LineParams:
    """Return the parameters with positions for the devices of pins; one that is not in the grid fits nowhere."""
    place: Mapping[int, int] = {int(device): p for p, ranks in enumerate(grid) for device in ranks.ravel()}
    pinned = {layer: place.get(device, len(grid)) for layer, device in params.pinned.items()}
    return LineParams(stages=params.stages, in_flight=params.in_flight, pinned=pinned)


def roomy_grids(
    layers: Layers, cluster: Cluster, shape: tuple[int, int, int], pinned: Mapping[int, int]
) -> list[IntArray]:
    """Return grids of the devices with the most memory, and of devices in order, pinned ones where an even cut is."""
    positions, wanted = shape[0], shape[1] * shape[2]
    place = np.searchsorted(uniform_cuts(layers, positions), sorted(pinned), side="right") - 1
    grids = []
    for order in (np.argsort(-cluster.memory_bytes, kind="stable"), np.arange(cluster.size)):
        rows: list[list[int]] = [[] for _ in range(positions)]
        for device, row in dict(zip((pinned[layer] for layer in sorted(pinned)), place.tolist(), strict=True)).items():
            rows[row].append(device)
        rest = iter([device for device in order.tolist() if device not in pinned.values()])
        rows = [[*row, *islice(rest, wanted - len(row))] if len(row) <= wanted else row for row in rows]
        if all(len(row) == wanted for row in rows):
            grids.append(np.reshape(rows, shape))
    return grids
