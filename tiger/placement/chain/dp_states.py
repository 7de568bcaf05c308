"""States of the dynamic program over orders: which devices are behind a stage, and which type runs it.

As Held and Karp (J. SIAM 10 (1962) 196, doi:10.1137/0110015) do for routes, with counts of equal devices for sets.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.chain.device_types import (
    DeviceTypes,
    Groups,
    device_types_of,
    group_equal_devices,
    group_similar_devices,
    join_exchangeable,
)
from tiger.placement.chain.fitting_runs import admitted_ends, fitting_ends, prefix_sums
from tiger.placement.chain.layered_graph import LayeredGraph, StageStates
from tiger.placement.chain.params import LineParams
from tiger.placement.chain.range_minima import Windows
from tiger.placement.chain.relaxation import relax_by_machine
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers

# Steps of a sweep up to which all orders are compared: 64 MB of loads, and about 0.1 s for each of twenty sweeps.
WORK_LIMIT = 8_000_000
# Sets of devices up to which their states are counted; above, sets times boundaries stand for the steps.
MOST_SETS = 200_000
# Groups of similar devices that a relaxation begins with.
MERGED = 8
NONE: IntArray = np.empty((1, 0), np.int64)


class StageTypes(NamedTuple):
    """Hold the k types of stages: the type of the device, and how many stages behind it are on the same island.

    The latter is 0 for all of a type of one island. `owner[k]` numbers, rising, types with the same choice of links.
    Behind one type may come another by the link `via[k, k]`, -1 where it may not.
    """

    device_type: IntArray
    run: IntArray
    owner: IntArray
    via: IntArray


def device_graph(layers: Layers, types: DeviceTypes, params: LineParams, most_s: float = np.inf) -> LayeredGraph:
    """Return all lines over devices of such types, no layer of which takes longer than `most_s`.

    With several islands of a type it allows more: runs of stages on one island that are all short enough for an
    island, but need not go on as many islands as there are.
    """
    stage_types = stage_types_of(types)
    device_types = stage_types.device_type[np.unique(stage_types.owner, return_index=True)[1]]
    work_s = layers.forward_s + layers.backward_s
    sums = [prefix_sums(np.minimum(work_s / speed, most_s)) for speed in types.speed.tolist()]
    return LayeredGraph(
        ahead_s=np.array(sums)[device_types],
        sent_s=types.sent_s,
        members=tuple(types.members[device_type] for device_type in device_types),
        levels=_levels(layers, types, params, stage_types),
        shortest=(params.stages or 1) - 1,
    )


def count_steps(types: Sequence[tuple[int, int]], size: int, stages: int | None) -> int:
    """Return how many steps a sweep takes: states and pairs of states that follow each other, L + 1 boundaries each.

    `types` are pairs of how many devices of a type there are, and on how many islands.
    """
    counts = np.array([count for count, _ in types])
    runs = np.array([count // islands if islands > 1 else 1 for count, islands in types])
    if prod((counts + 1).tolist()) > MOST_SETS:
        return int(prod((counts + 1).tolist())) * (size + 1)
    behind = _sets(counts)
    behind = behind[behind.sum(axis=1) < min(size, stages or size)]
    open_types, followers = (behind < counts).astype(np.int64), (behind > 0) @ runs
    # A run on an island has one way to go on; its first stage, like that of a type of one island, has all.
    states = int((open_types @ runs).sum())
    return (states + int((open_types.sum(axis=1) * followers + open_types @ (runs - 1)).sum())) * (size + 1)


def merge_device_types(layers: Layers, cluster: Cluster, params: LineParams, limit: int) -> DeviceTypes:
    """Return types of devices over which a sweep takes at most so many steps, joined or merged where needed.

    A relaxation: no line gets slower. Islands are joined first; then links become as good as the best between the same
    machines; then similar devices are merged, into one type at last.
    """
    groups = group_equal_devices(cluster, params)
    if steps_of(layers, params, groups) <= limit:
        return device_types_of(layers, cluster, groups)
    for relaxed in (cluster, relax_by_machine(layers, cluster)):
        groups, islands = join_exchangeable(relaxed, group_equal_devices(relaxed, params), params)
        if steps_of(layers, params, groups, islands) <= limit:
            return device_types_of(layers, relaxed, groups, islands)
    for count in range(MERGED, 0, -1):
        groups = group_similar_devices(cluster, count)
        if steps_of(layers, params, groups) <= limit:
            break
    return device_types_of(layers, cluster, groups)


def steps_of(layers: Layers, params: LineParams, groups: Groups, islands: tuple[int, ...] = ()) -> int:
    """Return the steps of groups of devices, on one island each unless stated."""
    sizes = zip(groups, islands or (1,) * len(groups), strict=True)
    return count_steps([(len(group), count) for group, count in sizes], layers.size, params.stages)


def stage_types_of(types: DeviceTypes) -> StageTypes:
    """Return the types of stages."""
    rows = [
        (c, run, run)
        for c, (members, islands) in enumerate(zip(types.members, types.islands.tolist(), strict=True))
        for run in range(len(members) // islands if islands > 1 else 1)
    ]
    device_type, run, _ = np.array(rows).T
    via = types.link[np.ix_(device_type, device_type)]
    same, several = device_type[:, None] == device_type, (types.islands > 1)[device_type][:, None]
    inside, goes_on = run[:, None] > 0, run[:, None] == run + 1
    via = np.where(same & several & ~inside, types.across[device_type][:, None], via)
    via = np.where(inside & ~(same & goes_on), -1, via)
    # The last stage on an island leads to another island, all others to the same: two owners.
    opens = np.append(True, (device_type[1:] != device_type[:-1]) | (run[1:] == 1))
    return StageTypes(device_type, run, np.cumsum(opens) - 1, via)


def _sets(counts: IntArray) -> IntArray:
    """Return how many devices of each type are in every set that differs by more than equal devices, [sets, c]."""
    return np.indices(tuple((counts + 1).tolist())).reshape(len(counts), -1).T


def _levels(layers: Layers, types: DeviceTypes, params: LineParams, stage_types: StageTypes) -> tuple[StageStates, ...]:
    """Return the states with each number of devices behind: how many of each device type, and the type of stage."""
    counts = np.array([len(members) for members in types.members])
    behind = _sets(counts)
    strides = np.append(np.cumprod((counts + 1)[:0:-1])[::-1], 1)[stage_types.device_type]
    total = behind.sum(axis=1)
    place = np.full((len(behind), len(stage_types.device_type)), -1)
    memory = LayerWindows(layers, types, params)
    levels: list[StageStates] = []
    # Built from the end, since the microbatches that a stage holds depend on how many stages are behind it.
    for after in range(min(int(counts.sum()), layers.size, params.stages or layers.size)):
        # A set of devices is a number to mixed radix: taking one of a type away subtracts its stride.
        codes = np.flatnonzero(total == after)
        there = behind[codes][:, stage_types.device_type]
        stage_type, row = np.nonzero(((there < counts[stage_types.device_type]) & (there >= stage_types.run)).T)
        place[codes[row], stage_type] = np.arange(len(stage_type))
        at = codes[row], stage_type, strides
        options, via = _options(place, there[row], at, stage_types) if after else (NONE, NONE)
        owner = stage_types.owner[stage_type]
        device_types = dict(zip(owner.tolist(), stage_types.device_type[stage_type].tolist(), strict=True))
        windows = {c: memory.windows(device_type, after) for c, device_type in sorted(device_types.items())}
        levels.append(StageStates(owner=owner, options=options, via=via, windows=windows))
    return tuple(levels)


def _options(
    place: IntArray, there: IntArray, at: tuple[IntArray, IntArray, IntArray], stage_types: StageTypes
) -> tuple[IntArray, IntArray]:
    """Return states with one device less behind, -1 for none, and the links to them, in as few columns as hold all."""
    codes, stage_type, strides = at
    via = stage_types.via[stage_type]
    columns = np.arange(len(stage_types.device_type))
    options = np.where((there > 0) & (via >= 0), place[codes[:, None] - strides, columns], -1)
    # States differ in how many can be behind them: entries without a state go to the end, and columns without go away.
    order = np.argsort(options < 0, axis=1, kind="stable")[:, : int((options >= 0).sum(axis=1).max(initial=0))]
    return np.take_along_axis(options, order, axis=1), np.maximum(np.take_along_axis(via, order, axis=1), 0)


class LayerWindows:
    """Keep the runs of layers that devices of each type can hold."""

    def __init__(self, layers: Layers, types: DeviceTypes, params: LineParams) -> None:
        self._layers, self._types, self._params = layers, types, params
        self._kept: dict[tuple[float, float, tuple[int, ...]], Windows] = {}

    def windows(self, number: int, after: int) -> Windows:
        """Return the runs of layers that devices of a type can hold with so many stages behind."""
        in_flight, memory = self._params.in_flight(after), float(self._types.memory_bytes[number])
        pinned = set(self._params.pinned.values())
        hosts = tuple(device for device in self._types.members[number] if device in pinned)
        key = (in_flight, memory, hosts)
        if key not in self._kept:
            limits = admitted_ends(self._layers.size, self._params.pinned, hosts)
            self._kept[key] = Windows.of(np.minimum(fitting_ends(self._layers, memory, in_flight), limits))
        return self._kept[key]
