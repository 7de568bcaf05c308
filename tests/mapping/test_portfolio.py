"""Tests of how effort is dealt out and which stages a solver has."""

from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import networkx as nx
import pytest

from tiger.formats.graphs import task_graph_of
from tiger.mapping import portfolio
from tiger.mapping.mapper import solve
from tiger.mapping.request import Request
from tiger.mapping.rounds import rounds
from tiger.model.problem import Problem
from tiger.qubo.params import IsingParams
from tiger.solvers import registry
from tiger.solvers.warm import warm
from tiger.topologies.spec import build


@pytest.mark.parametrize(
    ("effort", "amounts"), [(None, [1]), (1, [1]), (2, [1, 1]), (7, [1, 1, 2, 3]), (8, [1, 1, 2, 4])]
)
def test_efforts_double_and_add_up(effort, amounts):
    """Tests the rounds of a solve without a time limit."""
    assert [this_round.effort for this_round in rounds(Request(effort=effort))] == amounts


def test_a_time_limit_alone_has_no_end():
    """Tests that rounds go on, the same as those of a fixed effort."""
    first = list(islice(rounds(Request(time_limit_s=1.0)), 40))
    assert [this_round.effort for this_round in first[:6]] == [1, 1, 2, 4, 8, 16]
    assert first[:4] == list(rounds(Request(effort=8)))


def test_a_last_round_has_all_the_effort_that_there_is_time_for():
    """Tests 13.5 units of effort in all, of which a fifth round would be too long, and a limit beside an effort."""
    amounts = []
    for this_round in rounds(Request(time_limit_s=1.0), lambda: 13.5 - sum(amounts)):
        amounts.append(this_round.effort)
        if sum(amounts) >= 13.5:
            break
    assert amounts == [1, 1, 12]
    assert [this_round.effort for this_round in rounds(Request(effort=3), lambda: 8.0)] == [1, 2]


def test_only_a_long_search_alone_in_later_rounds_is_planned_by_time(random_problem):
    """Tests tasks with memory, and where windows or other searches run in every round."""
    memory = random_problem("capacity", 1, tasks=100, nodes=50, memory=True)
    assert portfolio.portfolio_of(Request(), memory).long == "annealing"
    for problem in (
        random_problem("capacity", 1, tasks=8, nodes=4, memory=True),
        random_problem("one-to-one", 1, tasks=100, nodes=100),
    ):
        assert portfolio.portfolio_of(Request(), problem).long is None


def test_rounds_have_seeds_of_their_own():
    """Tests that no two rounds or seeds share one."""
    seeds = [this_round.seed for start in range(5) for this_round in rounds(Request(seed=start, effort=64))]
    assert len(set(seeds)) == len(seeds)


STAGES = {
    "search": ["dense"],
    "greedy": ["greedy"],
    "random": ["random"],
    "identity": ["identity"],
    "neal": ["qubo", "start", "windows"],
    "tabu": ["qubo", "start", "windows"],
}


@pytest.mark.slow
@pytest.mark.parametrize(("limits", "greedy"), [({}, False), ({"forbidden": [("0", "0,0")]}, True)])
def test_large_problems_begin_with_a_bisection(limits, greedy):
    """Tests a long path: where a mapping may have to be repaired, a greedy one comes before."""
    tasks = task_graph_of(nx.path_graph(portfolio.LED_FROM))
    problem = Problem(tasks=tasks, topology=build("grid:64x64"), rule="one-to-one", **limits)
    stages = dict(portfolio.portfolio_of(Request(), problem).searches)
    assert "bisection" in stages
    assert ("greedy" in stages) == greedy


def test_bug_a_star_of_some_size_has_a_proved_mapping():
    """Tests a star that greedy construction lays out at the bound, and bisection does not: it was left out."""
    tasks = task_graph_of(nx.star_graph(registry.QUICK_FROM))
    problem = Problem(tasks=tasks, topology=build("torus:12x12x12"), rule="one-to-one")
    assert portfolio.portfolio_of(Request(), problem).searches[0][0] == "greedy"
    assert solve(problem).optimal


@pytest.mark.slow
@pytest.mark.parametrize("solver", STAGES)
def test_stages_are_those_of_the_solver(solver, random_problem):
    """Tests the names after baseline and bound."""
    problem = random_problem("one-to-one", 5, tasks=6, nodes=9)
    names = [stage.name for stage in solve(problem, solver=solver).stages]
    assert names[:2] == ["baseline", "bound"]
    assert list(dict.fromkeys(names[2:])) in (STAGES[solver], STAGES[solver][:1], [])


def test_auto_ends_with_proof_where_exact_search_gives_it(random_problem):
    """Tests that nothing runs after a proof."""
    problem = random_problem("capacity", 2)
    names = [stage.name for stage in solve(problem).stages]
    assert names[-1] in ("exact", "greedy", "bound")


def test_greedy_runs_once_however_much_effort(random_problem):
    """Tests that rounds repeat only what more effort changes."""
    problem = random_problem("one-to-one", 3, tasks=30, nodes=32)
    names = [stage.name for stage in solve(problem, effort=4).stages]
    assert names.count("greedy") == 1
    assert names.count("dense") == 3


