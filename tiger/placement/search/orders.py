"""The search for an order of single devices and the cuts between them."""

from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.chain.backtrace import ChainResult
from tiger.placement.chain.best_order import best_line, sweep_steps
from tiger.placement.chain.dp_states import WORK_LIMIT
from tiger.placement.chain.islands import island_line
from tiger.placement.chain.params import LineParams
from tiger.placement.search.bounds import line_bound_s
from tiger.placement.search.candidates import best_cuts
from tiger.placement.search.grids import distinct_orders
from tiger.placement.search.incumbent import ChainIncumbent
from tiger.placement.search.position_counts import promising_counts
from tiger.training.costs.plan import Plan
from tiger.training.costs.tolerances import meets


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateParams:
    """Set which orders of devices besides the best line are looked at for a schedule.

    Lines of fewer positions are searched for where that takes at most a `shorter`-th of the steps that an exact line
    may take. All orders are compared by cuts of the least bottleneck where there are at most `orders` that differ, and
    at most `cells` products of orders and layers; the `promising` best of them become candidates. Without these, plans
    on four or five devices of two speeds and three bandwidths take 0.65 % longer in the mean, and up to 6 % (`python -m
    benchmarks.vary_plans tiger.placement.search.orders:CandidateParams.promising 12 0 --only random`).
    """

    shorter: int = 4
    orders: int = 200
    cells: int = 40_000
    promising: int = 12


def search_orders(incumbent: ChainIncumbent, params: CandidateParams = CandidateParams()) -> None:
    """Find the line of devices with the least bottleneck, then plans on other orders that a schedule may prefer.

    Takes the lower bound on the bottleneck: the line's own where it is exact, else that of a relaxation.
    """
    problem = incumbent.problem
    if problem.params.solver != "auto" and problem.is_line:
        with incumbent.stage("assignment"):
            _offer_line(incumbent, _assign_devices(incumbent, problem.line))
    with incumbent.stage("order") as detail:
        line, exact = _search_line(incumbent, problem.line)
        if problem.is_line:
            _offer_line(incumbent, line)
        proved = line is not None and exact and problem.is_line
        incumbent.bound_bottleneck(line.bound_s if line and proved else line_bound_s(problem, incumbent.stop))
        detail["exact"] = exact
    if (problem.params.schedule is not None or incumbent.solution is None) and not incumbent.optimal:
        with incumbent.stage("candidates"):
            incumbent.offer_grids(_usual_orders(incumbent, line, params))
            if not incumbent.optimal:
                incumbent.offer_grids(_promising_orders(incumbent, params))


def _offer_line(incumbent: ChainIncumbent, line: ChainResult | None) -> None:
    """Offer the plan of a line, if there is one."""
    if line is not None:
        incumbent.offer(Plan.line(line.cuts, line.devices))


def _search_line(incumbent: ChainIncumbent, params: LineParams) -> tuple[ChainResult | None, bool]:
    """Return a line of devices with a small bottleneck, and whether none has a smaller one.

    Exact over all orders where they are few enough, else over islands of equal devices, else by a search.
    """
    problem = incumbent.problem
    if sweep_steps(problem.layers, problem.line_cluster, params) <= WORK_LIMIT:
        line = best_line(problem.layers, problem.line_cluster, params, incumbent.stop)
    else:
        line = island_line(problem.layers, problem.line_cluster, params, incumbent.stop)
    if line is not None:
        # Stages whose layers need less while at work have more room than the line was given, and others than those of
        # even cuts recompute other layers.
        exact = not problem.layers.working_bytes.any() and problem.evaluator.layers.partial is None
        return line, exact and meets(line.bottleneck_s, line.bound_s)
    return _assign_devices(incumbent, params), False


def _assign_devices(incumbent: ChainIncumbent, params: LineParams) -> ChainResult | None:
    """Return the line that the search by quadratic assignment finds."""
    # It brings in scipy, and few clusters need it.
    from tiger.placement.ranks.order import order_devices

    return order_devices(incumbent.problem.layers, incumbent.problem.line_cluster, params, incumbent.order_search)


def _usual_orders(incumbent: ChainIncumbent, line: ChainResult | None, params: CandidateParams) -> list[IntArray]:
    """Return grids of one device a position: the line, the cluster's order, the fastest first, and shorter ones."""
    problem = incumbent.problem
    fastest = np.argsort(-problem.cluster.speed, kind="stable").tolist()
    orders = [] if line is None else [line.devices]
    for count in promising_counts(incumbent):
        orders += [tuple(range(count)), tuple(fastest[:count])]
        fewer = replace(problem.line, stages=count)
        if sweep_steps(problem.layers, problem.line_cluster, fewer) <= WORK_LIMIT // params.shorter:
            shorter, _ = _search_line(incumbent, fewer)
            orders += [] if shorter is None else [shorter.devices]
    return [np.reshape(order, (-1, 1, 1)) for order in dict.fromkeys(orders) if problem.is_run_by(len(order))]


def _promising_orders(incumbent: ChainIncumbent, params: CandidateParams) -> list[IntArray]:
    """Return grids of the best of all orders by cuts of the least bottleneck, none where there are too many orders."""
    problem = incumbent.problem
    device_types = problem.cluster.device_types()
    pinned = sorted(set(problem.line.pinned.values()))
    device_types[pinned] = device_types.max() + 1 + np.arange(len(pinned))
    orders = [
        order
        for count in promising_counts(incumbent)
        for order in islice(distinct_orders(device_types, count), params.orders + 1)
    ]
    if len(orders) > params.orders or problem.layers.size * len(orders) > params.cells:
        return []
    found = _evaluate_orders(incumbent, orders)
    return [np.reshape(order, (-1, 1, 1)) for _, order in sorted(found)[: params.promising]]


def _evaluate_orders(incumbent: ChainIncumbent, orders: list[tuple[int, ...]]) -> list[tuple[float, tuple[int, ...]]]:
    """Return the value of each order that fits, with the cuts of the least bottleneck."""
    problem, line = incumbent.problem, replace(incumbent.problem.line, stages=None)
    found = []
    for order in orders:
        grid = np.reshape(order, (-1, 1, 1))
        cuts = best_cuts(problem.layers, problem.cluster, grid, line, problem.virtual)
        if cuts and not incumbent.stop():
            found.append((problem.evaluator.value(problem.make_plan(cuts, grid)), order))
    return found
