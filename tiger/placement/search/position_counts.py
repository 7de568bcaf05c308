"""How many positions a pipeline is tried with."""

from collections.abc import Iterator

from tiger.placement.search.incumbent import ChainIncumbent
from tiger.placement.search.problem import ChainProblem

# Up to so many single devices every number of positions is tried; above, and with groups, the most and its halves.
EVERY_COUNT = 8


def promising_counts(incumbent: ChainIncumbent) -> Iterator[int]:
    """Yield the numbers of positions to try, the most first, each unless the best plan is known to be as good."""
    return (count for count in position_counts(incumbent.problem) if _may_improve(incumbent, count))


def position_counts(problem: ChainProblem) -> list[int]:
    """Return the one number of positions asked for, or the most there may be and smaller ones."""
    most = problem.positions
    if problem.params.pipeline is not None:
        return [most]
    if not problem.has_groups and most <= EVERY_COUNT:
        counts = list(range(most, 0, -1))
    else:
        counts = [most >> k for k in range(most.bit_length())]
    return [count for count in counts if problem.is_run_by(count)]


def _may_improve(incumbent: ChainIncumbent, count: int) -> bool:
    """Return whether so many positions, on the fastest devices and always busy, would be better than the best plan."""
    problem, params = incumbent.problem, incumbent.problem.params
    rounds = 1 if params.schedule is None else problem.microbatches
    work_s = float((problem.least.forward_s + problem.least.backward_s).sum()) / params.tensor
    return rounds * work_s / (count * float(problem.cluster.speed.max())) < incumbent.value
