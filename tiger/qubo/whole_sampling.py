"""Sample a whole problem as one QUBO: encode, tune and sample, decode, repair, polish."""

from dataclasses import replace

from tiger.model.window import fold, whole
from tiger.qubo.encode import COUPLER_LIMIT, coupler_count
from tiger.qubo.ising import Ising, WindowTask
from tiger.qubo.tune import Control, Trial
from tiger.run.mapping import MappingIncumbent
from tiger.run.search_stage import Round

# The first round is at the safe bound, far from where tuned ones are. Random reads of every eighth take 2 % of the work
# at 25 to 36 tasks, and up to 9 % at 9.
CONTROL = Control(first=1, step=8)


def sample_whole(incumbent: MappingIncumbent, ising: Ising, this_round: Round) -> None:
    """Improve a mapping by one QUBO of the whole problem where that is small enough; else the stage says it was not."""
    block = whole(incumbent.problem)
    variables, most = len(block.tasks) * len(block.nodes), ising.params.whole_variables
    if not variables or incumbent.ended or ising.answers.error:
        return
    with incumbent.stage("qubo") as detail:
        if variables > most:
            detail["skipped"] = f"{variables} variables, above {most}: partitioned instead"
            return
        window = fold(incumbent.problem, block, incumbent.places)
        if coupler_count(window) > COUPLER_LIMIT:
            detail["skipped"] = f"more than {COUPLER_LIMIT} couplers: partitioned instead"
            return
        sampling = replace(ising.params.whole, rounds=ising.params.whole.rounds * this_round.effort)
        tuning = replace(ising.tuning(sampling.rounds, ising.strengths[0], CONTROL), target=incumbent.target)
        tuned = WindowTask(
            window,
            incumbent.places,
            ising.sample,
            ising.polish,
            sampling,
            tuning,
            this_round.seed,
            incumbent.stop,
            ising.keep,
        ).solve()
        ising.take(tuned)
        gained = tuned.local is not None and incumbent.offer(window.place(incumbent.places, tuned.local))
        detail["variables"], detail["couplers"] = tuned.variables, tuned.couplers
        detail["rounds"] = tuple(trial.to_dict() for trial in tuned.trials)
        _warn(incumbent, tuned.trials, gained=gained)


def _warn(incumbent: MappingIncumbent, trials: tuple[Trial, ...], *, gained: bool) -> None:
    """Warn where few reads are feasible even with the penalties at their safe bound, and nothing came of it."""
    shares = [trial.feasible_share for trial in trials if trial.penalties.scale >= 1.0]
    if not gained and shares and max(*shares, trials[-1].feasible_share) <= 0.25:
        incumbent.warnings[
            f"with penalties at their safe bound {max(shares):.0%} of raw reads are feasible, and none improved: "
            "give the sampler more effort, or a smaller problem or windows"
        ] = None
