"""Tests of the search over choices, against all of them."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest

from tiger.placement.chain.params import never_stop
from tiger.placement.solve import place_layers
from tiger.planning import search
from tiger.planning.attempt import Attempt, make_evaluator
from tiger.planning.choices import Choice, Family, families, positions, schedules_of
from tiger.planning.params import PlanParams
from tiger.planning.search import PlanResult, explore
from tiger.planning.search_inputs import SearchInputs
from tiger.planning.work import ASIDE, Meter
from tiger.run.deadline import Deadline
from tiger.run.progress import Progress, ignore
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.sizes import Model

PARAMS = PlanParams(batch=4)
# Inside machines, and between them.
FAST = (Curve.affine(1e8, 1e-6), Curve.affine(1e7, 1e-5))


def every(model: Model, cluster: Cluster, params: PlanParams) -> list[Choice]:
    """Return all choices."""
    known = list(families(model, cluster, params))
    counts = [(family, count) for family in known for count in positions(model, cluster, params, family)]
    return [choice for family, count in counts for choice in schedules_of(model, params, family, count)]


def seconds_of_choices(model: Model, cluster: Cluster, params: PlanParams) -> dict[Choice, float]:
    """Return what a search for each choice alone comes to."""
    placed = {each: place_layers(model.given, cluster, each.params(params)) for each in every(model, cluster, params)}
    return {choice: np.inf if each.iteration_s is None else each.iteration_s for choice, each in placed.items()}


@pytest.fixture(scope="module")
def found(model: Model, cluster: Cluster) -> PlanResult:
    """Return what the search knows at its end."""
    return explore(SearchInputs(model, cluster, PARAMS), never_stop, ignore)


@pytest.fixture(scope="module")
def seconds(model: Model, cluster: Cluster) -> dict[Choice, float]:
    """Return what a search for each choice alone comes to."""
    return seconds_of_choices(model, cluster, PARAMS)


@pytest.mark.slow
def test_no_choice_is_better_than_the_answer(found: PlanResult, seconds: dict[Choice, float]) -> None:
    """Searching every choice in full finds nothing that a bound or the simulation left out."""
    assert found.attempts[0].iteration_s == min(seconds.values())
    assert found.choices == len(seconds)


@pytest.mark.long
@pytest.mark.parametrize("memory", [200.0, 110.0])
def test_no_choice_is_better_on_two_machines(large: tuple[Model, Cluster], memory: float) -> None:
    """The same with more devices and layers, and where memory is short."""
    model, params = large[0], PlanParams(batch=4)
    cluster = replace(large[1], memory_bytes=np.full(4, memory))
    seconds = seconds_of_choices(model, cluster, params)
    found = explore(SearchInputs(model, cluster, params), never_stop, ignore)
    assert found.attempts[0].iteration_s == min(seconds.values())
    assert all(each.candidate.bound_s <= seconds[each.choice] for each in found.attempts)


def test_the_answer_is_what_a_placement_by_its_choice_takes(found: PlanResult, seconds: dict[Choice, float]) -> None:
    """The plan is judged by nothing else than a placement is."""
    best = found.attempts[0]
    assert best.placed is not None
    assert best.iteration_s == seconds[best.choice]


def test_bounds_are_below_what_every_choice_takes(found: PlanResult, seconds: dict[Choice, float]) -> None:
    """Those of choices, of what was ruled out, and of all together."""
    assert all(each.candidate.bound_s <= seconds[each.choice] for each in found.attempts)
    assert all(each.least <= seconds[each.closest] for each in found.pruned if each.reason in ("work", "cuts"))
    assert found.lower_bound_s <= min(seconds.values())


def test_the_usual_plan_is_never_better(found: PlanResult) -> None:
    """It is one of the plans that are compared."""
    assert found.usual is not None
    assert found.usual.iteration_s >= found.attempts[0].iteration_s


def test_plans_keep_to_memory(found: PlanResult, model: Model, cluster: Cluster) -> None:
    """By the evaluator of placements."""
    for each in found.attempts:
        if each.plan is not None:
            evaluator = make_evaluator(model.given, cluster, each.choice)
            assert (evaluator.memory_bytes(each.plan) <= evaluator.room(each.plan)).all()


def test_every_choice_is_tried_or_ruled_out(found: PlanResult) -> None:
    """Nothing is lost on the way."""
    assert len(found.attempts) + sum(each.choices for each in found.pruned) == found.choices


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answer(found: PlanResult, model: Model, cluster: Cluster) -> None:
    """Also of what is ranked behind the best."""
    again = explore(SearchInputs(model, cluster, PARAMS), never_stop, ignore)
    assert [each.choice for each in again.attempts] == [each.choice for each in found.attempts]
    assert [each.iteration_s for each in again.attempts] == [each.iteration_s for each in found.attempts]


def test_a_search_that_is_stopped_has_the_usual_plan(model: Model, cluster: Cluster) -> None:
    """Or a better one; what was not looked at is said to be left out by the budget."""
    found = explore(SearchInputs(model, cluster, PARAMS), lambda: True, ignore)
    assert found.usual is not None
    assert found.attempts[0].iteration_s <= found.usual.iteration_s
    assert "budget" in {each.reason for each in found.pruned}


def test_nothing_fits_into_little_memory(model: Model, cluster: Cluster) -> None:
    """Four layers hold 40 bytes each, so that three devices need 80 or more."""
    small = replace(cluster, memory_bytes=np.full(3, 50.0))
    found = explore(SearchInputs(model, small, PARAMS), never_stop, ignore)
    assert all(each.plan is None for each in found.attempts)
    assert {each.reason for each in found.pruned} == {"memory"}


@pytest.mark.long
def test_devices_without_links_are_used_alone(model: Model, cluster: Cluster) -> None:
    """No ring and no pipeline can be, but one device may hold it all."""
    apart = replace(cluster, link=np.full((3, 3), -1), memory_bytes=np.full(3, 1e3))
    found = explore(SearchInputs(model, apart, PARAMS), never_stop, ignore)
    assert found.attempts[0].choice.shape == (1, 1, 1)
    assert "links" in {each.reason for each in found.pruned}


@pytest.mark.slow
def test_progress_is_told(model: Model, cluster: Cluster) -> None:
    """Every stage, with the best seconds so far."""
    told: list[Progress] = []
    explore(SearchInputs(model, cluster, PARAMS), never_stop, told.append)
    assert [*dict.fromkeys(step.stage for step in told)] == ["heuristic", "bounds", "simulation", "placement"]
    assert told[-1].cost is not None


def test_work_is_counted_by_the_simulations_of_a_search() -> None:
    """Twice one pass and what it takes beside that; the meter never ends a search itself."""
    family = Family(tensor=1, data=1, microbatch=1, microbatches=1)
    meter = Meter(2 * ASIDE + 2, never_stop)
    stop = meter.stop_for(Choice(family=family, pipeline=1, schedule="1f1b"))
    assert (stop(), meter.left) == (False, ASIDE + 1)
    assert (stop(), meter.left) == (False, 0)


def test_choices_that_take_too_long_are_left_out(
    model: Model, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is the usual plan all the same, and none is said to be impossible."""
    monkeypatch.setattr(search, "PARAMS", search.PlanningParams(simulated=0, searched=0))
    found = explore(SearchInputs(model, cluster, PARAMS), never_stop, ignore)
    assert [each.placed for each in found.attempts] == [None]
    left_out = {each.reason: each for each in found.pruned}["budget"]
    assert found.lower_bound_s == pytest.approx(left_out.least)


