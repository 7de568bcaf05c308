"""The Ising path of a mapping: what it is put together from, its sizes, and the work on one window.

Whole problems are sampled in tiger.qubo.whole_sampling, windows of partitions in tiger.qubo.window_sampling; both
encode, sample, decode, repair and polish by tiger.qubo.tune.
"""

import sys
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import NamedTuple, get_args

import dimod
import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.seams import Partitioner, Samples, Stop
from tiger.model.window import Block, Window
from tiger.model.wording import describe
from tiger.qubo.encode import CapacityEncoding
from tiger.qubo.penalties import Penalties
from tiger.qubo.tune import Tuned, TuneParams, Tuner, tune

# Penalties further from the safe bound leave costs, or themselves, few of the digits of float64.
SCALES = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Set how long a window is sampled: `rounds` of `reads` of `sweeps` sweeps."""

    rounds: int
    reads: int
    sweeps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IsingParams:
    """Set the path: sampling of the whole problem, then of windows.

    Above `whole_variables` only windows are sampled, of at most `window_size` variables each, in `passes` a unit of
    effort; `windows` limits how many of them a pass solves, None for all. `starts` mappings are constructed before the
    first pass. `penalty_scale` fixes the penalties at that multiple of the safe bound, and `beta_range` the inverse
    temperatures, first and last, in 1 / cost; both are chosen where they are None. Raises InputError for a bad value.
    """

    whole: Sampling = Sampling(rounds=8, reads=48, sweeps=300)
    window: Sampling = Sampling(rounds=1, reads=8, sweeps=100)
    whole_variables: int = 1600
    window_size: int = 144
    passes: int = 4
    windows: int | None = None
    starts: int = 4
    penalty_scale: float | None = None
    beta_range: tuple[float, float] | None = None
    capacity: CapacityEncoding = "slack"

    def __post_init__(self) -> None:
        """Check every value."""
        sizes = {"whole_variables": self.whole_variables, "window_size": self.window_size, "passes": self.passes}
        if self.windows is not None:
            sizes["windows"] = self.windows
        for stage, sampling in (("whole", self.whole), ("window", self.window)):
            counts = {"rounds": sampling.rounds, "reads": sampling.reads, "sweeps": sampling.sweeps}
            sizes |= {f"{stage}/{name}": count for name, count in counts.items()}
        for name, size in sizes.items():
            _check_size(name, size, 1)
        _check_size("starts", self.starts, 0)
        scale = self.penalty_scale
        if scale is not None and not (_is_positive(scale) and 1 / SCALES <= scale <= SCALES):
            wanted = f"expected a finite number > 0, from {1 / SCALES:g} to {SCALES:g}"
            raise InputError("ising/penalty_scale", f"{wanted}, got {describe(scale)}")
        if self.beta_range is not None:
            object.__setattr__(self, "beta_range", _betas(self.beta_range))
        if self.capacity not in get_args(CapacityEncoding):
            known = " or ".join(get_args(CapacityEncoding))
            raise InputError("ising/capacity", f"expected {known}, got {describe(self.capacity)}")


def _check_size(name: str, size: int, least: int) -> None:
    """Raise InputError unless a size is a whole number that is large enough."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < least:
        raise InputError(f"ising/{name}", f"expected a whole number >= {least}, got {describe(size)}")


def _betas(beta_range: object) -> tuple[object, ...]:
    """Return inverse temperatures from hot to cold, or raise InputError."""
    pair = tuple(beta_range) if isinstance(beta_range, tuple | list) else ()
    if len(pair) != 2 or not all(map(_is_positive, pair)) or pair[0] > pair[1]:
        wanted = "expected two finite numbers > 0, the smaller one, which is the hot end, first"
        pairs = " and ".join(map(describe, pair)) if len(pair) == 2 else f"{len(pair)} values"
        got = pairs if isinstance(beta_range, tuple | list) else describe(beta_range)
        raise InputError("ising/beta_range", f"{wanted}, got {got}")
    return pair


def _is_positive(value: object) -> bool:
    """Return whether this is a number above 0 that a float can hold."""
    return type(value) is not bool and isinstance(value, int | float) and 0 < value <= sys.float_info.max


Polish = Callable[[IntArray, Block, Stop], IntArray]
Starts = Callable[[int, Stop], IntArray | None]
SampleWith = Callable[[dimod.BinaryQuadraticModel, Penalties, Sampling, tuple[int, Stop]], Samples]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ising:
    """Hold what the path is put together from: bits from a sampler, penalties by a tuner, blocks by partitioners.

    A pass draws one of the partitioners, by how often windows of each were accepted. `construct` returns places to
    start from, or None. `strengths` are those of the penalties at first, for the whole and for windows, None for the
    safe bound.
    """

    sample: SampleWith
    tuner: Tuner
    partitioners: tuple[Partitioner, ...]
    polish: Polish
    construct: Starts | None = None
    strengths: tuple[float | None, float | None] = (None, 1.0)
    executor: Executor | None = None
    params: IsingParams = IsingParams()

    def tuning(self, rounds: int, strength: float | None) -> TuneParams:
        """Return how penalties are tuned, in so many rounds from a strength of theirs."""
        return TuneParams(
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

    def solve(self) -> Tuned:
        """Encode the window, sample it with tuned penalties, and decode, repair and polish what is drawn."""
        return tune(self.window, self._draw, self._finish, self.params, seed=self.seed, stop=self.stop)

    def _draw(self, bqm: dimod.BinaryQuadraticModel, penalties: Penalties, seed: int) -> Samples:
        """Draw the reads of a round."""
        return self.sample(bqm, penalties, self.sampling, (seed, self.stop))

    def _finish(self, local: IntArray) -> IntArray:
        """Polish one read within the window; without a polish leave it, as tasks outside may have no place yet."""
        if self.polish is None:
            return local
        return self.window.local(self.polish(self.window.place(self.places, local), self.window.block, self.stop))
