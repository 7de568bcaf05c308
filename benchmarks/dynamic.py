"""Models that change while they train: rebalanced plans beside uniform cuts and the best cuts that never move."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from tiger.placement.search.cut_moves import move_cuts
from tiger.rebalancing.follow import follow_times
from tiger.rebalancing.layer_times import LayerTimes
from tiger.rebalancing.line_costs import Cuts, LineCosts
from tiger.rebalancing.params import RebalanceOptions
from tiger.rebalancing.rebalancer import Rebalancer
from tiger.rebalancing.report import RebalanceReport
from tiger.rebalancing.warm import load
from tiger.rebalancing.workloads.spec import trajectory_of
from tiger.training.models.layers import Layers
from tiger.training.models.reading import read_model

STAGES = 8
CLUSTER = "dgx:1"
# With a wide model messages are short beside passes; the head of a narrow one takes as long as three layers.
BARE = "transformer:layers={},hidden=2048,heads=16,vocabulary=50257,sequence=2048"
WHOLE = "transformer:layers={},hidden=1024,heads=16,vocabulary=50257,sequence=2048"
# Cuts looked at for the best plan of an interval, from each of several starts, where a decision looks at 120.
LOOKS = 2000
# What DynMo's paper says of each case: the speedup over uniform cuts.
PAPER = {"pruning": 3.18, "freezing": 2.23, "early-exit": 4.52, "sparse-attention": 4.02, "moe": 1.23, "mod": 1.17}
CACHED = "freezing:frozen=0.9,forward=0.02"
# The cases at 48 layers, whether the model has embedding and head; then those nearest to the paper's figures.
CASES = (
    ("pruning", False),
    ("freezing", False),
    (CACHED, False),
    ("early-exit", False),
    ("sparse-attention", False),
    ("moe", False),
    ("mod", False),
    ("pruning", True),
    ("freezing", True),
    (CACHED, True),
    ("early-exit", True),
    ("sparse-attention", True),
    ("moe", True),
    ("mod", True),
)
EXTREMES = (
    ("pruning", 128, False),
    ("pruning:spread=1,sparse=1,useful=1,ramp=0.1", 48, False),
    (f"{CACHED},begin=0", 96, False),
    ("early-exit:survival=0.05,ramp=0", 96, False),
    ("sparse-attention:attention=0.99", 96, False),
    ("moe", 24, True),
    ("mod", 24, True),
)
HEAD = (
    "case",
    "layers",
    "head",
    "gain over uniform",
    "largest in an interval",
    "cap",
    "over best static",
    "over bound",
    "over best plan, most",
    "moves a layer",
    "rebalances",
    "decision, ms of a core, median (most)",
    "workers, first, last, mean",
    "diffusion's gain",
    "paper",
)


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield the figures of the six cases of DynMo, then those at 128 layers, and of settings near its headlines."""
    yield HEAD
    # So that no decision waits for compilation.
    load()
    for spec, head in CASES:
        say(spec)
        yield row(spec, 48, head)
    for spec, layers, head in EXTREMES:
        say(spec)
        yield row(spec, layers, head)


def row(spec: str, layers: int, head: bool) -> tuple[str, ...]:  # noqa: FBT001 (a column of the table)
    """Return the cells of a case."""
    model = read_model(WHOLE.format(layers)) if head else without_ends(read_model(BARE.format(layers)))
    report = follow(spec, model, RebalanceOptions(pipeline=STAGES))
    above = max(excess(spec, model, report))
    local = follow(spec, model, RebalanceOptions(pipeline=STAGES, balancer="diffusion"))
    took = decisions_ms(spec, model)
    workers = [one.workers or 0 for one in report.intervals]
    return (
        spec,
        f"{layers}",
        "yes" if head else "no",
        f"{report.gain:.2f}",
        f"{report.largest_gain:.2f}",
        f"{report.cap}",
        f"{report.static_gain:.2f}",
        f"{report.rebalanced_s / report.lower_bound_s:.2f}",
        f"{100 * above:.1f} %",
        f"{report.moved_layers / report.layers:.2f}",
        f"{report.rebalances}",
        f"{np.median(took):.0f} ({max(took):.0f})",
        f"{workers[0]}, {workers[-1]}, {np.mean(workers):.2f}",
        f"{local.gain:.2f}",
        f"{PAPER[spec.partition(':')[0]]}",
    )


def follow(spec: str, model: Layers, options: RebalanceOptions) -> RebalanceReport:
    """Return the report of a run of a workload."""
    times = trajectory_of(spec, model)
    return follow_times(Rebalancer(model, CLUSTER, options=options), list(times))


def decisions_ms(spec: str, model: Layers) -> list[float]:
    """Return the milliseconds of a processor of every decision, which other processes lengthen little."""
    rebalancer, took = Rebalancer(model, CLUSTER, options=RebalanceOptions(pipeline=STAGES)), []
    for rows in trajectory_of(spec, model):
        begun = time.process_time()
        rebalancer.step(rows)
        took.append(1e3 * (time.process_time() - begun))
    return took


def excess(spec: str, model: Layers, report: RebalanceReport) -> Iterator[float]:
    """Yield by which share an iteration of each interval is above that of the best contiguous plan that is known.

    Cuts move for long from the plan in use, from the least bottleneck, and from uniform cuts; moves are free.
    """
    options = RebalanceOptions(pipeline=STAGES)
    rebalancer = Rebalancer(model, CLUSTER, options=options)
    times = trajectory_of(spec, model)
    for rows, one in zip(times, report.intervals, strict=True):
        costs = LineCosts(line=rebalancer.line, times=LayerTimes(forward_s=rows[0], backward_s=rows[1]))
        least = costs.program.least_bottleneck()
        starts = [one.decision.cuts, report.uniform_cuts, *([] if least is None else [least[1]])]
        best = min(best_from(costs, cuts) for cuts in starts)
        yield (one.decision.iteration_s or np.inf) / best - 1


def best_from(costs: LineCosts, start: Cuts) -> float:
    """Return the least simulated iteration of cuts that a long local search finds."""
    best = np.inf

    def seconds(cuts: Cuts) -> float:
        nonlocal best
        bound = costs.bound_s(cuts)
        value = costs.iteration_s(cuts) if bound < best else bound
        best = min(best, value) if bound < best else best
        return value

    return move_cuts(start, seconds, LOOKS).value


def without_ends(model: Layers) -> Layers:
    """Return a model without embedding and head, nor what ranks of groups send."""
    inner = slice(1, model.size - 1)
    crossing = model.crossing_bytes[1:-1].copy()
    crossing[[0, -1]] = 0.0
    return Layers(
        names=model.names[inner],
        forward_s=model.forward_s[inner],
        backward_s=model.backward_s[inner],
        weight_s=model.weight_s[inner],
        parameter_bytes=model.parameter_bytes[inner],
        gradient_bytes=model.gradient_bytes[inner],
        state_bytes=model.state_bytes[inner],
        held_bytes=model.held_bytes[inner],
        crossing_bytes=crossing,
        kinds=model.kinds[inner],
        modules=model.modules[inner],
    )
