"""The lower bound on the largest load of any placement: of work, of memory, and of the messages that memory causes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tiger.placement.operators.bounds.balance import balance_s
from tiger.placement.operators.bounds.column_generation import column_generation_bound
from tiger.placement.operators.bounds.contraction import Contraction
from tiger.placement.operators.bounds.device_costs import DeviceTypeCosts
from tiger.placement.operators.bounds.patterns import Patterns
from tiger.placement.operators.terms import Terms
from tiger.training.costs.tolerances import SUMS

# Steps of bisection for the target at which contraction fails, to 2^-24 of the range of bounds.
HALVINGS = 24
# What solvers of linear programs may be wrong by, in parts of the best known load: their own tolerances are 1e-7. It
# is taken off the bound, so that no placement is called optimal by rounding.
SOLVER_ERROR = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundParams:
    """Set how hard to search for a bound: `effort` >= 1 multiplies what is tried; same effort, same bound.

    Graphs with more than `largest` groups and edges are bounded without column generation. Over the graphs of
    dnn-partitioning that lowers the mean gap from 14.4 % to 8.0 %, the median from 8.9 % to 0.9 %, in 0 to 18 s.
    """

    effort: int = 1
    largest: int = 6_000


def load_bound_s(terms: Terms, params: BoundParams, stop: Callable[[], bool], known_s: float) -> float:
    """Return a lower bound on the largest load, in seconds, at most `known_s`, the best load known.

    The largest of four: the work divided at will, the largest group, groups that messages keep together until they
    fit nowhere, and column generation over all ways to fill one device. Valid whenever it ends: rounding and the
    tolerances of solvers are taken off. Infinite where nothing fits.
    """
    costs = DeviceTypeCosts.of(terms)
    if (terms.memory.sum() > costs.capacity @ costs.count) or not costs.allowed.any(axis=0).all():
        return np.inf
    least = np.where(costs.allowed, costs.work, np.inf).min(axis=0).max()
    top = min(known_s, _most_s(terms))
    enough, bound = top * (1 - SUMS), min(max(balance_s(costs), float(least)), top) * (1 - SUMS)
    if bound < enough:
        bound = _contraction_s(terms, costs, (bound, enough), stop)
    if bound < enough and not stop():
        contraction = Contraction.of(terms, costs, enough)
        if len(contraction.memory) + len(terms.consumer) <= params.largest:
            share = column_generation_bound(Patterns.of(terms, contraction, top), bound / top, params.effort, stop)
            # Where nothing is known, what fits takes at most half of the top: a bound as high proves that nothing does.
            bound = enough if share >= 1 - SOLVER_ERROR and top < known_s else max(bound, (share - SOLVER_ERROR) * top)
    return np.inf if bound >= enough and known_s == np.inf else bound


def _most_s(terms: Terms) -> float:
    """Return seconds that any placement with all its links stays below: all work and all messages at their longest."""
    return float(terms.work.max(axis=0).sum() + terms.devices * terms.send.max(axis=0, initial=0.0).sum()) * 2 + 1.0


def _contraction_s(
    terms: Terms, costs: DeviceTypeCosts, bounds: tuple[float, float], stop: Callable[[], bool]
) -> float:
    """Return the largest target between two bounds at which contracted groups fit nowhere, by bisection."""
    low, high = bounds
    if not Contraction.of(terms, costs, high).possible:
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if stop():
            break
        if Contraction.of(terms, costs, middle).possible:
            high = middle
        else:
            low = middle * (1 - SUMS)
    return low
