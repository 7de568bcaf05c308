"""Chains of layers on equal devices: exact splits beside those that systems make."""

import time
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
    planner aim. The plain dynamic program is exact as well: parity is all that there is to find, and seconds are those
    of a processor for the slowest network.
    """
    yield "network", "stages", *PEERS, "TIGER", "TIGER, s", "plain DP", "plain DP, s"
    profiles = {path.stem: read_model(path) for path in sorted(data.glob("*.txt"))} if data else {}
    for network, bandwidth in NETWORKS.items():
        for count in STAGES if profiles else ():
            ratios, spent = defaultdict(list), defaultdict(list)
            for name, layers in profiles.items():
                say(f"{name} on {count} devices, {network}")
                devices = cluster(count, bandwidth)
                begun = time.process_time()
                report = tiger.place(layers, devices)
                spent["TIGER"].append(time.process_time() - begun)
                found = measure_others(layers, devices) | {"TIGER": report.bottleneck_s}
                begun = time.process_time()
                found["plain DP"] = find_least_bottleneck(layers, count, bandwidth)
                spent["plain DP"].append(time.process_time() - begun)
                for peer, value in found.items():
                    ratios[peer].append(value / report.lower_bound_s)
            cells = {peer: f"{np.exp(np.mean(np.log(each))):.2f} ({max(each):.2f})" for peer, each in ratios.items()}
            slowest = {peer: f"{max(each):.3f}" for peer, each in spent.items()}
            last = (slowest["TIGER"], cells.pop("plain DP"), slowest["plain DP"])
            yield network, f"{count}", *cells.values(), *last


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


def find_least_bottleneck(layers: Layers, most: int, bandwidth: float) -> float:
    """Return the least largest load of at most `most` stages on equal devices: Bellman's recursion over cut points.

    D[s, j] = min over i of max(D[s - 1, i], load(i, j)), where a stage sends and receives over both its boundaries in
    both passes. Plain on purpose, O(k L^2); memory and unequal devices are not in it.
    """
    done_s = np.concatenate([[0.0], np.cumsum(layers.forward_s + layers.backward_s)])
    sent_s = 2 * layers.crossing_bytes / bandwidth
    sent_s[[0, -1]] = 0.0
    load_s = done_s[None, :] - done_s[:, None] + sent_s[:, None] + sent_s[None, :]
    load_s[np.tri(len(load_s), dtype=bool)] = np.inf
    best_s, found = load_s[0], load_s[0][-1]
    for _ in range(min(most, layers.size) - 1):
        best_s = np.maximum(best_s[:, None], load_s).min(axis=0)
        found = min(found, best_s[-1])
    return float(found)
