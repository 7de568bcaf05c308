"""The stages of a search for a placement of operators, in the order in which `solve` runs them."""

from dataclasses import replace

from tiger.model.arrays import IntArray
from tiger.placement.operators.bounds.bound import BoundParams, load_bound_s
from tiger.placement.operators.bounds.exact import place_exactly
from tiger.placement.operators.incumbent import PlacementIncumbent
from tiger.placement.operators.latency.search import LatencyParams, makespan_bound_s, search_latency
from tiger.placement.operators.params import OperatorParams
from tiger.placement.operators.throughput.contiguous import order_stages, split
from tiger.placement.operators.throughput.multilevel import CycleParams, search_multilevel
from tiger.placement.operators.throughput.multilevel_cuts import CutParams, cut_lines
from tiger.placement.operators.throughput.search import AnnealerParams, search_placement

# Up to FEW groups are placed by branch and bound, which mostly ends within its limit of nodes. Above MANY the million
# proposals of a run of annealing are fewer than 200 a group, and groups are joined first.
FEW, MANY = 24, 5_000
# Contiguous stages are found in less time than column generation takes for graphs of more groups and edges than this.
QUICK = 100
# Visits of operators and edges by the search for a small makespan, for each group; large graphs have as many as
# `LatencyParams` allows.
PER_GROUP = 2_000_000


def offer_uniform(incumbent: PlacementIncumbent, uniform: IntArray, params: OperatorParams) -> None:
    """Offer the uniform split, which may cut groups on a cycle apart and so is no line of contiguous stages."""
    with incumbent.stage("uniform"):
        if not params.contiguous:
            incumbent.offer(uniform)


def minimize_load(incumbent: PlacementIncumbent, params: OperatorParams, start: IntArray | None = None) -> None:
    """Search for a small largest load, by what suits the number of groups, also from `start[C]` where it is given."""
    if params.contiguous:
        _cut_stages(incumbent, params)
    elif params.solver != "auto":
        _sample(incumbent, params)
    elif incumbent.terms.groups > MANY:
        _search_multilevel(incumbent, params)
    else:
        if incumbent.terms.groups <= FEW:
            _branch_and_bound(incumbent, params)
        if not incumbent.proved:
            _search(incumbent, params, start)


def bound_load(incumbent: PlacementIncumbent, params: OperatorParams) -> None:
    """Bound the largest load from below, by the best of all placements where groups are few."""
    if incumbent.load_bound_s is not None:
        return
    terms = incumbent.terms
    with incumbent.stage("bound"):
        bound = BoundParams(effort=params.effort)
        if params.contiguous:
            bound = replace(bound, largest=QUICK)
        if terms.groups > FEW:
            incumbent.load_bound_s = load_bound_s(terms, bound, incumbent.stop, incumbent.least_load_s)
            return
        exact = place_exactly(terms, bound, incumbent.stop, incumbent.solution)
        incumbent.load_bound_s = exact.bound_s
        # The best of all placements may be a line of contiguous stages.
        line = order_stages(terms, exact.place) if params.contiguous and exact.place is not None else None
        if line is not None:
            incumbent.offer(line.place, line.devices)


def minimize_latency(
    incumbent: PlacementIncumbent, params: OperatorParams, start: tuple[IntArray, tuple[int, ...]] | None = None
) -> None:
    """Bound the makespan of a microbatch, and search for a small one, or for a small sum of both objectives.

    `start`, a placement with its line, may be better by them than the one of the smallest load.
    """
    terms = incumbent.terms
    with incumbent.stage("latency"):
        incumbent.latency_bound_s = makespan_bound_s(terms)
        incumbent.turn_to(params.objective)
        if start is not None:
            incumbent.offer(*start)
        if params.contiguous:
            return
        limits = LatencyParams(
            makespan_weight=incumbent.makespan_weight,
            load_weight=incumbent.load_weight,
            seed=params.seed,
            effort=params.effort,
            passes=min(LatencyParams().passes, PER_GROUP * terms.groups),
        )
        starts = [] if incumbent.solution is None else [incumbent.solution]
        incumbent.offer(search_latency(terms, limits, starts, incumbent.stop, incumbent.report_step))


def _cut_stages(incumbent: PlacementIncumbent, params: OperatorParams) -> None:
    """Search for contiguous stages, along lines of blocks of groups where these are many."""
    with incumbent.stage("contiguous"):
        if incumbent.terms.groups > MANY:
            cuts = CutParams(seed=params.seed, effort=params.effort)
            line = cut_lines(incumbent.terms, cuts, incumbent.stop, incumbent.report_step)
        else:
            limits = AnnealerParams(seed=params.seed, effort=params.effort)
            line = split(incumbent.terms, limits, incumbent.stop, incumbent.report_step)
        if line is not None:
            incumbent.offer(line.place, line.devices)


def _sample(incumbent: PlacementIncumbent, params: OperatorParams) -> None:
    """Encode the placement as QUBOs, and decode and refine what a sampler returns."""
    from tiger.placement.operators.qubo.sampling import sample
    from tiger.solvers.registry import sampler

    with incumbent.stage("samples"):
        limits = AnnealerParams(seed=params.seed, effort=params.effort)
        asked = sampler(params.solver)
        incumbent.offer(
            sample(incumbent.terms, asked, limits, incumbent.stop, incumbent.report_step, incumbent.answers)
        )


def _branch_and_bound(incumbent: PlacementIncumbent, params: OperatorParams) -> None:
    """Search for the best of all placements by branch and bound, within its limit of nodes."""
    with incumbent.stage("exact") as detail:
        exact = place_exactly(incumbent.terms, BoundParams(effort=params.effort), incumbent.stop, incumbent.solution)
        incumbent.offer(exact.place)
        incumbent.proved = detail["proved"] = exact.proven
        incumbent.load_bound_s = exact.bound_s


def _search(incumbent: PlacementIncumbent, params: OperatorParams, start: IntArray | None) -> None:
    """Search by dynamic programming over linear orders, annealing and path relinking."""
    with incumbent.stage("search"):
        limits = AnnealerParams(seed=params.seed, effort=params.effort)
        incumbent.offer(search_placement(incumbent.terms, limits, incumbent.stop, incumbent.report_step, start))


def _search_multilevel(incumbent: PlacementIncumbent, params: OperatorParams) -> None:
    """Join groups, place those of the coarsest level, and refine level by level."""
    with incumbent.stage("multilevel"):
        limits = CycleParams(seed=params.seed, effort=params.effort)
        incumbent.offer(search_multilevel(incumbent.terms, limits, incumbent.stop, incumbent.report_step))
