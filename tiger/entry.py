"""The entry of Python: graphs, files and specifications in, a report out."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tiger.errors import InputError, pin_field
from tiger.formats.files import TaskFile, read_tasks, read_topology
from tiger.formats.graphs import task_graph_of, topology_of
from tiger.formats.hostlist import list_nodes
from tiger.formats.linkshares import read_link_shares
from tiger.formats.values import read_name
from tiger.launchers.formats import EmitOptions, check_fit
from tiger.launchers.order import LaunchNodes
from tiger.mapper import solve
from tiger.model.constraints import SharingOptions, Terms, build_problem
from tiger.model.options import from_fields
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import LinkShare, Topology
from tiger.qubo.ising import IsingParams
from tiger.request import MappingOptions
from tiger.run.node_choice import open_slots
from tiger.run.options import WatchOptions
from tiger.run.report import Report

if TYPE_CHECKING:
    import networkx as nx
    from dimod.core.sampler import Sampler


class Pins(Protocol):
    """Stand for a mapping {task: node} whose ids are names or anything that has one."""

    def items(self) -> Iterable[tuple[object, object]]:
        """Return the pairs (task, node)."""
        ...


@dataclass(frozen=True, eq=False)
class ProblemArguments(SharingOptions):
    """Hold tasks and hardware in any form, and the terms of a mapping, by ids that are names or have one."""

    tasks: "nx.Graph | TaskGraph | Path | str"
    topology: "nx.Graph | Topology | Path | str | None" = None
    allocation: Iterable[object] | Path | str | None = field(default=None, kw_only=True)
    running: Iterable[tuple[object, object, float]] | Path | str = field(default=(), kw_only=True)
    pinned: Pins | None = field(default=None, kw_only=True)
    forbidden: Iterable[tuple[object, object]] = field(default=(), kw_only=True)


@dataclass(frozen=True, eq=False)
class AssignArguments(EmitOptions, MappingOptions, ProblemArguments):
    """Add who solves the problem, where, and with which QUBOs."""

    solver: "str | Sampler" = field(default="auto", kw_only=True)
    executor: Executor | str | None = field(default=None, kw_only=True)
    ising: IsingParams | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class AssignCall(WatchOptions, AssignArguments):
    """Hold what `tiger.assign` is called with."""


@from_fields(AssignCall)
def assign(call: AssignCall) -> Report:
    """Map tasks onto a topology and report the mapping with its cost, a lower bound and what every stage contributed.

    Graphs come from networkx, from files (a string is a path, or a specification: `halo:8x8` of tasks, `torus:4x4` of
    a topology) or as value types; a `.dat` file brings its own distances. Without a rule it is `levels` for a `.ram`
    file, `capacity` where `slots` or `imbalance` is given, else one-to-one where the nodes suffice, else capacity with
    ceil(n / m) slots on each of m nodes that have one slot; `imbalance` X scales slots by 1 + X, rounded down.
    `allocation` says which nodes may hold tasks, by their ids, as text with their names, or as a file of those
    (`tiger.formats.hostlist`); the others only forward traffic, and no default counts them. Ids in it, in `pinned`
    {task: node} and in `forbidden` [(task, node), ..] are anything that names a node of a graph: (1, 2) is `1,2`.
    `running` says what parts of links other jobs use, as triples (node, node, share) or a file of those
    (`tiger.formats.linkshares`): traffic keeps off them. With `nodes` so many are taken out of those that may hold
    tasks (`tiger.run.node_choice`). With `emit`, the name of a launcher, the report has the order of tasks as ranks for
    it in `emitted`; what no launcher of that name takes is refused before anything is solved. The remaining arguments
    are those of `tiger.solve`.
    Raises InputError that names the field at fault and TypeError for an argument of another type; a problem without a
    solution is a report that is not feasible.
    """
    problem = open_slots(state_problem(call), call.nodes)
    if call.emit is not None:
        check_fit(call.emit, problem.tasks.size, LaunchNodes.of(problem.topology))
    report = solve(
        problem,
        solver=call.solver,
        objective=call.objective,
        nodes=call.nodes,
        seed=call.seed,
        effort=call.effort,
        time_limit_s=call.time_limit_s,
        executor=call.executor,
        ising=call.ising,
        progress=call.progress,
    )
    return report.emitting(call.emit)


def state_problem(arguments: ProblemArguments) -> Problem:
    """State the problem that `assign` solves for the same arguments."""
    source = _tasks(arguments.tasks)
    hardware = _share(_allocate(_topology(source, arguments.topology), arguments.allocation), arguments.running)
    stated = arguments.rule is not None or arguments.slots is not None or arguments.imbalance != 0
    terms = Terms(
        rule=arguments.rule if stated else source.rule,
        slots=arguments.slots,
        imbalance=arguments.imbalance,
        pinned=_pins(arguments.pinned),
        forbidden=_pairs(arguments.forbidden),
    )
    return build_problem(source.tasks, hardware, terms)


# For callers that write the model of a problem, or read samples of it.
problem_of = from_fields(ProblemArguments)(state_problem)


def _tasks(source: "nx.Graph | TaskGraph | Path | str") -> TaskFile:
    """Return the task graph, with the topology and rule that its file brings along."""
    if isinstance(source, str | Path):
        return read_tasks(source)
    if isinstance(source, TaskGraph):
        return TaskFile(tasks=source, topology=None, rule=None)
    _check_graph("tasks", source)
    return TaskFile(tasks=task_graph_of(source), topology=None, rule=None)


def _topology(tasks: TaskFile, source: "nx.Graph | Topology | Path | str | None") -> Topology:
    """Return the topology given, or the one that came with the tasks; exactly one of them must be there."""
    if tasks.topology is not None:
        if source is not None:
            raise InputError("topology", "expected none, as the task file brings its own distances, got another")
        return tasks.topology
    if source is None:
        raise InputError("topology", "expected a specification such as 'torus:4x4', a file or a graph, got none")
    if isinstance(source, str | Path):
        return read_topology(str(source))
    if isinstance(source, Topology):
        return source
    _check_graph("topology", source)
    return topology_of(source)


def _check_graph(what: str, source: object) -> None:
    """Raise TypeError unless the source is a networkx graph."""
    import networkx as nx  # so that files and specifications do not wait for it

    if not isinstance(source, nx.Graph):
        raise TypeError(f"expected {what} as a networkx graph, a path or a value type, got {type(source).__name__}")


def _allocate(topology: Topology, allocation: Iterable[object] | Path | str | None) -> Topology:
    """Return the hardware with slots on the allocated nodes alone."""
    if allocation is None:
        return topology
    if isinstance(allocation, str | Path):
        return topology.allocated(list_nodes(allocation, topology))
    if isinstance(allocation, Mapping) or not isinstance(allocation, Iterable):
        raise TypeError(f"expected allocation as nodes, text or a path, got {type(allocation).__name__}")
    return topology.allocated(read_name(f"allocation/{k}", node) for k, node in enumerate(allocation))


def _share(topology: Topology, running: Iterable[tuple[object, object, float]] | Path | str) -> Topology:
    """Return the hardware with the parts of its links that running jobs leave."""
    if isinstance(running, str | Path):
        return topology.shared(read_link_shares(Path(running)))
    if isinstance(running, Mapping) or not isinstance(running, Iterable):
        raise TypeError(f"expected running as triples (node, node, share) or a path, got {type(running).__name__}")
    shares = [_read_share(position, share) for position, share in enumerate(running)]
    return topology.shared(shares) if shares else topology


def _read_share(position: int, share: object) -> LinkShare:
    """Return the share of a link by names."""
    if not isinstance(share, tuple | list) or len(share) != 3:
        raise TypeError(f"expected running[{position}] as (node, node, share), got {type(share).__name__}")
    if isinstance(share[2], bool) or not isinstance(share[2], Real):
        raise TypeError(f"expected running[{position}] with a number as share, got {type(share[2]).__name__}")
    a, b = (read_name(f"running/{position}/{end}", share[end]) for end in (0, 1))
    return LinkShare(a, b, float(share[2]))


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
