"""Small problems of experts, and an oracle that tries every placement."""

from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest

from tiger.expert_maps.costs import ExpertProblem
from tiger.expert_maps.replicas.loads import ExpertLoads
from tiger.model.arrays import FloatArray, IntArray


@pytest.fixture(scope="session", name="drawn_problem")
def _drawn_problem() -> Callable[..., ExpertProblem]:
    return drawn_problem


@pytest.fixture(scope="session", name="least_hops")
def _least_hops() -> Callable[[ExpertProblem], float]:
    return least_hops


@pytest.fixture(scope="session", name="is_balanced")
def _is_balanced() -> Callable[[ExpertProblem, IntArray], bool]:
    return is_balanced


@pytest.fixture(scope="session")
def draw_loads() -> Callable[..., ExpertLoads]:
    """Return what draws loads of a skew by its seed: 3 layers of 16 experts, 24 slots on 8 GPUs of 2 nodes."""

    def draw(seed: int, skew: float = 0.8, nodes: int = 2, copies: int = 1) -> ExpertLoads:
        rng = np.random.default_rng(seed)
        weight = np.array([rng.permutation(1 / np.arange(1, 17) ** skew) for _ in range(3)])
        return ExpertLoads(weight * rng.lognormal(0, 0.3, weight.shape), 24, 4, nodes, 8, copies)

    return draw


def drawn_problem(layers: int, experts: int, devices: int, seed: int, far: float = 1.0) -> ExpertProblem:
    """Return random counts with a few strong pairs; hops within each half of the devices weigh 1, others `far`."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 30, (layers - 1, experts, experts)) * (rng.random((layers - 1, experts, experts)) < 0.5)
    return ExpertProblem(counts.astype(np.float64), half_hops(devices, far))


def half_hops(devices: int, far: float) -> FloatArray:
    """Return the hops of two nodes."""
    node = np.arange(devices) * 2 // max(devices, 2)
    hops = np.where(node[:, None] == node, 1.0, far)
    np.fill_diagonal(hops, 0.0)
    return hops


def least_hops(problem: ExpertProblem) -> float:
    """Return the least sum of hops over all placements, by trying them layer by layer without any shortcut."""
    usual = np.arange(problem.experts) // problem.slots_per_device
    ways = sorted(set(permutations(usual.tolist())))
    behind = dict.fromkeys(ways, 0.0)
    for counts in problem.counts[::-1]:
        ahead = dict.fromkeys(ways, np.inf)
        for way, other in product(ways, ways):
            cost = float((counts * problem.hops[np.ix_(way, other)]).sum())
            ahead[way] = min(ahead[way], cost + behind[other])
        behind = ahead
    return min(behind.values())


def is_balanced(problem: ExpertProblem, place: IntArray) -> bool:
    """Return whether every device has as many experts of each layer."""
    held = np.array([np.bincount(row, minlength=problem.devices) for row in place])
    return held.shape == (problem.layers, problem.devices) and bool((held == problem.slots_per_device).all())
