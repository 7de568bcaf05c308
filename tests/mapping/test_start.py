"""Tests of mappings that a search starts from, and of limits on how far it may go."""

import concurrent.futures
import json
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import tiger
from tiger.client import assignment
from tiger.errors import InputError
from tiger.mapping.entry import problem_of
from tiger.mapping.explanation import explain_mapping
from tiger.mapping.start import place_start
from tiger.mapping.summary import summary
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of, violations
from tiger.run.report import Report

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def count_moves(one: Mapping[str, str], other: Mapping[str, str]) -> int:
    """Return how many tasks are elsewhere."""
    return sum(other[task] != node for task, node in one.items())


@pytest.fixture(scope="module", name="problem")
def _problem() -> Problem:
    """Return a grid of tasks on a torus."""
    return problem_of("halo:5x5", "torus:3x3x3")


@pytest.fixture(scope="module", name="running")
def _running(problem: Problem) -> Report:
    """Return a mapping that much can be done about."""
    places = np.random.default_rng(3).permutation(problem.topology.size)[: problem.tasks.size]
    return tiger.solve(problem, solver="identity", start=problem.mapping(places))


def test_identity_keeps_the_mapping_given(problem: Problem, running: Report) -> None:
    """It is reported beside the simple orders, which are cheaper here, and that is the verdict."""
    assert running.cost == running.baselines.start == cost_of(problem, place_start(problem, running)).total
    assert running.moved == 0
    assert running.verdict is not None
    assert running.verdict.order == "block"
    assert running.verdict.before < running.verdict.after


@pytest.mark.parametrize("solver", ["auto", "search", "greedy", "exact", "random", "neal"])
def test_no_solver_ends_above_the_mapping_given(problem: Problem, solver: str) -> None:
    """A good mapping stays as good from every solver, weak ones too."""
    good = tiger.solve(problem, effort=4)
    again = tiger.solve(problem, solver=solver, start=good, time_limit_s=1, effort=1)
    assert again.cost is not None
    assert good.cost is not None
    assert again.cost <= good.cost
    assert again.baselines.start == good.cost
    assert again.moved == count_moves(good.mapping, again.mapping)


def test_another_objective_starts_there_too(problem: Problem) -> None:
    """The largest load of a link is not above that of the mapping given, which is reported."""
    good = tiger.solve(problem, objective="max-link-load", effort=4)
    again = tiger.solve(problem, objective="max-link-load", solver="greedy", start=good)
    assert good.objective is not None
    assert again.objective is not None
    assert again.objective.value <= again.objective.start == good.objective.value
    assert "mapping given" in summary(again)


@pytest.mark.parametrize("most", [0, 1, 2, 5, 100])
def test_at_most_so_many_tasks_move(problem: Problem, running: Report, most: int) -> None:
    """More moves gain more, and without a move nothing changes."""
    report = tiger.solve(problem, start=running, max_moves=most)
    assert report.cost is not None
    assert running.cost is not None
    assert report.moved == count_moves(running.mapping, report.mapping) <= most
    assert (report.cost < running.cost) == (most > 0)
    assert report.verdict is not None
    assert report.verdict.order == "start"
    assert report.headline.endswith("as in the mapping given" if most == 0 else "of the mapping given")
    assert f"at most {most} may" in summary(report)
    assert f"moved from the mapping given; at most {most} may" in "".join(explain_mapping(report).quality)


def test_moves_keep_to_slots_memory_pins_and_forbidden_pairs() -> None:
    """Every mapping on the way is feasible, with nodes that are shared."""
    problem = problem_of(
        "halo:6x4", "tree:4x2@1,10", slots=4, pinned={"0": "0,0"}, forbidden=[(str(task), "1,1") for task in range(12)]
    )
    running = tiger.solve(problem, solver="random", seed=2)
    report = tiger.solve(problem, start=running, max_moves=6)
    assert report.moved is not None
    assert report.moved <= 6
    assert not violations(problem, place_start(problem, report))


def test_answers_are_the_same_for_any_number_of_threads(problem: Problem, running: Report) -> None:
    """The search runs in two parts."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        several = tiger.solve(problem, start=running, max_moves=4, effort=4, executor=pool)
    assert several.mapping == tiger.solve(problem, start=running, max_moves=4, effort=4).mapping


def test_starts_come_as_files_and_mappings(problem: Problem, running: Report, tmp_path: Path) -> None:
    """A report, its JSON, a table, and names by names are the same start."""
    table, report = tmp_path / "mapping.csv", tmp_path / "report.json"
    table.write_text("".join(f'{task},"{node}"\n' for task, node in running.mapping.items()), encoding="utf-8")
    report.write_text(json.dumps(running.to_dict()), encoding="utf-8")
    given = [place_start(problem, start).tolist() for start in (running, str(report), table, running.mapping)]
    assert given == [given[0]] * 4


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"0": None}, "start", "expected a node for every task, got none for '0'"),
        ({"0": "9,9,9"}, "start/0", "expected a node of the topology, got '9,9,9'"),
        ({"x": "0,0,0"}, "start", "expected tasks of the graph, got 'x'"),
        ({"0": "1,1,1", "1": "1,1,1"}, "start", "tasks '0' and '1' may not share node '1,1,1'"),
    ],
)
def test_starts_that_are_no_mapping_are_refused(
    problem: Problem, change: dict[str, str | None], field: str, reason: str
) -> None:
    """The error names the task, or the rule."""
    usual = tiger.solve(problem, solver="identity").mapping
    start = {task: node for task, node in {**usual, **change}.items() if node is not None}
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        tiger.solve(problem, start=start)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"max_moves": 3}, "max_moves"),
        ({"start": {}, "nodes": 20}, "start"),
        ({"start": "good", "max_moves": -1}, "max_moves"),
        ({"start": "good", "max_moves": 3, "solver": "neal"}, "max_moves"),
        ({"start": "good", "max_moves": 3, "objective": "max-link-load"}, "max_moves"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, object], field: str) -> None:
    """Nothing that is asked for is left out silently."""
    if options.get("start") == "good":
        options = options | {"start": tiger.assign("halo:5x5", "torus:3x3x3", solver="identity").mapping}
    with pytest.raises(InputError) as caught:
        tiger.assign("halo:5x5", "torus:3x3x3", **options)  # type: ignore[arg-type]  # of any option
    assert caught.value.field == field


def test_a_start_of_another_type_is_named() -> None:
    """A list of nodes is none."""
    with pytest.raises(TypeError, match="start: expected a mapping, a report, a job or a file, got list"):
        tiger.assign("halo:2x2", "grid:2x2", start=["0,0"])  # type: ignore[arg-type]  # a list is none


def test_a_service_is_asked_by_names(problem: Problem, running: Report) -> None:
    """Whatever form the start has here."""
    document = json.loads(assignment("halo:5x5", "torus:3x3x3", start=running, max_moves=2).body)
    assert (document["start"], document["max_moves"]) == (running.mapping, 2)
    with pytest.raises(InputError, match="start: expected a node for every task"):
        assignment("halo:5x5", "torus:3x3x3", start={})
