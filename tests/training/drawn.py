"""Small models and clusters of all rooms on networks, and an oracle that tries every order of devices."""

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers


@pytest.fixture(scope="session", name="drawn_layers")
def _drawn_layers() -> Callable[..., Layers]:
    return drawn_layers


@pytest.fixture(scope="session", name="drawn_cluster")
def _drawn_cluster() -> Callable[..., Cluster]:
    return drawn_cluster


@pytest.fixture(scope="session", name="least_of_all_orders")
def _least_of_all_orders() -> Callable[[Layers, Cluster], float]:
    return least_of_all_orders


def drawn_layers(size: int, seed: int) -> Layers:
    """Return random layers; the bytes that cross are of the order of what a second's link carries."""
    rng = np.random.default_rng(seed)
    crossing = np.pad(rng.uniform(0, 2, size - 1), 1)
    return Layers(
        names=tuple(f"l{k}" for k in range(size)),
        forward_s=rng.uniform(0.5, 2, size),
        backward_s=rng.uniform(0.5, 4, size),
        parameter_bytes=rng.uniform(1, 5, size),
        crossing_bytes=crossing,
        held_bytes=rng.uniform(0, 1, size),
    )


def drawn_cluster(size: int, seed: int, *, memory_bytes: float = np.inf) -> Cluster:
    """Return devices of random speeds, every link of its own bandwidth."""
    rng = np.random.default_rng(seed)
    pairs = list(zip(*np.triu_indices(size, 1), strict=True))
    link = np.full((size, size), -1)
    for number, (a, b) in enumerate(pairs):
        link[a, b] = link[b, a] = number
    return Cluster(
        names=tuple(f"d{k}" for k in range(size)),
        speed=rng.choice([0.5, 1.0], size) if seed % 2 else np.ones(size),
        memory_bytes=np.full(size, memory_bytes),
        curves=tuple(Curve.affine(float(rng.choice([0.5, 1.0, 4.0])), 0.0) for _ in pairs),
        link=link,
    )


def least_of_all_orders(layers: Layers, cluster: Cluster) -> float:
    """Return the least bottleneck over all orders, subsets and cuts, by a dynamic program for each order."""
    orders = np.array(list(permutations(range(cluster.size))))
    work = np.concatenate([[0.0], np.cumsum(layers.forward_s + layers.backward_s)])
    size, best, least = layers.size, np.zeros((len(orders), layers.size + 1)), np.inf
    best[:, 1:] = np.inf
    table = np.array([cluster.table_s(size_bytes) for size_bytes in layers.crossing_bytes])
    for stage in range(cluster.size):
        device, reached = orders[:, stage], np.full_like(best, np.inf)
        into = 2 * table[:, orders[:, stage - 1], device] if stage else np.zeros((size + 1, len(orders)))
        out = 2 * table[:, device, orders[:, stage + 1]] if stage + 1 < cluster.size else np.full_like(into, np.inf)
        out[size] = 0
        for i in range(size):
            for j in range(i + 1, size + 1):
                load = (work[j] - work[i]) / cluster.speed[device] + into[i] + out[j]
                reached[:, j] = np.minimum(reached[:, j], np.maximum(best[:, i], load))
        best, least = reached, min(least, float(reached[:, size].min()))
    return least
