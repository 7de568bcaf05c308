"""Pipelines small enough to be rebalanced by hand."""

from collections.abc import Callable

import numpy as np
import pytest

import tiger
from tests.training.drawn import _drawn_cluster, _drawn_layers  # noqa: F401 (fixtures)
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers

Make = Callable[..., tiger.Rebalancer]


def layers_of(size: int, *, state_bytes: float = 1e9, held_bytes: float = 0.0) -> Layers:
    """Return layers of 1 ms forward and 2 ms backward, whose messages take next to no time."""
    return Layers(
        names=tuple(f"l{k}" for k in range(size)),
        forward_s=np.full(size, 1e-3),
        backward_s=np.full(size, 2e-3),
        parameter_bytes=np.full(size, state_bytes),
        held_bytes=np.full(size, held_bytes),
        crossing_bytes=np.pad(np.ones(size - 1), 1),
    )


def cluster_of(count: int, *, memory_bytes: float = np.inf, bandwidth: float = 1e12) -> Cluster:
    """Return equal devices, each linked to each."""
    return Cluster(
        names=tuple(f"d{k}" for k in range(count)),
        speed=np.ones(count),
        memory_bytes=np.full(count, memory_bytes),
        curves=(Curve.affine(bandwidth, 0.0),),
        link=np.zeros((count, count), np.int64),
    )


@pytest.fixture(name="make")
def _make() -> Make:
    """Return a function that makes a rebalancer with as many layers in every stage, on the first devices."""

    def make(
        size: int = 12,
        stages: int = 3,
        *,
        spare: int = 0,
        options: tiger.RebalanceOptions | None = None,
        **costs: float,
    ) -> tiger.Rebalancer:
        layers = {name: costs[name] for name in ("state_bytes", "held_bytes") if name in costs}
        devices = {name: costs[name] for name in ("memory_bytes", "bandwidth") if name in costs}
        plan = Plan.line(tuple(size * k // stages for k in range(stages + 1)), tuple(range(stages)))
        return tiger.Rebalancer(
            layers_of(size, **layers),
            cluster_of(stages + spare, **devices),
            plan=plan,
            options=options or tiger.RebalanceOptions(),
        )

    return make
