"""Samples that were drawn elsewhere from a problem's model, and what they amount to."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiger.bounds.lower_bound import lower_bound
from tiger.errors import InputError
from tiger.feasibility.start import launch_order
from tiger.mapping.exchange.export import check_pairs, window_of
from tiger.model.arrays import BitArray, BoolArray, FloatArray, IntArray
from tiger.model.fingerprint import fingerprint
from tiger.model.problem import Problem
from tiger.model.window import Window
from tiger.model.wording import describe
from tiger.objectives.cost import cost_of
from tiger.qubo.decode import Reads, decode, repair
from tiger.qubo.encode import COUPLER_LIMIT, Qubo, coupler_count, encode
from tiger.qubo.penalties import safe_penalties
from tiger.qubo.tune import min_cost
from tiger.run.baselines import Orders, baselines, cyclic_order
from tiger.run.deadline import Deadline
from tiger.run.incumbent import Watch
from tiger.run.mapping import MappingIncumbent
from tiger.run.progress import ignore
from tiger.run.report import SAMPLES, Origin, Report
from tiger.run.stage import Detail
from tiger.solvers import registry
from tiger.solvers.samplers.cqm import BIAS_LIMIT, variables

FIELD = "samples"
UNCHECKED = "not checked that the samples are of this problem: they state neither its fingerprint nor usable energies"
STRANGE = "expected samples of this problem"
EXACT = 1e-6  # Sums of some thousand terms in single precision differ by less.


class SampleRows(NamedTuple):
    """Hold samples from elsewhere: `bits[r, columns]` of distinct rows and how many reads `counts[r]` gave each.

    As far as they are stated: `energies[r]`, the `fingerprint` of the problem, and the `offset` of the model.
    """

    bits: BitArray
    counts: IntArray
    energies: FloatArray | None = None
    fingerprint: str | None = None
    offset: float | None = None


class WindowRows(NamedTuple):
    """Hold samples of a window: task and node of every variable, None of slack bits, and the mapping at that time."""

    samples: SampleRows
    variables: tuple[tuple[str | None, str | None], ...]
    mapping: dict[str, str]


def decode_samples(problem: Problem, rows: SampleRows, watch: Watch | None = None) -> Report:
    """Report what samples of a problem's model amount to: each is decoded, repaired and polished.

    Columns are in the order of the variables; slack bits may be there or not, and are not looked at. The mapping is the
    best of them and the launch order. Raises InputError for hyperedges, and for samples of another problem: another
    number of columns, another fingerprint, or energies of feasible reads that are not their costs. Where neither
    fingerprint nor energies can tell, a warning says so.
    """
    check_pairs(problem)

    def offer(run: MappingIncumbent) -> dict[str, Detail]:
        """Offer the reads; return the figures of the stage."""
        qubo = _columns(window_of(problem, BIAS_LIMIT, "biases"), rows.bits.shape[1])
        reads = decode(qubo, rows.bits)
        checks = _checks(problem, qubo, rows, reads)
        if qubo.size and not checks:
            run.warnings[UNCHECKED] = None
        return report_reads(run, [offer_reads(run, qubo.window, reads, rows.counts, run.places)], checks)

    return report_samples(problem, offer, watch)


def report_samples(
    problem: Problem, offer: Callable[[MappingIncumbent], dict[str, Detail]], watch: Watch | None
) -> Report:
    """Return the report of what reads that are offered come to, from the launch order on; raises InputError."""
    begun = time.perf_counter()
    start = launch_order(problem)
    if isinstance(start, tuple):
        return Report.unmet(problem, start, Origin(SAMPLES, 0, time.perf_counter() - begun))
    run = MappingIncumbent(problem=problem, solution=start, stop=Deadline(None), watch=watch or ignore)
    simple = baselines(problem, Orders(start, cyclic_order(problem)))
    run.record("baseline", time.perf_counter() - begun, {})
    with run.stage("bound") as detail:
        run.bound = min(lower_bound(problem, start), run.cost)
        detail["lower_bound"] = run.bound
    with run.stage("samples") as detail:
        detail |= offer(run)
    if np.array_equal(run.places, start) and not run.optimal:
        run.warnings["no read beat the launch order, which is the mapping that is reported"] = None
    report = Report.of(problem, run.places, Origin(SAMPLES, 0, time.perf_counter() - begun))
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
    """Return the bits that the columns of samples stand for, or raise InputError.

    A capacity has its slack bits where there are columns for them.
    """
    size = int(window.allowed.sum())
    full = encode(window) if coupler_count(window) <= COUPLER_LIMIT else None
    if full is not None and count == full.size:
        return full
    if count != size:
        most = size if full is None else full.size
        bare = f", or {size} without slack bits" if most > size else ""
        raise InputError(FIELD, f"expected {most} values a read, one for each variable{bare}, got {count}")
    return Qubo(window=window, index=variables(window), size=size, budgets=())


def _checks(problem: Problem, qubo: Qubo, rows: SampleRows, reads: Reads) -> list[str]:
    """Return by what the samples are known to be of the problem; raise InputError where they are of another."""
    checks = []
    if rows.fingerprint is not None:
        own = fingerprint(problem)
        if rows.fingerprint != own:
            raise InputError(FIELD, f"{STRANGE}, fingerprint {own}, got fingerprint {describe(rows.fingerprint)}")
        checks.append("fingerprint")
    return [*checks, "energies"] if _has_energies(qubo, rows, reads) else checks


def _has_energies(qubo: Qubo, rows: SampleRows, reads: Reads) -> bool:
    """Return whether stated energies are those of this problem; raise InputError where they are of another.

    Those of feasible reads that fill every slack are their costs at any penalties; all others are known at the safe
    bound alone, and prove nothing where they differ. The offset of the model, that at the safe bound unless another is
    stated, may be missing.
    """
    window, given = qubo.window, rows.energies
    blind = not qubo.budgets and _overflows(window)
    if given is None or blind or not np.isfinite(given).all() or not given.any():
        return False
    filled = reads.feasible & _fills_nodes(qubo, rows.bits)
    costs, weights = window.costs(reads.bits[filled].argmax(axis=2)), safe_penalties(window).at(1.0)
    size = float(weights.one_hot.sum() + weights.exclusive.sum())
    size += sum(float(weights.capacity[budget.node]) * budget.limit * budget.limit for budget in qubo.budgets)
    if len(costs) and _are_equal(given[filled], costs, size):
        return True
    if rows.offset is not None and len(costs) and _are_equal(given[filled] + rows.offset, costs, size):
        return True
    if coupler_count(window) <= COUPLER_LIMIT:
        model = qubo.bqm(weights)
        full: FloatArray = model.energies((rows.bits, range(qubo.size)))
        if _are_equal(given, full, size) or _are_equal(given + float(model.offset), full, size):
            return True
    if not len(costs):
        return False
    worst = int(np.abs(given[filled] - costs).argmax())
    found = f"a feasible read of cost {costs[worst]:.10g} whose energy is stated as {given[filled][worst]:.10g}"
    raise InputError(FIELD, f"{STRANGE}, got {found}")


def _are_equal(given: FloatArray, known: FloatArray, size: float) -> bool:
    """Return whether energies are equal, as sums in single precision of terms that add up to some size."""
    return bool((np.abs(given - known) <= EXACT * (np.abs(known) + size)).all())


def _fills_nodes(qubo: Qubo, bits: BitArray) -> BoolArray:
    """Return for each read whether task and slack bits fill every node to its capacity."""
    filled = np.ones(len(bits), bool)
    for budget in qubo.budgets:
        filled &= np.isclose(bits[:, budget.variable] @ budget.weight, budget.limit)
    return filled


def _overflows(window: Window) -> bool:
    """Return whether the tasks that may go to some node are more than it holds."""
    return any(bool((limit.load @ window.allowed > limit.room).any()) for limit in window.capacities)


class OfferedReads(NamedTuple):
    """Say how many reads were offered, how many differ and were feasible, and their best costs, None without any."""

    reads: int
    distinct: int
    feasible: int
    raw: float | None
    repaired: float | None
    polished: float | None


def offer_reads(
    run: MappingIncumbent, window: Window, reads: Reads, counts: IntArray, places: IntArray
) -> OfferedReads:
    """Offer every read of a window that can be repaired, polished, to the run; other tasks are at `places[n]`."""
    polish = registry.polish(run.problem)
    distinct = {bits.tobytes(): bits for bits in reads.bits}.values()
    repaired = [local for bits in distinct if (local := repair(window, bits)) is not None]
    polished = [polish(window.place(places, local), window.block, run.stop) for local in repaired]
    for offered in polished:
        run.offer(offered)
    locals_ = np.array(repaired, np.int64).reshape(len(repaired), len(window.block.tasks))
    return OfferedReads(
        reads=int(counts.sum()),
        distinct=len(distinct),
        feasible=int(counts[reads.feasible].sum()),
        raw=min_cost(window.costs(reads.bits[reads.feasible].argmax(axis=2))),
        repaired=min_cost(window.costs(locals_)),
        polished=min_cost(np.array([cost_of(run.problem, offered).total for offered in polished])),
    )


def report_reads(run: MappingIncumbent, offered: Sequence[OfferedReads], checks: Sequence[str]) -> dict[str, Detail]:
    """Return the figures of all reads that were offered, and warn where they came to nothing by themselves."""
    count, feasible = sum(some.reads for some in offered), sum(some.feasible for some in offered)
    if not feasible:
        drawn, work = f"no read was feasible, of {count:,}", "this mapping is the work of repair and polish"
        gained = run.stages and run.cost < run.stages[-1].cost
        run.warnings[f"{drawn}: {work}" if gained else drawn] = None
    if all(some.repaired is None for some in offered):
        run.warnings["no read could be repaired: the mapping is the launch order"] = None
    best = [
        min((cost for cost in costs if cost is not None), default=None)
        for costs in zip(*((some.raw, some.repaired, some.polished) for some in offered), strict=True)
    ]
    return {
        "reads": count,
        "distinct": sum(some.distinct for some in offered),
        "feasible_share": feasible / count,
        "best_raw": best[0],
        "best_repaired": best[1],
        "best_polished": best[2],
        "checked": ", ".join(checks) or "nothing",
    }
