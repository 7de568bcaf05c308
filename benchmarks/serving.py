"""Models that serve on unequal cards and CPUs, beside splits in proportion to memory, as llama.cpp makes them.

A token reads the weights of every layer, of a mixture those of the experts that it goes through, and its cache: times
are these bytes over the bandwidth of memory, which devices differ by. All are simulated.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

import tiger
from tiger.placement.chain.fitting_runs import fitting_ends
from tiger.placement.chain.hosted_experts import expert_bytes_of
from tiger.placement.chain.memory_split import split_by_memory
from tiger.placement.entry.report import PlacementReport
from tiger.placement.params import PlaceParams
from tiger.placement.search.hosting import HostedPlan
from tiger.placement.search.problem import ChainProblem
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.cache import cache_column
from tiger.training.models.layers import Layers
from tiger.training.models.sizes import model_of

# GB, and GB/s of memory: data sheets of RTX 4090, RTX 3060 12 GB and RTX 4060, and two channels of DDR5-5600.
DEVICES = {"4090": (24, 1008), "3060": (12, 360), "4060": (8, 272), "CPU": (128, 89.6)}
SETS = {
    "24 + 8 GB": ("4090", "4060"),
    "24 + 12 + 12 GB": ("4090", "3060", "3060"),
    "24 GB and a CPU": ("4090", "CPU"),
    "24 + 12 GB and a CPU": ("4090", "3060", "CPU"),
}
# PCIe 4.0 with 16 lanes, and what a copy takes to begin.
LINK_BYTES_S, LINK_S = 25e9, 1e-5
CASES = (
    ("llama-3-8b", "q4_k", "24 + 8 GB"),
    ("llama-3-8b", "bf16", "24 + 8 GB"),
    ("qwen3-32b", "q4_k", "24 + 8 GB"),
    ("gemma-2-27b", "q5_k", "24 + 8 GB"),
    ("qwen3-30b-a3b", "q4_k", "24 + 8 GB"),
    ("mixtral-8x7b", "q4_k", "24 + 8 GB"),
    ("llama-3-8b", "bf16", "24 + 12 + 12 GB"),
    ("qwen3-32b", "q6_k", "24 + 12 + 12 GB"),
    ("llama-3-70b", "q4_k", "24 + 12 + 12 GB"),
    ("mixtral-8x7b", "q5_k", "24 + 12 + 12 GB"),
    ("qwen3-32b", "q6_k", "24 GB and a CPU"),
    ("llama-3-70b", "q4_k", "24 GB and a CPU"),
    ("mixtral-8x7b", "q8_0", "24 GB and a CPU"),
    ("gpt-oss-120b", "mxfp4", "24 GB and a CPU"),
    ("llama-3-70b", "q4_k", "24 + 12 GB and a CPU"),
    ("mixtral-8x22b", "q4_k", "24 + 12 GB and a CPU"),
    ("gpt-oss-120b", "mxfp4", "24 + 12 GB and a CPU"),
    ("qwen3-235b-a22b", "q3_k", "24 + 12 GB and a CPU"),
)
TOKENS = 4096
HEAD = (
    "model",
    "devices",
    "by memory, tokens/s",
    "fastest filled first",
    "fewest experts on the CPU",
    "TIGER",
    "bound",
    "gain over by memory",
    "over the best of three",
    "by memory, steady",
    "TIGER, steady",
    "by memory, sequences",
    "TIGER, sequences",
)


def table(say: Callable[[str], None], _: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield tokens a second of one sequence, of a steady pipeline of several, and how many fit, of splits and TIGER."""
    yield HEAD
    for name, weights, hardware in CASES:
        say(f"{name}, {weights}, {hardware}")
        layers, cluster = decode_layers(name, weights), cluster_of(SETS[hardware])
        mixed = layers.served is not None and bool(layers.served.expert_bytes.any()) and "CPU" in SETS[hardware]
        quick = tiger.place(layers, cluster, objective="latency", experts_on_cpu=mixed)
        steady, many = (tiger.place(layers, cluster, objective=each) for each in ("throughput", "cache"))
        simple = filled_s(layers, cluster), fewest_experts_s(layers, cluster) if mixed else None
        yield name + f", {weights}", hardware, *cells((quick, steady, many), simple)


