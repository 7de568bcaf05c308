"""The Ising path: sample tuned QUBOs of the whole problem or of windows, repair, polish, accept what is cheaper."""

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import NamedTuple, get_args

import dimod
import numpy as np

from tiger.errors import InputError, shorten
from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Partitioner, Samples, Stop
from tiger.model.seeds import derive
from tiger.model.window import Block, Window, fold, whole
from tiger.objectives.cost import cost_of, violations
from tiger.qubo.decode import repair
from tiger.qubo.encode import COUPLER_LIMIT, CapacityEncoding, coupler_count
from tiger.qubo.lookahead import assign_level, place_forward
from tiger.qubo.penalties import Penalties
from tiger.qubo.sweeps import Sweeps
from tiger.qubo.tune import Trial, Tuned, TuneParams, Tuner, tune
from tiger.run.mapping import MappingIncumbent
from tiger.run.stage import Detail

Polish = Callable[[IntArray, Block, Stop], IntArray]
BATCH = 8
WIDE = 1 << 16
RISE = 1 / 3
STALE = 100
SPANS = (1, 2, 3)
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
            raise InputError("ising/penalty_scale", f"{wanted}, got {shorten(scale)}")
        if self.beta_range is not None:
            object.__setattr__(self, "beta_range", _betas(self.beta_range))
        if self.capacity not in get_args(CapacityEncoding):
            known = " or ".join(get_args(CapacityEncoding))
            raise InputError("ising/capacity", f"expected {known}, got {shorten(self.capacity)}")


