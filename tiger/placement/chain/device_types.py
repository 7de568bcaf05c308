"""Types of devices: those that can stand for each other in a line."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.chain.params import LineParams
from tiger.training.hardware.cluster import NO_LINK, Cluster
from tiger.training.models.layers import Layers

Groups = tuple[tuple[int, ...], ...]
# All pairs of types, and each with all third ones, are compared up to here.
MOST_TYPES = 128


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceTypes:
    """Hold c types of devices, and the seconds of all messages between two devices over each boundary.

    `link[c, c]` are rows of `sent_s[x, L + 1]`, which counts activations forward and gradients back. The members of a
    type lie, in their order, on `islands[c]` islands of as many each, such as machines or NVLink domains; `link[c, c]`
    holds on one, `across[c]` between two of them.
    """

    members: Groups
    speed: FloatArray
    memory_bytes: FloatArray
    link: IntArray
    sent_s: FloatArray
    islands: IntArray
    across: IntArray


def group_equal_devices(cluster: Cluster, params: LineParams) -> Groups:
    """Return the devices of each type that can be exchanged without any effect; a device with a pin is alone.

    Types and devices are in the order of the cluster. O(n^2).
    """
    label = cluster.device_types().copy()
    alone = sorted(set(params.pinned.values()))
    label[alone] = label.max() + 1 + np.arange(len(alone))
    return _group_by_label(label.tolist())


def group_similar_devices(cluster: Cluster, count: int) -> Groups:
    """Return at most so many groups of devices by speed and memory: equal ones first, then similar ones."""
    properties = np.stack([cluster.speed, cluster.memory_bytes])
    _, label = np.unique(properties, axis=1, return_inverse=True)
    # np.unique sorts by speed first, so that neighbours in number are near in speed.
    label = label.reshape(-1) * min(count, int(label.max()) + 1) // (int(label.max()) + 1)
    return _group_by_label(label.tolist())


def join_exchangeable(cluster: Cluster, groups: Groups, params: LineParams) -> tuple[Groups, tuple[int, ...]]:
    """Return exact types with those joined that can be exchanged as a whole, and how many of them each consists of.

    Above 128 types, and with pins, they stay as they are. O(c^3).
    """
    if len(groups) > MOST_TYPES:
        return groups, (1,) * len(groups)
    pinned = set(params.pinned.values())
    link = cluster.link[np.ix_([group[0] for group in groups], [group[-1] for group in groups])]
    joined: dict[int, list[int]] = {}
    for c, group in enumerate(groups):
        # A device with a pin is no match for another.
        others = [f for f in joined if pinned.isdisjoint((*group, *groups[f]))]
        first = next((f for f in others if _are_exchangeable(cluster, groups, link, (f, c))), c)
        joined.setdefault(first, []).append(c)
    return (
        tuple(tuple(device for c in members for device in groups[c]) for members in joined.values()),
        tuple(len(members) for members in joined.values()),
    )


def device_types_of(layers: Layers, cluster: Cluster, groups: Groups, islands: tuple[int, ...] = ()) -> DeviceTypes:
    """Return types as good in speed, memory and links as the best of their devices; O(n^2 + c^2 curves L)."""
    islands = islands or (1,) * len(groups)
    times = [2 * curve.of(layers.crossing_bytes) for curve in cluster.curves]
    rows = [*times, np.where(layers.crossing_bytes > 0, np.inf, 0.0)]
    link = np.empty((len(groups), len(groups)), np.int64)
    for a, first in enumerate(groups):
        for b, second in enumerate(groups[:a]):
            link[a, b] = link[b, a] = _best_row(rows, cluster.link[np.ix_(first, second)], len(times))
        island = list(first[: len(first) // islands[a]])
        between = cluster.link[np.ix_(island, island)]
        link[a, a] = _best_row(rows, between[~np.eye(len(island), dtype=bool)], len(times))
    across = [_best_row(rows, cluster.link[group[0], group[-1:]], len(times)) for group in groups]
    return DeviceTypes(
        members=groups,
        speed=np.array([cluster.speed[list(group)].max() for group in groups]),
        memory_bytes=np.array([cluster.memory_bytes[list(group)].max() for group in groups]),
        link=link,
        sent_s=np.array(rows),
        islands=np.array(islands),
        across=np.array(across),
    )


def _are_exchangeable(cluster: Cluster, groups: Groups, link: IntArray, pair: tuple[int, int]) -> bool:
    """Return whether two groups can be exchanged: equal sizes, devices and links inside, and to every third group."""
    a, b = pair
    firsts = [groups[a][0], groups[b][0]]
    same = len(groups[a]) == len(groups[b]) and link[a, a] == link[b, b]
    same = same and all(len(set(values[firsts].tolist())) == 1 for values in (cluster.speed, cluster.memory_bytes))
    differs = link[a] != link[b]
    differs[[a, b]] = False
    return bool(same and not differs.any())


def _best_row(rows: list[FloatArray], links: IntArray, curves: int) -> int:
    """Return the row of the best of some links, a new one if none of them is the best for every size."""
    seen = np.unique(links[links != NO_LINK]).tolist()
    if len(seen) > 1:
        rows.append(np.min([rows[curve] for curve in seen], axis=0))
        return len(rows) - 1
    return seen[0] if seen else curves


def _group_by_label(labels: Sequence[int]) -> Groups:
    """Return the devices of each label, labels by their first device."""
    groups: dict[int, list[int]] = {}
    for device, label in enumerate(labels):
        groups.setdefault(label, []).append(device)
    return tuple(tuple(group) for group in groups.values())
