"""Experts on the batch after the one that a map was made on, with equal shares and with shares solved for it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import NamedTuple, get_args

import numpy as np

from benchmarks import eplb
from tiger.expert_maps.arguments import ExpertCall
from tiger.expert_maps.entry import report_experts
from tiger.expert_maps.params import ExpertOptions, Sharing
from tiger.expert_maps.replicas.loads import ExpertLoads, gpu_loads
from tiger.expert_maps.shares.solution import solve_shares
from tiger.expert_maps.warm import load
from tiger.model.arrays import FloatArray, IntArray
from tiger.run.progress import ignore

# Experts, slots and machines of 8 GPUs; choices of an expert in a batch; cases a row, each a layer; batches after it.
SIZES, TOKENS, CASES, AFTER = ((64, 80, 2), (256, 320, 8)), 1_024, 60, 10


class Row(NamedTuple):
    """Hold what loads are drawn by: an exponent of Zipf's law, the sigma of factors, and kinds that a batch mixes.

    A map is made on a number of `batches`.
    """

    skew: float
    drift: float
    batches: int
    kinds: int = 1


ROWS = (Row(0.4, 0.0, 1), Row(0.8, 0.0, 1), Row(0.4, 0.3, 1), Row(0.8, 0.3, 1), Row(0.8, 0.3, 8), Row(0.8, 0.0, 8, 4))


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield the largest load of a GPU over the mean in batches that maps were not made on, by maps and shares.

    A batch has as many choices of experts as 1,024 for each expert come to, by Zipf's law in random order. A drift
    multiplies chances by lognormal factors, new ones for each batch, but for a single batch that a map is made on.
    Kinds have orders of their own, and a batch mixes them in parts that are uniform at random. Solved shares are the
    linear program of LPLB for each batch.
    """
    head = ("EPLB, equal shares", "TIGER, equal", "EPLB, solved", "TIGER, solved", "TIGER balanced, solved", "s, equal")
    yield "experts, slots, GPUs", "skew", "drift", "kinds", "batches", *head, "s, balanced", "balanced above EPLB"
    # So that no search waits for compilation.
    load()
    for size in SIZES:
        for row in ROWS:
            say(f"{size[0]} experts of skew {row.skew}, drift {row.drift}, {row.batches} batches, {row.kinds} kinds")
            yield _run_row(size, row)


def draw_batches(rng: np.random.Generator, kinds: FloatArray, drift: float, number: int) -> FloatArray:
    """Return loads of batches, [batches, 1, experts], of choices by the chances of kinds, [kinds, experts]."""
    mixed = rng.dirichlet(np.ones(len(kinds)), number) @ kinds
    moved = mixed * rng.lognormal(0.0, drift, mixed.shape)
    return np.array([rng.multinomial(TOKENS * len(row), row / row.sum()) for row in moved], np.float64)[:, None]


def _run_row(size: tuple[int, int, int], row: Row) -> tuple[str, ...]:
    """Return the means of a row, and in how many cases a map for solved shares has larger loads than EPLB's."""
    (experts, slots, machines), found, seconds = size, list[FloatArray](), list[tuple[float, float]]()
    for case in range(CASES if experts < max(SIZES)[0] else CASES // 5):
        rng = np.random.default_rng([case, int(10 * row.skew), int(10 * row.drift), experts])
        kinds = np.array([rng.permutation(np.arange(1, experts + 1) ** -row.skew) for _ in range(row.kinds)])
        made = draw_batches(rng, kinds, row.drift if row.batches > 1 else 0.0, row.batches)
        after = draw_batches(rng, kinds, row.drift, AFTER)
        other = eplb.rebalance(made.mean(axis=0), slots, 1, 1, 8 * machines)
        (equal, first), (balanced, second) = (_make(made, slots, machines, some) for some in get_args(Sharing))
        seconds.append((first, second))
        pairs = ((other, "equal"), (equal, "equal"), (other, "solved"), (equal, "solved"), (balanced, "solved"))
        found.append(np.array([_judge(after, slots, 8 * machines, *pair) for pair in pairs]))
    means = [f"{mean:.3f}" for mean in np.mean(found, axis=0).tolist()]
    taken = [f"{some:.2f}" for some in np.mean(seconds, axis=0).tolist()]
    above = f"{sum(bool(some[-1] > some[2]) for some in found)} of {len(found)}"
    title = f"{experts}, {slots}, {8 * machines}"
    return title, f"{row.skew:g}", f"{row.drift:g}", str(row.kinds), str(row.batches), *means, *taken, above


def _make(made: FloatArray, slots: int, machines: int, sharing: Sharing) -> tuple[IntArray, float]:
    """Return TIGER's map for batches, and the seconds of a processor that it took."""
    options = ExpertOptions(kind="loads", replicas=slots - made.shape[2], sharing=sharing)
    begun = process_time()
    report = report_experts(ExpertCall(trace=made, cluster=f"dgx:{machines}"), options, ignore)
    return np.array(report.slots), process_time() - begun


def _judge(after: FloatArray, slots: int, gpus: int, phy2log: IntArray, shares: str) -> float:
    """Return the mean over batches of the largest load over the mean."""
    loads = [ExpertLoads(batch, slots, 1, 1, gpus) for batch in after]
    if shares == "equal":
        return float(np.mean([gpu_loads(some, phy2log).max() / some.mean[0] for some in loads]))
    return float((solve_shares(loads[0], phy2log, after).largest[:, 0] / [some.mean[0] for some in loads]).mean())
