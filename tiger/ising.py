"""The Ising path: sample tuned QUBOs of the whole problem or of windows, repair, polish, accept what is cheaper."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import dimod
import numpy as np

from tiger.encode import COUPLER_LIMIT, coupler_count
from tiger.model.arrays import BitArray, IntArray
from tiger.model.seams import Partitioner, Stop
from tiger.model.seeds import derived
from tiger.model.window import Block, Window, fold, whole
from tiger.penalties import Penalties
from tiger.report import Detail
from tiger.run import Run
from tiger.sweeps import sweep
from tiger.tune import Trial, Tuned, TuneParams, Tuner, tune

Polish = Callable[[IntArray, Block], IntArray]


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
    effort; `windows` limits how many of them a pass solves, None for all.
    """

    whole: Sampling = Sampling(rounds=8, reads=48, sweeps=300)
    window: Sampling = Sampling(rounds=2, reads=6, sweeps=100)
    whole_variables: int = 1600
    window_size: int = 144
    passes: int = 2
    windows: int | None = None


STALLS = 4
SampleWith = Callable[[dimod.BinaryQuadraticModel, Penalties, Sampling, tuple[int, Stop]], BitArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ising:
    """Hold what the path is put together from: bits from a sampler, penalties by a tuner, blocks by a partitioner."""

    sample: SampleWith
    tuner: Tuner
    partitioner: Partitioner
    polish: Polish
    params: IsingParams = IsingParams()

    def solve_whole(self, run: Run, effort: int, seed: int) -> None:
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
            tuned = self._tune(run, window, sampling, (1.0, seed))
            gained = tuned.local is not None and run.offer(window.placed(run.places, tuned.local))
            detail["variables"], detail["couplers"] = tuned.variables, tuned.couplers
            detail["rounds"] = tuple(trial.to_dict() for trial in tuned.trials)
            _warn(run, tuned.trials, gained=gained)

    def solve_windows(self, run: Run, effort: int, seed: int) -> None:
        """Pass over the windows of a partition, each with everything outside folded in; the cost never rises."""
        passes, stalled = self.params.passes * effort, 0
        for number in range(passes):
            if run.ended or not len(run.problem.free):
                return
            before = run.cost
            with run.stage("windows", number / passes) as detail:
                self._pass(run, (number, derived(seed, number)), detail)
            self.sweep(run)
            stalled = stalled + 1 if run.cost >= before else 0
            if stalled == STALLS:
                return

    def _pass(self, run: Run, turn: tuple[int, int], detail: dict[str, Detail]) -> None:
        """Solve the windows of one pass by its number and seed, one after another."""
        number, seed = turn
        accepted, scale = 0, 1.0
        shares: list[float] = []
        blocks = self.partitioner.split(run.problem, run.places, max_size=self.params.window_size, seed=seed + number)
        for count, block in enumerate(islice(blocks, self.params.windows)):
            if run.ended:
                break
            window = fold(run.problem, block, run.places)
            tuned = self._tune(run, window, self.params.window, (scale, derived(seed, count)))
            accepted += tuned.local is not None and run.offer(window.placed(run.places, tuned.local))
            scale = tuned.trials[-1].scale
            shares.append(tuned.trials[-1].feasible_share)
        detail["windows"], detail["accepted"], detail["penalty_scale"] = len(shares), accepted, scale
        detail["feasible_share"] = float(np.mean(shares)) if shares else 0.0

    def sweep(self, run: Run) -> None:
        """Solve single levels exactly, where the rule has levels."""
        if run.problem.rule == "levels" and not run.ended:
            with run.stage("levels"):
                run.offer(sweep(run.problem, run.places, run.deadline))

    def _tune(self, run: Run, window: Window, sampling: Sampling, start: tuple[float, int]) -> Tuned:
        """Tune a window from a penalty scale and a seed."""
        scale, seed = start

        def draw(bqm: dimod.BinaryQuadraticModel, penalties: Penalties, draw_seed: int) -> BitArray:
            return self.sample(bqm, penalties, sampling, (draw_seed, run.deadline))

        def finish(local: IntArray) -> IntArray:
            return window.local(self.polish(window.placed(run.places, local), window.block))

        params = TuneParams(rounds=sampling.rounds, scale=scale, target=run.target, tuner=self.tuner)
        return tune(window, draw, finish, params, seed=seed, stop=run.deadline)


def _warn(run: Run, trials: tuple[Trial, ...], *, gained: bool) -> None:
    """Warn where the penalties stayed at their safe bound and nothing came of it."""
    if not gained and min(trial.scale for trial in trials) >= 1.0 and trials[-1].feasible_share <= 0.25:
        share = trials[-1].feasible_share
        run.warnings[
            f"penalties stand at their safe bound, {share:.0%} of raw reads are feasible and none improved: "
            "give the sampler more effort, or a smaller problem or windows"
        ] = None
