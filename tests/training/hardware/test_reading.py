"""Tests of where clusters come from."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.hardware.options import HostArguments
from tiger.training.hardware.reading import cluster_of_document, read_cluster, read_with_document

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "clusters"
TOPO = "\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n"


def refusal(read, source):
    """Return the error of a source that is bad input."""
    with pytest.raises(InputError) as caught:
        read(source)
    return caught.value


@pytest.mark.parametrize(
    ("name", "size", "parts"),
    [
        ("uneven4.json", 4, 1),
        ("home.json", 2, 1),
        ("cards_and_host.json", 3, 1),
        ("two_networks.json", 16, 1),
        ("slow_network2.json", 16, 1),
        ("pair_and_host.json", 3, 1),
        ("measured2.json", 2, 1),
        ("workstation4.topo", 4, 1),
        ("racks.json", 64, 1),
    ],
)
def test_examples(name, size, parts):
    """Every example is a cluster of one part, as a path and as text."""
    cluster = read_cluster(EXAMPLES / name)
    assert (cluster.size, cluster.parts().max() + 1) == (size, parts)
    assert read_cluster(str(EXAMPLES / name)).names == cluster.names
    if name != "racks.json":  # which names the file of its network
        assert cluster_of_document({"file": name, "text": (EXAMPLES / name).read_text()}).names == cluster.names


def test_every_example_is_read():
    """No example is left out above."""
    assert len([path for path in EXAMPLES.iterdir() if path.suffix in {".json", ".topo", ".txt"}]) == 9


def test_specs_and_documents():
    """A SPEC is read by both entries, an object too."""
    assert read_cluster("dgx:1").names == cluster_of_document("dgx:1").names
    assert read_cluster({"nvidia_smi_topo": TOPO}).names == ("GPU0", "GPU1")
    assert cluster_of_document({"machines": [{"devices": 1}]}).names == ("m0.gpu0",)
    assert cluster_of_document({"devices": [{"name": "a"}]}).names == ("a",)


def test_text_files(tmp_path):
    """Endings tell formats apart, in any case; a JSON file may hold a SPEC."""
    (tmp_path / "a.TXT").write_text(TOPO)
    (tmp_path / "b.json").write_text(json.dumps("dgx:1"))
    assert read_cluster(tmp_path / "a.TXT").size == 2
    assert read_cluster(tmp_path / "b.json").size == 8


@pytest.mark.parametrize("source", ["cluster.yaml", "dgx", "torus:4x4", Path("dgx:1"), "", "missing.json", "\0.json"])
def test_unknown_sources(source):
    """Other endings, other SPECs and files that are not there are bad input."""
    assert refusal(read_cluster, source).field == "cluster"


@pytest.mark.parametrize("text", ["{", "[" * 10**5, '{"devices": 1, "devices": 2}', "[]", "5", "null", "1" * 5000, ""])
def test_malformed_json(tmp_path, text):
    """Text that is no JSON, and JSON that is no object, is bad input."""
    (tmp_path / "a.json").write_text(text)
    assert refusal(read_cluster, tmp_path / "a.json").field == "cluster"


@pytest.mark.parametrize("document", [None, [], {}, {"links": []}, {"devices": [], "machines": []}, 5])
def test_documents_of_no_shape(document):
    """A document says in one way what its devices are."""
    assert refusal(cluster_of_document, document).field == "cluster"


@pytest.mark.parametrize(
    ("name", "stated", "size"),
    [
        ("../topology.conf", {"node_topology": EXAMPLES / "workstation4.topo", "bandwidths": {"node": "10GB/s"}}, 64),
        ("../blocks.conf", {"node_topology": "dgx:1", "bandwidths": {"node": 5e10}}, 128),
        ("../topologies/topology.yaml", {"node_topology": "dgx:1", "bandwidths": {"node": 5e10}}, 64),
        ("../topologies/fabric4.ibnet", {"node_topology": EXAMPLES / "../nvlinks4.xml"}, 16),
        ("../topologies/measured4.csv", {"node_topology": "dgx:1", "bandwidths": {"node": 5e10}}, 32),
        ("../topologies/osu4.txt", {"node_topology": "dgx:1", "bandwidths": {"node": 5e10}}, 32),
        ("../topologies/hosts4.txt", {"node_topology": "dgx:1", "bandwidths": {"node": 5e10}}, 32),
        (
            "../topologies/instances4.json",
            {"node_topology": EXAMPLES / "pair_and_host.json", "bandwidths": {"node": 1e9}},
            12,
        ),
        (
            "../topologies/kube_nodes.json",
            {"node_topology": "dgx:1", "bandwidths": {"node": 5e10}, "labels": ["example.com/rack"]},
            32,
        ),
        (
            "../scontrol.conf",
            {"node_topology": {"tux[0-3]": "dgx:1", "tux[4-6]": "dgx-1v:1"}, "bandwidths": {"node": 1e9}},
            56,
        ),
    ],
)
def test_networks_have_something_inside(name, stated, size):
    """Every description of a network is a cluster with a machine inside each host, and says so as a document."""
    document, cluster = read_with_document(EXAMPLES / name, HostArguments(**stated))
    assert (cluster.size, cluster.parts().max()) == (size, 0)
    assert cluster_of_document(json.loads(json.dumps(document))).names == cluster.names


def test_meshes_and_fabrics_in_other_files(tmp_path):
    """The endings of both are those of `tiger assign`; a fabric is told from a matrix of GPUs."""
    shutil.copy(EXAMPLES.parent / "topologies" / "fabric4.ibnet", tmp_path / "fabric.txt")
    inside = HostArguments(node_topology="dgx:1")
    assert read_cluster(tmp_path / "fabric.txt", inside).size == 32
    mesh = HostArguments(node_topology="dgx:1", bandwidths={"node": 1e9})
    assert read_cluster(EXAMPLES.parent / "mesh_2x2_het.arc", mesh).size == 32


@pytest.mark.parametrize(
    ("name", "stated", "field", "reason"),
    [
        ("../topology.conf", {}, "node_topology", "inside each host, such as dgx:1"),
        ("../topology.conf", {"node_topology": "dgx:1"}, "bandwidths", "such as node=50GB/s,rack=25GB/s"),
        ("../topology.conf", {"node_topology": "dgx:2"}, "node_topology", "one machine, got 2"),
        ("../topology.conf", {"node_topology": "a.conf"}, "node_topology", "a SPEC such as dgx:1 or a file"),
        ("../topology.conf", {"node_topology": {}}, "node_topology", "got nothing"),
        ("../topology.conf", {"node_topology": EXAMPLES / "../two_sockets.xml"}, "node_topology", "lstopo"),
        ("../topology.conf", {"node_topology": "dgx:1", "bandwidths": {"node": "5GB"}}, "bandwidths/node", "bytes"),
        ("../topology.conf", {"node_topology": "dgx:1", "bandwidths": {"n": 1}}, "bandwidths", "out of node, rack"),
        ("../topology.conf", {"node_topology": "dgx:1", "labels": ["a"]}, "labels", "nodes of Kubernetes"),
        ("../topologies/kube_nodes.json", {}, "node_topology", "'kube_nodes.json' describes a network"),
        ("../topologies/instances4.json", {}, "node_topology", "'instances4.json' describes a network"),
        ("uneven4.json", {"node_topology": "dgx:1"}, "node_topology", "got devices in 'uneven4.json'"),
        ("workstation4.topo", {"bandwidths": {"node": 1}}, "bandwidths", "got devices in"),
    ],
)
def test_what_is_missing_or_malformed_is_named_as_it_is_given(name, stated, field, reason):
    """By the argument of the caller, who never wrote the document."""
    error = refusal(lambda path: read_cluster(path, HostArguments(**stated)), EXAMPLES / name)
    assert (error.field, reason in error.reason) == (field, True), error


def test_bug_malformed_networks_were_taken_for_devices(tmp_path):
    """Where the inside of hosts is stated, the line at fault is named as `tiger assign` names it."""
    path = tmp_path / "hosts.txt"
    path.write_text("n0 n1\n", encoding="utf-8")
    error = refusal(lambda path: read_cluster(path, HostArguments(node_topology="dgx:1")), path)
    assert (error.field, error.reason.startswith("line 1: expected hosts, one a line, or what")) == ("cluster", True)


def test_arguments_of_other_types_are_refused():
    """They are errors of the program."""
    for stated in ({"bandwidths": [1]}, {"labels": "rack"}):
        with pytest.raises(TypeError):
            read_cluster(EXAMPLES / "../topology.conf", HostArguments(node_topology="dgx:1", **stated))
    assert refusal(lambda path: read_cluster(path, HostArguments(labels=["a"])), "dgx:1").field == "labels"
    assert refusal(lambda text: read_cluster({}, HostArguments(labels=[text])), "a").field == "labels"


def test_bug_lstopo_was_taken_for_a_dump_of_nccl():
    """The error named a field that nobody had written; an lstopo file has no devices that are linked."""
    error = refusal(read_cluster, EXAMPLES.parent / "two_sockets.xml")
    assert error.field == "cluster"
    assert "what lstopo writes, which states no devices, or none of their links" in error.reason


def test_bug_hardware_of_other_commands_was_unknown():
    """A document of a network is told what to do with it."""
    for name in ("kube_nodes.json", "instances4.json"):
        document = json.loads((EXAMPLES.parent / "topologies" / name).read_text(encoding="utf-8"))
        assert (
            "a network: put its text into 'hosts', beside a 'machine'" in refusal(cluster_of_document, document).reason
        )


def test_text_in_a_document_is_never_opened(tmp_path):
    """The path of a file that exists is no SPEC."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps("dgx:1"))
    assert "such as dgx:4" in refusal(cluster_of_document, str(path)).reason


@pytest.mark.parametrize(
    "document",
    [
        "dgx:1",
        {"machines": [{"devices": 8, "bandwidth": 1}]},
        {"devices": [{"name": k} for k in range(8)], "links": []},
        {"nvidia_smi_topo": TOPO.replace("GPU", "\tGPU", 1).replace("GPU1", "GPU1 GPU2 GPU3 GPU4", 1)},
    ],
)
def test_the_limit_of_the_caller_counts(document):
    """More devices than allowed are refused in any shape."""
    with pytest.raises(InputError, match="1 to 3 devices"):
        cluster_of_document(document, 3)


@given(
    st.dictionaries(
        st.sampled_from(["machines", "nics", "fallback", "devices"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["devices", "count", "nic", "bandwidth", "lanes", "name"]), inner, max_size=4
                )
            ),
            max_leaves=12,
        ),
    )
)
def test_hostile_documents(document):
    """Any document is a cluster or bad input of `cluster`."""
    with suppress(InputError):
        assert cluster_of_document(document, 64).size <= 64
