"""The Python entry of experts: a trace of a router and a cluster in, the placement and how often tokens cross out."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.options import from_fields, narrow
from tiger.model.wording import describe
from tiger.pipeline.entry.arguments import Hardware
from tiger.pipeline.entry.clock import measure_time
from tiger.pipeline.entry.place import cluster_of
from tiger.pipeline.entry.plausibility import warn_implausible
from tiger.pipeline.entry.request import require_cluster
from tiger.pipeline.experts.assignment import place_greedily, place_in_order
from tiger.pipeline.experts.costs import ExpertProblem, crossing_share, hop_sum
from tiger.pipeline.experts.hops import hop_weights, hosts_of_experts
from tiger.pipeline.experts.params import ExpertOptions
from tiger.pipeline.experts.report import ExpertReport, ExpertStage, RoutingCost
from tiger.pipeline.experts.search import ExpertParams, place_flat, search_experts
from tiger.pipeline.experts.traces import Numbers, read_trace, split_trace
from tiger.pipeline.experts.transitions import count_transitions
from tiger.pipeline.hardware.cluster import Cluster
from tiger.pipeline.hardware.composition import HostArguments
from tiger.run.limits import check_limits
from tiger.run.options import WatchOptions
from tiger.run.progress import Progress, ignore


@dataclass(frozen=True, eq=False)
class ExpertArguments(ExpertOptions, HostArguments):
    """Hold a trace, a cluster, and options."""

    trace: Numbers | Path | str
    cluster: Hardware


@dataclass(frozen=True, eq=False)
class ExpertCall(WatchOptions, ExpertArguments):
    """Hold the arguments of `tiger.experts`."""


@dataclass(frozen=True, slots=True, eq=False)
class ExpertRequest:
    """Hold a trace, a cluster with its devices that hold experts, checked options, and the callback of the progress."""

    trace: Numbers
    cluster: Cluster
    devices: IntArray
    options: ExpertOptions
    watch: Callable[[Progress], None] = ignore


@from_fields(ExpertCall)
def experts(call: ExpertCall) -> ExpertReport:
    """Place the experts of every layer on the accelerators of a cluster so that tokens seldom change device.

    The trace has the expert that each token chose in each layer, [tokens, layers], or the k that it chose, [tokens,
    layers, k], as an array or a file (`tiger.pipeline.experts.traces`); the cluster, and what is inside the hosts of a
    network, is what `place` takes. Every device gets as many of the `experts` of each layer. Hops between devices weigh
    by their bandwidths. The last `held_out` tokens only test the placement. Same seed and effort, same answer;
    `time_limit_s` only ends a search early.
    Raises InputError that names the field at fault and TypeError for an argument of another type.
    """
    begun = time.perf_counter()
    options = _check_options(narrow(ExpertOptions, call))
    watch = call.progress or ignore
    watch(Progress("reading", None, None))
    trace = read_trace(call.trace)
    cluster = require_cluster(cluster_of(call.cluster, narrow(HostArguments, call)))
    devices = hosts_of_experts(cluster)
    if options.experts % len(devices):
        what = f"expected a multiple of the {len(devices)} accelerators"
        raise InputError("experts", f"{what}, got {describe(options.experts)}")
    return _report_placement(ExpertRequest(trace, cluster, devices, options, watch), begun)


def _check_options(options: ExpertOptions) -> ExpertOptions:
    """Return options whose values can be used with some trace, or raise InputError that names one, or TypeError."""
    check_limits(options.seed, options.effort, options.time_limit_s)
    if options.effort is None:
        raise InputError("effort", "expected a whole number from 1 to 2**63 - 1, got none")
    if type(options.experts) is not int or options.experts < 1:
        raise InputError("experts", f"expected the number of experts of a layer, got {describe(options.experts)}")
    if not isinstance(options.held_out, int | float):
        raise TypeError(f"held_out: expected a number, got {type(options.held_out).__name__}")
    if isinstance(options.held_out, bool) or not 0 <= options.held_out < 1:
        raise InputError("held_out", f"expected a share from 0 to below 1, got {describe(options.held_out)}")
    return options


def _report_placement(request: ExpertRequest, begun: float) -> ExpertReport:
    """Report the placement for a request that began at some time."""
    options, hops = request.options, hop_weights(request.cluster, request.devices)
    training, held_out = split_trace(request.trace, options.held_out)
    problem = ExpertProblem(count_transitions(training, options.experts), hops)
    tests = count_transitions(held_out, options.experts, len(training)) if len(held_out) else None
    with measure_time(options.time_limit_s) as clock:
        params = narrow(ExpertParams, ExpertParams(), seed=options.seed, effort=options.effort)
        found = search_experts(problem, params, clock.stop, request.watch)
    names = tuple(request.cluster.names[device] for device in request.devices.tolist())
    differ = np.unique(hops[hops > 0]).size > 1
    return ExpertReport(
        layers=problem.layers,
        experts=problem.experts,
        top_k=request.trace.shape[2],
        tokens=len(training),
        held_out_tokens=len(held_out),
        devices=names,
        place=tuple(tuple(row) for row in found.solution.tolist()),
        stages=_list_stages(names, found.solution),
        placed=_cost(problem, tests, found.solution),
        contiguous=_cost(problem, tests, place_in_order(problem)),
        greedy=_cost(problem, tests, place_greedily(problem)),
        flat=_cost(problem, tests, place_flat(problem, clock.stop)) if differ else None,
        lower_bound_hops=(found.bound or 0.0) / float(problem.counts.sum()),
        seed=options.seed,
        progress=tuple(found.stages),
        warnings=(*warn_implausible(request.cluster), *clock.remarks),
        seconds=time.perf_counter() - begun,
        problem=problem,
    )


def _list_stages(names: tuple[str, ...], place: IntArray) -> tuple[ExpertStage, ...]:
    """Return the experts of every device, by layer."""
    held = [np.argwhere(place == device).tolist() for device in range(len(names))]
    return tuple(
        ExpertStage(device=name, ops=tuple([f"{layer}:{expert}" for layer, expert in pairs]))
        for name, pairs in zip(names, held, strict=True)
    )


def _cost(problem: ExpertProblem, tests: FloatArray | None, place: IntArray) -> RoutingCost:
    """Return what a placement comes to on the counts of both parts of the tokens."""
    test = None if tests is None else problem._replace(counts=tests)
    return RoutingCost(
        crossing=crossing_share(problem.counts, place),
        hops=hop_sum(problem, place) / float(problem.counts.sum()),
        held_out_crossing=None if test is None else crossing_share(test.counts, place),
        held_out_hops=None if test is None else hop_sum(test, place) / float(test.counts.sum()),
    )
