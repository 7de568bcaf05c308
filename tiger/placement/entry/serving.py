"""What a plan for serving comes to, beside layers cut in proportion to memory."""

from dataclasses import dataclass

from tiger.model.document import Document
from tiger.placement.operators.params import Objective
from tiger.placement.result import HostedExperts, PlaceResult
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySplit(Document):
    """Hold the figures of layers cut among devices in order, in proportion to their memory, and whether they fit.

    That is how llama.cpp cuts a model by default.
    """

    latency_s: float | None
    bottleneck_s: float | None
    sequences: int | None
    feasible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertsOnCpu(Document):
    """Hold the layers whose experts a CPU has beside their device, the bytes of these, and its seconds for them."""

    device: str
    layers: tuple[str, ...]
    memory_bytes: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingFigures(Document):
    """Hold the seconds of a microbatch alone and of a steady pipeline, and how many sequences fit at once.

    `sequences` is None without a cache that is known, `most_sequences` an upper bound on those of all plans, None
    unless as many as can be were asked for. `split` is what is compared with, and `gain` how many times as good as it
    the plan is in what was asked for, None where the split does not fit. `experts_on_cpu` is None unless asked for.
    """

    latency_s: float
    bottleneck_s: float
    sequences: int | None
    most_sequences: int | None
    split: MemorySplit
    gain: float | None
    experts_on_cpu: ExpertsOnCpu | None = None


def figures_of(result: PlaceResult, objective: Objective, layers: Layers, cluster: Cluster) -> ServingFigures | None:
    """Return the figures of a result that has a plan and a split to compare with."""
    split = result.split
    if split is None or result.latency_s is None or result.bottleneck_s is None:
        return None
    beside = MemorySplit(
        latency_s=split.latency_s,
        bottleneck_s=split.bottleneck_s,
        sequences=split.sequences,
        feasible=not split.violations,
    )
    return ServingFigures(
        latency_s=result.latency_s,
        bottleneck_s=result.bottleneck_s,
        sequences=result.sequences,
        most_sequences=result.most_sequences,
        split=beside,
        gain=_gain(result, split, objective),
        experts_on_cpu=None if result.hosted is None else _name_hosted(result.hosted, layers, cluster),
    )


def _name_hosted(hosted: HostedExperts, layers: Layers, cluster: Cluster) -> ExpertsOnCpu:
    """Return layers with experts on a CPU by their names."""
    return ExpertsOnCpu(
        device=cluster.names[hosted.host],
        layers=tuple(layers.names[layer] for layer in hosted.layers),
        memory_bytes=hosted.memory_bytes,
        seconds=hosted.seconds,
    )


def _gain(result: PlaceResult, split: PlaceResult, objective: Objective) -> float | None:
    """Return how many times as good a result is as a split in what was asked for."""
    if objective == "cache":
        return result.sequences / split.sequences if result.sequences and split.sequences else None
    if split.violations:
        return None
    own, other = result.bottleneck_s, split.bottleneck_s
    if objective == "latency":
        own, other = result.latency_s, split.latency_s
    return other / own if own and other else None
