"""Clusters of two machines, models between them, and who functions plans."""

from collections.abc import Callable

import numpy as np
import pytest

from tiger.placement.chain.fixed_order import split
from tiger.placement.chain.params import LineParams
from tiger.placement.ranks.cost_model import ParallelDegrees
from tiger.placement.ranks.grid_search import GridFunctions
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import Workload, position_of, transfers_s, workloads
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.schedules.simulator import iteration_s

# NVLinks between the V100s of a DGX-1: one or two.
LANES = {
    (0, 1): 1, (0, 2): 1, (0, 3): 2, (1, 2): 2, (1, 3): 1, (2, 3): 2,
    (4, 5): 1, (4, 6): 1, (4, 7): 2, (5, 6): 2, (5, 7): 1, (6, 7): 2,
    (0, 4): 2, (1, 5): 2, (2, 6): 1, (3, 7): 1,
}  # fmt: skip


@pytest.fixture(scope="session", name="regular")
def _regular() -> Callable[..., Cluster]:
    return regular


@pytest.fixture(scope="session", name="irregular")
def _irregular() -> Callable[..., Cluster]:
    return irregular


@pytest.fixture(scope="session", name="transformer")
def _transformer() -> Callable[..., Layers]:
    return transformer


@pytest.fixture(scope="session", name="functions_of")
def _functions_of() -> Callable[[Layers, Cluster, ParallelDegrees], GridFunctions]:
    return functions_of


@pytest.fixture(scope="session", name="replica_s")
def _replica_s() -> Callable[[int], Callable[[Workload], float]]:
    return replica_s


def regular(machines: int = 2, devices: int = 8) -> Cluster:
    """Return machines with 100 GB/s between any two devices inside, and 10 GB/s to all others."""
    machine = np.repeat(np.arange(machines), devices)
    return Cluster(
        names=tuple(f"d{k}" for k in range(len(machine))),
        speed=np.ones(len(machine)),
        memory_bytes=np.full(len(machine), np.inf),
        curves=(Curve.affine(100e9, 5e-6), Curve.affine(10e9, 15e-6)),
        link=(machine[:, None] != machine).astype(np.int64),
        machine=machine,
    )


def irregular(machines: int = 2) -> Cluster:
    """Return some DGX-1: 48 or 24 GB/s over NVLinks, 9 GB/s without, and 12 GB/s by each of eight NICs."""
    size = 8 * machines
    link = np.full((size, size), 3)
    for base in range(0, size, 8):
        link[base : base + 8, base : base + 8] = 2
        for (a, b), lanes in LANES.items():
            link[base + a, base + b] = link[base + b, base + a] = 2 - lanes
    return Cluster(
        names=tuple(f"d{k}" for k in range(size)),
        speed=np.ones(size),
        memory_bytes=np.full(size, np.inf),
        curves=tuple(Curve.affine(bandwidth, 5e-6) for bandwidth in (48e9, 24e9, 9e9, 12e9)),
        link=link,
        machine=np.arange(size) // 8,
    )


def transformer(layers: int = 12, hidden: int = 1024) -> Layers:
    """Return an embedding, layers and a head that shares its matrix, of 4,096 tokens in two bytes, at 50 Tflop/s."""
    tokens, matrix = 4096, 50304 * hidden
    forward = np.array([0.0, *[24 * tokens * hidden**2] * layers, 2 * tokens * matrix]) / 50e12
    sent = 2.0 * tokens * hidden
    return Layers(
        names=tuple(f"l{k}" for k in range(layers + 2)),
        forward_s=forward,
        backward_s=2 * forward,
        parameter_bytes=2.0 * np.array([matrix, *[12 * hidden**2] * layers, matrix]),
        crossing_bytes=np.array([0.0, *[sent] * (layers + 1), 0.0]),
        reduced_bytes=np.array([sent, *[2 * sent] * layers, 0.0]),
        reductions=np.array([1.0, *[2.0] * layers, 0.0]),
        tied=((0, layers + 1),),
        slices=0,
    )


def functions_of(layers: Layers, cluster: Cluster, degrees: ParallelDegrees) -> GridFunctions:
    """Return who cuts exactly for the bottleneck, and simulates one forward, one backward."""
    one = replica_s(degrees.microbatches)

    def cuts_of(grid: np.ndarray) -> tuple[int, ...]:
        sent = [transfers_s(layers, cluster, grid[p], grid[p + 1]) for p in range(len(grid) - 1)]
        table = np.reshape(sent, (len(grid) - 1, layers.size + 1))
        found = split(layers, [position_of(layers, cluster, ranks) for ranks in grid], table, LineParams())
        return () if found is None else found.cuts

    def seconds(plan: Plan) -> float:
        return max(one(workload) for workload in workloads(layers, cluster, plan))

    return GridFunctions(cuts_of=cuts_of, iteration_s=seconds)


def replica_s(microbatches: int) -> Callable[[Workload], float]:
    """Return the simulated seconds of one replica, infinite where it sends over no link."""

    def seconds(workload: Workload) -> float:
        linked = np.isfinite(workload.transfer_s).all() and np.isfinite(workload.closing_s).all()
        return iteration_s(workload, "1f1b", microbatches) if linked else np.inf

    return seconds
