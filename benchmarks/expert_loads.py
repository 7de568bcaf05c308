"""Loads of experts on GPUs: the largest load over its lower bound, and what moves when loads drift, beside EPLB."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks import eplb
from tiger.expert_maps.replicas.balance import Balance, balance
from tiger.expert_maps.replicas.descent import descend
from tiger.expert_maps.replicas.loads import ExpertLoads, gpu_loads
from tiger.expert_maps.replicas.moves import align, find_moved
from tiger.expert_maps.replicas.pools import Pools
from tiger.model.arrays import FloatArray, IntArray

# The example of EPLB's README: two layers of 12 experts, 16 replicas, 4 groups, 2 nodes, 8 GPUs.
README = np.array(
    [
        [90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86],
        [20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27],
    ],
    np.float64,
)
README_PROOF = 2_000
# Exponents of Zipf's law for the loads of experts, with as many cases each, of so many layers.
SKEWS, CASES, LAYERS = (0.0, 0.4, 0.8, 1.2), 50, 4
# Sigmas of lognormal factors: of experts in a case, and of the drift after which it is balanced again.
SPREAD, DRIFT = 0.3, 0.2

# What errors of rounding make of equal loads.
SAME = 1e-9


@dataclass
class Row:
    """Collect figures of layers: loads over the bound, where TIGER's are above EPLB's, and moves."""

    order: list[float] = field(default_factory=list)
    eplb: list[float] = field(default_factory=list)
    free: list[float] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)
    doubled: list[bool] = field(default_factory=list)
    above: list[bool] = field(default_factory=list)
    apart_above: list[bool] = field(default_factory=list)
    moves: list[tuple[int, int]] = field(default_factory=list)


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield the largest load over its bound, means over layers, and the experts moved after a drift, by skew.

    "Above" counts layers whose load is above EPLB's: with its rule, that one GPU may hold an expert twice, and with
    TIGER's, that it may not, where EPLB's map keeps to that. Moves are those that reach EPLB's load from EPLB's map.
    """
    yield (
        "loads",
        "in order",
        "EPLB",
        "TIGER, its rule",
        "TIGER",
        "EPLB's with doubles",
        "above EPLB's",
        "moved, EPLB",
        "moved, TIGER",
        "s",
    )
    for mode, groups in (("nodes", 4), ("global", 3)):
        yield _run_readme(mode, groups)
    for skew in SKEWS:
        say(f"loads of skew {skew}")
        yield _run_skew(skew)
    yield from _run_large()


