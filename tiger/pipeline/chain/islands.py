"""The best line over islands of devices that can be exchanged as a whole, such as machines of one type."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from tiger.pipeline.chain.backtrace import Line, first_walk
from tiger.pipeline.chain.classes import Classes, classes_of, equivalent_devices, join_classes
from tiger.pipeline.chain.dp_states import WORK_LIMIT, device_trellis, kinds_of, steps_of
from tiger.pipeline.chain.minimax import accurate_bottleneck
from tiger.pipeline.chain.orders import balance_s
from tiger.pipeline.chain.params import LineParams, never_stop
from tiger.pipeline.hardware.cluster import Cluster
from tiger.pipeline.models.layers import Layers


def island_line(
    layers: Layers, cluster: Cluster, params: LineParams, stop: Callable[[], bool] = never_stop
) -> Line | None:
    """Return a line with the least bottleneck over all orders and subsets of devices; None where there is no telling.

    Takes runs of stages on one island each, as long as an island has devices, as if there were any number of islands.
    If the runs then fit on the islands there are, which many islands make likely, the line is exact. None if they do
    not, if nothing fits, or above `WORK_LIMIT` steps.
    """
    groups, islands = join_classes(cluster, equivalent_devices(cluster, params), params)
    if steps_of(layers, params, groups, islands) > WORK_LIMIT:
        return None
    classes = classes_of(layers, cluster, groups, islands)
    trellis_of = partial(device_trellis, layers, classes, params)
    found = accurate_bottleneck(trellis_of, balance_s(layers, cluster, params), stop)
    if found is None:
        return None
    trellis, bracket = found
    walk = first_walk(trellis, bracket.high_s)
    devices = assign_devices(classes, walk.owners)
    if devices is None:
        return None
    return Line(devices, walk.cuts, walk.bottleneck_s, min(bracket.low_s, walk.bottleneck_s))


def assign_devices(classes: Classes, owners: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return a device for each turn of a walk; None if no islands are found for its runs.

    The longest runs choose first, and take the fullest island that has room and is not next to them.
    """
    runs = _runs(classes, owners)
    widths = [len(members) // int(count) for members, count in zip(classes.members, classes.islands, strict=True)]
    room = [[width] * int(count) for width, count in zip(widths, classes.islands, strict=True)]
    chosen: dict[int, int] = {}
    # Best fit decreasing: not exact, and seldom in need, as there are mostly more islands than runs.
    for place in sorted(range(len(runs)), key=lambda r: -runs[r].length):
        home, length = runs[place]
        beside = {chosen.get(p) for p in (place - 1, place + 1) if 0 <= p < len(runs) and runs[p].home == home}
        free = [k for k, left in enumerate(room[home]) if left >= length and (k not in beside or len(room[home]) == 1)]
        if not free:
            return None
        chosen[place] = min(free, key=lambda k: room[home][k])
        room[home][chosen[place]] -= length
    return _name_devices(classes, runs, [chosen[place] for place in range(len(runs))])


class Run(NamedTuple):
    """Hold how many stages follow each other on an island, and the class of its devices."""

    home: int
    length: int


def _runs(classes: Classes, owners: tuple[int, ...]) -> list[Run]:
    """Return the runs of a walk; a class of one island has a run for each stage."""
    kinds = kinds_of(classes)
    home = kinds.home[np.searchsorted(kinds.owner, owners)].tolist()
    closes = (kinds.run[np.searchsorted(kinds.owner, owners)] == 0).tolist()
    ends = [place for place, last in enumerate(closes) if last]
    return [Run(home[end], end - before) for before, end in pairwise([-1, *ends])]


def _name_devices(classes: Classes, runs: list[Run], islands: list[int]) -> tuple[int, ...]:
    """Return the devices of runs on islands, which are numbered anew in the order of the line."""
    taken = [0] * len(classes.members)
    fresh: dict[tuple[int, int], Iterator[int]] = {}
    devices: list[int] = []
    for run, island in zip(runs, islands, strict=True):
        key = (run.home, island)
        if key not in fresh:
            width = len(classes.members[run.home]) // int(classes.islands[run.home])
            fresh[key] = iter(classes.members[run.home][taken[run.home] : taken[run.home] + width])
            taken[run.home] += width
        devices.extend(islice(fresh[key], run.length))
    return tuple(devices)
