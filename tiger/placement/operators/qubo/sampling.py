"""Devices of operators from any sampler: tuned QUBOs, all reads repaired, the best cut again as lines and refined."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import dimod
import numpy as np
from dimod.core.sampler import Sampler

from tiger.mapping.sampler_policy import draw_bits
from tiger.model.arrays import BoolArray, IntArray
from tiger.model.seams import Samples
from tiger.model.seeds import derive
from tiger.placement.operators.linear_orders import draw_linear_order
from tiger.placement.operators.loads import held_bytes
from tiger.placement.operators.qubo.qubo import Encoding, encode
from tiger.placement.operators.qubo.repair import repair
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.annealer import AnnealerParams, largest_load_s, refine
from tiger.placement.operators.throughput.cut_dp import cut
from tiger.qubo.ising import Turn
from tiger.qubo.params import IsingParams, Sampling
from tiger.qubo.penalties import Penalties
from tiger.qubo.tune import Bisection, Fixed, Trial
from tiger.run.answers import Answers
from tiger.run.samples import BestReads
from tiger.solvers.samplers.ocean import needs_tuning
from tiger.training.costs.tolerances import MEMORY


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingParams:
    """Set sampling: `rounds` for a unit of effort, each of `reads` with so many `sweeps`.

    Reads are fewer where all of them would update more than `couplers`, but at least `fewest`. The `finalists` best
    of a round are refined.
    """

    rounds: int = 8
    reads: int = 48
    sweeps: int = 300
    fewest: int = 4
    couplers: int = 300_000_000
    finalists: int = 3


PARAMS = SamplingParams()
# One of so many rounds, the second and on, is set beside random reads.
COMPARED = 8

Tell = Callable[[str, IntArray, float], None]


def sample(
    terms: Terms,
    sampler: Sampler,
    params: AnnealerParams,
    stop: Callable[[], bool],
    on_step: Tell,
    answers: Answers | None = None,
) -> IntArray | None:
    """Return the device of every group [C] with the smallest largest load that a sampler leads to, None if none fits.

    Eight rounds a unit of effort, of 48 reads or fewer where the model is large, with penalties tuned between rounds
    for a sampler that they trouble. A sampler that states `max_variables` gets windows of neighbouring groups, the
    others where they are. `on_step` is called with the best places so far, and their largest load in seconds, after
    every round; `answers` are those of the sampler so far. InputError where the model is too large.
    """
    if not terms.allowed.any(axis=1).all():
        return None
    rounds = Rounds.of(terms, sampler, params, stop)
    if answers is not None:
        rounds.answers = answers
    penalties: Penalties | None = rounds.encoding.penalties
    trial: Trial | None = None
    for number in range(PARAMS.rounds * params.effort):
        if penalties is None or (number and stop()):
            break
        bits = rounds.draw(penalties, derive(params.seed, number))
        if bits is None:
            break
        compared = rounds.whole and number % COMPARED == 1
        trial = rounds.judge(bits, penalties, trial, derive(params.seed, number, 1) if compared else None)
        penalties = rounds.tuner.next(penalties, trial) or penalties
        if rounds.best is not None:
            on_step("sampling", rounds.best, largest_load_s(terms, rounds.best))
    return rounds.best


@dataclass(slots=True, kw_only=True, eq=False)
class Rounds:
    """Hold what rounds of sampling share, the best place so far, and the place that windows are cut from.

    `figures` are what the sampler said last, and `whole` whether it takes the whole model at once.
    """

    terms: Terms
    sampler: Sampler
    params: AnnealerParams
    stop: Callable[[], bool]
    encoding: Encoding
    tuner: Bisection | Fixed
    position: IntArray
    around: IntArray
    best: IntArray | None = None
    answers: Answers = field(default_factory=Answers)
    figures: Mapping[str, object] = field(default_factory=dict)
    whole: bool = True

    @classmethod
    def of(cls, terms: Terms, sampler: Sampler, params: AnnealerParams, stop: Callable[[], bool]) -> "Rounds":
        """Return rounds that have not begun, around a line cut by dynamic programming, or one that is repaired."""
        position = draw_linear_order(terms, derive(params.seed, PARAMS.rounds))
        start = cut(terms, position, derive(params.seed, PARAMS.rounds))
        return cls(
            terms=terms,
            sampler=sampler,
            params=params,
            stop=stop,
            encoding=encode(terms),
            tuner=Bisection() if needs_tuning(sampler) else Fixed(),
            position=position,
            around=repair(terms, np.full(terms.groups, -1)) if start is None else start.place,
        )

    def draw(self, penalties: Penalties, seed: int) -> BoolArray | None:
        """Return bits[r, C, k] of the reads of a round as they are; of windows in turn if the model is too large.

        None where the sampler fails before it has answered in this round.
        """
        bqm = self.encoding.bqm(penalties)
        most = getattr(self.sampler, "max_variables", None)
        self.whole = most is None or bqm.num_variables <= most
        if most is None or self.whole:
            samples = self._sample(bqm, penalties, seed)
            return None if samples is None else self.encoding.decode(samples.bits)
        # One window after the other, each around what the ones before it have led to.
        reads = None
        for number, window in enumerate(self._windows(int(most))):
            fixed = self.encoding.sample(self.around)
            outside = np.setdiff1d(np.arange(len(fixed)), window)
            part = bqm.copy()
            part.fix_variables(dict(zip(outside.tolist(), fixed[outside].tolist(), strict=True)))
            samples = self._sample(part, penalties, derive(seed, number))
            if samples is None:
                return reads
            full = np.tile(fixed, (len(samples.bits), 1))
            full[:, np.sort(window)] = samples.bits
            reads = self.encoding.decode(full)
            self.around = self._repair(reads[0])
        return np.empty((0, *self.encoding.index.shape), np.bool_) if reads is None else reads

    def judge(self, bits: BoolArray, penalties: Penalties, earlier: Trial | None, coins: int | None = None) -> Trial:
        """Repair the reads, refine the best few of them and keep the best; return the record of the round.

        With a seed of `coins` as many random reads are set beside them, of which nothing is kept but their loads.
        """
        missed = bits.sum(axis=2) != 1
        held = np.einsum("rck,c->rk", bits, self.terms.memory)
        overloaded = held > self.terms.capacity * (1 + MEMORY)
        feasible = ~missed.any(axis=1) & ~overloaded.any(axis=1)
        found, own = self._finish(bits, feasible)
        for place in found:
            self._offer(place)
        self.around = self.around if self.best is None else self.best
        share = float(feasible.mean()) if len(feasible) else 0.0
        self.answers.samples.add(len(bits), share, self.figures)
        if coins is not None:
            drawn = np.random.default_rng(coins).integers(
                0, 2, (len(bits), int(self.encoding.index.max()) + 1), np.int8
            )
            random = self.encoding.decode(drawn)
            self.answers.samples.compare(len(bits), own, self._finish(random, np.zeros(len(bits), np.bool_))[1])
        return Trial(
            penalties=penalties,
            feasible_share=share,
            missed=missed.mean(axis=0),
            crowded=overloaded.mean(axis=0),
            raw=None,
            repaired=None,
            polished=None if self.best is None else largest_load_s(self.terms, self.best),
            earlier=earlier,
        )

    def _finish(self, bits: BoolArray, feasible: BoolArray) -> tuple[list[IntArray], BestReads]:
        """Return what repair and refinement of the best few reads come to, and the least loads on the way there."""
        places = {(place := self._repair(read)).tobytes(): place for read in bits}
        # Reads that overflow memory least come first, then those of the least load.
        ranked = sorted(places.values(), key=lambda place: (self._overflow(place), largest_load_s(self.terms, place)))
        found = [each for place in ranked[: PARAMS.finalists] for each in self._improve(place)]
        as_they_came = [read.argmax(axis=1) for read in bits[feasible]]
        raw, repaired, polished = (self._least_load_s(some) for some in (as_they_came, ranked, found))
        return found, BestReads(raw=raw, repaired=repaired, polished=polished)

    def _least_load_s(self, places: list[IntArray]) -> float | None:
        """Return the least largest load of the places that fit, None without any."""
        loads = (largest_load_s(self.terms, place) for place in places if self._overflow(place) == 0)
        return min((load for load in loads if np.isfinite(load)), default=None)

    def _sample(self, bqm: dimod.BinaryQuadraticModel, penalties: Penalties, seed: int) -> Samples | None:
        """Return the samples of a model, fewer of a large one; None once the sampler has failed."""
        reads = max(min(PARAMS.reads, PARAMS.couplers // (PARAMS.sweeps * max(bqm.num_interactions, 1))), PARAMS.fewest)
        sampling = Sampling(rounds=1, reads=reads, sweeps=PARAMS.sweeps)
        ask = partial(draw_bits, self.sampler, IsingParams(), bqm, penalties, sampling, Turn(seed, self.stop))
        samples = self.answers.keep(ask)
        self.figures = {} if samples is None else samples.figures
        return samples

    def _windows(self, most: int) -> Iterator[IntArray]:
        """Yield the variables of groups that are neighbours on the line, at most so many at once, or of one group."""
        order = np.argsort(self.position, kind="stable")
        size = max(most // self.encoding.index.shape[1], 1)
        for begin in range(0, len(order), size):
            if begin and self.stop():
                break
            variables = self.encoding.index[order[begin : begin + size]]
            yield variables[variables >= 0]

    def _repair(self, read: BoolArray) -> IntArray:
        """Return the device of every group in a read with those that have none, several, or no memory repaired."""
        return repair(self.terms, np.where(read.sum(axis=1) == 1, read.argmax(axis=1), -1))

    def _improve(self, place: IntArray) -> Iterator[IntArray]:
        """Yield a place refined, and the line that dynamic programming cuts from the order it induces, refined."""
        yield refine(self.terms, place, self.params, self.stop)
        count = np.bincount(place, minlength=self.terms.devices)
        mean = np.bincount(place, self.position, self.terms.devices) / np.maximum(count, 1)
        order = np.lexsort((self.position, mean[place]))
        line = cut(self.terms, np.argsort(order), self.params.seed)
        if line is not None:
            yield refine(self.terms, line.place, self.params, self.stop)

    def _overflow(self, place: IntArray) -> float:
        """Return by how much a place exceeds memory, in bytes."""
        over = held_bytes(self.terms, place) - self.terms.capacity * (1 + MEMORY)
        return float(np.maximum(over, 0.0).sum())

    def _offer(self, place: IntArray) -> None:
        """Keep a place if it fits and is the best."""
        value = largest_load_s(self.terms, place)
        if self._overflow(place) == 0 and value < (
            np.inf if self.best is None else largest_load_s(self.terms, self.best)
        ):
            self.best = place
