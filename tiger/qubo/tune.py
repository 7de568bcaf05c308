"""Tune the penalties of a window's QUBO: from the safe bound down to just feasible.

At the safe bound simulated annealing spends its time undoing violations; where a quarter to three quarters of the raw
reads are feasible it finds far cheaper ones. The first step down goes to what a task's cost varies by, with centred
costs, and is mostly there; bisection does the rest, and then single constraints are weighed by how often they are
violated. Every read is decoded, repaired, polished, and may be the answer.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import dimod
import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seams import Samples, Stop
from tiger.model.seeds import derive
from tiger.model.window import Window
from tiger.qubo.decode import Reads, decode, repair
from tiger.qubo.encode import encode
from tiger.qubo.params import CapacityEncoding
from tiger.qubo.penalties import Penalties, safe_penalties
from tiger.run.stage import Detail

Sample = Callable[[dimod.BinaryQuadraticModel, Penalties, int], Samples]
Polish = Callable[[IntArray], IntArray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """Record one round: its penalties, the share of raw feasible reads, and the best costs (None: no read).

    `missed[k]` and `crowded[q]` are as in tiger.qubo.decode, `figures` what the sampler reported.
    """

    penalties: Penalties
    feasible_share: float
    missed: FloatArray
    crowded: FloatArray
    raw: float | None
    repaired: float | None
    polished: float | None
    figures: Mapping[str, Detail] = field(default_factory=dict)
    earlier: "Trial | None" = None

    def to_dict(self) -> dict[str, Detail]:
        """Return the figures of the round by name; `penalty` is the mean weight of the one-hot constraints."""
        return {
            **self.figures,
            "penalty": float(self.penalties.one_hot.mean()),
            "penalty_scale": self.penalties.scale,
            "centred": self.penalties.centred,
            "feasible_share": self.feasible_share,
            "best_raw": self.raw,
            "best_repaired": self.repaired,
            "best_polished": self.polished,
        }


class Tuner(Protocol):
    """Choose the penalties of the next round."""

    def next(self, penalties: Penalties, trial: Trial) -> Penalties | None:
        """Return the penalties to try after `trial`, which was made with `penalties`, or None to stop."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """Keep the penalties; for samplers that do not mind them, and as the baseline of tuning."""

    def next(self, penalties: Penalties, trial: Trial) -> Penalties | None:
        """Return the same penalties."""
        return penalties


@dataclass(frozen=True, slots=True, kw_only=True)
class Bisection:
    """Bisect the scale until the feasible share lies between `low` and `high`, then weigh single constraints.

    Where the penalties name others to aim at, those come first. A constraint violated in a share v of the reads gains
    a factor exp(`gain` (v - mean v)) over the others of its kind.
    """

    low: float = 0.25
    high: float = 0.75
    step: float = 0.7
    gain: float = 0.7

    def next(self, penalties: Penalties, trial: Trial) -> Penalties | None:
        """Return penalties between the largest scale with too few feasible reads and the smallest with too many."""
        if penalties.aim is not None:
            return penalties.aim
        # In the band: constraints that are violated more often than the mean gain weight.
        if self.low <= trial.feasible_share <= self.high:
            return penalties.weighed(self._factor(trial.missed), self._factor(trial.crowded))
        # The bracket: the largest scale seen with too few feasible reads, the smallest with too many.
        below, above = 0.0, math.inf
        seen: Trial | None = trial
        while seen is not None:
            scale = seen.penalties.scale
            if seen.penalties.aim is None and seen.feasible_share < self.low:
                below = max(below, scale)
            elif seen.penalties.aim is None and seen.feasible_share > self.high:
                above = min(above, scale)
            seen = seen.earlier
        if below == 0.0 or below >= above:
            return penalties.scaled(min(above, penalties.scale) * self.step)
        return penalties.scaled(min(math.sqrt(below * above) if math.isfinite(above) else below / self.step, 1.0))

    def _factor(self, violated: FloatArray) -> FloatArray:
        """Return the factors of constraints by how often they are violated."""
        return np.exp(self.gain * (violated - violated.mean())) if len(violated) else violated


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneParams:
    """Set the tuning: at most `rounds` of sampling.

    They begin at the safe bound, or, given a `strength`, at that multiple of the penalties it aims at, and end once a
    mapping costs at most `target`, which a caller sets to a known lower bound. A `scale` fixes the penalties instead,
    relative to the safe bound. `avoid[k]` is a mapping that is known and not looked for.
    """

    rounds: int = 8
    strength: float | None = None
    scale: float | None = None
    capacity: CapacityEncoding = "slack"
    avoid: IntArray | None = None
    target: float = -math.inf
    tuner: Tuner = field(default_factory=Bisection)

    def __post_init__(self) -> None:
        """Check the bounds."""
        if self.rounds < 1:
            raise ValueError(f"expected rounds >= 1, got {self.rounds}")
        if self.strength is not None and not self.strength > 0:
            raise ValueError(f"expected a strength above 0, got {self.strength}")
        if self.scale is not None and not self.scale > 0:
            raise ValueError(f"expected a scale above 0, got {self.scale}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tuned:
    """Hold the best local places found (None where no read could be repaired), their cost, and every round.

    `strength` is the size of the penalties that come next, relative to those the safe bound aims at. An `error` is that
    of a sampler, after which no round follows.
    """

    local: IntArray | None
    cost: float
    trials: tuple[Trial, ...]
    variables: int
    couplers: int
    strength: float
    error: Exception | None = None


def tune(window: Window, sample: Sample, polish: Polish, params: TuneParams, *, seed: int, stop: Stop) -> Tuned:
    """Encode a window and sample its QUBO round by round, tuning the penalties; return the best mapping seen.

    Each round samples, decodes, repairs and polishes, and ends with the penalties of the next. `sample` draws bits at
    given penalties and a seed below 2**31, `polish` improves feasible local places. Costs are the window's own,
    recomputed from places, never a sampler's energies. At least one round is run. An error of `sample` is
    returned with what the rounds before it have found.
    """
    qubo, safe = encode(window, params.capacity), safe_penalties(window)
    aim, tuner = safe.aim or safe, params.tuner
    penalties: Penalties | None = safe if params.strength is None else aim.scaled(aim.scale * params.strength)
    if params.scale is not None:
        penalties, tuner = safe.at(params.scale), Fixed()
    best: IntArray | None = None
    trial: Trial | None = None
    failure: Exception | None = None
    trials: list[Trial] = []
    lowest, couplers, strength = math.inf, 0, params.strength or 1.0
    for number in range(params.rounds):
        if penalties is None or lowest <= params.target or (trials and stop()):
            break
        model = qubo.bqm(penalties)
        couplers = max(couplers, model.num_interactions)
        try:
            samples = sample(model, penalties, derive(seed, number))
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 (a sampler of whatever origin; its caller tells or raises it)
            failure = error
            break
        reads = decode(qubo, samples.bits)
        repaired = _repair_distinct(window, reads)
        polished = [local for local in map(polish, repaired) if params.avoid is None or (local != params.avoid).any()]
        costs = window.costs(np.array(polished)) if polished else np.zeros(0)
        if polished and costs.min() < lowest:
            best, lowest = polished[int(costs.argmin())], float(costs.min())
        trial = Trial(
            penalties=penalties,
            feasible_share=float(reads.feasible.mean()) if len(reads.feasible) else 0.0,
            missed=reads.missed,
            crowded=reads.crowded,
            raw=min_cost(window.costs(reads.bits[reads.feasible].argmax(axis=2))),
            repaired=min_cost(window.costs(np.array(repaired)) if repaired else np.zeros(0)),
            polished=min_cost(costs),
            figures=samples.figures,
            earlier=trial,
        )
        trials.append(trial)
        penalties = tuner.next(penalties, trial)
        strength = penalties.scale / aim.scale if penalties else strength
    return Tuned(
        local=best,
        cost=lowest,
        trials=tuple(trials),
        variables=qubo.size,
        couplers=couplers,
        strength=strength,
        error=failure,
    )


def _repair_distinct(window: Window, reads: Reads) -> list[IntArray]:
    """Return the local places of all different reads that can be repaired."""
    distinct = {bits.tobytes(): bits for bits in reads.bits}.values()
    return [local for bits in distinct if (local := repair(window, bits)) is not None]


def min_cost(costs: FloatArray) -> float | None:
    """Return the smallest of some costs, None without any."""
    return float(costs.min()) if len(costs) else None
