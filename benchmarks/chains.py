"""Chains of layers on equal devices: exact splits beside those that systems make."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import tiger
from tiger.placement.chain.baselines import balanced_cuts, by_time, uniform_cuts
from tiger.placement.search.evaluator import Evaluator
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.models.reading import read_model

STAGES = (4, 8, 16)
NETWORKS = {"12 GB/s": 12e9, "10 GbE": 1.25e9}


def by_parameters(layers: Layers, stages: int) -> tuple[int, ...]:
    """Return the cuts with the least largest bytes of parameters in a stage."""
    return balanced_cuts(layers.parameter_bytes, stages)


PEERS = {"uniform": uniform_cuts, "by parameters": by_parameters, "by time": by_time}


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield the bottleneck of each split over the exact one, geometric mean and largest, network by network.

    `data` is a folder of PipeDream's profiles. `uniform` and `parameters` are what DeepSpeed calls so; by time is the
    exact split of compute times without messages, at which DeepSpeed's and torchgpipe's balancing and PipeDream's
    planner aim.
    """
    yield "network", "stages", *PEERS, "TIGER", "TIGER, s"
    profiles = {path.stem: read_model(path) for path in sorted(data.glob("*.txt"))} if data else {}
    for network, bandwidth in NETWORKS.items():
        for count in STAGES if profiles else ():
            ratios, seconds = defaultdict(list), []
            for name, layers in profiles.items():
                say(f"{name} on {count} devices, {network}")
                devices = cluster(count, bandwidth)
                report = tiger.place(layers, devices)
                seconds.append(report.seconds)
                for peer, value in measure_others(layers, devices).items():
                    ratios[peer].append(value / report.lower_bound_s)
                ratios["TIGER"].append(report.bottleneck_s / report.lower_bound_s)
            cells = (f"{np.exp(np.mean(np.log(found))):.2f} ({max(found):.2f})" for found in ratios.values())
            yield network, f"{count}", *cells, f"{max(seconds):.2f}"


def cluster(count: int, bandwidth: float) -> Cluster:
    """Return equal devices, each linked to each."""
    link = np.where(np.eye(count, dtype=bool), -1, 0)
    names = tuple(f"gpu{k}" for k in range(count))
    curves = (Curve.affine(bandwidth, 0.0),)
    return Cluster(names=names, speed=np.ones(count), memory_bytes=np.full(count, np.inf), curves=curves, link=link)


def measure_others(layers: Layers, devices: Cluster) -> dict[str, float]:
    """Return the bottlenecks of other splits into a stage for every device."""
    judge = Evaluator(layers=layers, cluster=devices)
    order = tuple(range(min(devices.size, layers.size)))
    return {name: judge.bottleneck_s(Plan.line(cuts(layers, len(order)), order)) for name, cuts in PEERS.items()}
