"""What is known of a solve before it begins: the stages that it would run, and whether anything is feasible."""

from typing import NamedTuple

from tiger.feasibility.start import launch_order
from tiger.mapping.portfolio import portfolio_of
from tiger.mapping.remarks import SAMPLED
from tiger.mapping.request import Request
from tiger.model.problem import Problem
from tiger.model.violation import Violation
from tiger.objectives.selection import objective_of
from tiger.run.node_choice import check_choice

UNDECIDED = "undecided"


class Feasibility(NamedTuple):
    """Say whether a mapping exists, None where that is not decided, and what cannot be met."""

    feasible: bool | None
    violations: tuple[Violation, ...] = ()


def check_terms(problem: Problem, request: Request) -> None:
    """Raise InputError for a number of nodes or an objective that a solve would refuse once it has begun."""
    if request.nodes is not None:
        check_choice(problem, request.nodes)
    objective_of(request.objective, problem, request.routing)


def decide_feasibility(problem: Problem) -> Feasibility:
    """Return whether a problem has a mapping, as far as launch orders, counts and conflicts of pins tell."""
    found = launch_order(problem, 0.0)
    if not isinstance(found, tuple):
        return Feasibility(feasible=True)
    decided = all(violation.kind != UNDECIDED for violation in found)
    return Feasibility(feasible=False, violations=found) if decided else Feasibility(feasible=None)


def list_stages(problem: Problem, request: Request) -> tuple[str, ...]:
    """Return the names of the stages of a first round for the cost, of those of a sampler without connecting to it."""
    if request.samples:
        return SAMPLED
    if request.homes is not None:
        return "moved", "moves"
    portfolio = portfolio_of(request, problem)
    sampled = zip(SAMPLED, (portfolio.whole, portfolio.windows), strict=True)
    return (*(name for name, _ in portfolio.searches), *(name for name, ising in sampled if ising is not None))
