"""Hardware as levels of groups: units are as far apart as the outermost level says that separates them."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray, lock
from tiger.model.metrics import DENSE_LIMIT, DenseMetric, TreeMetric
from tiger.model.resources import Resources
from tiger.model.topology import Links, Topology
from tiger.model.wiring import cut_links

FIELD = "levels"


class DescribedHardware(Protocol):
    """Stand for hardware that a file describes, whose distances may be stated anew."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the nodes that the topology has."""
        ...

    @property
    def distances(self) -> Mapping[str, float]:
        """Return the distance of every level by its name, innermost first."""
        ...

    def cut(self, needed: Collection[str]) -> "DescribedHardware":
        """Return the hardware for a job that needs some nodes and switches, at the same distances from each other.

        Others are left out where they would have to be measured, unless they are between two that are needed.
        """
        ...

    def topology(self, given: Mapping[str, float]) -> Topology:
        """Return the topology for the distances stated of some of its levels; other names play no part."""
        ...


class Level(NamedTuple):
    """Hold the name of a level, the distance of units in different groups of it, and the group of every unit.

    `titles` are what its groups are called, by their numbers, nothing where they have no names.
    """

    name: str
    distance: float
    group: IntArray
    titles: tuple[str, ...] = ()


class _Tier(NamedTuple):
    """Hold the switches of one level by name, the switch above every unit, and how far apart its units are."""

    names: tuple[str, ...]
    group: IntArray
    distance: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LevelHardware:
    """Hold units by name and the levels that separate them, outermost first; the last one separates all units.

    `host` is the machine that all units are inside, if they are; `remarks` are what a reader found odd. `cores` are
    those of the machine, where they are known, and `resources` what of it each unit is; `slots` how many tasks it takes
    where that is stated. `needed` are the units and switches of a job where others play no part.
    """

    names: tuple[str, ...]
    levels: tuple[Level, ...]
    host: str | None = None
    remarks: tuple[str, ...] = ()
    cores: tuple[Resources, ...] = ()
    resources: tuple[Resources, ...] = ()
    slots: tuple[int, ...] = ()
    needed: frozenset[str] | None = None

    @property
    def distances(self) -> dict[str, float]:
        """Return the distance of every level by its name, innermost first."""
        return {level.name: level.distance for level in reversed(self.levels)}

    def cut(self, needed: Collection[str]) -> "LevelHardware":
        """Return the units for a job that needs some of them, and switches; those of one machine all stay."""
        return self if self.host is not None else replace(self, needed=frozenset(needed))

    def topology(self, given: Mapping[str, float]) -> Topology:
        """Return the units; a level that is not stated keeps its proportion to the next one inside it.

        Equal groups one after another make a tree of any size. Every group is a switch, and so is `top` around all,
        called by its title, or LEVEL:NUMBER where that is not one of its own. Links between them add up to the
        distances; a group that is no farther from others than its units from each other is no switch then. Raises
        InputError of `topology` for more than 8,192 units in others, and of `levels` for distances that fall from a
        level to one around it.
        """
        distances = fill_distances(self.distances, given)
        cuts = _refine([level._replace(distance=distances[level.name]) for level in self.levels])
        for outer, inner in pairwise(cuts):
            if outer.distance < inner.distance:
                what = f"expected at least {inner.distance:g}, the distance of {inner.name} inside it"
                raise InputError(f"{FIELD}/{outer.name}", f"{what}, got {outer.distance:g}")
        tiers = self._list_tiers(cuts)
        fanouts = find_fanouts([tier.group for tier in reversed(tiers)])
        if fanouts is None:
            return self._describe_units(self._measure_uneven(cuts, tiers))
        metric = TreeMetric(fanouts, tuple(cut.distance for cut in reversed(cuts)))
        switches = tuple(name for tier in tiers for name in tier.names)
        switches = switches if set(switches).isdisjoint(self.names) else ()
        whole = Topology(names=self.names, metric=metric, switches=switches, host=self.host, remarks=self.remarks)
        return self._describe_units(whole)

    def _describe_units(self, units: Topology) -> Topology:
        """Return units with what of a machine they are, and their slots, of which none has been left out then."""
        if not self.resources:
            return units
        slots = np.array(self.slots, np.int64)
        return replace(units, slots=slots, slots_stated=bool(self.slots), resources=self.resources)

    def _measure_uneven(self, cuts: Sequence[Level], tiers: Sequence[_Tier]) -> Topology:
        """Return the units of groups that make no regular tree, those needed alone where the hardware is cut."""
        tiers = [tier for tier, outer in pairwise(tiers) if tier.distance < outer.distance] + [tiers[-1]]
        ends = (*self.names, *(name for tier in tiers for name in tier.names))
        links = _join(tiers) if tiers[0].distance > 0 and len(set(ends)) == len(ends) else None
        if links is None:
            ends = self.names
        kept = np.ones(len(ends), bool)
        if self.needed is not None:
            kept = np.array([name in self.needed for name in ends], bool)
            kept, links = (kept, None) if links is None else cut_links(links, kept)
        left, count = [name for name, stays in zip(ends, kept.tolist(), strict=True) if stays], len(self.names)
        units = np.flatnonzero(kept[:count])
        return Topology(
            names=tuple(left[: len(units)]),
            metric=_measure([cut._replace(group=cut.group[units]) for cut in cuts]),
            links=links,
            switches=tuple(left[len(units) :]),
            host=self.host,
            remarks=self.remarks,
        )

    def _list_tiers(self, cuts: Sequence[Level]) -> list[_Tier]:
        """Return the groups of every level as switches, innermost first, and the one around all."""
        known = Counter(title for cut in cuts for title in cut.titles)
        tiers = [_Tier(("top",), np.zeros(len(self.names), np.int64), cuts[0].distance)]
        for cut, inner in pairwise(cuts):
            titles = cut.titles or ("",) * (int(cut.group.max()) + 1)
            usual = enumerate(titles)
            names = (title if title and known[title] == 1 else f"{cut.name}:{k}" for k, title in usual)
            tiers.append(_Tier(tuple(names), cut.group, inner.distance))
        return tiers[::-1]


