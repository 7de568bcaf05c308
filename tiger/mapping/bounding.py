"""The lower bound on the cost during a solve: what raises it, and when, each as a stage."""

import time
from collections.abc import Callable

from tiger.bounds import schedule
from tiger.bounds.lower_bound import quick_bound, spread_bound, strong_bound
from tiger.bounds.warm import load
from tiger.model.arrays import IntArray
from tiger.run.deadline import Deadline
from tiger.run.mapping import MappingIncumbent


def raise_first_bound(incumbent: MappingIncumbent, start: IntArray) -> None:
    """Bound the cost before any search, from the first mapping `start[n]`."""
    _raise(incumbent, lambda: quick_bound(incumbent.problem, start, incumbent.stop.left_s))


def raise_bound_before(incumbent: MappingIncumbent, efforts: range) -> None:
    """Raise the lower bound by what is worth its time before the first round of one of the efforts or more.

    A round that is planned by the time left may have any effort, and passes some that a bound is due at.
    """
    problem, iterations = incumbent.problem, schedule.STRONG_ITERATIONS
    pairs = len(problem.free) * problem.topology.size
    if schedule.is_strong_due(pairs, efforts) and not incumbent.ended:
        _raise(
            incumbent,
            lambda: strong_bound(problem, incumbent.places, iterations=iterations, stop=incumbent.stop),
        )
    if schedule.is_spread_due(efforts):
        raise_spread_bound(incumbent, schedule.SPREAD_WORK)


def raise_spread_bound(incumbent: MappingIncumbent, work: int = 1) -> None:
    """Raise the lower bound of tasks that share nodes, in at most half of the time left, unless little of it is."""
    left_s, spent_s = incumbent.stop.left_s, sum(stage.seconds for stage in incumbent.stages)
    if incumbent.ended or incumbent.problem.groups or (left_s is not None and left_s <= spent_s / 2):
        return

    def bound() -> float:
        left_s = incumbent.stop.left_s
        half = Deadline(None if left_s is None else time.monotonic() + left_s / 2)
        return spread_bound(incumbent.problem, work, half)

    _raise(incumbent, bound, load)


def _raise(incumbent: MappingIncumbent, bound: Callable[[], float], load: Callable[[], object] | None = None) -> None:
    """Take another lower bound on the cost if it is higher, as a stage, unless none on traffic of pairs is one."""
    if incumbent.bounded:
        with incumbent.stage("bound", load=load) as detail:
            incumbent.bound = max(incumbent.bound or 0.0, min(bound(), incumbent.cost))
            detail["lower_bound"] = incumbent.bound
