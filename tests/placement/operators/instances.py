"""Small operator graphs and clusters."""

import numpy as np

from tiger.placement.operators.terms import Terms
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.operators import Operators


def cluster(kinds: str, memory_bytes: float = np.inf) -> Cluster:
    """Return devices, `a` an accelerator and `c` a cpu, linked by 1 byte/s to their neighbours and by 2 to others."""
    size = len(kinds)
    near = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) == 1
    return Cluster(
        names=tuple(f"d{k}" for k in range(size)),
        speed=np.ones(size),
        memory_bytes=np.full(size, memory_bytes),
        curves=(Curve.affine(1.0, 0.0), Curve.affine(2.0, 0.0)),
        link=np.where(near, 0, 1),
        kinds=tuple("cpu" if kind == "c" else "accelerator" for kind in kinds),
    )


def draw_terms(seed: int) -> Terms:
    """Draw terms: up to twelve operators in groups, on up to four devices, the last perhaps a cpu."""
    rng = np.random.default_rng(seed)
    size, devices = int(rng.integers(1, 13)), int(rng.integers(1, 5))
    source, target = np.nonzero(np.triu(rng.random((size, size)) < 0.3, 1))
    operators = Operators(
        names=tuple(f"op{k}" for k in range(size)),
        seconds=rng.integers(0, 9, size).astype(float),
        cpu_s=rng.integers(0, 30, size).astype(float),
        memory_bytes=rng.integers(0, 5, size).astype(float),
        sent_s=rng.integers(0, 3, size).astype(float),
        sent_bytes=rng.integers(0, 4, size).astype(float),
        source=source,
        target=target,
        colour=rng.integers(0, max(1, 2 * size // 3), size),
    )
    kinds = "a" * (devices - 1) + ("c" if devices > 1 and rng.random() < 0.5 else "a")
    return Terms.from_operators(operators, cluster(kinds, 8.0 + float(operators.memory_bytes.sum()) / devices), {})
