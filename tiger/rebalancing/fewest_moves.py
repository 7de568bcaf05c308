"""The cuts that move the least among those whose iterations stay below a limit."""

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.rebalancing.cut_solver import CutProgram
from tiger.rebalancing.line_costs import Cuts, LineCosts

# Limits that are tried, as shares over the least: closely spaced where iterations are shortest, as one that is little
# longer may take far fewer moves. Further ones only pay where moves take long.
LIMITS = (0.0, 0.005, 0.01, 0.02, 0.035, 0.06, 0.1, 0.2, 0.5, 1.0, 2.5)
# How closely the least limit is found, as a share of it: below the first of those steps.
CLOSE = 0.004
# Rounding must not exclude cuts that meet a limit.
SLACK = 1e-12


def cheapest_cuts(costs: LineCosts, price_s: FloatArray) -> list[Cuts]:
    r"""Return, for limits T that rise from the least, the cuts with the least seconds of moves each; none if none fit.

    .. math:: \min \sum_l \tau_{l, s(l)} \quad\text{so that}\quad \sum_{l < k_s} t_l + m \, t_s \le T

    for every stage s that begins at layer k and takes t a microbatch: it waits for the first microbatch to come through
    the layers before it, runs all m, and the last one's gradients go back through them. `price_s[p, L]` are the seconds
    tau to move a layer to a position. Exact for every limit, on devices of equal speeds; the least limit is found by
    bisection.
    """
    least = costs.program.least_bottleneck()
    if least is None:
        return []
    program = waiting_program(costs)
    prices_s = np.pad(np.cumsum(price_s, axis=1), ((0, 0), (1, 0)))
    low, high = least[0] * (1 - SLACK), float(program.loads_s(least[1]).max()) * (1 + SLACK)
    found = [least[1]]
    # Between the smallest numbers of float64 there may be none.
    while high > low * (1 + CLOSE) and low < (middle := low**0.5 * high**0.5) < high:
        moved = program.cheapest_moves(prices_s, middle)
        if moved is None:
            low = middle
        else:
            high = middle
            found.append(moved[1])
    for share in LIMITS:
        moved = program.cheapest_moves(prices_s, high * (1 + share))
        if moved is not None:
            found.append(moved[1])
            if moved[0] == 0.0:
                break
    return list(dict.fromkeys(found))


def waiting_program(costs: LineCosts) -> CutProgram:
    """Return loads with what a stage waits for the layers before it: once an iteration, so a share of a microbatch.

    On unlike devices these take their mean slowdown.
    """
    program, mean = costs.program, costs.line.positions / float((1 / costs.slowdown).sum())
    return program._replace(received_s=program.received_s + program.ahead_s * mean / costs.line.microbatches)
