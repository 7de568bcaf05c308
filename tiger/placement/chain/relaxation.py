"""A cluster whose links are all as good as the best between the same machines."""

from dataclasses import replace

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.hardware.cluster import NO_LINK, Cluster, Curve
from tiger.training.models.layers import Layers

# Pairs of machines are compared one by one in Python: at most 8,256 of them.
MOST_MACHINES = 128


def relax_by_machine(layers: Layers, cluster: Cluster) -> Cluster:
    """Return the cluster with every link between two machines, or in one, as fast as the fastest of these.

    For each size that crosses a boundary; no line over the devices gets slower. Devices of a machine then differ by
    speed and memory alone. Above 128 machines the cluster as it is. O(n^2 + machines^2 curves L).
    """
    machines = [np.flatnonzero(cluster.machine == number) for number in np.unique(cluster.machine)]
    if len(machines) > MOST_MACHINES:
        return cluster
    curves, link = list(cluster.curves), cluster.link.copy()
    sizes = _sizes(layers)
    for a, first in enumerate(machines):
        for second in machines[: a + 1]:
            links = link[np.ix_(first, second)]
            if (links != NO_LINK).any():
                best = _fastest_curve(curves, np.unique(links[links != NO_LINK]), sizes)
                link[np.ix_(first, second)] = link[np.ix_(second, first)] = best
    np.fill_diagonal(link, NO_LINK)
    return replace(cluster, curves=tuple(curves), link=link)


def _sizes(layers: Layers) -> FloatArray:
    """Return the sizes of messages, rising, and two more so that there are at least two."""
    sizes = np.unique(layers.crossing_bytes[layers.crossing_bytes > 0])
    last = sizes.max(initial=1.0)
    return np.append(sizes, [last * 2, last * 3])


def _fastest_curve(curves: list[Curve], numbers: IntArray, sizes: FloatArray) -> int:
    """Return the number of the fastest of some curves, or of a new one as fast as the fastest for each size."""
    times = np.array([curves[number].of(sizes) for number in numbers])
    least = times.min(axis=0)
    same = (times == least).all(axis=1)
    if same.any():
        return int(numbers[np.argmax(same)])
    curves.append(Curve(size_bytes=sizes, seconds=least))
    return len(curves) - 1
