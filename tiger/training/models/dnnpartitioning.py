"""Operator graphs of dnn-partitioning: a JSON object of nodes, edges and the devices they are meant for."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.units import MILLISECOND
from tiger.model.values import check_whole, suggest_name
from tiger.model.wording import describe
from tiger.training.hardware.cluster import DEVICE_LIMIT, Cluster, Curve, DeviceKind, check_device_count
from tiger.training.models.limits import OPERATOR_LIMIT, check_cost, check_size
from tiger.training.models.operators import Operators
from tiger.training.models.rows import Rows

DEVICES = ("maxFPGAs", "maxSizePerFPGA", "maxCPUs")
KEYS = ("nodes", "edges", *DEVICES)
NODE = (
    ("id", "supportedOnFpga", "cpuLatency", "fpgaLatency", "isBackwardNode"),
    ("name", "colorClass", "size", "layerId"),
)
EDGE = ("sourceId", "destId", "cost"), ("size",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """Hold the numbers of accelerators and of CPUs that a model says it is for, and the bytes of the former."""

    accelerators: int
    memory_bytes: float
    cpus: int

    def cluster(self, max_devices: int = DEVICE_LIMIT) -> Cluster:
        """Return accelerators gpu0, gpu1, .. and cpus cpu0, ..; messages take what edges state, links nothing."""
        size = self.accelerators + self.cpus
        check_device_count(size, max_devices)
        kinds: list[DeviceKind] = ["accelerator"] * self.accelerators
        kinds += ["cpu"] * self.cpus
        names = [*(f"gpu{k}" for k in range(self.accelerators)), *(f"cpu{k}" for k in range(self.cpus))]
        return Cluster(
            names=tuple(names),
            speed=np.ones(size),
            memory_bytes=np.where(np.array(kinds) == "cpu", np.inf, self.memory_bytes),
            curves=(Curve(size_bytes=np.array([0.0, 1.0]), seconds=np.zeros(2)),),
            link=np.zeros((size, size), np.int64),
            kinds=tuple(kinds),
        )


def operators_of_nodes(
    document: Mapping[str, object], max_operators: int = OPERATOR_LIMIT
) -> tuple[Operators, Devices | None]:
    """Return the operators of a document, named by their ids, and the devices it states, None where it states none.

    Latencies and costs are ms; the cost of an edge is what its source takes to any other device, whatever the link, so
    that all edges of a source cost the same. Nodes of the same `colorClass` are colocated. O(nodes + edges). Raises
    InputError that names the node, the edge or the key at fault.

    Source: Tarnawski et al., NeurIPS 2020, arXiv:2006.16423.
    """
    unknown = next((key for key in document if key not in KEYS), None)
    if unknown is not None:
        reason = f"expected keys out of {', '.join(KEYS)}, got {describe(unknown)}{suggest_name(unknown, KEYS)}"
        raise InputError("model", reason)
    nodes = Rows.check("model/nodes", document.get("nodes"), NODE)
    check_size("model/nodes", len(nodes.records), max_operators, "operators")
    edges = Rows.check("model/edges", document.get("edges"), EDGE)
    edges.numbers("size")
    rows, names = nodes.ids("id")
    if not names:
        raise InputError("model/nodes", "expected at least one operator, got none")
    source, target = edges.ends("sourceId", rows), edges.ends("destId", rows)
    operators = Operators(
        names=names,
        seconds=nodes.numbers("fpgaLatency") * MILLISECOND,
        cpu_s=nodes.numbers("cpuLatency") * MILLISECOND,
        memory_bytes=nodes.numbers("size"),
        sent_s=_source_costs(edges.numbers("cost"), source, names) * MILLISECOND,
        source=source,
        target=target,
        colour=nodes.number_groups("colorClass"),
        backward=nodes.marks("isBackwardNode", default=False),
        cpu_only=~nodes.marks("supportedOnFpga", default=True),
    )
    return operators, _devices(document)


def _source_costs(costs: FloatArray, source: IntArray, names: tuple[str, ...]) -> FloatArray:
    """Return the cost of every source."""
    sent = np.zeros(len(names))
    # The first edge of each counts.
    sent[source[::-1]] = costs[::-1]
    odd = np.flatnonzero(sent[source] != costs)
    if odd.size:
        k = int(odd[0])
        what = f"expected {sent[source[k]]:g}, as on another edge of node {describe(names[source[k]])}"
        raise InputError(f"model/edges/{k}/cost", f"{what}, got {costs[k]:g}")
    return sent


def _devices(document: Mapping[str, object]) -> Devices | None:
    """Return the devices that a document states, all about them or nothing."""
    if not any(key in document for key in DEVICES):
        return None
    missing = next((key for key in DEVICES if key not in document), None)
    if missing is not None:
        raise InputError(f"model/{missing}", "expected a number beside the other devices, got none")
    return Devices(
        accelerators=check_whole("model/maxFPGAs", document["maxFPGAs"]),
        memory_bytes=check_cost("model/maxSizePerFPGA", document["maxSizePerFPGA"]),
        cpus=check_whole("model/maxCPUs", document["maxCPUs"]),
    )
