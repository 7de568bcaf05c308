"""Hardware as levels of groups: units are as far apart as the outermost level says that separates them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray, lock
from tiger.model.metrics import DENSE_LIMIT, DenseMetric, TreeMetric
from tiger.model.topology import Topology

FIELD = "levels"


class Hardware(Protocol):
    """Stand for hardware that a file describes, whose distances may be stated anew."""

    @property
    def distances(self) -> Mapping[str, float]:
        """Return the distance of every level by its name, innermost first."""
        ...

    def topology(self, stated: Mapping[str, float]) -> Topology:
        """Return the topology for the distances stated of some of its levels; other names play no part."""
        ...


class Level(NamedTuple):
    """Hold the name of a level, the distance of units in different groups of it, and the group of every unit."""

    name: str
    distance: float
    group: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LevelHardware:
    """Hold units by name and the levels that separate them, outermost first; the last one separates all units.

    `host` is the machine that all units are inside, if they are; `remarks` are what a reader found odd.
    """

    names: tuple[str, ...]
    levels: tuple[Level, ...]
    host: str | None = None
    remarks: tuple[str, ...] = ()

    @property
    def distances(self) -> dict[str, float]:
        """Return the distance of every level by its name, innermost first."""
        return {level.name: level.distance for level in reversed(self.levels)}

    def topology(self, stated: Mapping[str, float]) -> Topology:
        """Return the units, without links; a level that is not stated keeps its proportion to the next one inside it.

        Equal groups one after another make a tree of any size. Raises InputError of `topology` for more than 8,192
        units in others, and of `levels` for distances that fall from a level to one around it.
        """
        distances = fill_distances(self.distances, stated)
        cuts = _refine([level._replace(distance=distances[level.name]) for level in self.levels])
        for outer, inner in pairwise(cuts):
            if outer.distance < inner.distance:
                what = f"expected at least {inner.distance:g}, the distance of {inner.name} inside it"
                raise InputError(f"{FIELD}/{outer.name}", f"{what}, got {outer.distance:g}")
        whole = np.zeros(len(self.names), np.int64)
        fanouts = find_fanouts([whole, *(cut.group for cut in cuts[:-1])])
        rising = tuple(cut.distance for cut in reversed(cuts))
        metric = _measure(cuts) if fanouts is None else TreeMetric(fanouts, rising)
        return Topology(names=self.names, metric=metric, host=self.host, remarks=self.remarks)


def list_distances(levels: Sequence[str]) -> list[float]:
    """Return the distances of levels outermost first, as if each were a switch: 2 for the innermost, then 2 more."""
    return [2.0 * height for height in range(len(levels), 0, -1)]


def number_groups(values: Sequence[str]) -> IntArray:
    """Return the number of each value, in the order in which they come."""
    number: dict[str, int] = {}
    return np.array([number.setdefault(value, len(number)) for value in values], np.int64)


def fill_distances(usual: Mapping[str, float], stated: Mapping[str, float]) -> dict[str, float]:
    """Return the distances of levels, innermost first: those stated, and others in proportion to the one before."""
    scale, distances = 1.0, dict[str, float]()
    for name, distance in usual.items():
        if name in stated and distance > 0:
            scale = stated[name] / distance
        distances[name] = stated.get(name, distance * scale)
        if not math.isfinite(distances[name]):
            raise InputError(f"{FIELD}/{name}", f"expected a finite distance, got {distance:g} * {scale:g}")
    return distances


def find_fanouts(levels: Sequence[IntArray]) -> tuple[int, ...] | None:
    """Return the fan-outs of nested groups, outermost first; None unless they make one regular tree.

    In a regular tree the groups of a level hold as many units, one after another, and the first level is one group.
    """
    sizes = list[int]()
    for group in levels:
        begins = np.flatnonzero(np.diff(group, prepend=-1))
        held = np.diff(begins, append=len(group))
        if len(np.unique(group)) != len(begins) or (held != held[0]).any():
            return None
        sizes.append(int(held[0]))
    if not sizes or sizes[0] != len(levels[0]):
        return None
    return tuple(outer // inner for outer, inner in pairwise([*sizes, 1]))


def _refine(levels: Sequence[Level]) -> list[Level]:
    """Return the levels that separate units which none around them does, with groups that lie in one another."""
    key, cuts = np.zeros_like(levels[0].group), list[Level]()
    for level in levels:
        finer = np.unique(key * (level.group.max() + 1) + level.group, return_inverse=True)[1].astype(np.int64)
        if finer.max() > key.max():
            cuts.append(level._replace(group=finer))
        key = finer
    return cuts or [levels[-1]._replace(group=key)]


def _measure(cuts: Sequence[Level]) -> DenseMetric:
    """Return the distances between all units as a matrix."""
    count = len(cuts[0].group)
    if count > DENSE_LIMIT:
        what = "a regular tree, with as many units in every group of a level and listed in that order"
        raise InputError("topology", f"expected {what}, or at most {DENSE_LIMIT} units, got {count} in another")
    table = np.zeros((count, count))
    for cut in reversed(cuts):
        table[cut.group[:, None] != cut.group[None, :]] = cut.distance
    return DenseMetric(lock(table))
