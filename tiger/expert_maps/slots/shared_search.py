"""The search for a map of several batches: one that is balanced for their mean, annealed on batches that may come."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tiger.expert_maps.params import Sharing
from tiger.expert_maps.replicas.balance import balance
from tiger.expert_maps.replicas.loads import keep_to_rules
from tiger.expert_maps.shares.draws import Batches, DrawParams, draw_batches
from tiger.expert_maps.shares.solution import find_largest, scale_loads
from tiger.expert_maps.slots.objective import (
    ExpertCost,
    SlotProblem,
    count_moves,
    count_on_devices,
    keeps_rules,
    price_moves,
    price_slots,
)
from tiger.expert_maps.slots.search import SlotAnswer, settle
from tiger.expert_maps.slots.starts import order_slots, start_with_loads
from tiger.model.arrays import FloatArray, IntArray
from tiger.run.incumbent import Incumbent, Watch
from tiger.run.progress import ignore
from tiger.training.costs.tolerances import meets

# More moves than any map has.
ANY = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class ReshareParams:
    """Set how long maps are annealed on drawn batches, and from which seed.

    `effort` multiplies the `runs`, each with `visits` of every slot, and at most the `proposals` in a layer,
    at `steps` temperatures from `hottest` to `coldest` in parts of the mean load, on batches that are `drawn`.
    With twice the proposals, or from 1e-3 or 1e-4 down, means of `python -m benchmarks next_batch` stay within their
    spread.
    """

    runs: int = 1
    visits: int = 60
    proposals: int = 2_500
    steps: int = 20
    hottest: float = 3e-4
    coldest: float = 3e-5
    drawn: DrawParams = field(default_factory=DrawParams)
    seed: int = 0
    effort: int = 1


# With equal shares changes are quick to try, and differ more: eight batches that mix four kinds of loads are then at
# 1.177 times the mean, with the numbers above at 1.196 (`python -m benchmarks next_batch`).
PARAMS: dict[Sharing, ReshareParams] = {
    "equal": ReshareParams(
        visits=120, proposals=10_000, hottest=1e-3, coldest=1e-4, drawn=DrawParams(least=0.05, largest=0.15)
    ),
    "balanced": ReshareParams(),
}


def search_with_shares(
    problem: SlotProblem,
    given: Batches,
    params: ReshareParams,
    stop: Callable[[], bool],
    watch: Watch = ignore,
) -> SlotAnswer:
    """Return the map whose largest loads, the means over batches, are least, with a lower bound on those of all maps.

    It is made on batches drawn around those given, others in every run, and each layer is the one of all runs that is
    best on those of the problem. The answer is never worse than the map in use, or the one that is balanced for mean
    loads with equal shares. The bound is that for mean loads: no mean of largest loads is below the largest mean.
    """
    loads = problem.loads
    start = order_slots(loads) if problem.in_use is None else problem.in_use
    usable = problem.in_use is not None or keeps_rules(loads, start)
    value = price_slots(problem, start).total if usable else np.inf
    found = Incumbent(solution=start, value=value, stop=stop, watch=watch, meets=meets)
    with found.stage("loads"):
        fresh = balance(loads)
        # Those drawn have about as many tokens as those given, whose means the bounds of layers are about.
        largest, least = (fresh.bound,) * 2 if problem.sharing == "equal" else (loads.mean, problem.mean_loads)
        found.bound = problem.token * float(least.sum())
        changes = start_with_loads(problem, fresh.phy2log)
        for slots in changes:
            _take(found, problem, slots)
    starts = [changes[-1]] if problem.in_use is None else [problem.in_use, changes[-1]]
    for run in range(params.runs * params.effort):
        if found.ended:
            break
        with found.stage("shares", run / (params.runs * params.effort)):
            made_on = draw_batches(given, params.drawn, params.seed, run)
            slots = _anneal_layers(problem, made_on, starts[run % len(starts)], (params, run), stop)
            _take(found, problem, slots)
            _take(found, problem, _choose_layers(problem, found.solution, slots))
    bound = ExpertCost(load=found.bound, links=0.0, moves=0.0)
    maps = [settle(problem, found.solution), *changes]
    return SlotAnswer(maps, bound, largest, found.stages)


def _anneal_layers(
    problem: SlotProblem, made_on: Batches, first: IntArray, run: tuple[ReshareParams, int], stop: Callable[[], bool]
) -> IntArray:
    """Return a map whose layers are annealed one by one, the one with the largest loads first: it may move most.

    Layers of a map in use that do not keep to the rules stay as they are.
    """
    slots, loads = first.copy(), problem.loads
    sound = keep_to_rules(loads, slots.reshape(loads.layers, loads.num_gpus, -1))
    above = made_on.weights @ find_largest(loads, slots, made_on.loads, problem.sharing) - problem.mean_loads
    for layer in np.argsort(-above, kind="stable").tolist():
        if stop():
            break
        if not sound[layer]:
            continue
        left = ANY
        if problem.most_moves is not None:
            others = slots.copy()
            others[layer] = slots[layer] if problem.in_use is None else problem.in_use[layer]
            left = problem.most_moves - count_moves(problem, others)
        slots[layer] = _anneal_layer(problem, made_on, (layer, left), slots[layer], run)
    return slots


def _anneal_layer(
    problem: SlotProblem, made_on: Batches, where: tuple[int, int], row: IntArray, run: tuple[ReshareParams, int]
) -> IntArray:
    """Return the best slots of a layer, from a row of them and with a number of moves left."""
    from tiger.expert_maps.shares.annealing import BALANCED, EQUAL, anneal_shares, start_annealing
    from tiger.expert_maps.shares.balancing import set_board

    (layer, left), (params, number), loads = where, run, problem.loads
    batches = made_on.loads[:, layer]
    mean = batches.sum(axis=1) / loads.speeds.sum()
    prices = problem.token * made_on.weights * mean
    if not prices.any():
        return row
    moved = np.zeros((loads.experts, loads.num_gpus), np.int64)
    if problem.in_use is not None:
        moved += count_on_devices(loads, problem.in_use)[layer] == 0
    sharing = EQUAL if problem.sharing == "equal" else BALANCED
    limits = (loads.copies_per_gpu, loads.num_replicas // loads.pools, left, loads.blank, sharing)
    board = set_board(row, loads.speeds, scale_loads(batches, mean))
    state = start_annealing(board, problem.prices[layer], moved, prices, limits)
    generator = np.random.default_rng([params.seed, number, layer])
    proposals = min(params.visits * len(row), params.proposals) // params.steps
    for temperature in prices.sum() * np.geomspace(params.hottest, params.coldest, params.steps):
        anneal_shares(state, temperature, proposals, int(generator.integers(2**31)))
    return state.best


def _choose_layers(problem: SlotProblem, one: IntArray, other: IntArray) -> IntArray:
    """Return a map with those layers of two maps that cost less."""
    cost, less = _price_layers(problem, one), _price_layers(problem, other)
    return np.where((less < cost)[:, None], other, one)


def _price_layers(problem: SlotProblem, slots: IntArray) -> FloatArray:
    """Return what the layers of a map cost, loads and moves, [L]."""
    if problem.batches is None:
        raise ValueError("expected batches")
    largest = problem.batches.weights @ find_largest(problem.loads, slots, problem.batches.loads, problem.sharing)
    return np.asarray(problem.token * largest + price_moves(problem, slots).sum(axis=1))


def _take(found: Incumbent[IntArray], problem: SlotProblem, slots: IntArray) -> None:
    """Take a map if it is cheaper, by the price that is computed anew, and no more moves than may."""
    if problem.most_moves is None or count_moves(problem, slots) <= problem.most_moves:
        found.take(slots, price_slots(problem, slots).total)