def _check_size(name: str, size: int, least: int) -> None:
    """Raise InputError unless a size is a whole number that is large enough."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < least:
        raise InputError(f"ising/{name}", f"expected a whole number >= {least}, got {shorten(size)}")


def _betas(beta_range: object) -> tuple[object, ...]:
    """Return inverse temperatures from hot to cold, or raise InputError."""
    pair = tuple(beta_range) if isinstance(beta_range, tuple | list) else ()
    if len(pair) != 2 or not all(map(_is_positive, pair)) or pair[0] > pair[1]:
        wanted = "expected two finite numbers > 0, the smaller one, which is the hot end, first"
        raise InputError("ising/beta_range", f"{wanted}, got {shorten(beta_range)}")
    return pair


def _is_positive(value: object) -> bool:
    """Return whether this is a number above 0 that a float can hold."""
    return type(value) is not bool and isinstance(value, int | float) and 0 < value <= sys.float_info.max


SampleWith = Callable[[dimod.BinaryQuadraticModel, Penalties, Sampling, tuple[int, Stop]], Samples]
Starts = Callable[[Window, int, Stop], IntArray | None]


class Job(NamedTuple):
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
        """Tune and sample the window."""
        return tune(self.window, self._draw, self._finish, self.params, seed=self.seed, stop=self.stop)

    def _draw(self, bqm: dimod.BinaryQuadraticModel, penalties: Penalties, seed: int) -> Samples:
        """Draw the reads of a round."""
        return self.sample(bqm, penalties, self.sampling, (seed, self.stop))

    def _finish(self, local: IntArray) -> IntArray:
        """Polish one read within the window; without a polish leave it, as tasks outside may have no place yet."""
        if self.polish is None:
            return local
        return self.window.local(self.polish(self.window.placed(self.places, local), self.window.block, self.stop))


@dataclass(slots=True, kw_only=True)
class Walk:
    """Hold where a sequence of windows stands: a mapping and its cost, the penalties' strength, and odds of kinds.

    `rises` and `dearer` sum and count the proposals that were dearer, `stale` counts those since the last that beat all
    before, `sweeps` solve single levels exactly where the rule has levels; `accepted` and `shares` are of this pass.
    """

    places: IntArray
    cost: float
    odds: FloatArray
    rng: np.random.Generator
    sweeps: Sweeps | None
    strength: float | None
    shares: list[float] = field(default_factory=list)
    accepted: int = 0
    rises: float = 0.0
    dearer: int = 0
    stale: int = 0

    def step(self, places: IntArray, cost: float) -> None:
        """Go to a proposed mapping if it is no dearer, or by Metropolis' rule at a third of the mean rise."""
        rise = cost - self.cost
        self.accepted += rise < 0
        self.stale += 1
        if rise > 0:
            self.rises, self.dearer = self.rises + rise, self.dearer + 1
        if rise <= 0 or rise < self.rng.exponential(RISE * self.rises / self.dearer):
            self.places, self.cost = places, cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Ising:
    """Hold what the path is put together from: bits from a sampler, penalties by a tuner, blocks by partitioners.

    A pass draws one of the partitioners, by how often windows of each were accepted. `construct` returns local nodes of
    a whole problem's window to start from, or None. `strengths` are those of the penalties at first, for the whole and
    for windows, None for the safe bound.
    """

    sample: SampleWith
    tuner: Tuner
    partitioners: tuple[Partitioner, ...]
    polish: Polish
    construct: Starts | None = None
    strengths: tuple[float | None, float | None] = (None, 1.0)
    executor: Executor | None = None
    params: IsingParams = IsingParams()

    def solve_whole(self, run: MappingIncumbent, effort: int, seed: int) -> None:
        """Tune and sample the whole problem as one QUBO where that is small enough, else say that it was not."""
        block = whole(run.problem)
        variables = len(block.tasks) * len(block.nodes)
        if not variables or run.ended:
            return
        with run.stage("qubo") as detail:
            if variables > self.params.whole_variables:
                detail["skipped"] = f"{variables} variables, above {self.params.whole_variables}: partitioned instead"
                return
            window = fold(run.problem, block, run.places)
            if coupler_count(window) > COUPLER_LIMIT:
                detail["skipped"] = f"more than {COUPLER_LIMIT} couplers: partitioned instead"
                return
            sampling = self.params.whole
            sampling = Sampling(rounds=sampling.rounds * effort, reads=sampling.reads, sweeps=sampling.sweeps)
            tuned = self._job(run, window, sampling, (self.strengths[0], None), seed).solve()
            gained = tuned.local is not None and run.offer(window.placed(run.places, tuned.local))
            detail["variables"], detail["couplers"] = tuned.variables, tuned.couplers
            detail["rounds"] = tuple(trial.to_dict() for trial in tuned.trials)
            _warn(run, tuned.trials, gained=gained)

    def solve_windows(self, run: MappingIncumbent, effort: int, seed: int) -> None:
        """Pass over the windows of partitions, each with everything outside folded in; the run's cost never rises.

        A window whose best other mapping is no cheaper has it polished together with what lies around, and the walk
        may go on from there: an iterated local search whose kicks are samples.
        """
        if run.ended or not len(run.problem.free):
            return
        sweeps = Sweeps(run.problem) if run.problem.rule == "levels" else None
        self._start(run, sweeps, seed)
        rng = np.random.default_rng(derive(seed, self.params.passes * effort))
        odds = np.ones(len(self.partitioners))
        walk = Walk(places=run.places, cost=run.cost, odds=odds, rng=rng, sweeps=sweeps, strength=self.strengths[1])
        passes = self.params.passes * effort
        for number in range(passes):
            if not run.ended:
                with run.stage("windows", number / passes) as detail:
                    self._pass(run, walk, number, derive(seed, number), detail)

    def _start(self, run: MappingIncumbent, sweeps: Sweeps | None, seed: int) -> None:
        """Construct mappings to start from, once a run: by levels, forward, else by co-bisection."""
        if not self.params.starts or run.ended or any(stage.name == "start" for stage in run.stages):
            return
        with run.stage("start") as detail:
            for number in range(self.params.starts):
                places = self._construct(run, sweeps, number, derive(seed, number))
                if places is None or run.ended:
                    break
                run.offer(places)
                detail["constructed"] = number + 1

    def _construct(self, run: MappingIncumbent, sweeps: Sweeps | None, number: int, seed: int) -> IntArray | None:
        """Return a polished start, None where there is none by that number."""
        if sweeps is not None:
            if number >= len(SPANS):
                return None
            solve = assign_level if SPANS[number] == 1 else partial(self._ahead, run, seed)
            places = place_forward(run.problem, run.places, SPANS[number], solve, run.stop)
            return sweeps.improve(places, run.stop)
        if self.construct is None:
            return None
        window = fold(run.problem, whole(run.problem), run.places)
        made = self.construct(window, seed, run.stop)
        if made is None:
            return None
        bits = np.zeros(window.shape, bool)
        bits[np.arange(len(bits)), made] = True
        local = repair(window, bits)
        return None if local is None else self.polish(window.placed(run.places, local), window.block, run.stop)

    def _ahead(self, run: MappingIncumbent, seed: int, window: Window) -> IntArray | None:
        """Return the best sampled mapping of a window in which later levels are absent, None if it is too large."""
        if coupler_count(window) > COUPLER_LIMIT or window.linear.size > self.params.window_size:
            return None
        sampling = self.params.window
        params = TuneParams(
            rounds=sampling.rounds,
            strength=self.strengths[1],
            scale=self.params.penalty_scale,
            capacity=self.params.capacity,
            tuner=self.tuner,
        )
        return Job(window, run.places, self.sample, None, sampling, params, seed, run.stop).solve().local

    def _pass(self, run: MappingIncumbent, walk: Walk, number: int, seed: int, detail: dict[str, Detail]) -> None:
        """Solve the windows of one pass, those that do not touch each other at once."""
        rng, limit = np.random.default_rng(seed), self.params.window_size
        kind = int(rng.choice(len(walk.odds), p=walk.odds / walk.odds.sum()))
        # Even and odd seeds go over levels forward and backward.
        split_seed = 2 * derive(seed, 0) + number % 2
        blocks = self.partitioners[kind].split(run.problem, walk.places, max_size=limit, seed=split_seed)
        walk.shares, walk.accepted, count = [], 0, 0
        for batch in _batches(run.problem, islice(blocks, self.params.windows)):
            if run.ended:
                break
            jobs = []
            for block in batch:
                window = fold(run.problem, _follow_tasks(block, walk.places, limit), walk.places)
                jobs.append(
                    self._job(run, window, self.params.window, (walk.strength, walk.places), derive(seed, count))
                )
                count += 1
            for job, tuned in zip(jobs, (self.executor.map if self.executor else map)(Job.solve, jobs), strict=True):
                self._take(run, walk, job, tuned)
        walk.odds[kind] = 0.8 * walk.odds[kind] + 0.2 * (0.1 + walk.accepted / max(count, 1))
        detail["windows"], detail["accepted"], detail["penalty_strength"] = count, walk.accepted, walk.strength
        detail["feasible_share"] = float(np.mean(walk.shares)) if walk.shares else 0.0
        detail |= _figures(tuned.trials[-1]) if count else {}

    def _take(self, run: MappingIncumbent, walk: Walk, job: Job, tuned: Tuned) -> None:
        """Propose a window's answer to the walk and the run, if it is dearer polished with what lies around."""
        walk.strength = tuned.strength if walk.strength else None
        walk.shares.append(tuned.trials[-1].feasible_share)
        if tuned.local is None:
            return
        places = job.window.placed(walk.places, tuned.local)
        if walk.places is not job.places and violations(run.problem, places):
            # Polish of another window of the batch reached over to this one.
            return
        cost = cost_of(run.problem, places).total
        if cost >= walk.cost:
            places = self.polish(places, _widen(run.problem, job.window.block, places), run.stop)
            if walk.sweeps is not None:
                places = walk.sweeps.improve(places, run.stop)
            cost = cost_of(run.problem, places).total
        walk.step(places, cost)
        if run.offer(places):
            walk.stale = 0
        elif walk.stale >= STALE:
            walk.places, walk.cost, walk.stale = run.places, run.cost, 0

    def _job(
        self,
        run: MappingIncumbent,
        window: Window,
        sampling: Sampling,
        here: tuple[float | None, IntArray | None],
        seed: int,
    ) -> Job:
        """Return the work on a window, from a strength of its penalties, away from a mapping if there is one."""
        strength, known = here
        params = TuneParams(
            rounds=sampling.rounds,
            strength=strength,
            scale=self.params.penalty_scale,
            capacity=self.params.capacity,
            target=run.target,
            avoid=None if known is None else window.local(known),
            tuner=self.tuner,
        )
        places = run.places if known is None else known
        return Job(window, places, self.sample, self.polish, sampling, params, seed, run.stop)


