"""The options of a mapping, each stated once: tasks, hardware, terms, and how hard to search for what.

Nothing that computes is imported here, so that help and completion do not wait for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Union

from tiger.errors import InputError
from tiger.formats.hardware.units import UnitOptions
from tiger.launchers.formats import EmitOptions
from tiger.model.arguments import LABELS, parse_insides, parse_pairs, parse_pins
from tiger.model.options import about
from tiger.model.sharing import SharingOptions
from tiger.model.solved_job import SolvedJob
from tiger.model.spelling import Spelling, spelled
from tiger.objectives.names import ObjectiveName, RoutingName
from tiger.qubo.params import IsingParams
from tiger.run.limits import EFFORT_LIMIT
from tiger.run.options import ISLANDS, SEED, SOLVER, TIME_LIMIT, WatchOptions
from tiger.run.verdict import THRESHOLD

if TYPE_CHECKING:
    import networkx as nx
    from dimod.core.sampler import Sampler

    from tiger.formats.hardware.composition import HostContents
    from tiger.model.problem import Problem
    from tiger.model.tasks import TaskGraph
    from tiger.model.text import FileText
    from tiger.model.topology import Topology
    from tiger.model.wiring import Wiring
    from tiger.run.report import Report


def parse_levels(text: str) -> dict[str, float]:
    """Return the distances of `--levels` by name."""
    from tiger.model.text import is_number  # so that help does not wait for arrays

    levels: dict[str, float] = {}
    for part in text.split(","):
        name, sign, number = (word.strip() for word in part.rpartition("="))
        if not (name and sign and is_number(number)):
            raise InputError("levels", f"expected NAME=X,.. with numbers, got {text!r}")
        if name in levels:
            raise InputError("levels", f"expected different names, got {name!r} twice")
        levels[name] = float(number)
    return levels


# What no model for other software states: it knows nodes, their slots, and the distances between them.
BEYOND_MODELS = frozenset({"node_topology", "levels", "labels", "units", "cores_per_rank", "ranks_per", "running"})
hardware = partial(Spelling, panel="Hardware")


class Pins(Protocol):
    """Stand for a mapping {task: node} whose ids are names or anything that has one."""

    def items(self) -> Iterable[tuple[object, object]]:
        """Return the pairs (task, node)."""
        ...


Start = Union[Pins, "Report", SolvedJob, Path, str]
Allocation = Union[Mapping[object, int], Iterable[object], "FileText", Path, str]
# The option `start` of all that improves a mapping.
START = spelled(
    "The mapping to improve, never to end above: a report, a JSON object {task: node} or a CSV file task,node.",
    panel="Search",
    metavar="FILE",
)
PREVIOUS = spelled(
    "The mapping in use before tasks or hardware changed, in the forms of --start: tasks stay where they can.",
    panel="Search",
    metavar="FILE",
)


@dataclass(frozen=True, kw_only=True)
class MappingOptions:
    """Say what a mapping makes small, and how hard it is searched for; without effort, until the time limit if any."""

    objective: ObjectiveName = field(
        default="cost",
        metadata=about(
            "What to minimize: the cost, the largest load of a link, or the time until the last task ends.",
            Spelling("What to minimize."),
        ),
    )
    routing: RoutingName = field(
        default="single",
        metadata=about(
            "How loads of links are counted: on one shortest path, split evenly over equal ones, or as is best.",
            Spelling("Count loads of links on one shortest path, split evenly over equal ones, or as is best."),
        ),
    )
    nodes: int | None = field(
        default=None,
        metadata=about(
            "Nodes to take for the tasks, with all their units; all that there are unless given.",
            hardware("Take so many of the nodes, with all their units, near each other.", metavar="N"),
            ge=1,
        ),
    )
    threshold: float = field(
        default=THRESHOLD,
        metadata=about(
            "The least gain, as a part of the value, for which the verdict is to change the order.",
            Spelling("The least gain for which the verdict is to change the order, 0.02 for 2 %.", metavar="X"),
            ge=0,
            lt=1,
        ),
    )
    max_moves: int | None = field(
        default=None,
        metadata=about(
            "Most tasks that go to another node than in `start`, or of `previous` beyond those that have to.",
            Spelling(
                "Move at most so many tasks away from the mapping of --start, or of --previous beyond those that have "
                "to.",
                panel="Search",
                metavar="N",
            ),
            ge=0,
        ),
    )
    move_cost: float | None = field(
        default=None,
        metadata=about(
            "What to move a task costs that might stay where `previous` has it, in the unit of the cost; without it "
            "and `max_moves` as few move as can be.",
            Spelling(
                "What to move a task costs that might stay where --previous has it, in the unit of the cost.",
                panel="Search",
                metavar="X",
            ),
            ge=0,
            allow_inf_nan=False,
        ),
    )
    contiguous_hosts: bool | None = field(
        default=None,
        metadata=about(
            "Whether the ranks of every host are consecutive; where the launcher needs that (mpich, pbs, jobset), by "
            "default.",
            Spelling(
                "Keep the ranks of every host consecutive; by default for --emit mpich, pbs and jobset.",
                flags=("--contiguous-hosts/--no-contiguous-hosts",),
            ),
        ),
    )
    seed: int = field(default=0, metadata=SEED)
    effort: int | None = field(
        default=None,
        metadata=about(
            "Search effort; 1 unless a time limit is given.",
            Spelling("Iterations, from 1 up; 1 where no time limit is set.", panel="Search", metavar="N"),
            ge=1,
            lt=EFFORT_LIMIT,
        ),
    )
    islands: int = field(default=1, metadata=ISLANDS)
    time_limit_s: float | None = field(
        default=None,
        metadata=TIME_LIMIT | about("Seconds to search, at most the server's own limit."),
    )

    @property
    def work_factor(self) -> int | None:
        """Return by what effort multiplies the work of a search, None where time alone limits it."""
        bounded = self.effort is None and self.time_limit_s is not None
        return None if bounded else (self.effort or 1) * self.islands


@dataclass(frozen=True, eq=False, kw_only=True)
class SolveArguments(MappingOptions):
    """Add who solves a problem, from what mapping on, where, and with which QUBOs."""

    solver: "str | Sampler" = field(default="auto", metadata={"spelling": SOLVER})
    start: Start | None = field(default=None, metadata=START)
    previous: Start | None = field(default=None, metadata=PREVIOUS)
    executor: Executor | str | None = None
    ising: IsingParams | None = None

    @property
    def before(self) -> Start | None:
        """Return the mapping to improve, or that in use before a change, None without either."""
        return self.previous if self.start is None else self.start


@dataclass(frozen=True, eq=False)
class SolveCall(WatchOptions, SolveArguments):
    """Hold what `tiger.solve` is called with."""

    problem: "Problem"


@dataclass(frozen=True, eq=False)
class HardwareArguments(UnitOptions):
    """Hold hardware in any form: the nodes, their insides, distances of levels, and what a job may use."""

    topology: "nx.Graph | Topology | Wiring | Path | str | FileText | None" = field(
        default=None,
        metadata=spelled(
            "Like torus:4x4, see `tiger topologies`; or a file of Slurm, lstopo, nvidia-smi ..",
            metavar="SPEC",
            complete="topologies",
            panel="Hardware",
        ),
    )
    node_topology: "Mapping[str, Path | str] | Sequence[HostContents] | Path | str | None" = field(
        default=None,
        kw_only=True,
        metadata=spelled(
            "What is inside all nodes, or, repeated, inside those listed, like gpu[0-3]=node.xml; tasks go to "
            "its units.",
            metavar="SPEC|FILE|HOSTS=FILE",
            gather=parse_insides,
            panel="Hardware",
        ),
    )
    levels: Mapping[str, float] | None = field(
        default=None,
        kw_only=True,
        metadata=spelled(
            "How far apart units of different levels are, like socket=4,node=20,rack=60; `node` where none is named.",
            metavar="NAME=X,..",
            parse=parse_levels,
            panel="Hardware",
        ),
    )
    labels: Sequence[str] | None = field(
        default=None,
        kw_only=True,
        metadata=LABELS,
    )
    allocation: "Allocation | None" = field(
        default=None,
        kw_only=True,
        metadata=spelled(
            "The nodes that may hold tasks, in the launcher's order: a host file, or names separated by blanks or "
            "';', also as n[0-3,7] or n01:4; `slurm`: those of the job that runs this.",
            metavar="FILE|NAMES|slurm",
            panel="Hardware",
        ),
    )
    running: Iterable[tuple[object, object, float]] | Path | str = field(
        default=(),
        kw_only=True,
        metadata=spelled(
            "The parts of links that other jobs use, lines like leaf0,rack0,0.5.", metavar="FILE", panel="Hardware"
        ),
    )


@dataclass(frozen=True, eq=False)
class Work:
    """Hold tasks in any form."""

    tasks: "nx.Graph | TaskGraph | Path | str" = field(
        metadata=spelled(
            "A .json, .graph, .hgr, .mtx, .csv, .graphml, .dat, .ram, .prof, .grf, .xml, .log or .mpiP file; "
            "or a SPEC like halo:16x16, of halo, ring, alltoall, fft, tree-allreduce, cg or parallel.",
            metavar="TASKS",
            complete="tasks",
            argument=True,
        )
    )


@dataclass(frozen=True, eq=False)
class ProblemArguments(SharingOptions, HardwareArguments, Work):
    """Hold tasks and hardware in any form, and the terms of a mapping, by ids that are names or have one."""

    pinned: Pins | None = field(
        default=None,
        kw_only=True,
        metadata=spelled(
            "Fix a task to a node; split at the last '='.", name="pin", metavar="TASK=NODE", gather=parse_pins
        ),
    )
    forbidden: Iterable[tuple[object, object]] = field(
        default=(),
        kw_only=True,
        metadata=spelled(
            "Keep a task off a node; split at the last '='.", name="forbid", metavar="TASK=NODE", gather=parse_pairs
        ),
    )


@dataclass(frozen=True, eq=False)
class AssignArguments(EmitOptions, SolveArguments, ProblemArguments):
    """Hold what a client is called with as well."""


@dataclass(frozen=True, eq=False)
class AssignCall(WatchOptions, AssignArguments):
    """Hold what `tiger.assign` is called with."""
