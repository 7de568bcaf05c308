"""What no placement of operators on devices goes below, whatever it is: work, memory, and what memory makes send."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tiger.pipeline.operators.balance import balance_s
from tiger.pipeline.operators.contraction import Contraction
from tiger.pipeline.operators.covering import covered
from tiger.pipeline.operators.floors import Floors
from tiger.pipeline.operators.shares import Shares
from tiger.pipeline.operators.terms import Terms

HALVINGS = 24
ROUNDING = 1e-10
PROVED = 1e-6


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
    nowhere, and, up to `largest` of them and edges, of all ways to fill one device. Valid whenever it ends; to a
    relative 1e-6, the tolerance of the linear programmes. Infinite where nothing fits.
    """
    floors = Floors.of(terms)
    if (terms.memory.sum() > floors.capacity @ floors.count) or not floors.allowed.any(axis=0).all():
        return np.inf
    least = np.where(floors.allowed, floors.work, np.inf).min(axis=0).max()
    bound = max(balance_s(floors), float(least))
    top = min(known_s, _most_s(terms))
    if bound < top:
        bound = _separated_s(terms, floors, (bound, top), stop)
    if bound < top and not stop():
        made = Contraction.of(terms, floors, top * (1 - ROUNDING))
        if len(made.memory) + len(terms.consumer) <= params.largest:
            share = covered(Shares.of(terms, made, top), bound / top, params.effort, stop)
            bound = top if share >= 1 - PROVED else max(bound, share * (1 - PROVED) * top)
    return min(bound, known_s) if bound < top else known_s


def _most_s(terms: Terms) -> float:
    """Return seconds that some placement stays below if any has all links: all work and all sending at its dearest."""
    return float(terms.work.max(axis=0).sum() + terms.devices * terms.send.max(axis=0, initial=0.0).sum()) * 2 + 1.0


def _separated_s(terms: Terms, floors: Floors, bounds: tuple[float, float], stop: Callable[[], bool]) -> float:
    """Return the largest target between two at which classes that must not be separated are found to fit nowhere."""
    low, high = bounds
    if not Contraction.of(terms, floors, high * (1 - ROUNDING)).possible:
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if stop():
            break
        if Contraction.of(terms, floors, middle).possible:
            high = middle
        else:
            low = middle
    return low
