"""Plans for several batches in one sweep, beside a plan for the largest of them alone."""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import tiger
from benchmarks.plans import LLAMA, SMALL

WORKERS = 2


class Case(NamedTuple):
    """Name a question: a model, a cluster, and batches of which each is twice the one before."""

    title: str
    model: str
    cluster: str
    least: int
    most: int


CASES = (
    Case("7B, 16 GPUs (2 DGX H100)", SMALL, "dgx:2", 8, 1024),
    Case("70B, 64 GPUs (8 DGX H100)", LLAMA, "dgx:8", 8, 1024),
)


def table(say: Callable[[str], None], _: None) -> Iterator[tuple[str, ...]]:
    """Yield how long a sweep takes on two workers, and how long its largest plan.

    And by how much the plans of the sweep are slower than those of each batch alone, at the most.
    """
    yield (
        "model and cluster",
        "batches",
        "sweep on two workers, s",
        "plan of the largest, s",
        "ratio",
        "slowest beside its own plan",
    )
    for case in CASES:
        say(case.title)
        began = time.perf_counter()
        swept = tiger.plan(case.model, case.cluster, sweep=f"batch={case.least}..{case.most}", workers=WORKERS)
        spent = time.perf_counter() - began
        slower, alone = 0.0, 0.0
        for row in swept.sweep:
            began = time.perf_counter()
            report = tiger.plan(case.model, case.cluster, batch=row.batch)
            alone = time.perf_counter() - began
            if row.iteration_s is not None and report.iteration_s is not None:
                slower = max(slower, row.iteration_s / report.iteration_s - 1)
        yield (
            case.title,
            f"{len(swept.sweep)}, {case.least} to {case.most}",
            f"{spent:.1f}",
            f"{alone:.1f}",
            f"{spent / alone:.2f}",
            f"{slower:.2%}",
        )
