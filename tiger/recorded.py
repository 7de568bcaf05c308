"""Samples that were drawn elsewhere from a problem's model, and what they amount to."""

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiger.baselines import baselines
from tiger.bounds.lower_bound import lower_bound
from tiger.deadline import Deadline
from tiger.decode import Reads, decode, repair
from tiger.encode import COUPLER_LIMIT, Qubo, coupler_count, encode
from tiger.errors import InputError
from tiger.exchange import window_of
from tiger.feasibility import launch_order
from tiger.model.arrays import BitArray, FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.window import Window
from tiger.objective import cost_of
from tiger.progress import ignored
from tiger.report import Origin, Report
from tiger.run import Run, Watch
from tiger.solvers import registry
from tiger.solvers.cqm import BIAS_LIMIT, variables
from tiger.stage import Detail

NAME = "decode"


class Rows(NamedTuple):
    """Hold samples from elsewhere: `bits[r, columns]` of distinct rows and how many reads `counts[r]` gave each."""

    bits: BitArray
    counts: IntArray


def decoded(problem: Problem, rows: Rows, watch: Watch | None = None) -> Report:
    """Report what samples of a problem's model amount to: each is decoded, repaired and polished.

    Columns are in the order of the variables; slack bits may be there or not, and are not looked at. The mapping is the
    best of them and the launch order. Raises InputError for samples with another number of columns.
    """
    begun = time.perf_counter()
    start = launch_order(problem)
    if isinstance(start, tuple):
        return Report.unmet(problem, start, Origin(NAME, 0, time.perf_counter() - begun))
    window = window_of(problem, BIAS_LIMIT, "biases")
    qubo = _columns(window, rows.bits.shape[1])
    run = Run(problem=problem, places=start, deadline=Deadline(None), watch=watch or ignored)
    simple = baselines(problem, run.cost)
    run.record("baseline", time.perf_counter() - begun, {})
    with run.stage("bound") as detail:
        run.bound = min(lower_bound(problem, start), run.cost)
        detail["lower_bound"] = run.bound
    with run.stage("samples") as detail:
        detail |= _judged(run, qubo, decode(qubo, rows.bits), rows.counts)
    if np.array_equal(run.places, start) and not run.optimal:
        run.warnings["no read beat the launch order, which is the mapping that is reported"] = None
    report = Report.of(problem, run.places, Origin(NAME, 0, time.perf_counter() - begun))
    return replace(
        report,
        baseline_cost=simple.block,
        baselines=simple,
        lower_bound=run.cost if run.optimal else run.bound,
        optimal=run.optimal,
        stages=tuple(run.stages),
        warnings=(*report.warnings, *run.warnings),
    )


def _columns(window: Window, count: int) -> Qubo:
    """Return the bits that so many columns of samples stand for, or raise InputError."""
    size = int(window.allowed.sum())
    full = encode(window).size if coupler_count(window) <= COUPLER_LIMIT else size
    if count not in (size, full):
        bare = f", or {size} without slack bits" if full > size else ""
        raise InputError("samples", f"expected {full} values a read, one for each variable{bare}, got {count}")
    return Qubo(window=window, index=variables(window), size=size, budgets=())


def _judged(run: Run, qubo: Qubo, reads: Reads, counts: IntArray) -> dict[str, Detail]:
    """Offer every read that can be repaired, polished, to the run; return the figures of the stage."""
    window, polish = qubo.window, registry.polish(run.problem)
    distinct = {bits.tobytes(): bits for bits in reads.bits}.values()
    repaired = [local for bits in distinct if (local := repair(window, bits)) is not None]
    polished = [polish(window.placed(run.places, local), window.block, run.deadline) for local in repaired]
    for places in polished:
        run.offer(places)
    if not repaired:
        run.warnings["no read could be repaired: the mapping is the launch order"] = None
    return {
        "reads": int(counts.sum()),
        "distinct": len(distinct),
        "feasible_share": float(np.average(reads.feasible, weights=counts)),
        "best_raw": _least(window.costs(reads.bits[reads.feasible].argmax(axis=2))),
        "best_repaired": _least(
            window.costs(np.array(repaired, np.int64).reshape(len(repaired), len(window.block.tasks)))
        ),
        "best_polished": _least(np.array([cost_of(run.problem, places).total for places in polished])),
    }


def _least(costs: FloatArray) -> float | None:
    """Return the smallest of some costs, None without any."""
    return float(costs.min()) if len(costs) else None
