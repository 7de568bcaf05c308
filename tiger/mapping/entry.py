"""The entry of Python: graphs, files and specifications in, a report out."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tiger.errors import InputError, pin_field
from tiger.formats.files import TaskFile, read_tasks
from tiger.formats.graphs import task_graph_of
from tiger.formats.hardware.units import UnitOptions
from tiger.mapping.contiguous import need_contiguity
from tiger.mapping.hardware import build_hardware, check_graph, choose_hardware
from tiger.mapping.mapper import solve_problem
from tiger.mapping.options import AssignArguments, AssignCall, HardwareArguments, Pins, ProblemArguments
from tiger.mapping.terms import HostChoice, SharedProblem, check_emission, share_hardware
from tiger.model.constraints import Constraints
from tiger.model.options import from_fields, narrow
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.values import read_name
from tiger.run.report import Report

if TYPE_CHECKING:
    import networkx as nx


@from_fields(AssignCall)
def assign(call: AssignCall) -> Report:
    """Map tasks onto a topology and report the mapping with its cost, a lower bound and what every stage contributed.

    Graphs come from networkx, from files (a string is a path, or a specification: `halo:8x8` of tasks, `torus:4x4` of
    a topology) or as value types; a `.dat` file brings its own distances. Without a rule it is `levels` for a `.ram`
    file, `capacity` where `slots` or `imbalance` is given, else one-to-one where the nodes suffice, else capacity with
    ceil(n / m) slots on each of m nodes that have one slot; `imbalance` X scales slots by 1 + X, rounded down.
    `allocation` says which nodes may hold tasks, by their ids, as {id: slots}, as text with their names, or as a host
    file (`tiger.formats.allocation`), in the order in which the launcher fills them; the others only forward traffic,
    and no default counts them. With slots above 1 the rule is capacity, and other `slots` are refused. Ids in it, in
    `pinned` {task: node} and in `forbidden` [(task, node), ..] are anything that names a node of a graph: (1, 2) is
    `1,2`. `running` says what parts of links other jobs use, as triples (node, node, share) or a file of those
    (`tiger.formats.linkshares`): traffic keeps off them. `node_topology` says what is inside the nodes, for all or as
    {hosts: file}, so that tasks go to units NODE/UNIT, and `levels` how far apart units are that different levels
    separate, such as {"socket": 4, "node": 20} (`tiger.mapping.hardware`); `allocation` and `running` name nodes all
    the same. `units` takes other parts of a machine that lstopo describes than its cores, and `cores_per_rank`
    groups of these; `ranks_per`, such as "node=4,socket=2", limits the tasks of hosts and their parts, and takes as
    many hosts as these fill. Hosts with more slots than their even share of the tasks take that share alone
    (`tiger.run.spread`), unless `pack` leaves it to the search. With `nodes` so many are taken out of those that may
    hold tasks (`tiger.run.node_choice`). With `emit`, the name of a launcher, the report has the order of tasks as
    ranks for it in `emitted`; what no launcher of that name takes is refused before anything is solved, and the ranks
    of every host are consecutive where it needs that (`contiguous_hosts`). The remaining arguments are those of
    `tiger.solve`.
    Raises InputError that names the field at fault and TypeError for an argument of another type; a problem without a
    solution is a report that is not feasible.
    """
    posed = pose_problem(call)
    together = need_contiguity(posed.problem, call, call.emit, call.before)
    asked = replace(call, nodes=posed.nodes, contiguous_hosts=together)
    return solve_problem(posed.problem, asked, call.progress).emitting(call.emit)


def pose_problem(arguments: AssignArguments) -> SharedProblem:
    """Return the problem of `assign`, on all nodes that may be taken, and how many of these are.

    Raises InputError for what no launcher takes.
    """
    posed = _share_problem(arguments, HostChoice(arguments.nodes, arguments.start, arguments.previous))
    check_emission(arguments.emit, posed)
    return posed


def state_problem(arguments: ProblemArguments) -> Problem:
    """State the problem that `assign` solves for the same arguments."""
    return _share_problem(arguments, HostChoice()).problem


def _share_problem(arguments: ProblemArguments, choice: HostChoice) -> SharedProblem:
    """Return the problem on the nodes that may be taken."""
    source = _tasks(arguments.tasks)
    terms = narrow(Constraints, arguments, pinned=_pins(arguments.pinned), forbidden=_pairs(arguments.forbidden))
    given = choose_hardware(source.topology, narrow(HardwareArguments, arguments))
    hardware = build_hardware(given, terms.named)
    return share_hardware(source.tasks, hardware, terms.by_usual(source.rule), narrow(UnitOptions, arguments), choice)


# For callers that write the model of a problem, or read samples of it.
problem_of = from_fields(ProblemArguments)(state_problem)


def _tasks(source: "nx.Graph | TaskGraph | Path | str") -> TaskFile:
    """Return the task graph, with the topology and rule that its file brings along."""
    if isinstance(source, str | Path):
        return read_tasks(source)
    if isinstance(source, TaskGraph):
        return TaskFile(tasks=source, topology=None, rule=None)
    return TaskFile(tasks=task_graph_of(check_graph("tasks", source)), topology=None, rule=None)


def _pins(pinned: Pins | None) -> dict[str, str]:
    """Return the pins by name."""
    if pinned is None:
        return {}
    if not isinstance(pinned, Mapping):
        raise TypeError(f"expected pinned as a mapping from task to node, got {type(pinned).__name__}")
    named: dict[str, str] = {}
    for identity, place in pinned.items():
        task = read_name("pinned", identity)
        node = read_name(pin_field(task), place)
        if named.setdefault(task, node) != node:
            raise InputError(pin_field(task), f"expected one node, got {named[task]!r} and {node!r}")
    return named


def _pairs(forbidden: Iterable[tuple[object, object]]) -> list[tuple[str, str]]:
    """Return the forbidden pairs by name."""
    if isinstance(forbidden, str | Mapping) or not isinstance(forbidden, Iterable):
        raise TypeError(f"expected forbidden as pairs (task, node), got {type(forbidden).__name__}")
    return [_pair(number, pair) for number, pair in enumerate(forbidden)]


def _pair(number: int, pair: tuple[object, object]) -> tuple[str, str]:
    """Return one forbidden pair by name."""
    if not isinstance(pair, tuple | list):
        raise TypeError(f"expected forbidden[{number}] as a pair (task, node), got {type(pair).__name__}")
    if len(pair) != 2:
        raise InputError(f"forbidden/{number}", f"expected a pair (task, node), got {len(pair)} values")
    return read_name(f"forbidden/{number}/0", pair[0]), read_name(f"forbidden/{number}/1", pair[1])
