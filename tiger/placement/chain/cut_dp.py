"""The dynamic program over cuts: the smallest bottleneck of all lines in a layered graph, by bisection over limits.

Each limit is tried by one `sweep`, a pass of the dynamic program from the last stage to the first.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.model.rounding import TIE
from tiger.placement.chain.layered_graph import LayeredGraph, StageStates

# Multiples of the lower bound that are tried as first limits, before one that every finite load keeps.
PROBES = (1.0, 1.1, 1.5, 3.0, 16.0)
# Sums are taken again where they may be wrong by this share of the bottleneck, a hundredth of the tolerance MET.
ACCURATE = 1e-11


class Sweep(NamedTuple):
    """Hold which stages a limit allows.

    `rows[level][s, i]` is the load, without messages in, of a stage of state s that begins at boundary i and whose
    successors are all within the limit, infinite if there is none; a last row is infinite. `depth` is the first level
    at which a line begins, -1 if none does. Other limits from `below` up to, not including, `above` allow the same.
    """

    rows: list[FloatArray]
    depth: int
    below: float
    above: float


@dataclass(frozen=True, slots=True)
class Bracket:
    """Hold a limit, `high_s`, that some line keeps, and one below which none does."""

    low_s: float
    high_s: float

    @property
    def closed(self) -> bool:
        """Return whether nothing but rounding lies between the two."""
        return self.high_s <= self.low_s * (1 + TIE)


def accurate_bottleneck(
    graph_of: Callable[[float], LayeredGraph], low_s: float, stop: Callable[[], bool]
) -> tuple[LayeredGraph, Bracket] | None:
    """Return a graph and the range that its smallest bottleneck is in for certain; None if there is no line.

    `graph_of(most_s)` makes one in which no layer takes longer than so many seconds. A layer that takes twice as long
    as all of a known line is in no better one, so that such layers are cut down to
    that in the sums that loads are differences of: beside a layer of 1e12 s those of 1e-9 s would be lost. What
    rounding leaves open is taken off the bound.
    """
    most_s, before_s = np.inf, np.inf
    while True:
        graph = graph_of(most_s)
        bracket = min_bottleneck(graph, low_s, stop)
        if bracket is None:
            return None
        most_s, before_s = 2 * (bracket.high_s + graph.error_s), most_s
        # Each turn makes the error smaller by many digits, until the known line itself accounts for it.
        if graph.error_s <= ACCURATE * bracket.high_s or most_s > before_s / 2 or stop():
            break
    rounding = graph.error_s + bracket.high_s * 8 * float(np.finfo(np.float64).eps)
    return graph, Bracket(max(low_s, bracket.low_s - rounding), bracket.high_s)


def min_bottleneck(graph: LayeredGraph, low_s: float, stop: Callable[[], bool]) -> Bracket | None:
    r"""Return the smallest bottleneck of all lines, or the range that it is in if stopped; None if there is no line.

    .. math:: \min \max_s \frac{\sum_{c_s \le i < c_{s+1}} (f_i + b_i)}{v_s} + 2 (T_{s-1,s}(c_s) + T_{s,s+1}(c_{s+1}))

    over cuts c and the devices of stages s, of speed v, with T the seconds of a message over a boundary. Exact:
    bisection whose ends move on to the next load that occurs, about 20 sweeps. `low_s` is a lower bound to begin with;
    a stop counts once a line is found. Source: the bisection of Pinar and Aykanat, J. Parallel Distrib. Comput. 64
    (2004) 974, doi:10.1016/j.jpdc.2004.05.003, on more than one order of processors.
    """
    bracket = _first_bracket(graph, low_s)
    while bracket is not None and not bracket.closed and not stop():
        # Halve the bracket: at the geometric mean, as bounds may be off by a factor where messages dominate.
        middle = max(bracket.low_s, math.sqrt(bracket.low_s) * math.sqrt(bracket.high_s))
        allowed = sweep(graph, middle)
        # Each end moves on to the next load that occurs: exact bisection (Pinar and Aykanat 2004).
        if allowed.depth < 0:
            bracket = Bracket(min(allowed.above, bracket.high_s), bracket.high_s)
        else:
            bracket = Bracket(bracket.low_s, min(allowed.below, middle))
    return bracket


def sweep(graph: LayeredGraph, limit_s: float) -> Sweep:
    """Return which stages a limit allows, by levels from the end; O(options x L log L).

    The pass of the dynamic program: for every state and boundary the best successor within the limit.
    """
    rows: list[FloatArray] = []
    below, above = -np.inf, np.inf
    for number, level in enumerate(graph.levels):
        # reach[s, j]: the cheapest message out of a stage in state s that ends at boundary j, its successors in limit.
        reach = last_reach(graph, level) if not rows else np.full((len(level.owner), graph.sent_s.shape[1]), np.inf)
        for k in range(level.options.shape[1]):
            sent = graph.sent_s[level.via[:, k]]
            # Number -1, no state, reads the last row, which is infinite.
            load = rows[-1][level.options[:, k]] + sent
            kept = load <= limit_s
            below = max(below, float(np.where(kept, load, -np.inf).max()))
            above = min(above, float(np.where(kept, np.inf, load).min()))
            np.minimum(reach, np.where(kept, sent, np.inf), out=reach)
        rows.append(least_loads(graph, level, reach))
        if number >= graph.shortest:
            least = float(rows[-1][:, 0].min())
            if least <= limit_s:
                # Longer lines are not looked at: the fewest stages are preferred.
                return Sweep(rows, number, max(below, least), above)
            above = min(above, least)
    return Sweep(rows, -1, below, above)


def last_reach(graph: LayeredGraph, level: StageStates) -> FloatArray:
    """Return the messages out of a last stage: it ends with the last layer, and sends none."""
    reach = np.full((len(level.owner), graph.sent_s.shape[1]), np.inf)
    reach[:, -1] = 0.0
    return reach


def least_loads(graph: LayeredGraph, level: StageStates, reach: FloatArray) -> FloatArray:
    """Return the smallest loads of stages without messages in, from the message out at each of their ends."""
    loads = np.full((len(level.owner) + 1, reach.shape[1]), np.inf)
    for owner, windows in level.windows.items():
        first, end = np.searchsorted(level.owner, [owner, owner + 1])
        passed = graph.ahead_s[owner]
        loads[first:end] = windows.minima(reach[first:end] + passed) - passed
    return loads


def _first_bracket(graph: LayeredGraph, low_s: float) -> Bracket | None:
    """Return the first bracket, of growing limits; None if no limit is high enough."""
    finite = graph.sent_s[np.isfinite(graph.sent_s)]
    ceiling = float(graph.ahead_s[:, -1].max() + 2 * finite.max(initial=0.0)) * 2
    for limit in [*(low_s * probe for probe in PROBES), ceiling]:
        allowed = sweep(graph, max(limit, low_s))
        if allowed.depth >= 0:
            return Bracket(low_s, max(low_s, allowed.below))
        low_s = allowed.above
        # Every load above the limit is infinite: a link or memory is missing.
        if low_s == np.inf:
            break
    return None
