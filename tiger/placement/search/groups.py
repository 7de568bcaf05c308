"""The search for places of tensor-, data- and pipeline-parallel ranks, and the bound on places for given cuts."""

from dataclasses import replace

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.ranks.bound import ProofTarget, same_cuts_bound_s
from tiger.placement.ranks.cost_model import ParallelDegrees
from tiger.placement.ranks.grid_search import GridFunctions, place_groups
from tiger.placement.search.bounds import group_bound_s
from tiger.placement.search.candidates import best_cuts
from tiger.placement.search.grids import roomy_grids
from tiger.placement.search.incumbent import ChainIncumbent
from tiger.placement.search.position_counts import promising_counts
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.costs.tolerances import MET, meets
from tiger.training.schedules.pass_orders import SPLIT

# Schedules whose bound on places is not known: one sets the order of passes by costs, others fold the pipeline.
UNPROVED = SPLIT | {"chimera"}
# From so many ranks on, rank order is first tried to be proved best for its cuts, which may save the search.
PROVED_FIRST_RANKS = 64


def search_groups(incumbent: ChainIncumbent) -> None:
    """Put the ranks of groups on devices and cut the layers, for the most positions and for fewer if that pays."""
    problem = incumbent.problem
    incumbent.bound_bottleneck(group_bound_s(problem))
    for count in promising_counts(incumbent):
        degrees = ParallelDegrees(
            pipeline=count, data=problem.params.copies, tensor=problem.params.tensor, microbatches=problem.microbatches
        )
        with incumbent.stage("groups") as detail:
            detail["positions"] = count
            incumbent.offer_grids(_search_grids(incumbent, degrees))


def bound_rank_places(incumbent: ChainIncumbent) -> None:
    """Bound the iteration over all places of the best plan's ranks, its cuts kept, as a stage of the report."""
    problem, plan = incumbent.problem, incumbent.solution
    if not problem.has_groups or problem.params.schedule in UNPROVED or plan is None or incumbent.optimal:
        return
    with incumbent.stage("ranks") as detail:
        bound_s = _same_cuts_bound_s(incumbent, plan, incumbent.value)
        detail["same_cuts_bound_s"], detail["same_cuts_optimal"] = bound_s, meets(incumbent.value, bound_s)


def _search_grids(incumbent: ChainIncumbent, degrees: ParallelDegrees) -> list[IntArray]:
    """Return the grid that a search for places finds, rank order, and roomy ones where nothing fits so far."""
    problem, line = incumbent.problem, replace(incumbent.problem.line, stages=None)
    layers, cluster, grid = problem.layers, problem.cluster, rank_order(degrees.shape)

    def cuts_of(each: IntArray) -> tuple[int, ...]:
        return best_cuts(layers, cluster, each, line)

    cuts, grids = cuts_of(grid), [grid]
    if degrees.ranks < PROVED_FIRST_RANKS or not cuts or not _is_proved(incumbent, Plan(cuts=cuts, grid=grid)):
        functions = GridFunctions(cuts_of=cuts_of, iteration_s=problem.evaluator.for_single_stages().value)
        plan = place_groups(problem.evaluator.layers, cluster, degrees, functions, incumbent.order_search)
        if plan is not None:
            grids.insert(0, plan.grid)
            if problem.is_line:
                incumbent.offer(plan)
    if incumbent.solution is None or problem.line.pinned:
        grids += roomy_grids(layers, cluster, degrees.shape, problem.line.pinned)
    return grids


def _is_proved(incumbent: ChainIncumbent, plan: Plan) -> bool:
    """Return whether no other places of the ranks are better with the same cuts."""
    if incumbent.problem.params.schedule in UNPROVED:
        return False
    value = incumbent.problem.evaluator.value(plan)
    return value < np.inf and _same_cuts_bound_s(incumbent, plan, value) >= value * (1 - MET)


def _same_cuts_bound_s(incumbent: ChainIncumbent, plan: Plan, value: float) -> float:
    """Return a lower bound over all places of the ranks of a plan, 0 where none is known."""
    problem = incumbent.problem
    if problem.params.schedule in UNPROVED:
        return 0.0
    target = ProofTarget(iteration_s=problem.evaluator.replica_s, seconds=value)
    return same_cuts_bound_s(problem.evaluator.layers, problem.cluster, plan, target, incumbent.order_search)
