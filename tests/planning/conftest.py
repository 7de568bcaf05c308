"""Models and clusters so small that every choice can be searched."""

from collections.abc import Callable

import numpy as np
import pytest

from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.models.sizes import Model

SHAPE = {"layers": 4, "hidden": 64, "heads": 4, "vocabulary": 100, "sequence": 32, "flops": 1e9}


@pytest.fixture(scope="session")
def shape() -> dict[str, object]:
    """Return a tiny transformer as a document."""
    return {"transformer": SHAPE}


@pytest.fixture(scope="session")
def model() -> Model:
    """Return four layers, as a model whose microbatches are as given."""
    return Model(layers_of(4))


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """Return two devices on a machine and one on another."""
    return cluster_of((0, 0, 1))


@pytest.fixture(scope="session")
def large() -> tuple[Model, Cluster]:
    """Return six layers, and two machines of two devices."""
    return Model(layers_of(6)), cluster_of((0, 0, 1, 1))


@pytest.fixture(scope="session", name="cluster_of")
def _cluster_of() -> Callable[[tuple[int, ...]], Cluster]:
    return cluster_of


def layers_of(size: int) -> Layers:
    """Return layers of 1 s forward and 2 s back, the last twice that, which may be cut in two."""
    forward = np.append(np.ones(size - 1), 2.0)
    return Layers(
        names=tuple("abcdef"[:size]),
        forward_s=forward,
        backward_s=2 * forward,
        parameter_bytes=np.full(size, 10.0),
        state_bytes=np.full(size, 40.0),
        held_bytes=np.full(size, 8.0),
        crossing_bytes=np.pad(np.full(size - 1, 2.0), 1),
        reduced_bytes=np.full(size, 4.0),
        reductions=np.full(size, 2.0),
        slices=2,
    )


def cluster_of(machine: tuple[int, ...]) -> Cluster:
    """Return devices of 200 bytes on machines: 100 bytes a second within, 10 between."""
    where = np.array(machine)
    return Cluster(
        names=tuple(f"d{k}" for k in range(len(where))),
        speed=np.ones(len(where)),
        memory_bytes=np.full(len(where), 200.0),
        curves=(Curve.affine(100.0, 0.001), Curve.affine(10.0, 0.01)),
        link=(where[:, None] != where).astype(np.int64),
        machine=where,
    )
