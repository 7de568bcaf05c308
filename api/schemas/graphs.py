"""What graphs look like in the documentation of requests; they are checked where they are read."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

# The id of a node; a list is called by its parts, with commas between them.
Id = int | float | str | list[object]
Amount = Annotated[float, Field(ge=0)]
Whole = Annotated[int, Field(ge=0)]


class TaskNode(TypedDict):
    """Describe a task."""

    id: Id
    work: NotRequired[Amount]
    memory: NotRequired[Whole]


class TaskEdge(TypedDict):
    """Describe what one task sends another; the weight is the traffic."""

    source: Id
    target: Id
    weight: NotRequired[Amount]


class TaskHyperedge(TypedDict):
    """Describe tasks that all get one message."""

    tasks: list[Id]
    volume: NotRequired[Amount]


class TaskGraph(TypedDict):
    """Describe tasks as networkx writes a graph in node-link form, with edges, hyperedges or both."""

    directed: NotRequired[bool]
    multigraph: NotRequired[bool]
    nodes: list[TaskNode]
    edges: NotRequired[list[TaskEdge]]
    hyperedges: NotRequired[list[TaskHyperedge]]


class HardwareNode(TypedDict):
    """Describe a node of hardware."""

    id: Id
    slots: NotRequired[Whole]
    cost: NotRequired[Amount]
    memory: NotRequired[Whole]


class HardwareLink(TypedDict):
    """Describe a link of hardware; the weight is its length."""

    source: Id
    target: Id
    weight: NotRequired[Amount]
    bandwidth: NotRequired[Amount]


class HardwareGraph(TypedDict):
    """Describe hardware as networkx writes a graph in node-link form."""

    directed: NotRequired[bool]
    multigraph: NotRequired[bool]
    nodes: list[HardwareNode]
    edges: list[HardwareLink]
