"""The Ising path of a mapping: what it is put together from, its sizes, and the work on one window.

Whole problems are sampled in tiger.qubo.whole_sampling, windows of partitions in tiger.qubo.window_sampling; both
encode, sample, decode, repair and polish by tiger.qubo.tune.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import NamedTuple

import dimod

from tiger.errors import InputError
from tiger.model.arrays import BitArray, IntArray
from tiger.model.seams import Partitioner, Samples, Stop
from tiger.model.window import Block, Window
from tiger.qubo.encode import encode
from tiger.qubo.params import IsingParams, Sampling
from tiger.qubo.penalties import Penalties
from tiger.qubo.tune import Control, Tuned, TuneParams, Tuner, tune
from tiger.run.answers import Answers

# The figure that says why samples could not be kept.
NOT_KEPT = "not_kept"
Polish = Callable[[IntArray, Block, Stop], IntArray]
Starts = Callable[[int, Stop], IntArray | None]


class Turn(NamedTuple):
    """Hold what is of one call of a sampler: its seed below 2**31, when to stop, and the bits of the mapping so far."""

    seed: int
    stop: Stop
    start: Callable[[], BitArray] | None = None


SampleWith = Callable[[dimod.BinaryQuadraticModel, Penalties, Sampling, Turn], Samples]
# Keeps the samples of the model of a window, outside of which tasks are at known places.
Keep = Callable[[Window, IntArray, dimod.BinaryQuadraticModel, Samples], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ising:
    """Hold what the path is put together from: bits from a sampler, penalties by a tuner, blocks by partitioners.

    A pass draws one of the partitioners, by how often windows of each were accepted. `construct` returns places to
    start from, or None. `strengths` are those of the penalties at first, for the whole and for windows, None for the
    safe bound. `answers` are those of the sampler so far. Of one that is `concurrent`, as it may be asked by several
    threads, up to `in_flight` calls are out at once. `keep` has the samples of each as soon as they are there.
    """

    sample: SampleWith
    tuner: Tuner
    partitioners: tuple[Partitioner, ...]
    polish: Polish
    construct: Starts | None = None
    strengths: tuple[float | None, float | None] = (None, 1.0)
    executor: Executor | None = None
    params: IsingParams = field(default_factory=IsingParams)
    answers: Answers = field(default_factory=Answers)
    concurrent: bool = False
    in_flight: int = 1
    keep: Keep | None = None

    def take(self, *found: Tuned) -> None:
        """Count what windows that were out at once have drawn, and note the first error of the sampler."""
        for trial in (trial for tuned in found for trial in tuned.trials):
            if NOT_KEPT in trial.figures:
                self.answers.unkept = str(trial.figures[NOT_KEPT])
            self.answers.samples.add(trial.reads, trial.feasible_share, trial.figures)
            if trial.control is not None:
                self.answers.samples.compare(trial.reads, trial.best, trial.control)
        error = next((tuned.error for tuned in found if tuned.error is not None), None)
        self.answers.add(sum(len(tuned.trials) for tuned in found), error)

    def tuning(self, rounds: int, strength: float | None, control: Control | None = None) -> TuneParams:
        """Return the tuner of penalties, for `rounds` rounds from a strength of theirs.

        `control` says beside which of them random reads are looked at, where that is asked for.
        """
        return TuneParams(
            control=control if self.params.control else None,
            rounds=rounds,
            strength=strength,
            scale=self.params.penalty_scale,
            capacity=self.params.capacity,
            tuner=self.tuner,
        )


class WindowTask(NamedTuple):
    """Hold what it takes to solve a window anywhere: all of it can be sent to another process."""

    window: Window
    places: IntArray
    sample: SampleWith
    polish: Polish | None
    sampling: Sampling
    params: TuneParams
    seed: int
    stop: Stop
    keep: Keep | None = None

    def solve(self) -> Tuned:
        """Encode the window, sample it with tuned penalties, and decode, repair and polish what is drawn."""
        return tune(self.window, self._draw, self._finish, self.params, seed=self.seed, stop=self.stop)

    def _draw(self, bqm: dimod.BinaryQuadraticModel, penalties: Penalties, seed: int) -> Samples:
        """Draw the reads of a round."""
        samples = self.sample(bqm, penalties, self.sampling, Turn(seed, self.stop, self._start))
        if self.keep is None:
            return samples
        try:
            self.keep(self.window, self.places, bqm, samples)
        except (InputError, OSError) as error:
            reason = error.reason if isinstance(error, InputError) else str(error)
            return samples._replace(figures={**samples.figures, NOT_KEPT: reason})
        return samples

    def _start(self) -> BitArray:
        """Return the bits of the mapping so far."""
        return encode(self.window, self.params.capacity).sample(self.window.local(self.places))

    def _finish(self, local: IntArray) -> IntArray:
        """Polish one read within the window; without a polish leave it, as tasks outside may have no place yet."""
        if self.polish is None:
            return local
        return self.window.local(self.polish(self.window.place(self.places, local), self.window.block, self.stop))
