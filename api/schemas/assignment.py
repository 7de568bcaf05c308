"""The request of `POST /assign` for tasks."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import BeforeValidator, FailFast, Field
from pydantic_core import PydanticCustomError

from tiger.api.schemas import limits as bounds
from tiger.api.schemas.closed import Closed, Documented, Pins, Start
from tiger.api.schemas.files import FileBody
from tiger.api.schemas.graphs import HardwareGraph, TaskGraph
from tiger.api.schemas.limits import SMALL_HARD_TEXT, SMALL_TEXT, Limits
from tiger.api.schemas.starts import StartJob
from tiger.errors import InputError
from tiger.formats.hardware.units import UnitOptions
from tiger.formats.hostfile import NodeSlots
from tiger.formats.patterns import spec as patterns
from tiger.launchers.formats import EmitOptions
from tiger.mapping.options import MappingOptions
from tiger.model.options import about
from tiger.model.sharing import SharingOptions
from tiger.model.text import FileText
from tiger.model.values import WHOLE_LIMIT
from tiger.qubo.params import CapacityEncoding, IsingParams
from tiger.topologies import spec

# Tasks of the native search and of others, and edges, of about a tenth of a second of work on one core.
SMALL_TASKS, SMALL_HARD_TASKS, SMALL_EDGES = 128, 24, 2048


def _check_tasks(value: object) -> object:
    """Refuse what is neither a specification nor a graph."""
    if not isinstance(value, str | dict):
        what = "expected a specification such as 'halo:8x8', a node-link graph or a file as {file, text}"
        raise PydanticCustomError("tasks", what)
    return value


def _check_inside(value: object) -> object:
    """Refuse what is neither a specification nor an object."""
    if not isinstance(value, str | dict):
        raise PydanticCustomError(
            "hardware", "expected a specification such as 'tree:2x4@1,4' or a file as {file, text}"
        )
    return value


def check_hardware(value: object) -> object:
    """Refuse what is neither a specification nor an object, nor left out."""
    if value is not None and not isinstance(value, str | dict):
        what = "expected a specification such as 'torus:4x4', a node-link graph or a file as {file, text}"
        raise PydanticCustomError("hardware", what)
    return value


def _check_allocation(value: object) -> object:
    """Refuse, in one sentence for all forms, what lists no nodes, and point at the first entry that names none."""
    entries = value if isinstance(value, list) else []
    wrong = next((f"/{position}" for position, entry in enumerate(entries) if not _is_node(entry)), "")
    if wrong or not isinstance(value, str | list | None):
        what = "expected text, or a list of names and of {node, slots} with whole slots from 1 to 2**53 - 1"
        raise PydanticCustomError(
            "allocation", "{what}{where}", {"what": what, "where": wrong and f", not as at {wrong}"}
        )
    return value


def _is_node(entry: object) -> bool:
    """Return whether an entry is a name, or a name with a number of slots."""
    if not isinstance(entry, dict):
        return isinstance(entry, str)
    node, slots = entry.get("node"), entry.get("slots")
    return len(entry) == 2 and isinstance(node, str) and type(slots) is int and 1 <= slots < WHOLE_LIMIT


Tasks = Annotated[dict[str, object], Documented(TaskGraph | FileBody)]
Hardware = Annotated[dict[str, object], Documented(HardwareGraph | FileBody)]
Inside = Annotated[dict[str, object], Documented(FileBody)]
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]
Beta = Annotated[float, Field(gt=0, allow_inf_nan=False)]


@dataclass(frozen=True, kw_only=True)
class IsingBody(Closed):
    """Set the QUBOs that are sampled; what is not given is chosen by the solver."""

    penalty_scale: float | None = field(
        default=None,
        metadata=about("Penalties as a multiple of their safe bound, not tuned.", gt=0, allow_inf_nan=False),
    )
    beta_range: Annotated[list[Beta], Field(min_length=2, max_length=2, fail_fast=True)] | None = field(
        default=None, metadata=about("Inverse temperatures, hot then cold, in 1 / cost.")
    )
    capacity: CapacityEncoding = field(
        default="slack", metadata=about("Whether slack bits encode what a node may hold.")
    )
    control: bool = field(
        default=True, metadata=about("Set some reads beside coin flips, for `sampling` of the report.")
    )
    qpu_time_s: float | None = field(
        default=None, metadata=about("Most seconds of QPU access time.", gt=0, allow_inf_nan=False)
    )

    @property
    def params(self) -> IsingParams:
        """Return the options of the Ising path; raise InputError."""
        betas = None if self.beta_range is None else (self.beta_range[0], self.beta_range[1])
        return IsingParams(
            penalty_scale=self.penalty_scale,
            beta_range=betas,
            capacity=self.capacity,
            control=self.control,
            qpu_time_s=self.qpu_time_s,
        )


@dataclass(frozen=True, kw_only=True)
class InsideBody(Closed):
    """Say what is inside nodes."""

    topology: Annotated[str | Inside, BeforeValidator(_check_inside)] = field(
        metadata=about("Specification, or a file of hardware as its name and its text.")
    )
    hosts: str | None = field(
        default=None, metadata=about("The nodes that have this inside, such as `gpu[0-3],n7`; all without it.")
    )


@dataclass(frozen=True, kw_only=True)
class ShareBody(Closed):
    """Say what part of a link other jobs use."""

    a: str = field(metadata=about("A node."))
    b: str = field(metadata=about("The node at the other end."))
    share: float = field(metadata=about("The part of the bandwidth in use.", ge=0, lt=1, allow_inf_nan=False))


@dataclass(frozen=True, kw_only=True)
class GrantedBody(Closed):
    """Say how many slots of a node a job has."""

    node: str = field(metadata=about("A node."))
    slots: int = field(metadata=about("Its slots.", ge=1, lt=WHOLE_LIMIT))


@dataclass(frozen=True, kw_only=True)
class Graphs:
    """Hold what goes where."""

    tasks: Annotated[str | Tasks, BeforeValidator(_check_tasks)] = field(
        metadata=about(
            "Specification of a pattern such as `halo:16x16` (kinds: halo, ring, alltoall, fft, tree-allreduce, cg, "
            "parallel), or a task graph as networkx node-link JSON: nodes with `id` and optionally `work` and "
            "`memory`, edges (or `links`) with `source`, `target` and optionally `weight`, the traffic, beside or in "
            "place of edges `hyperedges` with `tasks`, ids that all get one message, and optionally its `volume`, or a "
            "file of "
            "tasks as `{file, text}`: its name, whose ending says what it is, and its text. A `.ram` file has the rule "
            "`levels` unless another is stated. "
            "A string is never opened as a file."
        )
    )
    topology: Annotated[str | Hardware | None, BeforeValidator(check_hardware)] = field(
        default=None,
        metadata=about(
            "Specification such as `torus:4x4x4` (see `GET /topologies`), or a node-link graph: nodes with "
            "`id` and optionally `slots`, `cost` and `memory`, edges with optional `weight` (length) and `bandwidth`, "
            "or a file of hardware as `{file, text}`: its name, whose ending says what it is, and its text. "
            "A string is never opened as a file. Left out where the tasks are a `.dat` file, which has its own "
            "distances, and nowhere else."
        ),
    )


@dataclass(frozen=True, kw_only=True)
class AssignRequest(EmitOptions, MappingOptions, SharingOptions, UnitOptions, StartJob, Graphs, Closed):
    """Ask where the tasks of a graph go on a topology."""

    node_topology: Annotated[list[InsideBody], Field(fail_fast=True)] | None = field(
        default=None,
        metadata=about("What is inside the nodes; tasks go to its units, called NODE/UNIT."),
    )
    labels: Annotated[list[str], Field(fail_fast=True)] | None = field(
        default=None,
        metadata=about("Labels of nodes of Kubernetes that make levels, outermost first; the usual ones without it."),
    )
    levels: dict[str, float] | None = field(
        default=None, metadata=about("Distance of units that a level separates, by the name of the level.")
    )
    allocation: Annotated[str | list[str | GrantedBody] | None, BeforeValidator(_check_allocation)] = field(
        default=None,
        metadata=about(
            "Names of the nodes that may hold tasks, in the order in which the launcher fills them, or objects that "
            "say how many slots of each; the others only forward traffic, and no default counts them. A name that "
            "comes several times has as many slots. Or the text of a host file, which may have brackets: lines such as "
            "`n01 slots=4` or `n01:4`, or `n[01-03] SLURM_TASKS_PER_NODE=48(x2),20`. All nodes without it."
        ),
    )
    running: Annotated[list[ShareBody], FailFast(), Field(json_schema_extra={"default": []})] = field(
        default_factory=list, metadata=about("Links that other jobs use in part; traffic keeps off them.")
    )
    pinned: Pins = field(default_factory=dict, metadata=about("Node of every task that must go there."))
    forbidden: Annotated[list[Pair], FailFast(), Field(json_schema_extra={"default": []})] = field(
        default_factory=list, metadata=about("Pairs [task, node] that must not meet.")
    )
    start: Start | None = field(
        default=None,
        metadata=about("Node of every task in the mapping to improve, which the answer is never worse than."),
    )
    previous: Start | None = field(
        default=None,
        metadata=about(
            "Node of every task in the mapping in use before tasks or hardware changed; it may have others, and need "
            "not have all. Tasks stay where they can: `moves` of the report says which do not, and why."
        ),
    )
    solver: str = field(default="auto", metadata=about("Name of a solver, see `GET /solvers`."))
    ising: IsingBody = field(default=IsingBody(), metadata=about("Penalties, temperatures and encoding of the QUBOs."))

    @property
    def plain(self) -> dict[str, object]:
        """Return the allocation, running jobs, forbidden pairs and the options of the QUBOs as Python takes them."""
        return {
            "allocation": self._granted,
            "running": [(share.a, share.b, share.share) for share in self.running],
            "forbidden": [(task, node) for task, node in self.forbidden],
            "ising": self.ising.params,
        }

    @property
    def _granted(self) -> FileText | list[str | NodeSlots] | None:
        """Return the nodes of the allocation with their slots, or its text, which is never the name of a file."""
        if isinstance(self.allocation, str):
            return FileText("allocation", self.allocation)
        if self.allocation is None:
            return None
        return [given if isinstance(given, str) else NodeSlots(given.node, given.slots) for given in self.allocation]

    def measure(self, limits: Limits) -> None:
        """Raise InputError for more than a service allows; graphs are only measured."""
        bounds.check_tasks(limits, self.tasks)
        if self.topology is None and (isinstance(self.tasks, str) or "text" not in self.tasks):
            raise InputError("topology", "expected hardware, as only a file of tasks may have its own, got none")
        if isinstance(self.topology, str):
            spec.find_kind(self.topology)
        else:
            bounds.check_hardware(limits, self.topology)
        for inside in self.node_topology or []:
            if isinstance(inside.topology, str):
                spec.find_kind(inside.topology)

    @property
    def is_small(self) -> bool:
        """Guess whether tasks and edges, times the effort, are few; a search with a time limit alone takes it all."""
        effort = self.work_factor
        if effort is None:
            return False
        usual = self.solver == "auto" and self.rule != "levels" and self.objective == "cost"
        plain = usual and not self._has_hyperedges
        text = None if isinstance(self.tasks, str) else self.tasks.get("text")
        if isinstance(text, str):
            return len(text) * effort <= (SMALL_TEXT if plain else SMALL_HARD_TEXT)
        if isinstance(self.tasks, str):
            pattern = patterns.parse(self.tasks)
            tasks, edges = pattern.ranks * effort, pattern.messages * effort
        else:
            tasks, edges = (_length(self.tasks, name) * effort for name in ("nodes", "edges"))
        return tasks <= (SMALL_TASKS if plain else SMALL_HARD_TASKS) and edges <= SMALL_EDGES

    @property
    def _has_hyperedges(self) -> bool:
        """Return whether tasks have hyperedges, which are searched for longer."""
        if isinstance(self.tasks, str):
            return False
        return "hyperedges" in self.tasks or str(self.tasks.get("file", "")).lower().endswith(".hgr")


def _length(graph: dict[str, object], name: str) -> int:
    """Return how long a list of a graph is; edges may go by their older name."""
    found = graph.get(name, graph.get("links") if name == "edges" else None)
    return len(found) if isinstance(found, list) else 0