def draw_case(skew: float, number: int) -> tuple[ExpertLoads, FloatArray]:
    """Return the problem of a case, with any number of replicas of an expert on a GPU, and the loads after a drift."""
    rng = np.random.default_rng([number, int(10 * skew)])
    experts = int(rng.choice([64, 128, 256]))
    gpus = int(rng.choice([g for g in (8, 16, 32, 64) if g <= experts // 2]))
    # Up to a quarter of the experts have a second replica, in steps of a slot a GPU.
    slots = experts + gpus * int(rng.integers(0, experts // 4 // gpus + 1))
    nodes = int(rng.choice([1, gpus // 4]))
    zipf = 1 / np.arange(1, experts + 1) ** skew
    weight = np.array([rng.permutation(zipf) for _ in range(LAYERS)]) * rng.lognormal(0, SPREAD, (LAYERS, experts))
    drifted = weight * rng.lognormal(0, DRIFT, weight.shape)
    return ExpertLoads(weight, slots, 16 if nodes > 1 else 1, nodes, gpus, slots // gpus), drifted


def _run_skew(skew: float) -> tuple[str, ...]:
    """Return the row of a skew."""
    row, start = Row(), time.process_time()
    for number in range(CASES):
        _add_case(row, *draw_case(skew, number))
    doubled = f"{100 * np.mean(row.doubled):.0f} %"
    above = f"{sum(row.above)} and {sum(row.apart_above)} of {len(row.above)}"
    theirs, own = (np.mean([moves[k] for moves in row.moves]) for k in range(2))
    seconds = time.process_time() - start
    title = "even" if skew == 0 else f"Zipf {skew}"
    figures = (f"{np.mean(some):.3f}" for some in (row.order, row.eplb, row.free, row.apart))
    return title, *figures, doubled, above, f"{theirs:.1f}", f"{own:.1f}", f"{seconds / CASES:.2f}"


def _add_case(row: Row, loads: ExpertLoads, drifted: FloatArray) -> None:
    """Add the layers of a case."""
    other = peer(loads)
    free, apart = balance(loads), balance(replace(loads, copies_per_gpu=1))
    order = np.tile(np.arange(loads.num_replicas) % loads.experts, (loads.layers, 1))
    load = gpu_loads(loads, other).max(axis=1)
    doubled = has_doubles(loads, other)
    row.order += (gpu_loads(loads, order).max(axis=1) / free.bound).tolist()
    row.eplb += (load / free.bound).tolist()
    row.free += (free.largest / free.bound).tolist()
    row.apart += (apart.largest / apart.bound).tolist()
    row.doubled += doubled.tolist()
    row.above += (free.largest > load * (1 + SAME)).tolist()
    row.apart_above += (~doubled & (apart.largest > load * (1 + SAME))).tolist()
    row.moves += list(count_moves(replace(loads, weight=drifted), other))


def peer(loads: ExpertLoads) -> IntArray:
    """Return EPLB's map."""
    return eplb.rebalance(loads.weight, loads.num_replicas, loads.num_groups, loads.num_nodes, loads.num_gpus)


def has_doubles(loads: ExpertLoads, phy2log: IntArray) -> FloatArray:
    """Return for each layer whether some GPU holds an expert twice."""
    held = np.sort(phy2log.reshape(loads.layers, loads.num_gpus, -1), axis=2)
    return np.asarray((np.diff(held, axis=2) == 0).any(axis=(1, 2)))


def count_moves(loads: ExpertLoads, phy2log: IntArray) -> Iterator[tuple[int, int]]:
    """Yield for each layer the experts that EPLB moves from its map to its next, and TIGER to a load no larger."""
    before = phy2log.reshape(loads.layers, loads.num_gpus, -1)
    other = peer(loads)
    aim = gpu_loads(loads, other).max(axis=1) * (1 + SAME)
    theirs = find_moved(before, other.reshape(before.shape)).sum(axis=(1, 2))
    pools = Pools(loads.weight, loads.num_gpus, loads.size, loads.copies_per_gpu)
    points = descend(pools, before, loads.pools, before.size)
    fresh = balance(loads).phy2log.reshape(before.shape)
    for layer, some in enumerate(points):
        aligned = align(before[layer], fresh[layer], loads.pools)
        enough = [point.moved for point in some if point.largest <= aim[layer]]
        yield int(theirs[layer]), min(*enough, int(find_moved(before[layer], aligned).sum()), 10**9)


def _run_readme(mode: str, groups: int) -> tuple[str, ...]:
    """Return the row of the example of EPLB's README: largest loads of its two layers."""
    start = time.process_time()
    loads = ExpertLoads(README, 16, groups, 2, 8, 2)
    order = np.tile(np.arange(16) % 12, (2, 1))
    found = [balance(replace(loads, copies_per_gpu=copies), README_PROOF) for copies in (2, 1)]
    maps = [order, peer(loads)]
    figures = [_pair(gpu_loads(loads, phy2log).max(axis=1)) for phy2log in maps] + [_proven(some) for some in found]
    doubled = f"{100 * np.mean(has_doubles(loads, maps[1])):.0f} %"
    above = sum(bool(a > b) for a, b in zip(found[0].largest, gpu_loads(loads, maps[1]).max(axis=1), strict=True))
    return (
        f"EPLB's README, {mode}",
        *figures,
        doubled,
        f"{above} of 2",
        "-",
        "-",
        f"{time.process_time() - start:.2f}",
    )


def _pair(largest: FloatArray) -> str:
    """Return the largest loads of two layers."""
    return " / ".join(f"{load:g}" for load in largest.tolist())


def _proven(found: Balance) -> str:
    """Return the largest loads of two layers, and whether they are proven to be least."""
    return _pair(found.largest) + (" (optimal)" if found.optimal.all() else "")


def _run_large() -> Iterator[tuple[str, ...]]:
    """Yield rows of 58 layers of 256 experts on 64 GPUs: seconds of a new map, and of the next after a drift."""
    rng = np.random.default_rng(0)
    zipf = 1 / np.arange(1, 257) ** 0.8
    weight = np.array([rng.permutation(zipf) for _ in range(58)]) * rng.lognormal(0, SPREAD, (58, 256))
    for title, groups in (("58 layers, 256 experts, 64 GPUs", 1), ("the same, 8 groups on 8 nodes", 8)):
        nodes = groups
        loads = ExpertLoads(weight, 320, groups, nodes, 64)
        other = gpu_loads(loads, peer(loads)).max(axis=1)
        start = time.process_time()
        found = balance(loads)
        seconds = time.process_time() - start
        drifted = replace(loads, weight=weight * rng.lognormal(0, DRIFT, weight.shape))
        start = time.process_time()
        before = found.phy2log.reshape(58, 64, -1)
        points = descend(Pools(drifted.weight, 64, 5, 1), before, nodes, before.size)
        again = time.process_time() - start
        moved = np.mean([some[-1].moved for some in points])
        yield (
            title,
            "-",
            f"{np.mean(other / found.bound):.3f}",
            "-",
            f"{np.mean(found.largest / found.bound):.3f}",
            "-",
            f"{(found.largest > other * (1 + SAME)).sum()} of 58",
            "-",
            f"{moved:.1f}",
            f"{seconds:.2f}, then {1000 * again / 58:.1f} ms a layer",
        )
