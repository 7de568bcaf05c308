"""Tune the penalties of a window's QUBO: from the safe bound down to just feasible.

At the safe bound simulated annealing spends its time undoing violations; where a quarter to three quarters of the raw
reads are feasible it finds far cheaper ones. The first step down goes to what a task's cost varies by, with centred
costs, and is mostly there; bisection does the rest, and then single constraints are weighed by how often they are
violated. Every read is decoded, repaired, polished, and may be the answer.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

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
from tiger.run.samples import BestReads
from tiger.run.stage import Detail

Sample = Callable[[dimod.BinaryQuadraticModel, Penalties, int], Samples]
Polish = Callable[[IntArray], IntArray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """Record one round: its penalties, the share of raw feasible reads, and the best costs (None: no read).

    `missed[k]` and `crowded[q]` are as in tiger.qubo.decode, `figures` what the sampler reported. `control` are the
    best costs of as many random `reads`, None where there were none.
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
    reads: int = 0
    control: BestReads | None = None

    @property
    def best(self) -> BestReads:
        """Return the best costs."""
        return BestReads(raw=self.raw, repaired=self.repaired, polished=self.polished)

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


class Control(NamedTuple):
    """Name the rounds that are set beside random reads: from `first` on every `step`th."""

    first: int
    step: int

    def covers(self, number: int) -> bool:
        """Return whether a round is one of them."""
        return number >= self.first and (number - self.first) % self.step == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneParams:
    """Set the tuning: at most `rounds` of sampling.

    They begin at the safe bound, or, given a `strength`, at that multiple of the penalties it aims at, and end once a
    mapping costs at most `target`, which a caller sets to a known lower bound. A `scale` fixes the penalties instead,
    relative to the safe bound. `avoid[k]` is a mapping that is known and not looked for. `control` says beside which
    rounds as many random reads are looked at.
    """

    rounds: int = 8
    strength: float | None = None
    scale: float | None = None
    capacity: CapacityEncoding = "slack"
    avoid: IntArray | None = None
    target: float = -math.inf
    tuner: Tuner = field(default_factory=Bisection)
    control: Control | None = None

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
        found = _finish_reads(window, reads, polish, params.avoid)
        if found.local is not None and found.cost < lowest:
            best, lowest = found.local, found.cost
        control = None
        if params.control is not None and params.control.covers(number) and not stop():
            # Never the answer: a seed of its own, and nothing of it is kept but costs.
            coins = np.random.default_rng(derive(seed, number, 1)).integers(0, 2, samples.bits.shape, np.int8)
            control = _finish_reads(window, decode(qubo, coins), polish, params.avoid).best
        trial = Trial(
            penalties=penalties,
            feasible_share=float(reads.feasible.mean()) if len(reads.feasible) else 0.0,
            missed=reads.missed,
            crowded=reads.crowded,
            raw=found.best.raw,
            repaired=found.best.repaired,
            polished=found.best.polished,
            figures=samples.figures,
            earlier=trial,
            reads=len(samples.bits),
            control=control,
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


class FinishedReads(NamedTuple):
    """Hold the best local places of some reads (None: none), their cost, and the best costs on the way there."""

    local: IntArray | None
    cost: float
    best: BestReads


def _finish_reads(window: Window, reads: Reads, polish: Polish, avoid: IntArray | None) -> FinishedReads:
    """Repair and polish all different reads; return the best places, and costs on the way, but of those to avoid."""
    distinct = {bits.tobytes(): number for number, bits in reversed([*enumerate(reads.bits)])}
    found = []
    for number in sorted(distinct.values()):
        repaired = repair(window, reads.bits[number])
        polished = None if repaired is None else polish(repaired)
        if repaired is not None and polished is not None and (avoid is None or (polished != avoid).any()):
            found.append((bool(reads.feasible[number]), repaired, polished))
    costs = _costs(window, [polished for _, _, polished in found])
    best = BestReads(
        raw=min_cost(_costs(window, [repaired for feasible, repaired, _ in found if feasible])),
        repaired=min_cost(_costs(window, [repaired for _, repaired, _ in found])),
        polished=min_cost(costs),
    )
    local = found[int(costs.argmin())][2] if found else None
    return FinishedReads(local, float(costs.min(initial=math.inf)), best)


def _costs(window: Window, places: list[IntArray]) -> FloatArray:
    """Return the cost of each of some local places."""
    return window.costs(np.array(places)) if places else np.zeros(0)


def min_cost(costs: FloatArray) -> float | None:
    """Return the smallest of some costs, None without any."""
    return float(costs.min()) if len(costs) else None
