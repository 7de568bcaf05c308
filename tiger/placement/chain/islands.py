"""The best line over islands of devices that can be exchanged as a whole, such as machines of one type."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from tiger.placement.chain.backtrace import ChainResult, trace_owners
from tiger.placement.chain.best_order import balance_s
from tiger.placement.chain.cut_dp import accurate_bottleneck
from tiger.placement.chain.device_types import DeviceTypes, device_types_of, group_equal_devices, join_exchangeable
from tiger.placement.chain.dp_states import WORK_LIMIT, device_graph, stage_types_of, steps_of
from tiger.placement.chain.params import LineParams, never_stop
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


def island_line(
    layers: Layers, cluster: Cluster, params: LineParams, stop: Callable[[], bool] = never_stop
) -> ChainResult | None:
    """Return a line with the least bottleneck over all orders and subsets of devices; None where that is not known.

    Takes runs of stages on one island each, as long as an island has devices, as if there were any number of islands.
    If the runs then fit on the islands there are, which many islands make likely, the line is exact. None if they do
    not, if nothing fits, or above `WORK_LIMIT` steps.
    """
    groups, islands = join_exchangeable(cluster, group_equal_devices(cluster, params), params)
    if steps_of(layers, params, groups, islands) > WORK_LIMIT:
        return None
    types = device_types_of(layers, cluster, groups, islands)
    graph_of = partial(device_graph, layers, types, params)
    least = accurate_bottleneck(graph_of, balance_s(layers, cluster, params), stop)
    if least is None:
        return None
    graph, bracket = least
    found = trace_owners(graph, bracket.high_s)
    devices = assign_devices(types, found.owners)
    if devices is None:
        return None
    return ChainResult(devices, found.cuts, found.bottleneck_s, min(bracket.low_s, found.bottleneck_s))


def assign_devices(types: DeviceTypes, owners: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return a device for each owner of a line; None if no islands are found for its runs.

    Best fit decreasing: the longest runs choose first, and take the fullest island that has room and is not next to
    them.
    """
    runs = _runs(types, owners)
    widths = [len(members) // int(count) for members, count in zip(types.members, types.islands, strict=True)]
    room = [[width] * int(count) for width, count in zip(widths, types.islands, strict=True)]
    chosen: dict[int, int] = {}
    # Not exact, and seldom needed, as there are mostly more islands than runs.
    for place in sorted(range(len(runs)), key=lambda r: -runs[r].length):
        own, length = runs[place]
        beside = {chosen.get(p) for p in (place - 1, place + 1) if 0 <= p < len(runs) and runs[p].device_type == own}
        free = [k for k, left in enumerate(room[own]) if left >= length and (k not in beside or len(room[own]) == 1)]
        if not free:
            return None
        chosen[place] = min(free, key=lambda k: room[own][k])
        room[own][chosen[place]] -= length
    return _name_devices(types, runs, [chosen[place] for place in range(len(runs))])


class DeviceRun(NamedTuple):
    """Hold the type of the devices of an island, and how many stages follow each other on it."""

    device_type: int
    length: int


def _runs(types: DeviceTypes, owners: tuple[int, ...]) -> list[DeviceRun]:
    """Return the runs of a line of owners; a type of one island has a run for each stage."""
    stage_types = stage_types_of(types)
    device_type = stage_types.device_type[np.searchsorted(stage_types.owner, owners)].tolist()
    closes = (stage_types.run[np.searchsorted(stage_types.owner, owners)] == 0).tolist()
    ends = [place for place, last in enumerate(closes) if last]
    return [DeviceRun(device_type[end], end - before) for before, end in pairwise([-1, *ends])]


def _name_devices(types: DeviceTypes, runs: list[DeviceRun], islands: list[int]) -> tuple[int, ...]:
    """Return the devices of runs on islands, which are renumbered in the order of the line."""
    taken = [0] * len(types.members)
    unused: dict[tuple[int, int], Iterator[int]] = {}
    devices: list[int] = []
    for run, island in zip(runs, islands, strict=True):
        key = (run.device_type, island)
        if key not in unused:
            width = len(types.members[run.device_type]) // int(types.islands[run.device_type])
            unused[key] = iter(types.members[run.device_type][taken[run.device_type] : taken[run.device_type] + width])
            taken[run.device_type] += width
        devices.extend(islice(unused[key], run.length))
    return tuple(devices)
