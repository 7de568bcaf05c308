"""Local search over the cuts of a line: cuts move for as long as that makes their value smaller."""

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from typing import NamedTuple

from tiger.model.rounding import TIE
from tiger.placement.chain.params import never_stop

Cuts = tuple[int, ...]
# Layers that a single boundary shifts by: powers of two reach a far cut in few moves. With 1 alone plans take 0.12 %
# longer in the mean, and 2.2 % of vgg16 under 1F1B (`python -m benchmarks.vary_plans
# tiger.placement.search.cut_moves:STRIDES ..` with profiles).
STRIDES = (1, 2, 4)


class BestCuts(NamedTuple):
    """Hold the best cuts found, their value, and how many different cuts have been evaluated."""

    cuts: Cuts
    value: float
    evaluations: int


def move_cuts(
    cuts: Cuts, evaluate: Callable[[Cuts], float], budget: int, stop: Callable[[], bool] = never_stop
) -> BestCuts:
    """Return cuts that no move improves, or the best so far when `budget` cuts have been evaluated.

    `evaluate` returns what is minimized, infinite for what is not allowed. Moves shift a boundary by 1, 2 or 4 layers,
    a run of boundaries by one layer, and two boundaries anywhere by one layer each, which exchanges layers between
    stages that share a device. First improvement: a move that gains is made at once, and moves are tried in turn and go
    on where the last one was. A local optimum, not exact.
    """
    known = {cuts: evaluate(cuts)}
    best = cuts
    improved = True
    while improved:
        improved = False
        for move in _moves(len(cuts) - 2):
            trial = _apply_move(best, move)
            if trial is None or trial in known:
                continue
            if len(known) >= budget or stop():
                return BestCuts(best, known[best], len(known))
            known[trial] = evaluate(trial)
            if known[trial] < known[best] * (1 - TIE):
                best, improved = trial, True
    return BestCuts(best, known[best], len(known))


Move = tuple[tuple[int, int], ...]


def _moves(inner: int) -> Iterator[Move]:
    """Yield moves as pairs of a boundary, 1 to `inner`, and how many layers it shifts: single ones, runs, pairs."""
    boundaries = range(1, inner + 1)
    singles = (((b, sign * stride),) for stride in STRIDES for b in boundaries for sign in (1, -1))
    spans = combinations(range(1, inner + 2), 2)
    runs = (tuple((b, sign) for b in range(first, end)) for first, end in spans if end - first > 1 for sign in (1, -1))
    signs = ((1, -1), (-1, 1), (1, 1), (-1, -1))
    pairs = (((a, x), (b, y)) for a, b in combinations(boundaries, 2) for x, y in signs)
    return chain(singles, runs, pairs)


def _apply_move(cuts: Cuts, move: Move) -> Cuts | None:
    """Return the cuts after a move, None if a stage would be left without layers."""
    trial = list(cuts)
    for boundary, shift in move:
        trial[boundary] += shift
    touched = {b for boundary, _ in move for b in (boundary - 1, boundary)}
    return tuple(trial) if all(trial[b] < trial[b + 1] for b in touched) else None
