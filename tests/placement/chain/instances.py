"""Small chains and clusters, and what trying everything finds for them."""

import math
from collections.abc import Iterator
from itertools import combinations, pairwise, permutations

import numpy as np

from tiger.placement.chain.params import LineParams
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import Position, position_of, transfers_s, workloads
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers


def layers_of(
    seconds: list[float],
    sent: list[float] | None = None,
    state: list[float] | None = None,
    held: list[float] | None = None,
    tied: tuple[tuple[int, ...], ...] = (),
) -> Layers:
    """Return layers of so many seconds, half of them forward, that send `sent` bytes each to the next."""
    size = len(seconds)
    return Layers(
        names=tuple(f"l{k}" for k in range(size)),
        forward_s=np.array(seconds) / 2,
        backward_s=np.array(seconds) / 2,
        parameter_bytes=np.array(state or [1.0] * size),
        held_bytes=np.array(held or [0.0] * size),
        crossing_bytes=np.array([0.0, *(sent or [0.0] * (size - 1)), 0.0]),
        tied=tied,
    )


def cluster_of(
    speed: list[float], link: list[list[int]] | None = None, memory: float | list[float] = math.inf
) -> Cluster:
    """Return devices whose links carry 1, 2, 4 bytes a second by their number, all of number 0 unless stated."""
    size = len(speed)
    return Cluster(
        names=tuple(f"d{k}" for k in range(size)),
        speed=np.array(speed),
        memory_bytes=np.broadcast_to(np.array(memory, np.float64), size).copy(),
        curves=tuple(Curve.affine(2.0**k, 0.0) for k in range(3)),
        link=np.array(link) if link else np.zeros((size, size), np.int64),
    )


def draw_case(seed: int, size: int, devices: int) -> tuple[Layers, Cluster, LineParams]:
    """Draw a chain of at most `size` layers, at most `devices` devices, memory, links, ties, pins and a schedule."""
    rng = np.random.default_rng(seed)
    count, units = int(rng.integers(1, size + 1)), int(rng.integers(1, devices + 1))
    state = rng.integers(0, 6, count).astype(float)
    held = rng.integers(0, 3, count) * (rng.random() < 0.6)
    tied = ()
    if count > 2 and rng.random() < 0.5:
        tied = (tuple(sorted(rng.choice(count, int(rng.integers(2, 4)), replace=False).tolist())),)
        state[list(tied[0])] = np.where(rng.random() < 0.7, state[tied[0][0]], state[list(tied[0])])
    seconds = rng.integers(0, 5, count) if rng.random() < 0.5 else rng.random(count)
    sent = rng.integers(0, 4, count - 1) if rng.random() < 0.5 else rng.random(count - 1)
    link = np.triu(rng.integers(-(rng.random() < 0.4), int(rng.integers(1, 4)), (units, units)), 1)
    caps = [math.inf, state.sum() * 0.7, state.sum() * 0.5 + 2]
    flying = int(rng.integers(0, 5))
    pins = {int(rng.integers(count)): int(rng.integers(units)) for _ in range(int(rng.integers(0, 3)))}
    return (
        layers_of(seconds.tolist(), sent.tolist(), state.tolist(), held.tolist(), tied),
        cluster_of(
            rng.choice([0.5, 1.0, 2.0], units).tolist(), (link + link.T).tolist(), rng.choice(caps, units).tolist()
        ),
        LineParams(
            stages=int(rng.integers(1, min(units, count) + 1)) if rng.random() < 0.3 else None,
            in_flight=lambda after: min(flying, after + 1),
            pinned=pins if rng.random() < 0.4 else {},
        ),
    )


def all_cuts(size: int, stages: int) -> Iterator[tuple[int, ...]]:
    """Yield all cuts into stages."""
    return ((0, *inner, size) for inner in combinations(range(1, size), stages - 1))


def loads_of(
    layers: Layers, cluster: Cluster, params: LineParams, line: tuple[tuple[int, ...], tuple[int, ...]]
) -> np.ndarray:
    """Return the loads of devices and cuts, infinite where they are not allowed."""
    devices, cuts = line
    work = workloads(layers, cluster, Plan.line(cuts, devices))[0]
    flying = np.array([params.in_flight(len(devices) - 1 - stage) for stage in range(len(devices))])
    over = work.state_bytes + flying * work.held_bytes > cluster.memory_bytes[list(devices)]
    holder = [device for device, (i, j) in zip(devices, pairwise(cuts), strict=True) for _ in range(i, j)]
    astray = any(holder[layer] != device for layer, device in params.pinned.items())
    return np.full(len(devices), np.inf) if over.any() or astray else work.loads_s


def best_of_all(layers: Layers, cluster: Cluster, params: LineParams) -> tuple[float, int, tuple[int, ...]]:
    """Return the least bottleneck, rounded, of all lines, and of the lines with it the fewest and first devices."""
    counts = [params.stages] if params.stages else range(1, min(layers.size, cluster.size) + 1)
    return min(
        (
            (round(float(loads_of(layers, cluster, params, (devices, cuts)).max()), 10), count, devices)
            for count in counts
            for devices in permutations(range(cluster.size), count)
            for cuts in all_cuts(layers.size, count)
        ),
    )


def positions_of(layers: Layers, cluster: Cluster, devices: tuple[int, ...]) -> tuple[list[Position], np.ndarray]:
    """Return the positions of devices, and the seconds of messages between them."""
    ends = [np.array([[device]]) for device in devices]
    sent = [transfers_s(layers, cluster, a, b) for a, b in pairwise(ends)]
    positions = [position_of(layers, cluster, end) for end in ends]
    return positions, np.array(sent).reshape(len(devices) - 1, layers.size + 1)
