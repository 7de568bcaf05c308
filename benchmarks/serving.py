"""Models that serve on unequal cards and CPUs, beside splits in proportion to memory, as llama.cpp makes them.

Times are those of the roofline: a token reads the weights of every layer, of a mixture those of the experts that it
goes through, and its cache. All are simulated.
"""

from collections.abc import Callable, Iterator
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
from tiger.training.hardware.accelerators import ACCELERATORS, Accelerator
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.models.sizes import model_of
from tiger.training.pairing import pair_with_devices

# Beside cards that are known: NVIDIA's data sheet of the RTX 4060, and a CPU of 16 cores with two channels of
# DDR5-5600.
DEVICES = {
    "4090": ACCELERATORS["rtx4090"],
    "3060": ACCELERATORS["rtx3060"],
    "4060": Accelerator(name="", memory_gb=8, tflops=30.3, bandwidth_gb=272),
    "CPU": Accelerator(name="", memory_gb=128, tflops=2, bandwidth_gb=89.6),
}
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
        layers, cluster = decode_layers(name, weights, SETS[hardware])
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


def decode_layers(name: str, weights: str, names: tuple[str, ...]) -> tuple[Layers, Cluster]:
    """Return the layers of a model for a token of one sequence, and some devices as fast as they are with it."""
    model = model_of(f"{name}:serve=true,weights={weights},sequence={TOKENS}")
    paired, cluster = pair_with_devices(model, cluster_of(names))
    return paired.given, cluster


def cluster_of(names: tuple[str, ...]) -> Cluster:
    """Return devices of one machine, each linked to each."""
    count, devices = len(names), [DEVICES[name] for name in names]
    return Cluster(
        names=tuple(f"{name} {k}" for k, name in enumerate(names)),
        speed=np.array([device.speed for device in devices]),
        memory_bytes=np.array([device.memory_bytes for device in devices]),
        curves=(Curve.affine(LINK_BYTES_S, LINK_S),),
        link=np.where(np.eye(count, dtype=bool), -1, 0),
        kinds=tuple("cpu" if name == "CPU" else "accelerator" for name in names),
        types=tuple(devices),
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
