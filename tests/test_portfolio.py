"""Tests of how effort is dealt out and which stages a solver has."""

from itertools import islice

import pytest

from tiger.mapper import solve
from tiger.portfolio import budgets
from tiger.request import Request


@pytest.mark.parametrize(
    ("effort", "amounts"), [(None, [1]), (1, [1]), (2, [1, 1]), (7, [1, 1, 2, 3]), (8, [1, 1, 2, 4])]
)
def test_efforts_double_and_add_up(effort, amounts):
    """Tests the rounds of a solve without a time limit."""
    assert [amount for amount, _ in budgets(Request(effort=effort))] == amounts


def test_a_time_limit_alone_has_no_end():
    """Tests that rounds go on, the same as those of a fixed effort."""
    rounds = list(islice(budgets(Request(time_limit_s=1.0)), 40))
    assert [amount for amount, _ in rounds[:6]] == [1, 1, 2, 4, 8, 16]
    assert rounds[:4] == list(budgets(Request(effort=8)))


def test_rounds_have_seeds_of_their_own():
    """Tests that no two rounds or seeds share one."""
    seeds = [seed for start in range(5) for _, seed in budgets(Request(seed=start, effort=64))]
    assert len(set(seeds)) == len(seeds)


STAGES = {
    "search": ["search"],
    "greedy": ["greedy"],
    "random": ["random"],
    "identity": ["identity"],
    "neal": ["qubo", "windows"],
    "tabu": ["qubo", "windows"],
}


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
    assert names.count("search") == 3
