"""The search for a map from slots to experts, from the best maps for each part of the objective to the annealed one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tiger.expert_maps.bounds import bound_hops
from tiger.expert_maps.costs import ExpertProblem
from tiger.expert_maps.replicas.balance import balance_and_prove
from tiger.expert_maps.replicas.changes import align_layers
from tiger.expert_maps.replicas.moves import keep_slots
from tiger.expert_maps.search import ExpertParams, search_experts
from tiger.expert_maps.slots.objective import ExpertCost, SlotProblem, count_moves, keeps_rules, price_slots
from tiger.expert_maps.slots.starts import (
    add_replicas,
    balance_groups,
    group_slots,
    order_slots,
    rename_devices,
    start_with_loads,
)
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.options import narrow
from tiger.run.incumbent import Incumbent, Watch
from tiger.run.progress import ignore
from tiger.run.stage import Stage
from tiger.training.costs.tolerances import meets


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotParams:
    """Set how long maps are annealed, and from which seed.

    `effort` multiplies the `runs`, each with so many `visits` of every slot, and at most so many `proposals`, at every
    one of `steps` temperatures, from `hottest` to `coldest` in units of what an expert costs. As all wait for the
    fullest device, cheap maps are few, and found at temperatures far below those for transitions alone: from 0.3 to
    0.02, no start is improved.
    """

    runs: int = 1
    visits: int = 60
    proposals: int = 100_000
    steps: int = 40
    hottest: float = 0.03
    coldest: float = 0.0005
    seed: int = 0
    effort: int = 1


class SlotAnswer(NamedTuple):
    """Hold a lower bound on what all maps cost, by parts, the stages of the search, and `maps` [L, S].

    The first of them costs least, and the others are changes of the map in use that may be paid earlier.
    `largest` [L] are lower bounds on the largest loads of layers, None where loads play no part.
    """

    maps: list[IntArray]
    bound: ExpertCost
    largest: FloatArray | None
    stages: list[Stage]


def search_slots(
    problem: SlotProblem, params: SlotParams, stop: Callable[[], bool], watch: Watch = ignore
) -> SlotAnswer:
    """Return the cheapest map that is found, with a lower bound on what all maps cost.

    Starts are the map in use, the one that balances loads, and the one whose transitions cost least; they are annealed
    where links have a price. The answer is never worse than one of them that keeps to the cap on
    moves.
    """
    loads = problem.loads
    start = order_slots(loads) if problem.in_use is None else problem.in_use
    usable = problem.in_use is not None or keeps_rules(loads, start)
    value = price_slots(problem, start).total if usable else np.inf
    found = Incumbent(solution=start, value=value, stop=stop, watch=watch, meets=meets)
    starts = [start]
    with found.stage("loads"):
        fresh = balance_and_prove(loads)
        found.bound = load_bound = problem.token * float(fresh.bound.sum())
        changes = start_with_loads(problem, fresh.phy2log)
        starts += [_take(found, problem, slots) for slots in changes]
    if problem.has_links and not found.ended:
        with found.stage("transitions"):
            found.bound += _bound_links(problem, stop)
            aligned = changes[-1] if problem.in_use is None else align_layers(loads, problem.in_use, fresh.phy2log)
            starts += [_take(found, problem, slots) for slots in (aligned, rename_devices(problem, aligned))]
            for slots in _start_with_links(problem, params, stop):
                starts += [_take(found, problem, slots), _take(found, problem, rename_devices(problem, slots))]
        _anneal(found, problem, params, starts)
    bound = ExpertCost(load=load_bound, links=found.bound - load_bound, moves=0.0)
    maps = [settle(problem, found.solution), *(slots for slots in changes if _keeps_cap(problem, slots))]
    return SlotAnswer(maps, bound, fresh.bound, found.stages)


def settle(problem: SlotProblem, slots: IntArray) -> IntArray:
    """Return a map with experts that stay on their device in the slots where the map in use has them."""
    if problem.in_use is None:
        return slots
    shape = (-1, problem.loads.size)
    pairs = zip(problem.in_use.reshape(shape).tolist(), slots.reshape(shape).tolist(), strict=True)
    return np.array([keep_slots(*pair) for pair in pairs]).reshape(slots.shape)


def _bound_links(problem: SlotProblem, stop: Callable[[], bool]) -> float:
    """Return a lower bound on what links cost, 0 with replicas, all of which might be where they are needed."""
    loads = problem.loads
    if loads.num_replicas > loads.experts:
        return 0.0
    return bound_hops(ExpertProblem(problem.counts, problem.hops), stop)


def _start_with_links(problem: SlotProblem, params: SlotParams, stop: Callable[[], bool]) -> Iterator[IntArray]:
    """Yield maps whose transitions cost least, with replicas in the slots that are left.

    Groups go to nodes by the same search, with loads of nodes and without, and loads are balanced within these. There
    are none where devices cannot have as many experts each.
    """
    loads = problem.loads
    if loads.pools > 1:
        nodes = group_slots(problem)
        for some in (nodes, replace(nodes, token=0.0)):
            yield balance_groups(loads, search_slots(some, params, stop).maps[0])
    elif loads.experts % loads.num_gpus == 0 and loads.room is None:
        flat = ExpertProblem(problem.counts, problem.hops)
        chosen = narrow(ExpertParams, ExpertParams(), seed=params.seed, effort=params.effort)
        yield add_replicas(loads, search_experts(flat, chosen, stop).solution)


def _anneal(found: Incumbent[IntArray], problem: SlotProblem, params: SlotParams, starts: list[IntArray]) -> None:
    """Anneal the starts one after another, the best one first."""
    allowed = [start for start in starts if _keeps_cap(problem, start) and keeps_rules(problem.loads, start)]
    allowed.sort(key=lambda start: price_slots(problem, start).total)
    runs = params.runs * params.effort
    for run in range(runs):
        if found.ended or not allowed:
            break
        generator = np.random.default_rng([params.seed, run])
        with found.stage("annealing", run / runs):
            slots = _anneal_once(problem, allowed[run % len(allowed)], params, generator, found.stop)
            _take(found, problem, rename_devices(problem, slots))
            _take(found, problem, slots)


def _anneal_once(
    problem: SlotProblem,
    start: IntArray,
    params: SlotParams,
    generator: np.random.Generator,
    stop: Callable[[], bool],
) -> IntArray:
    """Return the best map of one annealing."""
    from tiger.expert_maps.slots.annealing import anneal_slots, start_annealing

    state = start_annealing(problem, start)
    proposals = min(params.visits * start.size, params.proposals)
    for temperature in _unit(problem) * np.geomspace(params.hottest, params.coldest, params.steps):
        if stop():
            break
        anneal_slots(state, temperature, proposals, int(generator.integers(2**31)))
    return state.best


def _unit(problem: SlotProblem) -> float:
    """Return what an expert's share of the transitions and of the loads of a layer costs."""
    links = problem.counts.sum() / len(problem.counts) * problem.hops[problem.hops > 0].mean()
    return float(links + problem.token * problem.loads.weight.mean(axis=0).sum()) / problem.loads.experts


def _take(found: Incumbent[IntArray], problem: SlotProblem, slots: IntArray) -> IntArray:
    """Take a map if it is cheaper, by the price that is computed anew, and no more moves than may; return it."""
    if _keeps_cap(problem, slots):
        found.take(slots, price_slots(problem, slots).total)
    return slots


def _keeps_cap(problem: SlotProblem, slots: IntArray) -> bool:
    """Return whether no more moves than may."""
    return problem.most_moves is None or count_moves(problem, slots) <= problem.most_moves
