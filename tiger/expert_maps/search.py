"""The search for a placement of experts, from the order of their numbers to the annealed placement."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tiger.expert_maps.assignment import place_greedily, place_in_order, sweep_layers
from tiger.expert_maps.bounds import bound_hops
from tiger.expert_maps.costs import ExpertProblem, hop_sum
from tiger.expert_maps.device_pairs import exchange_pairs
from tiger.expert_maps.hops import outermost_first
from tiger.expert_maps.layer_dp import list_few_ways, place_by_layers
from tiger.model.arrays import IntArray
from tiger.run.incumbent import Incumbent, Watch
from tiger.run.progress import ignore
from tiger.training.costs.tolerances import meets


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertParams:
    """Set how long a placement of experts is searched, and from which seed.

    `effort` multiplies the `runs`, each of which anneals with so many `proposals` at every one of `steps` temperatures,
    from `hottest` to `coldest` in units of the tokens of an expert, and then exchanges pairs of devices `trials` times.
    """

    runs: int = 2
    proposals: int = 12_500
    steps: int = 40
    hottest: float = 0.3
    coldest: float = 0.02
    trials: int = 100
    seed: int = 0
    effort: int = 1


def search_experts(
    problem: ExpertProblem, params: ExpertParams, stop: Callable[[], bool], watch: Watch = ignore
) -> Incumbent[IntArray]:
    """Return the best placement of experts that is found, its sum of hop weights, and a lower bound on that of all.

    Few experts have an exact answer. Otherwise linear assignments sweep over the layers from three greedy placements:
    for the hops as they are, for hops that all weigh the same (flat), and with outer levels first (hierarchical). What
    they reach is annealed, and pairs of devices exchange experts in all layers together.
    """
    start = place_in_order(problem)
    found = Incumbent(solution=start, value=hop_sum(problem, start), stop=stop, watch=watch, meets=meets)
    with found.stage("bound"):
        found.bound = bound_hops(problem, stop)
    with found.stage("greedy"):
        _take(found, problem, place_greedily(problem))
    ways = None if found.ended else list_few_ways(problem)
    if ways is not None:
        with found.stage("exact"):
            _take(found, problem, place_by_layers(problem, ways))
            found.bound, found.proved = found.value, True
    starts = [found.solution]
    if not found.ended:
        starts = _sweep_starts(found, problem)
    if not found.ended:
        _anneal(found, problem, params, starts)
    return found


def place_flat(problem: ExpertProblem, stop: Callable[[], bool]) -> IntArray:
    """Return the placement that sweeps find where all hops weigh the same, whatever the cluster."""
    flat = problem._replace(hops=(problem.hops > 0).astype(np.float64))
    return sweep_layers(flat, place_greedily(flat), stop)


def _sweep_starts(found: Incumbent[IntArray], problem: ExpertProblem) -> list[IntArray]:
    """Return the placements that sweeps reach from each greedy one, the best first."""
    with found.stage("sweeps"):
        starts = [sweep_layers(problem, place_greedily(problem), found.stop)]
        _take(found, problem, starts[0])
    if np.unique(problem.hops[problem.hops > 0]).size > 1:
        nested = problem._replace(hops=outermost_first(problem.hops))
        with found.stage("flat"):
            starts.append(sweep_layers(problem, place_flat(problem, found.stop), found.stop))
            _take(found, problem, starts[-1])
        with found.stage("hierarchical"):
            inner = sweep_layers(nested, place_greedily(nested), found.stop)
            starts.append(sweep_layers(problem, inner, found.stop))
            _take(found, problem, starts[-1])
    return sorted(starts, key=lambda place: hop_sum(problem, place))


def _anneal(found: Incumbent[IntArray], problem: ExpertProblem, params: ExpertParams, starts: list[IntArray]) -> None:
    """Anneal the starts and the best placement so far in turn, and exchange pairs of devices of the best after each."""
    runs = params.runs * params.effort
    for run in range(runs):
        if found.ended:
            break
        generator = np.random.default_rng([params.seed, run])
        with found.stage("annealing", run / runs):
            start = found.solution if run % 2 else starts[run // 2 % len(starts)]
            _take(found, problem, _anneal_once(problem, start, params, generator, found.stop))
        with found.stage("pairs of devices", (run + 0.5) / runs):
            place = exchange_pairs(problem, found.solution, generator, params.trials, found.stop)
            _take(found, problem, sweep_layers(problem, place, found.stop))


def _anneal_once(
    problem: ExpertProblem,
    start: IntArray,
    params: ExpertParams,
    generator: np.random.Generator,
    stop: Callable[[], bool],
) -> IntArray:
    """Return the best placement of one annealing, with layers swept."""
    from tiger.expert_maps.annealing import anneal_experts, start_annealing

    unit = problem.counts.sum() / len(problem.counts) / problem.experts * problem.hops[problem.hops > 0].mean()
    state = start_annealing(problem, start)
    for temperature in unit * np.geomspace(params.hottest, params.coldest, params.steps):
        if stop():
            break
        anneal_experts(state, temperature, params.proposals, int(generator.integers(2**31)))
    return sweep_layers(problem, state.best, stop)


def _take(found: Incumbent[IntArray], problem: ExpertProblem, place: IntArray) -> None:
    """Take a placement if it is better, by the cost that is computed anew."""
    found.take(place, hop_sum(problem, place))
