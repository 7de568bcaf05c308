"""Objectives other than the cost by name, and what a search needs of one."""

from typing import Protocol

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.objective_arrays import ObjectiveArrays
from tiger.model.problem import Problem
from tiger.model.ring import find_rings
from tiger.objectives.link_load import MaxLinkLoad
from tiger.objectives.makespan import Makespan, schedule_of
from tiger.objectives.multicast import multicast_of
from tiger.objectives.names import ObjectiveName, RoutingName
from tiger.objectives.ring import SlowestHop
from tiger.objectives.shortest_paths import routes_of


class ObjectiveFunction(Protocol):
    """Say how good a mapping is, and how to find better ones."""

    def value(self, places: IntArray) -> float:
        """Return the objective for node indices `places[n]`, evaluated exactly."""
        ...

    def bound(self) -> float:
        """Return a lower bound on the objective of every feasible mapping."""
        ...

    def stress(self, places: IntArray) -> FloatArray:
        """Return in [0, 1] how much each part, such as a link, has to do with the objective being as high as it is."""
        ...

    def surrogate(self, weights: FloatArray) -> Problem | None:
        """Return a problem in whose cost each part has a weight, None where that would be too large."""
        ...

    def arrays(self) -> ObjectiveArrays | None:
        """Return the objective for compiled code, None where that would be too large."""
        ...


def resolve_objective(name: ObjectiveName, problem: Problem) -> ObjectiveName:
    """Return the objective that a name asks for: the cost of tasks with hyperedges is that of their multicasts.

    Raises InputError for objectives that go by pairs of tasks where there are hyperedges.
    """
    if problem.tasks.hyperedges is None:
        return name
    if name not in ("cost", "multicast"):
        what = "expected cost or multicast for tasks with hyperedges, as others go by traffic of pairs"
        raise InputError("objective", f"{what}, got {name}")
    return "multicast"


def bounds_by_pairs(name: ObjectiveName) -> bool:
    """Return whether bounds on the cost of pairs of tasks hold for a problem: the cost of multicasts is another one."""
    return name != "multicast"


def objective_of(name: str, problem: Problem, routing: RoutingName = "single") -> ObjectiveFunction | None:
    """Return the objective of a name, None for the cost; raise InputError where the problem does not have it."""
    if name == "max-link-load":
        routes = routes_of(problem.topology)
        if routes is None:
            raise InputError("objective", "expected hardware with links for max-link-load, got distances alone")
        return MaxLinkLoad(problem=problem, routes=routes, routing=routing)
    if name == "makespan":
        schedule = schedule_of(problem)
        if schedule is None:
            graph = "one with a cycle" if problem.tasks.directed else "an undirected one"
            raise InputError("objective", f"expected a directed task graph without cycles for makespan, got {graph}")
        return Makespan(schedule=schedule)
    if name == "ring":
        if not find_rings(problem):
            what = "traffic that forms rings of three tasks or more, each task in one, for ring (like ring:8++ring:4)"
            raise InputError("objective", f"expected {what}, got another graph")
        return SlowestHop(problem=problem)
    if name == "multicast":
        return multicast_of(problem)
    return None
