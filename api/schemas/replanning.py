"""The request of `POST /jobs/{id}/replan`: what has changed since a job, and what a move costs."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BeforeValidator, FailFast, Field

from tiger.api.schemas import limits as bounds
from tiger.api.schemas.assignment import Hardware, check_hardware
from tiger.api.schemas.closed import Closed, Documented
from tiger.api.schemas.graphs import TaskEdge, TaskNode
from tiger.api.schemas.limits import Limits
from tiger.model.options import about
from tiger.run.limits import EFFORT_LIMIT, SEED_LIMIT

Names = Annotated[list[str], FailFast(), Field(json_schema_extra={"default": []})]
Records = Annotated[list[dict[str, object]], FailFast(), Documented(list[TaskEdge])]
Nodes = Annotated[list[dict[str, object]], FailFast(), Documented(list[TaskNode])]


@dataclass(frozen=True, kw_only=True)
class AddedTasks(Closed):
    """State tasks that are new, as a part of a node-link graph."""

    nodes: Nodes = field(metadata=about("The new tasks, with `id` and optionally `work` and `memory`."))
    edges: Records = field(
        default_factory=list,
        metadata=about(
            "Their traffic: `source`, `target` and optionally `weight`; one end may be a task that was there."
        ),
    )


@dataclass(frozen=True, kw_only=True)
class ReplanRequest(Closed):
    """Ask for a mapping after a change, in which few tasks move away from that of a job."""

    lost_nodes: Names = field(
        default_factory=list,
        metadata=about("Nodes that hold no tasks any more, by their names in the hardware; they forward traffic."),
    )
    added_nodes: Names = field(
        default_factory=list,
        metadata=about("Nodes of the hardware that may hold tasks from now on, which the allocation left out."),
    )
    topology: Annotated[str | Hardware | None, BeforeValidator(check_hardware)] = field(
        default=None,
        metadata=about(
            "Other hardware in place of that of the job, with its allocation and running jobs, as `POST /assign` "
            "takes it; nodes of the same name are taken to be the same."
        ),
    )
    lost_tasks: Names = field(default_factory=list, metadata=about("Tasks that are gone, with their traffic."))
    added_tasks: AddedTasks | None = field(default=None, metadata=about("Tasks that are new."))
    traffic: Records = field(
        default_factory=list,
        metadata=about("Edges whose `weight` is another, or that are new: `source`, `target`, `weight`; 0 for none."),
    )
    rule: Literal["one-to-one", "capacity"] | None = field(
        default=None,
        metadata=about(
            "The rule from now on, that of the job without it: `capacity` where fewer nodes than tasks are left."
        ),
    )
    max_moves: int | None = field(
        default=None,
        metadata=about("Most tasks that move beyond those that have to; none without it and `move_cost`.", ge=0),
    )
    move_cost: float | None = field(
        default=None,
        metadata=about(
            "What to move a task costs that might stay, in the unit of the cost.", ge=0, allow_inf_nan=False
        ),
    )
    effort: int | None = field(
        default=None, metadata=about("Search effort, that of the job without it.", ge=1, lt=EFFORT_LIMIT)
    )
    seed: int | None = field(
        default=None, metadata=about("Seed of the search, that of the job without it.", ge=0, lt=SEED_LIMIT)
    )
    time_limit_s: float | None = field(
        default=None,
        metadata=about("Seconds to search, those of the job without it.", gt=0, allow_inf_nan=False),
    )

    def measure(self, limits: Limits) -> None:
        """Raise InputError for more than a service allows; graphs are only measured."""
        added = self.added_tasks
        bounds.check_tasks(limits, {"nodes": [] if added is None else added.nodes, "edges": self.traffic})
        bounds.check_hardware(limits, self.topology)
