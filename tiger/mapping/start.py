"""The mapping that a search starts from: a report, a file, or the names of nodes by those of tasks."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tiger.errors import InputError
from tiger.formats.mappings import read_mapping
from tiger.mapping.options import SolveArguments, Start
from tiger.model.arrays import IntArray, freeze
from tiger.model.problem import Problem
from tiger.model.solved_job import open_job
from tiger.model.values import read_name
from tiger.model.wording import describe
from tiger.objectives.cost import violations

FIELD = "start"


def home_of(problem: Problem, arguments: SolveArguments) -> IntArray | None:
    """Return the node indices [n] of the mapping that a solve is to start from, None without one.

    Raises InputError of `start`, and of `max_moves` without one.
    """
    if arguments.start is None:
        if arguments.max_moves is not None and arguments.previous is None:
            raise InputError("max_moves", "expected a mapping as `start` or `previous` beside it, got none")
        return None
    if arguments.previous is not None:
        raise InputError(FIELD, "expected no mapping as `previous` beside it, got both")
    if arguments.nodes is not None:
        raise InputError(FIELD, f"expected no number of nodes beside it, got {arguments.nodes}")
    return place_start(problem, arguments.start)


def name_start(source: Start, field: str = FIELD) -> dict[str, str]:
    """Return {task: node} by name of a report, a job with one, a file of a mapping, or a mapping itself.

    Raises InputError of a field, also for a job without a feasible report, and TypeError for anything else.
    """
    if isinstance(source, str | Path):
        return read_mapping(Path(source), field)
    answer = open_job(source, field, "mapping")
    found = getattr(answer, "mapping", answer)
    if not isinstance(found, Mapping):
        raise TypeError(f"{field}: expected a mapping, a report, a job or a file, got {type(source).__name__}")
    return {read_name(field, task): read_name(f"{field}/{task}", node) for task, node in found.items()}


def place_start(problem: Problem, source: Start) -> IntArray:
    """Return the node indices [n] of a mapping that a search is to start from.

    Raises InputError of `start`, with the task where it is one's: for a mapping of other tasks or nodes, one that is
    not of all tasks, and one that breaks a rule of the problem.
    """
    named = name_start(source)
    tasks = {name: k for k, name in enumerate(problem.tasks.names)}
    nodes = {name: k for k, name in enumerate(problem.topology.names)}
    places = np.full(len(tasks), -1, np.int64)
    for task, node in named.items():
        if task not in tasks:
            raise InputError(FIELD, f"expected tasks of the graph, got {describe(task)}")
        if node not in nodes:
            raise InputError(f"{FIELD}/{task}", f"expected a node of the topology, got {describe(node)}")
        places[tasks[task]] = nodes[node]
    missing = np.flatnonzero(places < 0)
    if missing.size:
        more = f" and {missing.size - 1} more" if missing.size > 1 else ""
        raise InputError(
            FIELD, f"expected a node for every task, got none for {problem.tasks.names[missing[0]]!r}{more}"
        )
    broken = violations(problem, places)
    if broken:
        more = f", and {len(broken) - 1} more of the kind" if len(broken) > 1 else ""
        raise InputError(FIELD, f"expected a mapping that the problem allows, got one where {broken[0].message}{more}")
    return freeze(places)