def make_levels(names: Sequence[str], values: Sequence[Sequence[str]]) -> tuple[Level, ...]:
    """Return levels outermost first by the values that units have there, which are the titles of their groups.

    Distances are as if each were a switch: 2 for the innermost, then 2 more.
    """
    levels = list[Level]()
    for height, name, titles in zip(range(len(names), 0, -1), names, values, strict=True):
        number = {title: k for k, title in enumerate(dict.fromkeys(titles))}
        group = np.array([number[title] for title in titles], np.int64)
        levels.append(Level(name, 2.0 * height, group, tuple(number)))
    return tuple(levels)


def fill_distances(usual: Mapping[str, float], given: Mapping[str, float]) -> dict[str, float]:
    """Return the distances of levels, innermost first: those stated, and others in proportion to the one before."""
    scale, distances = 1.0, dict[str, float]()
    for name, distance in usual.items():
        if name in given and distance > 0:
            scale = given[name] / distance
        distances[name] = given.get(name, distance * scale)
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
        widths = np.diff(begins, append=len(group))
        if len(np.unique(group)) != len(begins) or (widths != widths[0]).any():
            return None
        sizes.append(int(widths[0]))
    if not sizes or sizes[0] != len(levels[0]):
        return None
    return tuple(outer // inner for outer, inner in pairwise([*sizes, 1]))


def _refine(levels: Sequence[Level]) -> list[Level]:
    """Return the levels that separate units which none around them does, with groups that lie in one another.

    Groups are numbered in the order of their first units.
    """
    key, cuts = np.zeros_like(levels[0].group), list[Level]()
    for level in levels:
        pairs = key * (level.group.max() + 1) + level.group
        _, first, sorted_group = np.unique(pairs, return_index=True, return_inverse=True)
        finer = np.argsort(np.argsort(first))[sorted_group]
        if finer.max() > key.max():
            titles = tuple(level.titles[k] for k in level.group[np.sort(first)].tolist()) if level.titles else ()
            cuts.append(level._replace(group=finer, titles=titles))
        key = finer
    return cuts or [levels[-1]._replace(group=key)]


def _join(tiers: Sequence[_Tier]) -> Links:
    """Return the links from units up to the switch around all, those of a switch where its first unit is."""
    count = len(tiers[0].group)
    below, height, ends, lengths = np.arange(count), 0.0, list[IntArray](), list[FloatArray]()
    for tier in tiers:
        lower, first = np.unique(below, return_index=True)
        below, count = count + tier.group, count + len(tier.names)
        ends.append(np.column_stack([lower, below[first]]))
        lengths.append(np.full(len(lower), (tier.distance - height) / 2))
        height = tier.distance
    links = Links.unit(np.concatenate(ends))
    return replace(links, weight=np.concatenate(lengths))


def _measure(cuts: Sequence[Level]) -> DenseMetric:
    """Return the distances between all units as a matrix."""
    count = len(cuts[0].group)
    if count > DENSE_LIMIT:
        what = "a regular tree, with as many units in every group of a level and listed in that order"
        most = f"at most {DENSE_LIMIT} units, of an allocation where there is one"
        raise InputError("topology", f"expected {what}, or {most}, got {count} in another")
    table = np.zeros((count, count))
    for cut in reversed(cuts):
        table[cut.group[:, None] != cut.group[None, :]] = cut.distance
    return DenseMetric(lock(table))
