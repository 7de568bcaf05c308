"""Tests of requests: the document that local arguments amount to, and what no service takes."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from dwave.samplers import TabuSampler

import tiger
from tiger.client.requests import Asked, assignment, body_of, circuit_layout, placement, planning
from tiger.errors import InputError
from tiger.model.metrics import DenseMetric
from tiger.model.topology import Links, Topology
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.stage import PlacedStage
from tiger.qubo.params import IsingParams
from tiger.training.hardware.reading import cluster_of_document
from tiger.training.models.graphs import operators_of_document, read_operators

PAIR = nx.DiGraph([("a", "b")])
CIRCUIT = 'OPENQASM 2.0; include "qelib1.inc"; qreg q[2]; cx q[0], q[1];'
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
UNIT = {"supportedOnFpga": 1, "cpuLatency": 0, "fpgaLatency": 2000, "isBackwardNode": 0, "size": 3}
GRAPH: dict[str, Any] = {
    "maxFPGAs": 2,
    "maxSizePerFPGA": 9,
    "maxCPUs": 0,
    "nodes": [{"id": 1, **UNIT}, {"id": 2, **UNIT}],
    "edges": [{"sourceId": 1, "destId": 2, "cost": 500}],
}
MODEL, CLUSTER = EXAMPLES / "models/gpt2-medium.json", "dgx:1"
TOWERS = MODEL.with_name("two_towers.csv")


def body(asked: Asked[Any]) -> dict[str, Any]:
    """Return the document of a request."""
    document: dict[str, Any] = json.loads(asked.body)
    return document


def test_an_assignment_states_graph_and_specification() -> None:
    """What is not given is left to the service, which has the same defaults."""
    asked = assignment(PAIR, "grid:2x2", seed=3)
    assert asked.path == "assign"
    assert body(asked)["tasks"]["edges"] == [{"source": "a", "target": "b"}]
    assert (body(asked)["topology"], body(asked)["seed"], body(asked)["rule"]) == ("grid:2x2", 3, "one-to-one")
    assert not {"effort", "time_limit_s", "allocation", "slots"} & set(body(asked))
    assert body(assignment(PAIR, "grid:2x2", threshold=0.1))["threshold"] == 0.1
    assert body(assignment(PAIR, "grid:2x2", islands=2))["islands"] == 2


def test_a_pattern_is_sent_as_its_text() -> None:
    """Not as the graph that it stands for, but that is checked here."""
    assert body(assignment("ring:4*2", "grid:2x2"))["tasks"] == "ring:4*2"
    with pytest.raises(InputError, match=r"^tasks: expected a whole number, got 'x'"):
        assignment("ring:x", "grid:2x2")


def test_names_are_resolved_here() -> None:
    """Ids of any type, and the text of an allocation."""
    graph = nx.grid_2d_graph(1, 3)
    asked = assignment(
        graph,
        "grid:2x3",
        allocation="0,[0-2] 1,1",
        pinned={(0, 1): (0, 2)},
        forbidden=[((0, 0), (1, 1))],
        slots=np.int64(1),
    )
    assert body(asked)["allocation"] == ["0,0", "0,1", "0,2", "1,1"]
    assert (body(asked)["pinned"], body(asked)["forbidden"]) == ({"0,1": "0,2"}, [["0,0", "1,1"]])


def test_files_of_hardware_go_as_their_text() -> None:
    """The service opens no file; what else is said about hardware goes along, by names."""
    path = EXAMPLES / "topology.conf"
    insides = {"n[00-01]": EXAMPLES / "two_sockets.xml", "n02": "tree:4@1"}
    asked = assignment(
        PAIR, str(path), node_topology=insides, levels={"node": 20}, allocation="n[00-02]", slots=2, seed=1
    )
    document = body(asked)
    assert document["topology"] == {"file": "topology.conf", "text": path.read_text()}
    first, second = document["node_topology"]
    assert (first["hosts"], first["topology"]["file"]) == ("n[00-01]", "two_sockets.xml")
    assert second == {"hosts": "n02", "topology": "tree:4@1"}
    assert (document["levels"], document["allocation"]) == ({"node": 20}, ["n00", "n01", "n02"])
    assert (document["rule"], document["slots"]) == ("capacity", 2)


def test_units_of_machines_go_along() -> None:
    """The service reads the file, and the nodes of ranks are known here."""
    asked = assignment(PAIR, EXAMPLES / "topologies" / "gpu_node.xml", units="gpu", emit="mpich")
    assert body(asked)["units"] == "gpu"
    report = tiger.assign(PAIR, EXAMPLES / "topologies" / "gpu_node.xml", units="gpu")
    assert asked.read(report.to_dict()).emitted == "g01:2\n"


def test_cores_and_ranks_of_hosts_go_along() -> None:
    """The service divides the hardware itself, as is done here for the text of a launcher."""
    machine = EXAMPLES / "two_sockets.xml"
    ask = {"node_topology": machine, "cores_per_rank": 4, "ranks_per": "node=2", "pack": True, "emit": "prrte"}
    asked = assignment("ring:4", EXAMPLES / "topologies" / "hosts4.txt", **ask)
    document = body(asked)
    assert (document["cores_per_rank"], document["ranks_per"], document["pack"]) == (4, "node=2", True)
    assert "nodes" not in document
    report = tiger.assign("ring:4", EXAMPLES / "topologies" / "hosts4.txt", **ask)
    emitted = asked.read(report.to_dict()).emitted
    assert (emitted, len({line.partition("=")[2][:3] for line in emitted.splitlines()})) == (report.emitted, 2)


def test_bug_the_order_of_allocated_hardware_goes_along() -> None:
    """A graph has no order of launchers, so that a service would count another block order."""
    links = Links.unit([(0, 1), (1, 2), (2, 3)])
    hardware = Topology.from_links(("w", "x", "y", "z"), links).allocated(["z", "w", "y"])
    assert body(assignment(PAIR, hardware))["allocation"] == ["z", "w", "y"]
    assert body(assignment(PAIR, hardware, allocation=["y", "w"]))["allocation"] == ["y", "w"]
    slots = [{"node": "y", "slots": 3}, {"node": "w", "slots": 1}]
    assert body(assignment(PAIR, hardware, allocation="y:3 w"))["allocation"] == slots
    granted = hardware.allocated(["y", "w"], np.array([3, 1]))
    assert body(assignment(PAIR, granted))["allocation"] == slots


def test_graphs_go_with_the_links_that_others_use() -> None:
    """Shares of links are stated as they are."""
    document = body(assignment(PAIR, nx.path_graph(3), running=[(0, 1, 0.5)]))
    assert [node["id"] for node in document["topology"]["nodes"]] == ["0", "1", "2"]
    assert document["running"] == [{"a": "0", "b": "1", "share": 0.5}]


def test_the_rule_of_a_file_is_kept() -> None:
    """A .ram file means levels."""
    assert body(assignment(EXAMPLES / "butko11.ram", EXAMPLES / "mesh_2x2_het.arc"))["rule"] == "levels"


def test_remarks_of_readers_are_warnings_of_the_report() -> None:
    """A document does not carry them."""
    graph = nx.Graph([("a", "b")])
    graph.nodes["a"]["works"] = 2
    report = tiger.assign(graph, "grid:2", solver="identity")
    assert report.warnings
    said = replace(report, warnings=()).to_dict()
    assert assignment(graph, "grid:2").read(said).warnings == report.warnings


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"executor": ThreadPoolExecutor(1)}, "executor"),
        ({"solver": TabuSampler()}, "solver"),
        ({"ising": IsingParams(windows=3)}, "ising/windows"),
        ({"ising": IsingParams(sampler={"num_reads": 3})}, "ising/sampler"),
        ({"ising": IsingParams(samples="folder")}, "ising/samples"),
        ({"seed": -1}, "seed"),
        ({"time_limit_s": float("inf")}, "time_limit_s"),
        ({"pinned": {"nobody": "0,0"}}, "pinned/nobody"),
        ({"allocation": "9,9"}, "allocation/0"),
    ],
)
def test_what_an_assignment_cannot_ask(arguments: dict[str, Any], field: str) -> None:
    """It is refused before anything is sent, and named."""
    with pytest.raises(InputError) as caught:
        assignment(PAIR, "grid:2x2", **arguments)
    assert caught.value.field == field


def test_options_of_the_ising_path_are_stated() -> None:
    """Those that a service takes."""
    params = IsingParams(penalty_scale=0.5, beta_range=(0.1, 2.0), control=False, qpu_time_s=2.0)
    stated = body(assignment(PAIR, "grid:2x2", ising=params))["ising"]
    expected = {
        "penalty_scale": 0.5,
        "beta_range": [0.1, 2.0],
        "capacity": "slack",
        "control": False,
        "qpu_time_s": 2.0,
    }
    assert stated == expected


def test_distances_without_links_are_refused() -> None:
    """No service takes a table of distances."""
    table = Topology(names=("a", "b"), metric=DenseMetric(np.array([[0.0, 1.0], [1.0, 0.0]])))
    with pytest.raises(InputError, match=r"^topology: "):
        assignment(PAIR, table)


def test_a_file_with_hardware_of_its_own_is_sent_as_it_is() -> None:
    """Its name and its text, with nodes that are allocated beside it."""
    source = EXAMPLES / "square4.dat"
    document = body(assignment(source, allocation="3 0 1 2"))
    assert document["tasks"] == {"file": "square4.dat", "text": source.read_text()}
    assert ("topology" in document, document["allocation"]) == (False, ["3", "0", "1", "2"])


def test_a_layout_states_text_and_device() -> None:
    """Pairs of qubits become a coupling map."""
    asked = circuit_layout(CIRCUIT, [(0, 1), (1, 2)], level=1, initial_layout={0: 2, 1: 1})
    assert (asked.path, body(asked)["circuit"], body(asked)["initial_layout"]) == ("assign", CIRCUIT, [2, 1])
    assert body(asked)["topology"] == {"coupling_map": [[0, 1], [1, 2]], "num_qubits": 3}


def test_threads_and_executors_are_not_for_a_client_to_ask_for() -> None:
    """The operator decides; islands are part of what is asked."""
    with pytest.raises(InputError, match=r"^threads: "):
        circuit_layout(CIRCUIT, "grid:2x2", threads=2)
    with pytest.raises(InputError, match=r"^executor: "):
        circuit_layout(CIRCUIT, "grid:2x2", executor="dask://there:1")
    assert body(circuit_layout(CIRCUIT, "grid:2x2", islands=2))["islands"] == 2


def test_a_placement_states_model_and_cluster() -> None:
    """The file is read here, the specification stays."""
    asked = placement(MODEL, CLUSTER, schedule="1f1b", pipeline=2, pinned={})
    document = body(asked)
    assert (asked.path, document["cluster"], document["schedule"]) == ("place", CLUSTER, "1f1b")
    assert document["model"] == json.loads(MODEL.read_text())


def test_a_plan_states_model_cluster_and_options() -> None:
    """Its report emits the best plan, as a local one does."""
    asked = planning(MODEL, CLUSTER, batch=8, top=2, tensor=1, schedule="1f1b")
    document = body(asked)
    assert (asked.path, document["cluster"], document["batch"], document["top"]) == ("plan", CLUSTER, 8, 2)
    assert body(planning(MODEL, CLUSTER, islands=2))["islands"] == 2
    with pytest.raises(InputError, match=r"^executor: "):
        planning(MODEL, CLUSTER, executor="dask://there:1")
    assert document["model"] == json.loads(MODEL.read_text())
    report = tiger.plan(MODEL, CLUSTER, batch=8, top=2, tensor=1, schedule="1f1b")
    again = asked.read(json.loads(json.dumps(report.to_dict())))
    assert (again, again.emit("megatron")) == (report, report.emit("megatron"))
    with pytest.raises(InputError, match=r"^batch: "):
        planning(MODEL, CLUSTER, batch=0)


def test_a_network_goes_with_what_is_inside() -> None:
    """As one document; errors name the arguments."""
    inside: dict[str, Any] = {"node_topology": EXAMPLES / "nvlinks4.xml", "bandwidths": {"node": "50GB/s"}}
    hosts = body(placement(MODEL, EXAMPLES / "topology.conf", **inside))["cluster"]
    assert (hosts["hosts"]["file"], hosts["networks"]) == ("topology.conf", {"node": {"bandwidth": "50GB/s"}})
    assert hosts["machine"]["nccl_topo"].startswith("<")
    assert cluster_of_document(hosts).size == 64
    for cluster in (CLUSTER, cluster_of_document(CLUSTER), None):
        with pytest.raises(InputError) as caught:
            placement(MODEL, cluster, bandwidths={"node": 1})
        assert caught.value.field == "bandwidths"


@pytest.mark.slow
def test_a_placement_can_be_emitted() -> None:
    """Model and cluster are at hand."""
    report = tiger.place(MODEL, CLUSTER, schedule="1f1b", pipeline=4)
    again = placement(MODEL, CLUSTER, schedule="1f1b", pipeline=4).read(report.to_dict())
    assert again == report
    assert again.emit("megatron") == report.emit("megatron")


@pytest.mark.parametrize(("arguments", "field"), [({"mode": "ring"}, "mode"), ({"tensor": 0}, "tensor")])
def test_what_a_placement_cannot_ask(arguments: dict[str, Any], field: str) -> None:
    """It is refused before anything is sent."""
    with pytest.raises(InputError, match=f"^{field}: "):
        placement(MODEL, CLUSTER, **arguments)


def test_operators_are_stated_as_they_are() -> None:
    """A file of JSON as it stands, without a cluster if the model has its devices; others as a table."""
    asked = placement(GRAPH, mode="dag", objective="both", contiguous=True)
    document = body(asked)
    assert (document["model"], "cluster" in document, document["mode"]) == (GRAPH, False, "dag")
    assert (document["objective"], document["contiguous"]) == ("both", True)
    table = body(placement(TOWERS, CLUSTER, mode="dag"))["model"]
    assert operators_of_document(table)[0].names == read_operators(TOWERS)[0].names


def test_a_placement_of_operators_is_at_hand() -> None:
    """To be drawn; not if it is that of others."""
    stage = PlacedStage(
        device="gpu1",
        devices=(("gpu1",),),
        ops=("1", "2"),
        compute_s=4.0,
        communication_s=0.0,
        memory_bytes=6.0,
        capacity_bytes=9.0,
    )
    report = PlacementReport(
        feasible=True,
        solver="auto",
        seed=0,
        seconds=0.1,
        mode="dag",
        objective="latency",
        latency_s=4.0,
        stages=(stage,),
    )
    again = placement(GRAPH, mode="dag").read(report.to_dict())
    assert again == report
    assert again.arrangement is not None
    assert again.arrangement.stages() == (stage,)
    others = placement({**GRAPH, "nodes": [*GRAPH["nodes"], {"id": 3, **UNIT}]}, mode="dag").read(report.to_dict())
    assert others.arrangement is None


def test_operators_need_their_devices() -> None:
    """Those of a cluster where the model states none."""
    with pytest.raises(InputError, match="cluster: expected a cluster, as the model states no devices, got none"):
        placement(TOWERS, mode="dag")
    with pytest.raises(InputError, match="cluster: expected a cluster, got none"):
        placement(MODEL)


def test_what_is_no_json_is_refused() -> None:
    """Numbers that are not finite, deep in a document."""
    with pytest.raises(InputError, match=r"^body: "):
        body_of({"cluster": {"uniform_bandwidth": float("nan")}})
    with pytest.raises(TypeError, match="got a value of type object"):
        body_of({"cluster": {"uniform_bandwidth": object()}})
    with pytest.raises(TypeError, match="commute: expected true or false, got nan"):
        circuit_layout(CIRCUIT, "grid:2x2", commute=float("nan"))  # type: ignore[arg-type]


def test_tables_of_distances_are_refused() -> None:
    """They are said to be no hardware that a service takes, before anything is sent."""
    table = Topology(names=("a", "b"), metric=DenseMetric(np.array([[0.0, 1], [1, 0]])))
    with pytest.raises(InputError, match=r"^topology: expected a SPEC or hardware with links"):
        assignment(PAIR, table)


def test_reports_of_a_service_emit_rank_orders() -> None:
    """As local ones do, since the hardware is at hand; what a launcher cannot take is not even asked for."""
    hosts = nx.path_graph(["n0", "n1", "n2", "n3"])
    report = tiger.assign("ring:4", hosts, seed=1)
    document = json.loads(json.dumps(report.to_dict()))
    again = assignment("ring:4", hosts, seed=1, emit="slurm").read(document)
    assert again.emitted == again.emit("slurm") == report.emit("slurm")
    with pytest.raises(InputError, match=r"^emit: expected cores in the hardware"):
        assignment("ring:4", hosts, emit="openmpi")


def test_what_a_launcher_needs_is_asked_for() -> None:
    """A service is told no launcher, but that the ranks of every host are to be consecutive."""
    hosts = nx.path_graph(["n0", "n1"])
    for emit, together in (("mpich", True), ("slurm", None)):
        assert body(assignment("ring:4", hosts, slots=2, emit=emit)).get("contiguous_hosts") is together
    denied = assignment("ring:4", hosts, slots=2, emit="mpich", contiguous_hosts=False)
    assert "contiguous_hosts" not in body(denied)


def test_a_mapping_onto_some_nodes_is_drawn_on_those() -> None:
    """The simple orders beside it fill the nodes that were taken, as in a local report."""
    asked = assignment("halo:2x4", "grid:4x4", slots=4, nodes=2)
    report = tiger.assign("halo:2x4", "grid:4x4", slots=4, nodes=2)
    sent = asked.read(report.to_dict())
    assert sent.problem is not None
    assert report.problem is not None
    assert sent.problem.topology.slots.tolist() == report.problem.topology.slots.tolist()
