"""Penalties of a problem's QUBO that are tuned here, for a machine elsewhere."""

from typing import NamedTuple

from tiger.errors import InputError
from tiger.mapping.sampler_policy import ising_of
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.window import Window
from tiger.qubo.ising import WindowTask
from tiger.qubo.params import IsingParams
from tiger.qubo.penalties import Penalties
from tiger.run.deadline import Deadline
from tiger.solvers import registry


class TunedPenalties(NamedTuple):
    """Hold penalties, the sampler that they were tuned for, and the share of its reads that were feasible with them."""

    penalties: Penalties
    solver: str
    feasible_share: float


def tune_penalties(
    problem: Problem, window: Window, start: IntArray, solver: str, params: IsingParams
) -> TunedPenalties:
    """Return the penalties at which nearest to half of a sampler's reads are feasible, of eight rounds of tuning.

    `window` is the whole problem and `start[n]` a feasible mapping. Raises InputError of `tune` for what is no sampler,
    or one that does not mind penalties, and of `ising/penalty_scale` beside it.
    """
    if not registry.is_sampler(solver):
        raise InputError("tune", f"expected a sampler, such as neal, got the {registry.kind_of(solver)} {solver!r}")
    if params.penalty_scale is not None:
        raise InputError("ising/penalty_scale", "expected none where penalties are tuned, got one")
    ising = ising_of(registry.sampler(solver), problem, params)
    tuning = ising.tuning(ising.params.whole.rounds, ising.strengths[0])
    task = WindowTask(window, start, ising.sample, None, ising.params.whole, tuning, 0, Deadline(None))
    tuned = task.solve()
    if tuned.error is not None:
        raise tuned.error
    trial = min(tuned.trials, key=lambda trial: abs(trial.feasible_share - 0.5))
    return TunedPenalties(trial.penalties, solver, trial.feasible_share)
