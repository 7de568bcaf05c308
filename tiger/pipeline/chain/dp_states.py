"""Lines over classes of devices, as states: who is behind, and whose turn it is."""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.pipeline.chain.classes import Classes, Groups, classes_of, equivalent_devices, group_alike, join_classes
from tiger.pipeline.chain.layered_graph import Level, Trellis
from tiger.pipeline.chain.params import LineParams
from tiger.pipeline.chain.relaxation import relax_by_machine
from tiger.pipeline.chain.segments import admitted_ends, fitting_ends, prefix_sums
from tiger.pipeline.chain.windows import Windows
from tiger.pipeline.hardware.cluster import Cluster
from tiger.pipeline.models.layers import Layers

WORK_LIMIT = 8_000_000
MOST_SETS = 200_000
MERGED = 8
NONE: IntArray = np.empty((1, 0), np.int64)


class Kinds(NamedTuple):
    """Hold the k kinds of turns: the class of the device, and how many stages behind it are on the same island.

    The latter is 0 for all of a class of one island. `owner[k]` numbers, rising, kinds with the same choice of links.
    Behind a turn of one kind may come one of another by the link `via[k, k]`, -1 where it may not.
    """

    home: IntArray
    run: IntArray
    owner: IntArray
    via: IntArray


def device_trellis(layers: Layers, classes: Classes, params: LineParams, most_s: float = np.inf) -> Trellis:
    """Return all lines over devices of such classes, no layer of which takes longer than `most_s`.

    With several islands in a class it allows more: runs of stages on one island that are all short enough for an
    island, but need not go on as many islands as there are.
    """
    kinds = kinds_of(classes)
    homes = kinds.home[np.unique(kinds.owner, return_index=True)[1]]
    spent = layers.forward_s + layers.backward_s
    sums = [prefix_sums(np.minimum(spent / speed, most_s)) for speed in classes.speed.tolist()]
    return Trellis(
        ahead_s=np.array(sums)[homes],
        sent_s=classes.sent_s,
        members=tuple(classes.members[home] for home in homes),
        levels=_levels(layers, classes, params, kinds),
        shortest=(params.stages or 1) - 1,
    )


