"""A run of intervals: the rebalancer's decisions, beside uniform cuts and the best cuts that never move."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray
from tiger.placement.chain.baselines import uniform_cuts
from tiger.rebalancing.decision import Decision
from tiger.rebalancing.layer_times import check_loads
from tiger.rebalancing.line_costs import Cuts, LineCosts, PipelineCosts
from tiger.rebalancing.packing import pack_line
from tiger.rebalancing.params import RebalanceOptions
from tiger.rebalancing.rebalancer import Rebalancer
from tiger.rebalancing.report import IntervalReport, RebalanceReport
from tiger.rebalancing.static_cuts import best_static_cuts


@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """Hold the decision of an interval and its costs on the devices at the start."""

    decision: Decision
    costs: LineCosts


def follow_times(rebalancer: Rebalancer, times: Sequence[FloatArray]) -> RebalanceReport:
    """Return the report of a rebalancer that is told the times [t, 1 or 2, L] of layers, an interval after another.

    Times are of devices of speed 1: what a device takes follows from them. Raises InputError of `times`.
    """
    begun, line = time.perf_counter(), rebalancer.line
    followed = []
    for rows in check_times(times, line.layers.size):
        slowdown = np.repeat(1 / line.cluster.speed[list(line.devices)], np.diff(rebalancer.plan.cuts))
        decision = rebalancer.step(rows * slowdown)
        followed.append(Followed(decision, LineCosts(line=line, times=rebalancer.times)))
    uniform = uniform_cuts(line.layers, line.positions)
    static = best_static_cuts([one.costs for one in followed], [uniform, *(one.decision.cuts for one in followed)])
    intervals = tuple(_report_interval(one, uniform, static) for one in followed)
    return _sum_up(line, rebalancer.options, (uniform, static), intervals, time.perf_counter() - begun)


def check_times(times: Sequence[FloatArray], layers: int) -> list[FloatArray]:
    """Return the rows [1 or 2, L] of each interval, or raise InputError of `times` that names interval and layer."""
    if not len(times):
        raise InputError("times", "expected an interval at least, got none")
    return [check_loads(rows, layers, layers, f"times/{number}") for number, rows in enumerate(times)]


def _report_interval(one: Followed, uniform: Cuts, static: Cuts) -> IntervalReport:
    """Return the report of an interval."""
    costs, decision = one.costs, one.decision
    uniform_s, static_s = costs.iteration_s(uniform), costs.iteration_s(static)
    fits = bool(np.isfinite(uniform_s))
    return IntervalReport(
        uniform_s=uniform_s if fits else None,
        static_s=static_s if np.isfinite(static_s) else None,
        lower_bound_s=costs.lower_bound_s(),
        workers=pack_line(costs.line, costs.times, uniform_s).positions if fits else None,
        decision=decision,
    )


def _sum_up(
    line: PipelineCosts,
    options: RebalanceOptions,
    cuts: tuple[Cuts, Cuts],
    intervals: tuple[IntervalReport, ...],
    seconds: float,
) -> RebalanceReport:
    """Return the report of all intervals."""
    steps, decisions = options.iterations, [one.decision for one in intervals]
    moving = sum(decision.moving_s for decision in decisions)
    rebalanced = steps * sum(decision.iteration_s or 0.0 for decision in decisions) + moving
    uniform, static = _add([one.uniform_s for one in intervals]), _add([one.static_s for one in intervals])
    gains = [
        one.uniform_s / one.decision.iteration_s for one in intervals if one.uniform_s and one.decision.iteration_s
    ]
    body = sum(kind == "layer" for kind in line.layers.kinds)
    return RebalanceReport(
        layers=line.layers.size,
        stages=line.positions,
        schedule=options.schedule,
        microbatches=line.microbatches,
        iterations=steps,
        threshold=options.threshold,
        balancer=options.balancer,
        uniform_cuts=cuts[0],
        static_cuts=cuts[1],
        uniform_s=None if uniform is None else steps * uniform,
        static_s=None if static is None else steps * static,
        rebalanced_s=rebalanced,
        moving_s=moving,
        lower_bound_s=steps * sum(one.lower_bound_s for one in intervals),
        gain=None if uniform is None else steps * uniform / rebalanced,
        static_gain=None if static is None else steps * static / rebalanced,
        largest_gain=max(gains, default=None),
        cap=-(-max(body, 1) // line.positions),
        rebalances=sum(decision.action == "move" for decision in decisions),
        moved_layers=sum(decision.moved_layers for decision in decisions),
        moved_bytes=sum(decision.moved_bytes for decision in decisions),
        intervals=intervals,
        warnings=tuple(_warn(uniform, static)),
        seconds=seconds,
    )


def _warn(uniform: float | None, static: float | None) -> Iterator[str]:
    """Yield which cuts there are no figures of."""
    for what, value in (("uniform cuts", uniform), ("the best cuts found that never move", static)):
        if value is None:
            yield f"{what} do not fit into memory, or lack links"


def _add(seconds: list[float | None]) -> float | None:
    """Return a sum, None where a part is unknown."""
    known = [value for value in seconds if value is not None]
    return sum(known) if len(known) == len(seconds) else None
