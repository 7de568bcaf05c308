"""Experts on the batch after the one that a map was made on, with equal shares and with shares solved for it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

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

# Experts, slots and machines of 8 GPUs; choices of experts in a batch; cases a row, each a layer, and batches after it.
SIZES, TOKENS, CASES, AFTER = ((64, 80, 2), (256, 320, 8)), 1_024, 20, 10
# Exponents of Zipf's law for loads, sigmas of the lognormal factors of a batch, and batches that a map is made on.
ROWS = ((0.4, 0.0, 1), (0.8, 0.0, 1), (0.4, 0.3, 1), (0.8, 0.3, 1), (0.8, 0.3, 8))


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield the largest load of a GPU over the mean in batches that maps were not made on, by maps and shares.

    A batch has as many choices of experts as 1,024 for each expert come to, by Zipf's law in random order. A drift
    multiplies chances by lognormal factors, new ones for each batch, but for a single batch that a map is made on.
    Solved shares are the linear program of LPLB for each batch.
    """
    head = ("EPLB, equal shares", "TIGER, equal", "EPLB, solved", "TIGER, solved", "TIGER balanced, solved", "s")
    yield "experts, slots, GPUs", "skew", "drift", "batches", *head, "balanced above EPLB"
    # So that no search waits for compilation.
    load()
    for size in SIZES:
        for row in ROWS:
            say(f"{size[0]} experts of skew {row[0]}, drift {row[1]}")
            yield _run_row(size, row)


def draw_batches(rng: np.random.Generator, chances: FloatArray, drift: float, number: int) -> FloatArray:
    """Return loads of batches, [batches, 1, experts], of choices by chances that drift."""
    moved = chances * rng.lognormal(0.0, drift, (number, len(chances)))
    return np.array([rng.multinomial(TOKENS * len(row), row / row.sum()) for row in moved], np.float64)[:, None]


def _run_row(size: tuple[int, int, int], row: tuple[float, float, int]) -> tuple[str, ...]:
    """Return the means of a row, and in how many cases a map for solved shares has larger loads than EPLB's."""
    (experts, slots, machines), (skew, drift, number) = size, row
    found, seconds = list[FloatArray](), list[float]()
    for case in range(CASES if experts < max(SIZES)[0] else CASES // 5):
        rng = np.random.default_rng([case, int(10 * skew), int(10 * drift), experts])
        chances = rng.permutation(1 / np.arange(1, experts + 1) ** skew)
        made = draw_batches(rng, chances, drift if number > 1 else 0.0, number)
        after = draw_batches(rng, chances, drift, AFTER)
        other = eplb.rebalance(made.mean(axis=0), slots, 1, 1, 8 * machines)
        equal, _ = _make(made, slots, machines, "equal")
        balanced, taken = _make(made, slots, machines, "balanced")
        seconds.append(taken)
        pairs = ((other, "equal"), (equal, "equal"), (other, "solved"), (equal, "solved"), (balanced, "solved"))
        found.append(np.array([_judge(after, slots, 8 * machines, *pair) for pair in pairs]))
    means = [f"{mean:.3f}" for mean in np.mean(found, axis=0).tolist()]
    above = sum(bool(some[-1] > some[2]) for some in found)
    title = f"{experts}, {slots}, {8 * machines}"
    return title, f"{skew:g}", f"{drift:g}", str(number), *means, f"{np.mean(seconds):.2f}", f"{above} of {len(found)}"


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
