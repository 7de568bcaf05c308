"""Grids of devices to try besides those that searches find."""

from collections.abc import Iterator, Mapping
from itertools import islice

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.chain.baselines import uniform_cuts
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


def distinct_orders(device_types: IntArray, count: int) -> Iterator[tuple[int, ...]]:
    """Yield `count` devices in all orders that differ by more than equal devices, those of the first devices first."""
    equal_devices = [np.flatnonzero(device_types == each).tolist() for each in np.unique(device_types)]

    def extend(order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(order) == count:
            yield order
            return
        for devices in equal_devices:
            spare = next((device for device in devices if device not in order), None)
            if spare is not None:
                yield from extend((*order, spare))

    yield from extend(())


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
