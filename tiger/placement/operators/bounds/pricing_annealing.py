"""Heuristic pricing: annealing of patterns that are worth much and that a device can do in time."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.placement.operators.bounds.patterns import Patterns
from tiger.solvers.generator import Generator, draw_below, draw_uniform, seed_state
from tiger.solvers.kernel import inner_kernel, kernel


class PricingParams(NamedTuple):
    """Set annealing, in units of the value that is looked for, 1.

    Temperatures fall from `hot` to `cold`. A load or memory twice as large as allowed costs `overload_penalty`. A
    group is drawn from a random net with probability `along_net`, which favours groups of many nets, else at random.
    """

    hot: float = 0.1
    cold: float = 2e-3
    overload_penalty: float = 3.0
    along_net: float = 0.8


# Compiled code reads it as a constant.
PARAMS = PricingParams()


class Nets(NamedTuple):
    """Hold a hypergraph both ways: groups by net, nets by group."""

    pin_start: IntArray
    pin: IntArray
    net_start: IntArray
    net: IntArray


class PatternCosts(NamedTuple):
    """Hold what patterns cost one device type: work[C], net costs, memory[C] of 1, and the groups it may hold."""

    work: FloatArray
    cost: FloatArray
    memory: FloatArray
    allowed: BoolArray


class PatternState(NamedTuple):
    """Hold a pattern, its groups in each net, its load and memory, the best pattern so far, and a generator."""

    pattern: BoolArray
    inside: IntArray
    total: FloatArray
    best: BoolArray
    generator: Generator


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PricingRun:
    """Set a run: a pattern for a `device_type` that costs less than a `target`, of a high value, the sum of `price[C]`.

    Annealing goes from a pattern `begin[C]` at a temperature `hot`.
    """

    device_type: int
    price: FloatArray
    target: float
    begin: BoolArray
    hot: float = PARAMS.hot


def anneal_pattern(patterns: Patterns, run: PricingRun, seed: int, steps: int) -> BoolArray:
    """Return the pattern of the highest value that was met, an empty one where none was; O(steps degree)."""
    state = PatternState(
        pattern=np.zeros(patterns.groups, np.bool_),
        inside=np.zeros(len(patterns.pin_start) - 1, np.int64),
        total=np.zeros(2),
        best=np.zeros(patterns.groups, np.bool_),
        generator=seed_state(seed),
    )
    device_type = run.device_type
    # With several device types rows are strided, which would be another signature, hence another compilation.
    cost = np.ascontiguousarray(patterns.cost[device_type])
    costs = PatternCosts(
        patterns.work[device_type], cost, patterns.memory[device_type], patterns.costs.allowed[device_type]
    )
    anneal(_nets(patterns), costs, run.price, state, np.flatnonzero(run.begin), (run.target, run.hot, steps))
    return state.best


def _nets(patterns: Patterns) -> Nets:
    """Return the nets of patterns both ways."""
    net = np.repeat(np.arange(len(patterns.pin_start) - 1), np.diff(patterns.pin_start))
    start = np.concatenate([[0], np.cumsum(np.bincount(patterns.pin, minlength=patterns.groups))]).astype(np.int64)
    return Nets(patterns.pin_start, patterns.pin, start, net[np.argsort(patterns.pin, kind="stable")])


@inner_kernel
def _change(nets: Nets, cost: FloatArray, inside: IntArray, c: int, step: int) -> float:
    """Return by how much the cost of cut nets rises as group c enters (1) or leaves (-1) a pattern."""
    more = 0.0
    for q in range(nets.net_start[c], nets.net_start[c + 1]):
        e = nets.net[q]
        size = nets.pin_start[e + 1] - nets.pin_start[e]
        if 0 < inside[e] + step < size:
            more += cost[e]
        if 0 < inside[e] < size:
            more -= cost[e]
    return more


@inner_kernel
def _proposal(nets: Nets, generator: Generator) -> int:
    """Draw a group, mostly from a random net, for those of many nets change the cost most."""
    if len(nets.pin_start) > 1 and draw_uniform(generator) < PARAMS.along_net:
        e = draw_below(generator, len(nets.pin_start) - 1)
        return int(nets.pin[nets.pin_start[e] + draw_below(generator, nets.pin_start[e + 1] - nets.pin_start[e])])
    return draw_below(generator, len(nets.net_start) - 1)


@inner_kernel
def _flip(nets: Nets, costs: PatternCosts, state: PatternState, c: int) -> None:
    """Put a group into the pattern, or take it out."""
    step = -1 if state.pattern[c] else 1
    state.total[0] += step * costs.work[c] + _change(nets, costs.cost, state.inside, c, step)
    state.total[1] += step * costs.memory[c]
    state.pattern[c] = step > 0
    for q in range(nets.net_start[c], nets.net_start[c + 1]):
        state.inside[nets.net[q]] += step


@inner_kernel
def _penalty(load: float, held: float, target: float) -> float:
    """Return the penalty for load and memory above what is allowed."""
    return PARAMS.overload_penalty * (max(0.0, load / target - 1) + max(0.0, held - 1))


@kernel
def anneal(
    nets: Nets,
    costs: PatternCosts,
    price: FloatArray,
    state: PatternState,
    begin: IntArray,
    run: tuple[float, float, int],
) -> None:
    """Leave in `state.best` the pattern of the highest value that fits and costs less than a target.

    Annealing starts from the groups `begin`; `run` is the target, the first temperature and the number of steps.
    """
    (target, hot, steps), total, worth, best = run, state.total, 0.0, 0.0
    for c in begin:
        _flip(nets, costs, state, c)
        worth += price[c]
    penalty = _penalty(total[0], total[1], target)
    for k in range(steps):
        c = _proposal(nets, state.generator)
        if not costs.allowed[c]:
            continue
        step = -1 if state.pattern[c] else 1
        load = total[0] + step * costs.work[c] + _change(nets, costs.cost, state.inside, c, step)
        next_penalty = _penalty(load, total[1] + step * costs.memory[c], target)
        gain = step * price[c] - next_penalty + penalty
        # Metropolis et al. 1953, doi:10.1063/1.1699114, at a temperature that falls geometrically.
        if gain < 0 and draw_uniform(state.generator) >= math.exp(gain / (hot * (PARAMS.cold / hot) ** (k / steps))):
            continue
        _flip(nets, costs, state, c)
        worth, penalty = worth + step * price[c], next_penalty
        # The best within memory and below the target counts, penalties aside.
        if worth > best and total[0] < target and total[1] <= 1:
            best = worth
            for each in range(len(price)):
                state.best[each] = state.pattern[each]
