"""Shares grown by annealing: sets of classes that are worth much and that a device can do in time."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.pipeline.operators.bounds.patterns import Shares
from tiger.pipeline.operators.throughput.generator import Generator, draw_below, draw_uniform, seed_state
from tiger.solvers.kernel import inner_kernel, kernel

HOT, COLD = 0.1, 2e-3
EXCESS = 3.0
ALONG = 0.8


class Nets(NamedTuple):
    """Hold a hypergraph both ways: classes by net, nets by class."""

    pin_start: IntArray
    pin: IntArray
    net_start: IntArray
    net: IntArray


class Costs(NamedTuple):
    """Hold what shares cost one kind of device: work[C], net costs, memory[C] of 1, and the classes it may hold."""

    work: FloatArray
    cost: FloatArray
    memory: FloatArray
    allowed: BoolArray


class State(NamedTuple):
    """Hold a share, its classes in each net, its load and memory, the best share so far, and a generator."""

    share: BoolArray
    inside: IntArray
    total: FloatArray
    best: BoolArray
    generator: Generator


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Growth:
    """Set what is grown: a share for a device of a `kind` that costs less than a `goal`, of a high `price[C]`.

    Annealing goes from a share `begin[C]` and a temperature `hot` in units of the price that is looked for, 1.
    """

    kind: int
    price: FloatArray
    goal: float
    begin: BoolArray
    hot: float = HOT


def grow_share(shares: Shares, growth: Growth, seed: int, steps: int) -> BoolArray:
    """Return the share with the highest price that was met, none of the classes where none was; O(steps degree)."""
    state = State(
        share=np.zeros(shares.classes, np.bool_),
        inside=np.zeros(len(shares.pin_start) - 1, np.int64),
        total=np.zeros(2),
        best=np.zeros(shares.classes, np.bool_),
        generator=seed_state(seed),
    )
    kind = growth.kind
    # Rows of a transposed array are strided where there are several kinds: another signature, hence compiled again.
    cost = np.ascontiguousarray(shares.cost[kind])
    costs = Costs(shares.work[kind], cost, shares.memory[kind], shares.floors.allowed[kind])
    grow(_nets(shares), costs, growth.price, state, np.flatnonzero(growth.begin), (growth.goal, growth.hot, steps))
    return state.best


def _nets(shares: Shares) -> Nets:
    """Return the nets of shares both ways."""
    net = np.repeat(np.arange(len(shares.pin_start) - 1), np.diff(shares.pin_start))
    start = np.concatenate([[0], np.cumsum(np.bincount(shares.pin, minlength=shares.classes))]).astype(np.int64)
    return Nets(shares.pin_start, shares.pin, start, net[np.argsort(shares.pin, kind="stable")])


@inner_kernel
def _change(nets: Nets, cost: FloatArray, inside: IntArray, c: int, step: int) -> float:
    """Return by how much cut nets get dearer as class c enters (1) or leaves (-1) a share of `inside[e]` of them."""
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
    """Return a class at random, mostly one of a net at random, for those of many nets matter most."""
    if len(nets.pin_start) > 1 and draw_uniform(generator) < ALONG:
        e = draw_below(generator, len(nets.pin_start) - 1)
        return int(nets.pin[nets.pin_start[e] + draw_below(generator, nets.pin_start[e + 1] - nets.pin_start[e])])
    return draw_below(generator, len(nets.net_start) - 1)


@inner_kernel
def _flip(nets: Nets, costs: Costs, state: State, c: int) -> None:
    """Put a class into the share, or take it out."""
    step = -1 if state.share[c] else 1
    state.total[0] += step * costs.work[c] + _change(nets, costs.cost, state.inside, c, step)
    state.total[1] += step * costs.memory[c]
    state.share[c] = step > 0
    for q in range(nets.net_start[c], nets.net_start[c + 1]):
        state.inside[nets.net[q]] += step


@inner_kernel
def _excess(load: float, held: float, goal: float) -> float:
    """Return what is charged for a load and memory that are too much."""
    return EXCESS * (max(0.0, load / goal - 1) + max(0.0, held - 1))


@kernel
def grow(
    nets: Nets, costs: Costs, price: FloatArray, state: State, begin: IntArray, run: tuple[float, float, int]
) -> None:
    """Leave in `state.best` a share of a high price that fits and costs less than a goal, annealed from `begin`.

    `run` is the goal, the first temperature and the number of steps.
    """
    (goal, hot, steps), total, worth, best = run, state.total, 0.0, 0.0
    for c in begin:
        _flip(nets, costs, state, c)
        worth += price[c]
    excess = _excess(total[0], total[1], goal)
    for k in range(steps):
        c = _proposal(nets, state.generator)
        if not costs.allowed[c]:
            continue
        step = -1 if state.share[c] else 1
        load = total[0] + step * costs.work[c] + _change(nets, costs.cost, state.inside, c, step)
        over = _excess(load, total[1] + step * costs.memory[c], goal)
        gain = step * price[c] - over + excess
        if gain < 0 and draw_uniform(state.generator) >= math.exp(gain / (hot * (COLD / hot) ** (k / steps))):
            continue
        _flip(nets, costs, state, c)
        worth, excess = worth + step * price[c], over
        if worth > best and total[0] < goal and total[1] <= 1:
            best = worth
            for each in range(len(price)):
                state.best[each] = state.share[each]
