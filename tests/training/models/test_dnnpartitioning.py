"""Tests of operator graphs in the format of dnn-partitioning."""

import copy
import json
import time
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.models.dnnpartitioning import Devices, operators_of_nodes

NODE = {"supportedOnFpga": 1, "cpuLatency": 8.0, "fpgaLatency": 2, "isBackwardNode": 0}
# 7 sends to 8 and 9, and 8 and 9 are colocated; 9 is a cpu's.
GRAPH: dict[str, Any] = {
    "maxFPGAs": 2,
    "maxSizePerFPGA": 100,
    "maxCPUs": 1,
    "nodes": [
        {"id": 7, "name": "a", "layerId": 3, "size": 30, **NODE},
        {"id": 8, "colorClass": 5, **NODE, "isBackwardNode": True},
        {"id": 9, "colorClass": 5, **NODE, "supportedOnFpga": False},
    ],
    "edges": [
        {"sourceId": 7, "destId": 8, "cost": 1.5, "size": 12.0},
        {"sourceId": 7, "destId": 9, "cost": 1.5},
    ],
}


def change(path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """Return the graph with another value under a path, or without one if that is None."""
    document = copy.deepcopy(GRAPH)
    part: Any = document
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    if value is None:
        del part[path[-1]]
    return document


def test_times_are_ms_and_an_edge_costs_its_source() -> None:
    """Two devices would take what the edge says, and no bytes go over links."""
    operators, _ = operators_of_nodes(GRAPH)
    assert operators.names == ("7", "8", "9")
    assert operators.seconds.tolist() == [0.002, 0.002, 0.002]
    assert operators.cpu_s.tolist() == [0.008, 0.008, 0.008]
    assert operators.sent_s.tolist() == [0.0015, 0.0, 0.0]
    assert operators.sent_bytes.tolist() == [0.0, 0.0, 0.0]
    assert np.stack([operators.source, operators.target]).tolist() == [[0, 0], [1, 2]]


def test_colours_are_colocation_groups_and_the_rest_stands_alone() -> None:
    """Marks may be numbers."""
    operators, _ = operators_of_nodes(GRAPH)
    assert operators.colour.tolist() == [0, 1, 1]
    assert operators.backward.tolist() == [False, True, False]
    assert operators.cpu_only.tolist() == [False, False, True]
    assert operators.memory_bytes.tolist() == [30.0, 0.0, 0.0]


def test_the_devices_of_a_graph_make_a_cluster() -> None:
    """Accelerators first; its links take no time of their own."""
    devices = operators_of_nodes(GRAPH)[1]
    assert devices == Devices(accelerators=2, memory_bytes=100.0, cpus=1)
    cluster = devices.cluster()
    assert cluster.names == ("gpu0", "gpu1", "cpu0")
    assert cluster.memory_bytes.tolist() == [100.0, 100.0, np.inf]
    assert cluster.kinds == ("accelerator", "accelerator", "cpu")
    assert cluster.curves[0].of(1e12).tolist() == 0.0


def test_a_graph_may_leave_its_devices_out() -> None:
    """All of them."""
    alone = {key: GRAPH[key] for key in ("nodes", "edges")}
    assert operators_of_nodes(alone)[1] is None
    with pytest.raises(InputError, match="model/maxCPUs: expected a number beside the other devices, got none"):
        operators_of_nodes(alone | {"maxFPGAs": 1, "maxSizePerFPGA": 1})


@pytest.mark.parametrize("count", [0, 9000])
def test_a_cluster_has_some_devices_and_not_too_many(count: int) -> None:
    """Told before anything is made."""
    with pytest.raises(InputError, match="cluster/devices: expected 1 to 8,192 devices"):
        Devices(accelerators=count, memory_bytes=1.0, cpus=0).cluster()


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("nodes",), 5, "model/nodes"),
        (("nodes",), None, "model/nodes"),
        (("nodes",), [], "model/nodes"),
        (("edges",), None, "model/edges"),
        (("weights",), [], "model"),
        (("maxFPGAs",), 1.5, "model/maxFPGAs"),
        (("maxSizePerFPGA",), -1, "model/maxSizePerFPGA"),
        (("nodes", 1), 5, "model/nodes/1"),
        (("nodes", 1, "color"), 5, "model/nodes/1"),
        (("nodes", 1, "id"), None, "model/nodes/1/id"),
        (("nodes", 1, "id"), 7, "model/nodes/1/id"),
        (("nodes", 1, "id"), "7", "model/nodes/1/id"),
        (("nodes", 1, "id"), "", "model/nodes/1/id"),
        (("nodes", 1, "id"), 7.0, "model/nodes/1/id"),
        (("nodes", 1, "id"), True, "model/nodes/1/id"),
        (("nodes", 1, "fpgaLatency"), -2, "model/nodes/1/fpgaLatency"),
        (("nodes", 1, "fpgaLatency"), float("nan"), "model/nodes/1/fpgaLatency"),
        (("nodes", 1, "fpgaLatency"), True, "model/nodes/1/fpgaLatency"),
        (("nodes", 1, "cpuLatency"), None, "model/nodes/1/cpuLatency"),
        (("nodes", 1, "cpuLatency"), 10**400, "model/nodes/1/cpuLatency"),
        (("nodes", 1, "size"), "big", "model/nodes/1/size"),
        (("nodes", 1, "isBackwardNode"), 2, "model/nodes/1/isBackwardNode"),
        (("nodes", 1, "supportedOnFpga"), "yes", "model/nodes/1/supportedOnFpga"),
        (("nodes", 1, "colorClass"), 1.5, "model/nodes/1/colorClass"),
        (("edges", 0, "cost"), None, "model/edges/0/cost"),
        (("edges", 0, "size"), [], "model/edges/0/size"),
        (("edges", 1, "cost"), 2, "model/edges/1/cost"),
        (("edges", 1, "destId"), 5, "model/edges/1/destId"),
        (("edges", 1, "destId"), [], "model/edges/1/destId"),
        (("edges", 1, "sourceId"), 9, "model/edges"),
        (("edges", 1), {"sourceId": 8, "destId": 7, "cost": 0}, "model/edges"),
    ],
)
def test_what_is_wrong_is_named(path: tuple[str | int, ...], value: object, field: str) -> None:
    """Down to the node or the edge."""
    with pytest.raises(InputError) as caught:
        operators_of_nodes(change(path, value))
    assert caught.value.field == field