def count_steps(classes: Sequence[tuple[int, int]], size: int, stages: int | None) -> int:
    """Return how many steps a sweep takes: states and pairs of states that follow each other, L + 1 boundaries each.

    Classes are pairs of how many devices they have, and on how many islands.
    """
    counts = np.array([count for count, _ in classes])
    runs = np.array([count // islands if islands > 1 else 1 for count, islands in classes])
    if prod((counts + 1).tolist()) > MOST_SETS:
        return int(prod((counts + 1).tolist())) * (size + 1)
    behind = _sets(counts)
    behind = behind[behind.sum(axis=1) < min(size, stages or size)]
    turns, followers = (behind < counts).astype(np.int64), (behind > 0) @ runs
    # A run on an island has one way to go on; its first turn, like one of a class of one island, has all.
    states = int((turns @ runs).sum())
    return (states + int((turns.sum(axis=1) * followers + turns @ (runs - 1)).sum())) * (size + 1)


def merge_classes(layers: Layers, cluster: Cluster, params: LineParams, limit: int) -> Classes:
    """Return classes of devices that a sweep takes at most so many steps over, joined or merged if need be.

    Islands are joined first; then links become as good as the best between the same machines; then devices that are
    merely alike are merged, into one class at last.
    """
    groups = equivalent_devices(cluster, params)
    if steps_of(layers, params, groups) <= limit:
        return classes_of(layers, cluster, groups)
    for relaxed in (cluster, relax_by_machine(layers, cluster)):
        groups, islands = join_classes(relaxed, equivalent_devices(relaxed, params), params)
        if steps_of(layers, params, groups, islands) <= limit:
            return classes_of(layers, relaxed, groups, islands)
    for count in range(MERGED, 0, -1):
        groups = group_alike(cluster, count)
        if steps_of(layers, params, groups) <= limit:
            break
    return classes_of(layers, cluster, groups)


def steps_of(layers: Layers, params: LineParams, groups: Groups, islands: tuple[int, ...] = ()) -> int:
    """Return the steps of groups of devices, on one island each unless stated."""
    sizes = zip(groups, islands or (1,) * len(groups), strict=True)
    return count_steps([(len(group), count) for group, count in sizes], layers.size, params.stages)


def kinds_of(classes: Classes) -> Kinds:
    """Return the kinds of turns."""
    rows = [
        (c, run, run)
        for c, (members, islands) in enumerate(zip(classes.members, classes.islands.tolist(), strict=True))
        for run in range(len(members) // islands if islands > 1 else 1)
    ]
    home, run, _ = np.array(rows).T
    via = classes.link[np.ix_(home, home)]
    same, several = home[:, None] == home, (classes.islands > 1)[home][:, None]
    inside, goes_on = run[:, None] > 0, run[:, None] == run + 1
    via = np.where(same & several & ~inside, classes.across[home][:, None], via)
    via = np.where(inside & ~(same & goes_on), -1, via)
    # The last turn on an island leads to another one, all others to the same: two owners.
    opens = np.append(True, (home[1:] != home[:-1]) | (run[1:] == 1))
    return Kinds(home, run, np.cumsum(opens) - 1, via)


def _sets(counts: IntArray) -> IntArray:
    """Return how many devices of each class are in every set that can be told apart, [sets, c]."""
    return np.indices(tuple((counts + 1).tolist())).reshape(len(counts), -1).T


def _levels(layers: Layers, classes: Classes, params: LineParams, kinds: Kinds) -> tuple[Level, ...]:
    """Return the states with each number of devices behind: how many of each class, and the kind of turn."""
    counts = np.array([len(members) for members in classes.members])
    behind = _sets(counts)
    strides = np.append(np.cumprod((counts + 1)[:0:-1])[::-1], 1)[kinds.home]
    total = behind.sum(axis=1)
    place = np.full((len(behind), len(kinds.home)), -1)
    memory = Holdings(layers, classes, params)
    levels: list[Level] = []
    # Built from the end, since what a stage holds depends on how many are behind it.
    for after in range(min(int(counts.sum()), layers.size, params.stages or layers.size)):
        codes = np.flatnonzero(total == after)
        there = behind[codes][:, kinds.home]
        kind, row = np.nonzero(((there < counts[kinds.home]) & (there >= kinds.run)).T)
        place[codes[row], kind] = np.arange(len(kind))
        options, via = _options(place, there[row], (codes[row], kind, strides), kinds) if after else (NONE, NONE)
        owner = kinds.owner[kind]
        homes = dict(zip(owner.tolist(), kinds.home[kind].tolist(), strict=True))
        windows = {c: memory.windows(home, after) for c, home in sorted(homes.items())}
        levels.append(Level(owner=owner, options=options, via=via, windows=windows))
    return tuple(levels)


def _options(
    place: IntArray, there: IntArray, at: tuple[IntArray, IntArray, IntArray], kinds: Kinds
) -> tuple[IntArray, IntArray]:
    """Return states with one device less behind, -1 for none, and the links to them, in as few columns as hold all."""
    codes, kind, strides = at
    via = kinds.via[kind]
    columns = np.arange(len(kinds.home))
    options = np.where((there > 0) & (via >= 0), place[codes[:, None] - strides, columns], -1)
    # States differ in how many can be behind them; what is missing goes to the end, and columns of nothing away.
    order = np.argsort(options < 0, axis=1, kind="stable")[:, : int((options >= 0).sum(axis=1).max(initial=0))]
    return np.take_along_axis(options, order, axis=1), np.maximum(np.take_along_axis(via, order, axis=1), 0)


class Holdings:
    """Return which runs of layers a device of a class can hold."""

    def __init__(self, layers: Layers, classes: Classes, params: LineParams) -> None:
        self._layers, self._classes, self._params = layers, classes, params
        self._kept: dict[tuple[float, float, tuple[int, ...]], Windows] = {}

    def windows(self, number: int, after: int) -> Windows:
        """Return those of a class with so many stages behind."""
        flying, memory = self._params.in_flight(after), float(self._classes.memory_bytes[number])
        pinned = set(self._params.pinned.values())
        hosts = tuple(device for device in self._classes.members[number] if device in pinned)
        key = (flying, memory, hosts)
        if key not in self._kept:
            limits = admitted_ends(self._layers.size, self._params.pinned, hosts)
            self._kept[key] = Windows.of(np.minimum(fitting_ends(self._layers, memory, flying), limits))
        return self._kept[key]
