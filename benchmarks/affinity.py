"""Affinity of experts: which part of the transitions between GPUs a map saves, on tokens that it was not made for."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.experts import draw_trace, place
from tiger.expert_maps.params import ExpertOptions
from tiger.expert_maps.report import ExpertReport
from tiger.expert_maps.warm import load

# Experts, layers and equal GPUs of the rows, the concentrations of Dirichlet draws, and how many traces each.
GRID, ALPHAS, SEEDS = ((8, 32, 4), (8, 32, 8), (64, 24, 16)), (0.05, 0.2, 1.0), 20
# Tokens of a trace, and the share of them on which a map is tested: 5,000 tokens make a map, 15,000 test it.
TOKENS, HELD_OUT = 20_000, 0.75


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield the transitions between GPUs in the order of numbers, and the parts that maps save, means over traces."""
    yield (
        "experts",
        "layers",
        "GPUs",
        "alpha",
        "in order",
        "greedy saves",
        "TIGER saves",
        "below greedy",
        "optimal",
        "s",
    )
    # So that no search waits for compilation.
    load()
    for experts, layers, gpus in GRID:
        for alpha in ALPHAS:
            say(f"affinity of {experts} experts on {gpus} GPUs, alpha {alpha:g}")
            reports = [place_trace((experts, layers), gpus, alpha, seed) for seed in range(SEEDS)]
            yield f"{experts}", f"{layers}", f"{gpus}", f"{alpha:g}", *_sum_up(reports)


def place_trace(shape: tuple[int, int], gpus: int, alpha: float, seed: int) -> ExpertReport:
    """Return the report of a trace of experts and layers that are all asked for alike, on GPUs linked alike."""
    machine = {"count": 1, "devices": gpus, "memory_bytes": 80e9, "bandwidth": 450e9}
    trace = draw_trace(shape, TOKENS, alpha, 0.0, seed)
    return place(trace, {"machines": [machine]}, ExpertOptions(experts=shape[0], held_out=HELD_OUT))


def _sum_up(reports: list[ExpertReport]) -> tuple[str, ...]:
    """Return the figures of a row: shares of held-out tokens, and how many maps are worse than greedy on the others."""
    order, greedy, placed = (
        np.array([getattr(report, name).held_out_crossing for report in reports])
        for name in ("contiguous", "greedy", "placed")
    )
    made = ([getattr(report, name).crossing for report in reports] for name in ("greedy", "placed"))
    below = sum(own > other for other, own in zip(*made, strict=True))
    return (
        f"{100 * order.mean():.1f} %",
        *(f"{100 * np.mean(1 - part / order):.1f} %" for part in (greedy, placed)),
        f"{below} of {len(reports)}",
        f"{sum(report.optimal for report in reports)} of {len(reports)}",
        f"{np.mean([report.seconds for report in reports]):.2f}",
    )