@pytest.mark.slow
def test_large_problems_are_mapped_anew_and_then_refined():
    """Tests the stages of three rounds under capacity, and that a lattice is constructed first."""
    graph, hardware = nx.random_geometric_graph(300, 0.1, seed=1), build("torus:4x4").with_slots([20] * 16)
    problem = Problem(tasks=task_graph_of(graph), topology=hardware, rule="capacity")
    names = [stage.name for stage in solve(problem, solver="search", effort=3).stages]
    assert names[2:] == ["multilevel", "bound", "refinement", "multilevel", "refinement", "multilevel"]
    lattice = Problem(tasks=task_graph_of(nx.grid_2d_graph(8, 8)), topology=build("torus:4x4x4"), rule="one-to-one")
    report = solve(lattice, solver="search")
    assert [stage.name for stage in report.stages][2:] == ["geometry"]
    assert report.optimal


def test_windows_join_while_they_gain(random_problem):
    """Tests that after a round without gain there is no other."""
    problem = random_problem("one-to-one", 3, tasks=30, nodes=32)
    stages = solve(problem, effort=16).stages
    ran = [k for k, stage in enumerate(stages) if stage.name == "windows"]
    assert ran
    assert all(stages[k].cost < stages[k - 1].cost for k in ran[:-1])
    assert stages[ran[-1]].cost == stages[ran[-1] - 1].cost or len(ran) == 5


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["one-to-one", "capacity"])
def test_threads_do_not_change_the_mapping(rule):
    """Tests no thread and two on a problem for the dense and one for the multilevel search."""
    size, slots, spec = (36, 1, "torus:6x6") if rule == "one-to-one" else (64, 4, "torus:4x4")
    graph, hardware = nx.random_geometric_graph(size, 0.25, seed=1), build(spec)
    problem = Problem(tasks=task_graph_of(graph), topology=hardware.with_slots([slots] * hardware.size), rule=rule)
    with ThreadPoolExecutor(2) as pool:
        assert drop_seconds(solve(problem, effort=2, executor=pool)) == drop_seconds(solve(problem, effort=2))


def test_efforts_of_any_size_are_dealt_out_without_memory():
    """Tests the largest effort there is."""
    amounts = [this_round.effort for this_round in rounds(Request(effort=2**63 - 1))]
    assert (len(amounts), sum(amounts)) == (64, 2**63 - 1)


def drop_seconds(report):
    """Return a report as plain values without its seconds."""
    plain = report.to_dict()
    stages = [{key: value for key, value in stage.items() if key != "seconds"} for stage in plain["stages"]]
    return plain | {"seconds": 0, "stages": stages}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "topology"),
    [
        *((solver, "torus:16x16x16") for solver in ("search", "neal")),
        *(
            pytest.param(solver, "torus:16x16x16", marks=pytest.mark.long)
            for solver in ("auto", "greedy", "random", "exact")
        ),
        *(pytest.param(solver, "torus:8x8x8", marks=pytest.mark.long) for solver in ("search", "neal")),
    ],
)
def test_time_limits_are_heard(solver, topology):
    """Tests that no stage runs far beyond the limit, however much effort is asked for."""
    hardware = build(topology)
    graph = nx.gnm_random_graph(hardware.size, 4 * hardware.size, seed=1)
    problem = Problem(tasks=task_graph_of(graph), topology=hardware, rule="one-to-one")
    warm(lambda _: None)
    report = solve(problem, solver=solver, effort=2**63 - 1, time_limit_s=0.1)
    assert report.feasible
    assert report.seconds < 3


def test_options_of_the_ising_path_are_used(random_problem, monkeypatch):
    """Tests that samplers get all of them, and `auto` those that are not sizes."""
    problem, seen = random_problem("one-to-one", 3, tasks=30, nodes=32), []
    made = portfolio.ising_of

    def spy(sampler, problem, params, executor):
        seen.append(params)
        return made(sampler, problem, params, executor)

    monkeypatch.setattr(portfolio, "ising_of", spy)
    asked = IsingParams(passes=9, starts=7, penalty_scale=0.4, beta_range=(0.1, 2.0), capacity="slack-free")
    for solver in ("neal", "auto"):
        portfolio.portfolio_of(Request(solver=solver, ising=asked), problem)
    assert seen[0] == asked
    assert (seen[1].penalty_scale, seen[1].beta_range, seen[1].capacity) == (0.4, (0.1, 2.0), "slack-free")
    assert (seen[1].passes, seen[1].starts) == (1, 0)


def test_graphs_of_few_neighbours_are_bisected_twice_before_the_thorough_search():
    """Tests a tree of tasks that share nodes, without a forbidden pair and with one."""
    tasks, hardware = task_graph_of(nx.balanced_tree(2, 10)), build("tree:4x8@1,10").with_slots([64] * 32)
    problem = Problem(tasks=tasks, topology=hardware, rule="capacity")
    assert list(dict(registry.native_searches(problem))) == ["bisection", "bisections", "refinement", "multilevel"]
    banned = Problem(tasks=tasks, topology=hardware, rule="capacity", forbidden=[("0", "0,0")])
    assert "bisections" not in dict(registry.native_searches(banned))


@pytest.mark.slow
def test_a_large_problem_has_a_good_mapping_soon():
    """Tests that the first cut of everything comes once, before the thorough ones."""
    graph, hardware = nx.random_geometric_graph(1024, 0.05, seed=1), build("tree:4x8@1,10").with_slots([32] * 32)
    problem = Problem(tasks=task_graph_of(graph), topology=hardware, rule="capacity")
    stages = solve(problem, solver="search", effort=2).stages
    assert [stage.name for stage in stages][2:] == ["bisection", "multilevel", "bound", "refinement", "multilevel"]
    assert stages[2].cost < 0.5 * stages[0].cost
