"""What no placement of operators on devices goes below, whatever it is: work, memory, and what memory makes send."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tiger.pipeline.costs.tolerances import SUMS
from tiger.pipeline.operators.bounds.balance import balance_s
from tiger.pipeline.operators.bounds.column_generation import cover_bound
from tiger.pipeline.operators.bounds.contraction import Contraction
from tiger.pipeline.operators.bounds.floors import Floors
from tiger.pipeline.operators.bounds.patterns import Shares
from tiger.pipeline.operators.terms import Terms

HALVINGS = 24
# What programmes may be wrong by, in parts of the load that they are asked about: their own tolerances are 1e-7. It is
# taken off the bound, so that no placement is called optimal for a programme.
PROGRAMME = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundParams:
    """Set how hard to look for a bound: `effort` >= 1 multiplies what is tried; same effort, same bound.

    Of graphs with more than `largest` classes and edges it is not asked how a device may be filled, which takes long.
    """

    effort: int = 1
    largest: int = 6_000


def load_bound_s(terms: Terms, params: BoundParams, stop: Callable[[], bool], known_s: float) -> float:
    """Return seconds that the largest load of no placement is below, and at most `known_s`, the best load known.

    The best of the work divided at will, the largest class, classes that sending would keep together until they fit
    nowhere, and, up to `largest` of them and edges, of all ways to fill one device. Valid whenever it ends: what
    rounding and the tolerances of programmes leave open is taken off. Infinite where nothing fits.
    """
    floors = Floors.of(terms)
    if (terms.memory.sum() > floors.capacity @ floors.count) or not floors.allowed.any(axis=0).all():
        return np.inf
    least = np.where(floors.allowed, floors.work, np.inf).min(axis=0).max()
    top = min(known_s, _most_s(terms))
    enough, bound = top * (1 - SUMS), min(max(balance_s(floors), float(least)), top) * (1 - SUMS)
    if bound < enough:
        bound = _separated_s(terms, floors, (bound, enough), stop)
    if bound < enough and not stop():
        made = Contraction.of(terms, floors, enough)
        if len(made.memory) + len(terms.consumer) <= params.largest:
            share = cover_bound(Shares.of(terms, made, top), bound / top, params.effort, stop)
            # Anything that fits takes half as long as the top at most where nothing is known.
            bound = enough if share >= 1 - PROGRAMME and top < known_s else max(bound, (share - PROGRAMME) * top)
    return np.inf if bound >= enough and known_s == np.inf else bound


def _most_s(terms: Terms) -> float:
    """Return seconds that some placement stays below if any has all links: all work and all sending at its dearest."""
    return float(terms.work.max(axis=0).sum() + terms.devices * terms.send.max(axis=0, initial=0.0).sum()) * 2 + 1.0


def _separated_s(terms: Terms, floors: Floors, bounds: tuple[float, float], stop: Callable[[], bool]) -> float:
    """Return the largest target between two at which classes that must not be separated are found to fit nowhere."""
    low, high = bounds
    if not Contraction.of(terms, floors, high).possible:
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if stop():
            break
        if Contraction.of(terms, floors, middle).possible:
            high = middle
        else:
            low = middle * (1 - SUMS)
    return low
