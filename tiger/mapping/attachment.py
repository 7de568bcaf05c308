"""What no JSON carries of a report: the problem that it answers, put back so that it is emitted and drawn as before."""

from dataclasses import replace

import numpy as np

from tiger.errors import InputError
from tiger.mapping.terms import SharedProblem
from tiger.objectives.names import RoutingName
from tiger.run.node_choice import keep_hosts
from tiger.run.report import Report

FIELD = "report"


def attach_problem(report: Report, posed: SharedProblem, routing: RoutingName) -> Report:
    """Return a report that came as JSON with its problem, on the hosts that it uses where some were chosen; O(n + m).

    Raises InputError of `report` where it maps other tasks, or onto other nodes, than the problem has.
    """
    problem, used = posed.problem, set(report.mapping.values())
    if report.feasible and report.mapping.keys() != set(problem.tasks.names):
        raise InputError(FIELD, "expected a mapping of the tasks of the request beside it, got one of others")
    if not used <= set(problem.topology.names):
        raise InputError(FIELD, "expected a mapping onto the hardware of the request beside it, got one onto another")
    if posed.nodes is not None and report.feasible:
        problem = keep_hosts(problem, np.flatnonzero([name in used for name in problem.topology.names]))
    return replace(report, problem=problem, routing=routing)
