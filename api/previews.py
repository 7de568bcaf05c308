"""What a request states, as pictures show it before it is solved: tasks, hardware, a circuit, a model or a cluster."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from tiger.mapping.drawing.topology import view_hardware, wire
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.document import Document
from tiger.model.options import narrow
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.run.drawing.graph import (
    EDGES,
    SCHEMA,
    VERTICES,
    GraphView,
    Groups,
    TopologyView,
    group_vertices,
    name_groups,
)
from tiger.run.drawing.positions import fit, place_on_circle
from tiger.run.drawing.tasks import GraphEdges, view_edges, view_tasks
from tiger.training.hardware.cluster import NO_LINK, Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.models.operators import Operators

if TYPE_CHECKING:
    from tiger.circuits.entry.layers import Circuit

# Bytes of a message whose seconds are the length of a link.
GIGABYTE = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksView(GraphView):
    """Show a task graph, its edges by their traffic."""

    schema: Literal["tiger.view/1"] = field(default=SCHEMA, init=False, repr=False)
    kind: Literal["tasks"] = field(default="tasks", init=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareView(TopologyView):
    """Show a topology."""

    schema: Literal["tiger.view/1"] = field(default=SCHEMA, init=False, repr=False)
    kind: Literal["topology"] = field(default="topology", init=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitPreview(Document):
    """Show a circuit by its numbers, and by how many gates any two of its qubits share."""

    schema: Literal["tiger.view/1"] = field(default=SCHEMA, init=False, repr=False)
    kind: Literal["circuit"] = field(default="circuit", init=False, repr=False)
    qubits: int
    gates: int
    two_qubit_gates: int
    depth: int
    interactions: GraphView


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelView(Document):
    """Show a model: seconds and bytes of its layers, or of its operators and what they send in `graph`.

    More than 2,000 are in groups. `parameter_bytes` of operators is all that an accelerator holds of them. The pass
    that an operator is not part of takes 0 s.
    """

    schema: Literal["tiger.view/1"] = field(default=SCHEMA, init=False, repr=False)
    kind: Literal["model"] = field(default="model", init=False, repr=False)
    layers: tuple[str, ...]
    forward_s: tuple[float, ...]
    backward_s: tuple[float, ...]
    parameter_bytes: tuple[float, ...]
    graph: GraphView | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView(TopologyView):
    """Show the devices of a cluster, each with a slot, and their memory, None without an end.

    The length of a link is the seconds of a gigabyte over it, `bandwidth` its bytes/s for large messages.
    """

    schema: Literal["tiger.view/1"] = field(default=SCHEMA, init=False, repr=False)
    kind: Literal["cluster"] = field(default="cluster", init=False, repr=False)
    memory_bytes: tuple[float | None, ...]


def preview_tasks(tasks: TaskGraph) -> TasksView:
    """Return the view of a task graph."""
    return narrow(TasksView, view_tasks(tasks)[0])


def preview_topology(topology: Topology) -> HardwareView:
    """Return the view of hardware."""
    hardware = wire(topology)
    return narrow(HardwareView, view_hardware(hardware, hardware.merge()))


def preview_circuit(circuit: "Circuit") -> CircuitPreview:
    """Return the view of a circuit before it is routed; its depth is as Qiskit counts it."""
    from tiger.circuits.entry.layers import list_gates  # which loads Qiskit, and other previews do without

    gates = list_gates(circuit)
    pairs = gates.second >= 0
    names = tuple(map(str, range(circuit.num_qubits)))
    edges = GraphEdges(gates.first[pairs], gates.second[pairs], np.ones(int(pairs.sum())), directed=False)
    return CircuitPreview(
        qubits=circuit.num_qubits,
        gates=len(gates.name),
        two_qubit_gates=len(edges.a),
        depth=gates.layers,
        interactions=view_edges(names, edges)[0],
    )


def preview_model(model: Layers | Operators) -> ModelView:
    """Return the view of layers, or of operators with their edges."""
    if isinstance(model, Layers):
        groups, graph = group_vertices(model.names, None), None
        columns = model.forward_s, model.backward_s, model.parameter_bytes
    else:
        edges = GraphEdges(model.source, model.target, model.sent_bytes[model.source], directed=True)
        graph, groups = view_edges(model.names, edges)
        passes = np.where(model.backward, 0.0, model.seconds), np.where(model.backward, model.seconds, 0.0)
        columns = *passes, model.memory_bytes
    forward, backward, size = (groups.sum(column).tolist() for column in columns)
    return ModelView(
        layers=groups.names,
        forward_s=tuple(forward),
        backward_s=tuple(backward),
        parameter_bytes=tuple(size),
        graph=graph,
    )


def preview_cluster(cluster: Cluster) -> ClusterView:
    """Return the view of a cluster, machines in rows and of too many devices runs of them."""
    groups = _group_devices(cluster)
    _, first = np.unique(groups.group_of, return_index=True)
    link = cluster.link[np.ix_(first, first)]
    a, b = np.nonzero(np.triu(link != NO_LINK, 1))
    length, bandwidth = (np.array(list(map(of, cluster.curves)))[link[a, b]] for of in (_gigabyte_s, _bandwidth))
    kept = np.sort(np.argsort(length, kind="stable")[:EDGES])
    x, y = fit(_place_machines(cluster.machine[first]))
    memory = groups.sum(cluster.memory_bytes)
    return ClusterView(
        names=groups.names,
        x=x,
        y=y,
        counts=tuple(groups.counts.tolist()),
        a=tuple(a[kept].tolist()),
        b=tuple(b[kept].tolist()),
        weight=tuple(length[kept].tolist()),
        directed=False,
        total=cluster.size,
        total_edges=int(np.count_nonzero(cluster.link != NO_LINK)) // 2,
        slots=tuple(groups.counts.tolist()),
        bandwidth=tuple([size if np.isfinite(size) else None for size in bandwidth[kept].tolist()]),
        memory_bytes=tuple([size if np.isfinite(size) else None for size in memory.tolist()]),
    )


def _group_devices(cluster: Cluster) -> Groups:
    """Return every device by itself if there are few enough, else machines, else runs of devices."""
    machines = len(np.unique(cluster.machine))
    if cluster.size > VERTICES and 1 < machines <= VERTICES:
        return name_groups(cluster.machine, cluster.names)
    return group_vertices(cluster.names, None)


def _gigabyte_s(curve: Curve) -> float:
    """Return the seconds of a gigabyte."""
    return float(curve.of(GIGABYTE))


def _bandwidth(curve: Curve) -> float:
    """Return the bytes/s by which large messages grow, infinite where they take no longer."""
    took = float(curve.seconds[-1] - curve.seconds[-2])
    return float(curve.size_bytes[-1] - curve.size_bytes[-2]) / took if took > 0 else np.inf


def _place_machines(machine: IntArray) -> FloatArray:
    """Return spots[n, 2]: devices on a circle for each machine, machines in rows, the only one a circle."""
    numbers, first, group = np.unique(machine, return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))[group]
    across = int(np.ceil(np.sqrt(len(numbers))))
    spots = np.empty((len(machine), 2))
    for number in range(len(numbers)):
        mine = np.flatnonzero(ranks == number)
        centre = np.array([number % across, number // across])
        spots[mine] = centre + (0.35 * place_on_circle(len(mine)) if len(mine) > 1 else 0.0)
    return spots