@pytest.mark.parametrize(("work", "groups"), [(85, 1), (95, 2)])
def test_bug_searches_end_where_another_group_takes_twice_the_work_left(
    large: tuple[Model, Cluster], monkeypatch: pytest.MonkeyPatch, work: int, groups: int
) -> None:
    """Two islands spent 1.9 times the work of a plan of 70B, and one waited: searches take far more than the least."""
    placed = []

    def place(*given: object) -> tuple[Attempt, int]:
        attempt = next(each for each in given if isinstance(each, Attempt))
        placed.append(attempt)
        return attempt, 30 * ASIDE

    monkeypatch.setattr(search, "_place", place)
    monkeypatch.setattr(search, "PARAMS", search.PlanningParams(searched=work * ASIDE // 2, searches=1))
    explore(SearchInputs(*large, replace(PARAMS, islands=2)), never_stop, ignore)
    assert len(placed) == 2 * groups


@pytest.mark.long
@pytest.mark.parametrize("islands", [2, 5])
def test_islands_find_the_same_on_any_executor(model: Model, cluster: Cluster, found: PlanResult, islands: int) -> None:
    """The plan is no worse than that of one island, and whoever judges choices changes nothing."""
    params = replace(PARAMS, islands=islands)
    alone = explore(SearchInputs(model, cluster, params), never_stop, ignore)
    with ThreadPoolExecutor(3) as pool:
        shared = explore(SearchInputs(model, cluster, params, pool), never_stop, ignore)
    assert describe(shared) == describe(alone)
    assert alone.attempts[0].iteration_s <= found.attempts[0].iteration_s


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["simulation", "placement"])
def test_bug_islands_judge_nothing_when_time_is_up(model: Model, cluster: Cluster, stage: str) -> None:
    """All choices of a group were judged all the same: 256 islands passed a limit of two seconds by 34."""
    over: list[bool] = []

    def watch(step: Progress) -> None:
        if step.stage == stage and step.message + stage != "placement":
            over.append(True)

    params = replace(PARAMS, islands=256)
    ended = explore(SearchInputs(model, cluster, params), lambda: bool(over), watch)
    assert over
    placed = sum(each.placed is not None for each in ended.attempts)
    assert (len(ended.attempts) == 1, placed) == (stage == "simulation", 1)


@pytest.mark.slow
def test_islands_find_the_same_in_processes(model: Model, cluster: Cluster) -> None:
    """Layers, choices and deadlines can be sent."""
    params = replace(PARAMS, islands=2)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        shared = explore(SearchInputs(model, cluster, params, pool), Deadline(None), ignore)
    assert describe(shared) == describe(explore(SearchInputs(model, cluster, params), never_stop, ignore))


@pytest.mark.slow
def test_one_island_stays_here(model: Model, cluster: Cluster, found: PlanResult) -> None:
    """Nothing is sent anywhere for one."""
    with ThreadPoolExecutor(1) as pool:
        pool.shutdown()
        assert describe(explore(SearchInputs(model, cluster, PARAMS, pool), never_stop, ignore)) == describe(found)


def describe(found: PlanResult) -> list[tuple[object, ...]]:
    """Return the choices that were judged, in order, with their seconds and cuts."""
    return [
        (str(each.choice), each.iteration_s, None if each.plan is None else each.plan.cuts) for each in found.attempts
    ]
