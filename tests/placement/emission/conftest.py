"""Plans for a small transformer: an embedding, decoder layers and a head, on devices of one machine."""

from collections.abc import Callable

import numpy as np
import pytest

from tiger.placement.emission.deployment import Deployment
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers

Deploy = Callable[..., Deployment]


def transformer(decoders: int, head: float) -> Layers:
    """Return a model whose decoder layers take a second forward and two back, and whose head costs `head` of those."""
    seconds = np.array([0.0, *[1.0] * decoders, head])
    return Layers(
        names=tuple(f"op{k}" for k in range(decoders + 2)),
        forward_s=seconds,
        backward_s=2 * seconds,
        parameter_bytes=np.full(decoders + 2, 1e9),
        crossing_bytes=np.array([0.0, *[1e6] * (decoders + 1), 0.0]),
        kinds=("embedding", *["layer"] * decoders, "head"),
        modules=("tok_embeddings", *(f"layers.{k}" for k in range(decoders)), "output"),
        tied=((0, decoders + 1),),
    )


@pytest.fixture(scope="session")
def deploy() -> Deploy:
    """Return a function that cuts a transformer before the layers given, for one device a position or for a grid."""

    def make(cuts: tuple[int, ...], grid: object = None, head: float = 1.0, **fields: object) -> Deployment:
        places = np.arange(len(cuts) - 1).reshape(-1, 1, 1) if grid is None else np.asarray(grid)
        size = int(places.max()) + 1
        cluster = Cluster(
            names=tuple(f"gpu{k}" for k in range(size)),
            speed=np.ones(size),
            memory_bytes=np.full(size, np.inf),
            curves=(Curve.affine(1e9, 0.0),),
            link=np.zeros((size, size), np.int64),
        )
        defaults = {"layers": transformer(cuts[-1] - 2, head), "cluster": cluster}
        return Deployment(plan=Plan(cuts=cuts, grid=places), **(defaults | fields))

    return make
