"""Plans of transformers by simulated iteration, beside the degrees that people choose by hand."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import tiger
from tiger.planning.report import RankedPlan

SMALL = "transformer:layers=32,hidden=4096,heads=32,vocabulary=32000,sequence=4096,gated=true"
WIDE = "transformer:layers=40,hidden=5120,heads=40,vocabulary=32000,sequence=4096,gated=true"
LLAMA = "transformer:layers=80,hidden=8192,heads=64,kv_heads=8,ffn=28672,vocabulary=128256,sequence=4096,gated=true"
GPT = "transformer:layers=96,hidden=12288,heads=96,vocabulary=50257,sequence=2048"


class Case(NamedTuple):
    """Name a question: a model, a cluster, and how many sequences an iteration has."""

    title: str
    model: str
    cluster: str
    batch: int


CASES = (
    Case("7B, 8 GPUs (DGX H100)", SMALL, "dgx:1", 64),
    Case("13B, 2 x 8 GPUs, 3.1 GB/s between", WIDE, "examples/clusters/slow_network2.json", 64),
    Case("13B, 8 GPUs and 8 of 0.4 their speed, two NICs", WIDE, "examples/clusters/two_networks.json", 64),
    Case("70B, 64 GPUs (8 DGX H100)", LLAMA, "dgx:8", 256),
    Case("175B, 128 GPUs (16 DGX H100)", GPT, "dgx:16", 512),
)


def table(say: Callable[[str], None], _: None) -> Iterator[tuple[str, ...]]:
    """Yield the usual plan and TIGER's, with its gain, the bound on all plans, and how long the search took."""
    yield (
        "model and cluster",
        "sequences",
        "usual plan (PP x TP x DP)",
        "s",
        "TIGER",
        "s",
        "gain",
        "bound, s",
        "of choices simulated",
        "search, s",
    )
    for case in CASES:
        say(case.title)
        report = tiger.plan(case.model, case.cluster, batch=case.batch)
        best, usual = report.best, report.heuristic
        if best is None or usual is None:
            raise SystemExit(f"expected a plan for {case.title}, and a usual one, got none")
        simulated = report.choices - sum(pruned.choices for pruned in report.pruned)
        yield (
            case.title,
            str(case.batch),
            words(usual),
            f"{usual.iteration_s:.2f}",
            words(best),
            f"{best.iteration_s:.2f}",
            f"{report.gain:.2f}",
            f"{report.lower_bound_s:.2f}",
            f"{simulated} of {report.choices:,}",
            f"{report.seconds:.0f}",
        )


def words(plan: RankedPlan) -> str:
    """Return degrees, schedule and microbatches in short."""
    each = plan.degrees
    stages = f" x {each.virtual}" if each.virtual > 1 else ""
    size = f", microbatches of {each.microbatch}" if each.microbatch != 1 else ""
    return f"{each.pipeline} x {each.tensor} x {each.data}, {each.schedule}{stages}{size}"
