"""Experts on the CPU, against trying every cut, every device and every set of layers."""

from dataclasses import replace
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest

from tests.placement.chain.instances import all_cuts, cluster_of, layers_of
from tiger.model.violation import Violation
from tiger.placement.chain.hosted_experts import added_seconds
from tiger.placement.params import PlaceParams
from tiger.placement.search.hosting import HostedPlan, search_hosting
from tiger.placement.search.problem import ChainProblem
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.models.served import Served


def draw(seed: int, *, alike: bool) -> tuple[Layers, Cluster]:
    """Draw up to five layers of which most have experts, two GPUs and a CPU, with little memory."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    experts = np.full(size, 4.0) if alike else rng.integers(1, 6, size).astype(float)
    experts[0] *= rng.random() < 0.5
    rest = rng.integers(1, 4, size).astype(float)
    base = layers_of(rng.integers(2, 9, size).astype(float).tolist(), [1.0] * (size - 1), (rest + experts).tolist())
    share = np.where(experts > 0, 0.5 if alike else rng.uniform(0.2, 0.9, size), 0.0)
    if alike:
        base = replace(base, forward_s=np.full(size, 2.0))
    # Messages of a model that serves are counted in each of two passes.
    base = replace(base, crossing_bytes=np.array([0.0, *[0.5] * (size - 1), 0.0]))
    served = Served(
        sequences=1,
        tokens=1,
        cache_bytes=np.zeros(size),
        expert_bytes=experts,
        expert_share=share,
        cache_type="bf16",
    )
    total = float((rest + experts).sum())
    memory = [float(rng.uniform(0.2, 0.7)) * total for _ in range(2)] + [float(rng.uniform(0.3, 1.1)) * total]
    cluster = cluster_of([2.0, 1.0, float(rng.choice([0.25, 0.5]))], memory=memory)
    return replace(base, served=served), replace(cluster, kinds=("accelerator", "accelerator", "cpu"))


def least_of_all(layers: Layers, cluster: Cluster) -> float:
    """Return the least sum of passes, messages, and detours of every plan whose devices have room."""
    served, least = layers.served, np.inf
    assert served is not None
    some = np.flatnonzero(served.expert_bytes).tolist()
    for count in range(1, min(3, layers.size) + 1):
        for devices in permutations(range(3), count):
            for cuts in all_cuts(layers.size, count):
                at = np.repeat(devices, np.diff(cuts))
                free = [layer for layer in some if at[layer] != 2]
                for number in range(len(free) + 1):
                    for hosted in combinations(free, number):
                        least = min(least, latency_s(layers, cluster, at, hosted))
    return least


def latency_s(layers: Layers, cluster: Cluster, at: np.ndarray, hosted: tuple[int, ...]) -> float:
    """Return the seconds of a plan, infinite where a device holds too much; all links carry a byte a second."""
    served = layers.served
    assert served is not None
    held, total = np.zeros(3), 0.0
    for layer, device in enumerate(at):
        away = served.expert_bytes[layer] * (layer in hosted)
        held[device] += layers.state_bytes[layer] - away
        held[2] += away
        share = served.expert_share[layer] * (layer in hosted)
        total += layers.forward_s[layer] * ((1 - share) / cluster.speed[device] + share / cluster.speed[2])
        total += 2 * (2 * layers.crossing_bytes[layer]) * (layer in hosted)
    total += sum(2 * layers.crossing_bytes[k + 1] for k, (a, b) in enumerate(pairwise(at)) if a != b)
    return total if (held <= cluster.memory_bytes * (1 + 1e-9)).all() else np.inf


@pytest.mark.parametrize("seed", range(40))
def test_alike_layers_are_hosted_at_the_least_latency(seed: int) -> None:
    """Exactly, with memory of the host and a stage of its own there."""
    layers, cluster = draw(seed, alike=True)
    found = search_hosting(ChainProblem.of(layers, cluster, PlaceParams(objective="latency", experts_on_cpu=True)))
    least = least_of_all(layers, cluster)
    assert isinstance(found, Violation) == (not np.isfinite(least))
    if isinstance(found, HostedPlan):
        assert found.latency_s(layers, cluster) == pytest.approx(least)
        assert found.bound_s == pytest.approx(least)
        at = np.repeat(found.plan.grid[:, 0, 0], np.diff(found.plan.cuts))
        assert latency_s(layers, cluster, at, found.hosted) == pytest.approx(least)


@pytest.mark.parametrize("seed", range(40))
def test_other_layers_are_hosted_within_the_bound(seed: int) -> None:
    """What is found has room, takes what it says, and lies between the best of all and the bound below it."""
    layers, cluster = draw(seed, alike=False)
    found = search_hosting(ChainProblem.of(layers, cluster, PlaceParams(objective="latency", experts_on_cpu=True)))
    least = least_of_all(layers, cluster)
    if isinstance(found, HostedPlan):
        at = np.repeat(found.plan.grid[:, 0, 0], np.diff(found.plan.cuts))
        assert latency_s(layers, cluster, at, found.hosted) == pytest.approx(found.latency_s(layers, cluster))
        assert found.bound_s <= least * (1 + 1e-9)
        assert found.latency_s(layers, cluster) <= 1.5 * least


def test_bug_experts_are_not_on_a_host_without_a_link() -> None:
    """Nothing is sent to the first layer, which was taken for a message that takes no time."""
    layers, cluster = draw(3, alike=True)
    layers = replace(layers, served=replace(layers.served, expert_bytes=np.full(layers.size, 1.0)))
    apart = replace(cluster, link=np.full((3, 3), -1))
    assert np.isinf(added_seconds(layers, apart, 0, 2)).all()
    assert np.isfinite(added_seconds(layers, cluster, 0, 2)).all()
