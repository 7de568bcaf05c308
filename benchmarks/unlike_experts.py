"""Experts on devices of different speeds: largest loads over speed of TIGER's and EPLB's maps, over their bound."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import tiger
from benchmarks import eplb
from benchmarks.expert_loads import LAYERS, SAME, SPREAD
from tiger.expert_maps.replicas.loads import ExpertLoads, gpu_loads
from tiger.model.arrays import FloatArray, IntArray

# Four H100 and four L40S, whose speed is 0.366 of theirs, by the dense bf16 FLOP/s of their datasheets.
CLUSTER, GPUS = "dgx:1x4+l40s:1x4", 8
# Exponents of Zipf's law for the loads of experts, and further replicas as a part of the experts.
SKEWS, EXTRA, CASES = (0.0, 0.4, 0.8, 1.2), (0.0, 0.25), 25
EXPERTS = (64, 128, 256)


@dataclass
class Row:
    """Collect figures of layers: loads over the bound, TIGER's load over EPLB's, and seconds of a case."""

    eplb: list[float] = field(default_factory=list)
    renamed: list[float] = field(default_factory=list)
    equal: list[float] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    by_speed: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    above: int = 0
    seconds: float = 0.0


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield means over layers by skew and replicas: loads over the bound, and TIGER's over EPLB's."""
    yield (
        "loads",
        "replicas",
        "EPLB over bound",
        "EPLB, renamed",
        "TIGER over bound",
        "TIGER over EPLB",
        "over EPLB, renamed",
        "above EPLB's",
        "bound over division by speed",
        "TIGER, slots by speed, over that",
        "s",
    )
    for skew in SKEWS:
        for extra in EXTRA:
            say(f"loads of skew {skew}, {extra:.0%} replicas")
            yield _run(skew, extra)


def _run(skew: float, extra: float) -> tuple[str, ...]:
    """Return the row of a skew and of replicas."""
    row = Row()
    for number in range(CASES):
        add_case(row, draw_weight(skew, number), extra)
    figures = (row.eplb, row.renamed, row.equal, row.gain, row.best)
    title = "even" if skew == 0 else f"Zipf {skew}"
    return (
        title,
        f"{extra:.0%}" if extra else "none",
        *(f"{np.mean(some):.3f}" for some in figures),
        f"{row.above} of {len(row.gain)}",
        f"{np.mean(row.mean):.3f}",
        f"{np.mean(row.by_speed):.3f}",
        f"{row.seconds / CASES:.2f}",
    )


def draw_weight(skew: float, number: int) -> FloatArray:
    """Return the loads of a case, [layers, experts]."""
    rng = np.random.default_rng([number, int(10 * skew)])
    experts = int(rng.choice(EXPERTS))
    zipf = 1 / np.arange(1, experts + 1) ** skew
    return np.asarray(
        np.array([rng.permutation(zipf) for _ in range(LAYERS)]) * rng.lognormal(0, SPREAD, (LAYERS, experts))
    )


def add_case(row: Row, weight: FloatArray, extra: float) -> None:
    """Add the layers of a case."""
    replicas = int(extra * weight.shape[1])
    start = time.process_time()
    found = tiger.experts(weight, CLUSTER, kind="loads", replicas=replicas)
    row.seconds += time.process_time() - start
    free = tiger.experts(weight, CLUSTER, kind="loads", replicas=replicas, slots_by="speed")
    speed = np.array(found.loads.speed)
    loads = ExpertLoads(weight, weight.shape[1] + replicas, 1, 1, GPUS, weight.shape[1], speed)
    held = gpu_loads(loads, peer(loads))
    usual = (held / speed).max(axis=1)
    # The heaviest of EPLB's parts on the fastest devices, which a user can do by hand.
    renamed = (-np.sort(-held, axis=1) / -np.sort(-speed)).max(axis=1)
    own, bound = (np.array(found.loads.after) / speed).max(axis=1), np.array(found.loads.bound)
    row.eplb += (usual / bound).tolist()
    row.renamed += (renamed / bound).tolist()
    row.equal += (own / bound).tolist()
    row.gain += (own / usual).tolist()
    row.best += (own / renamed).tolist()
    row.mean += (bound / loads.mean).tolist()
    row.by_speed += ((np.array(free.loads.after) / speed).max(axis=1) / loads.mean).tolist()
    row.above += int((own > usual * (1 + SAME)).sum())


def peer(loads: ExpertLoads) -> IntArray:
    """Return EPLB's map, which takes all GPUs for equal."""
    return eplb.rebalance(loads.weight, loads.num_replicas, 1, 1, loads.num_gpus)
