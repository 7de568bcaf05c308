"""Placements of transformers by simulated iteration, beside what people write by hand."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import tiger
from tiger.placement.chain.params import LineParams
from tiger.placement.search.candidates import best_cuts
from tiger.placement.search.evaluator import Evaluator
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.reading import read_cluster
from tiger.training.models.reading import read_model
from tiger.training.schedules.pass_orders import Schedule

SMALL = "transformer:layers=24,hidden=1024,heads=16,vocabulary=50257,sequence=2048"
WIDE = "transformer:layers=40,hidden=5120,heads=40,vocabulary=50257,sequence=2048"
LLAMA = "transformer:layers=80,hidden=8192,heads=64,kv_heads=8,ffn=28672,vocabulary=128256,sequence=4096,gated=true"
MIXED = "examples/clusters/two_networks.json"


class Case(NamedTuple):
    """Name a question: a model, a cluster, degrees (pipeline, data, tensor), a schedule and its microbatches."""

    title: str
    model: str
    cluster: str
    degrees: tuple[int, int, int]
    schedule: Schedule
    microbatches: int


CASES = (
    Case("24 layers, h = 1024, V = 50k, 8 GPUs", SMALL, "dgx:1", (8, 1, 1), "gpipe", 32),
    Case("the same", SMALL, "dgx:1", (8, 1, 1), "1f1b", 32),
    Case("the same", SMALL, "dgx:1", (8, 1, 1), "interleaved", 32),
    Case("the same", SMALL, "dgx:1", (8, 1, 1), "zero-bubble", 32),
    Case("70B Llama shape, TP 8, PP 8, 64 GPUs", LLAMA, "dgx:8", (8, 1, 8), "1f1b", 64),
    Case("13B, two kinds of GPUs and NICs, PP 16", WIDE, MIXED, (16, 1, 1), "1f1b", 64),
    Case("13B, the same, TP 2, PP 8", WIDE, MIXED, (8, 1, 2), "1f1b", 64),
    Case("24 layers, irregular NVLink (2 x DGX-1V), TP 2, PP 4, DP 2", SMALL, "dgx-1v:2", (4, 2, 2), "1f1b", 32),
    Case("24 layers, irregular NVLink, TP 4, PP 4", SMALL, "dgx-1v:2", (4, 1, 4), "1f1b", 32),
    Case("24 layers, regular (2 x DGX H100), TP 2, PP 4, DP 2", SMALL, "dgx:2", (4, 2, 2), "1f1b", 32),
)


def table(say: Callable[[str], None], _: None) -> Iterator[tuple[str, ...]]:
    """Yield the simulated iteration of a uniform split, of exact cuts in rank order, and of TIGER, with its bound."""
    yield (
        "model and cluster",
        "schedule",
        "uniform, ms",
        "exact cuts, rank order, ms",
        "TIGER, ms",
        "gain",
        "bound, ms",
        "s",
    )
    for case in CASES:
        say(f"{case.title}, {case.schedule}")
        layers, cluster = read_model(case.model), read_cluster(case.cluster)
        pipeline, data, tensor = case.degrees
        report = tiger.place(
            layers,
            cluster,
            schedule=case.schedule,
            microbatches=case.microbatches,
            pipeline=pipeline,
            data=data,
            tensor=tensor,
        )
        ranked = None if case.schedule == "interleaved" else in_rank_order(case, cluster)
        uniform, made = report.uniform_iteration_s, report.iteration_s
        cells = (uniform, ranked, made)
        bound = max(
            [
                report.iteration_bound_s,
                *(step.detail["same_cuts_bound_s"] for step in report.progress if step.name == "ranks"),
            ]
        )
        yield (
            case.title,
            case.schedule,
            *("-" if cell is None else f"{1e3 * cell:.1f}" for cell in cells),
            f"{uniform / made:.2f}",
            f"{1e3 * bound:.1f}",
            f"{report.seconds:.1f}",
        )


def in_rank_order(case: Case, cluster: Cluster) -> float:
    """Return the seconds of an iteration with devices in the order of the cluster, and exact cuts for them."""
    layers, grid = read_model(case.model), rank_order(case.degrees)
    judge = Evaluator(layers=layers, cluster=cluster, schedule=case.schedule, microbatches=case.microbatches)
    cuts = best_cuts(layers, cluster, grid, LineParams())
    return judge.seconds(Plan(cuts=cuts, grid=grid)) if cuts else np.inf