def test_too_many_nodes_are_refused() -> None:
    """By the limit given."""
    with pytest.raises(InputError, match="model/nodes: expected at most 2 operators, got more"):
        operators_of_nodes(GRAPH, max_operators=2)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 10) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(GRAPH)), inner, max_size=3),
    max_leaves=6,
)
paths = st.sampled_from(
    [(key,) for key in GRAPH]
    + [("nodes", k) for k in range(3)]
    + [("nodes", 1, key) for key in (*NODE, "id", "colorClass")]
    + [("edges", 0, key) for key in ("sourceId", "destId", "cost", "size")]
)


@given(paths, values)
def test_any_document_is_read_or_refused(path: tuple[str | int, ...], value: object) -> None:
    """By InputError and nothing else."""
    with suppress(InputError):
        operators, devices = operators_of_nodes(change(path, value))
        assert operators.size >= 1
        assert devices is None or devices.cpus >= 0


@pytest.mark.long
def test_many_nodes_are_read_in_little_time() -> None:
    """200,000 of them from JSON, in a few seconds of work."""
    size = 200_000
    nodes = [{"id": k, "name": f"operator {k}", "colorClass": k // 2, "size": 1.5e6, **NODE} for k in range(size)]
    ends = [(k, k + step) for k in range(size) for step in (1, 7) if k + step < size]
    edges = [{"sourceId": a, "destId": b, "cost": 0.25, "size": 5e5} for a, b in ends]
    text = json.dumps({"nodes": nodes, "edges": edges})
    begun = time.process_time()
    assert operators_of_nodes(json.loads(text))[0].size == size
    assert time.process_time() - begun < 6