def cells(
    reports: tuple[PlacementReport, PlacementReport, PlacementReport], simple: tuple[float | None, float | None]
) -> list[str]:
    """Return the figures of plans for one sequence, a pipeline and many sequences, beside those of simple ones."""
    quick, steady, many = reports
    split = quick.serving.split
    known = split.latency_s if split.feasible else None
    best = min([seconds for seconds in (known, *simple) if seconds is not None], default=None)
    return [
        _rate(known),
        *map(_rate, simple),
        _rate(quick.latency_s),
        _rate(quick.latency_bound_s),
        "-" if known is None else f"{known / quick.latency_s:.2f}",
        "-" if best is None else f"{best / quick.latency_s:.2f}",
        _rate(split.bottleneck_s if split.feasible else None),
        _rate(steady.bottleneck_s),
        f"{many.serving.split.sequences}",
        f"{many.serving.sequences}",
    ]


def _rate(seconds: float | None) -> str:
    """Return tokens a second, a dash where nothing runs."""
    return "-" if not seconds else f"{1 / seconds:.1f}"


def decode_layers(name: str, weights: str) -> Layers:
    """Return the layers of a model for a token of one sequence, in seconds of an RTX 4090, by the bytes it reads."""
    model = model_of(f"{name}:serve=true,weights={weights},sequence={TOKENS}")
    layers, shape = model.given, model.shape
    assert layers.served is not None
    cache, served = cache_column(shape), layers.served
    # An embedding is looked up.
    stored = np.where(np.array(layers.kinds) == "embedding", 0.0, layers.state_bytes - cache)
    active = served.expert_bytes * (shape.active / (shape.experts or 1))
    read = stored - served.expert_bytes + active + cache
    share = np.divide(active, read, out=np.zeros(layers.size), where=read > 0)
    return replace(
        layers,
        forward_s=read / (DEVICES["4090"][1] * 1e9),
        crossing_bytes=layers.crossing_bytes / TOKENS,
        served=replace(served, expert_share=share),
    )


def cluster_of(names: tuple[str, ...]) -> Cluster:
    """Return devices of one machine, as fast as their memory, each linked to each."""
    count = len(names)
    return Cluster(
        names=tuple(f"{name} {k}" for k, name in enumerate(names)),
        speed=np.array([DEVICES[name][1] / DEVICES["4090"][1] for name in names]),
        memory_bytes=np.array([DEVICES[name][0] * 1e9 for name in names]),
        curves=(Curve.affine(LINK_BYTES_S, LINK_S),),
        link=np.where(np.eye(count, dtype=bool), -1, 0),
        kinds=tuple("cpu" if name == "CPU" else "accelerator" for name in names),
    )


def filled_s(layers: Layers, cluster: Cluster) -> float | None:
    """Return the seconds of a token with each device filled before the next, the fastest first; None without room."""
    cuts, used = [0], []
    for device in np.argsort(-cluster.speed, kind="stable").tolist():
        end = int(fitting_ends(layers, float(cluster.memory_bytes[device]), 0.0)[cuts[-1]])
        if end > cuts[-1]:
            cuts.append(end)
            used.append(device)
        if end == layers.size:
            break
    evaluator = ChainProblem.of(layers, cluster, PlaceParams(objective="latency")).evaluator
    return evaluator.latency_s(Plan.line(tuple(cuts), tuple(used))) if cuts[-1] == layers.size else None


def fewest_experts_s(layers: Layers, cluster: Cluster) -> float | None:
    """Return the seconds of a token with experts of as few of the first layers on the CPU as let the rest fit.

    GPUs have layers in proportion to their memory, as llama.cpp cuts them beside `-ncmoe`. None where nothing fits.
    """
    cards, host = np.flatnonzero(np.array(cluster.kinds) == "accelerator"), cluster.kinds.index("cpu")
    split = split_by_memory(layers, cluster.memory_bytes[cards])
    plan = Plan.line(split.cuts, tuple(cards[list(split.positions)].tolist()))
    some = np.flatnonzero(expert_bytes_of(layers)).tolist()
    for count in range(len(some) + 1):
        found = HostedPlan(plan=plan, hosted=tuple(some[:count]), host=host, bound_s=0.0)
        held = np.add.reduceat(found.settle(layers).state_bytes, plan.cuts[:-1])
        if (held <= cluster.memory_bytes[plan.grid.ravel()]).all():
            return found.latency_s(layers, cluster) if found.host_bytes(layers) <= cluster.memory_bytes[host] else None
    return None