def _batches(problem: Problem, blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Yield runs of at most eight blocks that share no node and exchange no traffic, so that their gains add up."""
    batch: list[Block] = []
    near, nodes = np.zeros(problem.tasks.size, bool), np.zeros(problem.topology.size, bool)
    for block in blocks:
        if len(batch) == BATCH or (batch and (near[block.tasks].any() or nodes[block.nodes].any())):
            yield batch
            batch = []
            near[:], nodes[:] = False, False
        batch.append(block)
        near |= _mark_touched(problem, block.tasks)
        nodes[block.nodes] = True
    if batch:
        yield batch


def _mark_touched(problem: Problem, tasks: IntArray) -> BoolArray:
    """Return touched[n], the tasks given and all that exchange traffic with them."""
    touched = np.zeros(problem.tasks.size, bool)
    touched[tasks] = True
    for traffic in (problem.tasks.traffic, problem.inflow):
        touched[traffic[tasks].indices] = True
    return touched


def _follow_tasks(block: Block, places: IntArray, limit: int) -> Block:
    """Return a block with the nodes that its tasks have come to occupy, and no more pairs than the limit."""
    own = np.unique(places[block.tasks])
    others = np.setdiff1d(block.nodes, own)[: max(limit // len(block.tasks) - len(own), 0)]
    return Block(tasks=block.tasks, nodes=np.sort(np.concatenate([own, others])))


def _widen(problem: Problem, block: Block, places: IntArray) -> Block:
    """Return a block with all tasks that exchange traffic with its own, and their nodes, where those are not many."""
    touched = _mark_touched(problem, block.tasks)
    tasks = problem.free[touched[problem.free]]
    nodes = np.union1d(places[tasks], block.nodes)
    return Block(tasks=tasks, nodes=nodes) if len(tasks) * len(nodes) <= WIDE else block


def _figures(trial: Trial) -> dict[str, Detail]:
    """Return what the sampler said of its last window."""
    return {name: value for name, value in trial.figures.items() if name != "beta_range"}


def _warn(run: MappingIncumbent, trials: tuple[Trial, ...], *, gained: bool) -> None:
    """Warn where few reads are feasible even with the penalties at their safe bound, and nothing came of it."""
    shares = [trial.feasible_share for trial in trials if trial.penalties.scale >= 1.0]
    if not gained and shares and max(*shares, trials[-1].feasible_share) <= 0.25:
        run.warnings[
            f"with penalties at their safe bound {max(shares):.0%} of raw reads are feasible, and none improved: "
            "give the sampler more effort, or a smaller problem or windows"
        ] = None
