"""Tune the penalties of a window's QUBO: from the safe bound down to just feasible.

At the safe bound simulated annealing spends its time undoing violations; where a quarter to three quarters of the raw
reads are feasible it finds far cheaper ones. Every read is decoded, repaired, polished, and may be the answer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import dimod
import numpy as np

from tiger.decode import Reads, decode, repair
from tiger.encode import Qubo, encode
from tiger.model.arrays import BitArray, IntArray
from tiger.model.seams import Stop
from tiger.model.seeds import derived
from tiger.model.window import Window
from tiger.penalties import Penalties, safe_penalties

Sample = Callable[[dimod.BinaryQuadraticModel, Penalties, int], BitArray]
Finish = Callable[[IntArray], IntArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Record one round: the penalties' scale, the share of raw feasible reads, and the best costs (None: no read)."""

    scale: float
    feasible_share: float
    raw: float | None
    repaired: float | None
    polished: float | None
    earlier: "Trial | None" = None

    def to_dict(self) -> dict[str, float | None]:
        """Return the figures of the round by name."""
        return {
            "penalty_scale": self.scale,
            "feasible_share": self.feasible_share,
            "best_raw": self.raw,
            "best_repaired": self.repaired,
            "best_polished": self.polished,
        }


class Tuner(Protocol):
    """Choose the penalties of the next round."""

    def next(self, penalties: Penalties, trial: Trial) -> Penalties | None:
        """Return the penalties to try after `trial`, or None to stop."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """Keep the penalties; for samplers that do not mind them, and as the baseline of tuning."""

    def next(self, penalties: Penalties, trial: Trial) -> Penalties | None:
        """Return the same penalties."""
        return penalties


@dataclass(frozen=True, slots=True, kw_only=True)
class Bisection:
    """Bisect the scale, never above the safe bound, until the feasible share lies between `low` and `high`."""

    low: float = 0.25
    high: float = 0.75
    step: float = 0.7

    def next(self, penalties: Penalties, trial: Trial) -> Penalties | None:
        """Return penalties between the largest scale with too few feasible reads and the smallest with too many."""
        if self.low < trial.feasible_share < self.high:
            return penalties
        below, above = 0.0, math.inf
        seen: Trial | None = trial
        while seen is not None:
            if seen.feasible_share <= self.low:
                below = max(below, seen.scale)
            elif seen.feasible_share >= self.high:
                above = min(above, seen.scale)
            seen = seen.earlier
        if below == 0.0 or below >= above:
            return penalties.scaled(min(above, trial.scale) * self.step)
        return penalties.scaled(min(math.sqrt(below * above) if math.isfinite(above) else below / self.step, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneParams:
    """Set the tuning: at most `rounds` of sampling, from penalties of `scale` times the safe bound.

    Rounds end once a mapping costs at most `target`, which a caller sets to a known lower bound.
    """

    rounds: int = 8
    scale: float = 1.0
    target: float = -math.inf
    tuner: Tuner = field(default_factory=Bisection)

    def __post_init__(self) -> None:
        """Check the bounds."""
        if self.rounds < 1:
            raise ValueError(f"expected rounds >= 1, got {self.rounds}")
        if not 0 < self.scale <= 1:
            raise ValueError(f"expected a scale above 0 and at most 1, got {self.scale}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tuned:
    """Hold the best local places found (None where no read could be repaired), their cost, and every round."""

    local: IntArray | None
    cost: float
    trials: tuple[Trial, ...]
    variables: int
    couplers: int


def tune(window: Window, sample: Sample, finish: Finish, params: TuneParams, *, seed: int, stop: Stop) -> Tuned:
    """Sample a window's QUBO round by round, tuning its penalties, and return the best mapping seen.

    `sample` draws bits at given penalties and a seed below 2**31, `finish` polishes feasible local places. Costs are
    the window's own, recomputed from places, never a sampler's energies. At least one round is run.
    """
    qubo = encode(window)
    penalties: Penalties | None = safe_penalties(window).scaled(params.scale)
    best: IntArray | None = None
    trial: Trial | None = None
    trials: list[Trial] = []
    lowest = math.inf
    for number in range(params.rounds):
        if penalties is None or lowest <= params.target or (trials and stop()):
            break
        reads = decode(qubo, sample(qubo.bqm(penalties), penalties, derived(seed, number)))
        trial, local = _judge(qubo, reads, finish, penalties, trial)
        trials.append(trial)
        if trial.polished is not None and trial.polished < lowest:
            best, lowest = local, trial.polished
        penalties = params.tuner.next(penalties, trial)
    return Tuned(local=best, cost=lowest, trials=tuple(trials), variables=qubo.size, couplers=qubo.couplers)


def _judge(
    qubo: Qubo, reads: Reads, finish: Finish, penalties: Penalties, earlier: Trial | None
) -> tuple[Trial, IntArray | None]:
    """Repair and polish every read; return the round's record and its best places."""
    window = qubo.window
    raw = [window.cost(reads.local(read)) for read in np.flatnonzero(reads.feasible).tolist()]
    repaired = [found for bits in np.unique(reads.bits, axis=0) if (found := repair(window, bits)) is not None]
    polished = [finish(local) for local in repaired]
    costs = [window.cost(local) for local in polished]
    best = polished[int(np.argmin(costs))] if costs else None
    trial = Trial(
        scale=penalties.scale,
        feasible_share=float(reads.feasible.mean()) if len(reads.feasible) else 0.0,
        raw=min(raw, default=None),
        repaired=min(map(window.cost, repaired), default=None),
        polished=min(costs, default=None),
        earlier=earlier,
    )
    return trial, best
