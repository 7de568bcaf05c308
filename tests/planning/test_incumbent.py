"""Tests of the attempts of a search over choices."""

from tiger.planning.attempt import Attempt, Candidate
from tiger.planning.choices import Choice, Family
from tiger.planning.incumbent import PlanIncumbent
from tiger.run.progress import Progress


def candidate_of(pipeline: int, bound_s: float) -> Candidate:
    """Return a candidate with a bound."""
    family = Family(tensor=1, data=1, microbatch=1, microbatches=4)
    choice = Choice(family=family, pipeline=pipeline, schedule="1f1b")
    return Candidate(choice=choice, bound_s=bound_s, bound="work")


def test_candidates_are_ruled_out_by_the_best_attempt() -> None:
    """One of 3 s is known: a bound of 2 s is worth a look, one of 3 s is counted."""
    incumbent = PlanIncumbent(solution=None, stop=lambda: False)
    incumbent.keep(Attempt(candidate=candidate_of(1, 1.0), plan=None, iteration_s=3.0))
    for pipeline, bound_s in ((2, 2.0), (3, 3.0)):
        incumbent.add(candidate_of(pipeline, bound_s))
    assert [each.choice.pipeline for each in incumbent.candidates] == [2]
    assert [(each.reason, each.choices, each.least) for each in incumbent.pruned.rows()] == [("work", 1, 3.0)]


def test_a_choice_that_is_known_keeps_its_attempt_with_a_bound() -> None:
    """No bound is above what its plan takes."""
    incumbent = PlanIncumbent(solution=None, stop=lambda: False)
    incumbent.keep(Attempt(candidate=candidate_of(1, 0.0), plan=None, iteration_s=3.0))
    incumbent.add(candidate_of(1, 4.0))
    assert [each.candidate.bound_s for each in incumbent.attempts.values()] == [3.0]
    assert incumbent.pruned.rows() == ()


def test_stages_count_attempts_and_steps_are_reported() -> None:
    """One simulated and none placed; a message has the seconds of the best."""
    seen: list[Progress] = []
    incumbent = PlanIncumbent(solution=None, stop=lambda: False, watch=seen.append)
    with incumbent.stage("simulation"):
        incumbent.keep(Attempt(candidate=candidate_of(1, 0.0), plan=None, iteration_s=3.0))
        incumbent.report_step("simulation", 0.5, "half")
    assert dict(incumbent.stages[0].detail) == {"simulated": 1, "placed": 0}
    assert seen == [Progress("simulation", None, None), Progress("simulation", 0.5, 3.0, None, "half")]
