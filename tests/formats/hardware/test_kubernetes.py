"""Nodes of Kubernetes and their labels."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.files import read_hardware
from tiger.model.text import FileText

EXAMPLE = (Path(__file__).resolve().parents[3] / "examples" / "topologies" / "kube_nodes.json").read_text("utf-8")


def read(text, labels=None, stated=None):
    """Return the topology of a text."""
    return read_hardware(FileText("nodes.json", text), labels=labels).topology(stated or {})


def table(topology):
    """Return the distances between all nodes."""
    hosts = topology.hosts
    return topology.metric.between(hosts[:, None], hosts[None, :]).tolist()


def test_usual_labels_make_levels():
    """Nodes on a leaf are 2 apart, on a spine 4; the one without labels is left out and named."""
    topology = read(EXAMPLE)
    assert topology.names == ("gpu-0", "gpu-1", "gpu-2", "gpu-3")
    assert table(topology) == [[0, 4, 2, 6], [4, 0, 4, 6], [2, 4, 0, 6], [6, 6, 6, 0]]
    (remark,) = topology.remarks
    assert remark.startswith("left out, as they lack a label out of topology.kubernetes.io/zone,")
    assert remark.endswith(": control-0")
    assert topology.switches == ("lf0", "lf1", "lf2", "sp0", "sp1", "top")


def test_labels_of_a_site_are_stated():
    """A level is called after the part behind the slash."""
    topology = read(EXAMPLE, ["example.com/rack"], {"node": 5.0, "rack": 9.0})
    assert table(topology) == [[0, 9, 5, 9], [9, 0, 9, 9], [5, 9, 0, 9], [9, 9, 9, 0]]


def read_labels(*rows):
    """Return the hardware of nodes `n0`, `n1`, .. with labels each."""
    items = [{"metadata": {"name": f"n{k}", "labels": labels}} for k, labels in enumerate(rows)]
    return read_hardware(FileText("nodes.json", json.dumps({"kind": "NodeList", "items": items})))


def test_bug_labels_of_oci_were_passed_over():
    """Local blocks lie in network blocks, and those in islands."""
    places = [("i0", "b0", "l0"), ("i0", "b0", "l1"), ("i0", "b1", "l2"), ("i1", "b2", "l3")]
    keys = [f"oci.oraclecloud.com/rdma.{name}_id" for name in ("hpc_island", "network_block", "local_block")]
    hardware = read_labels(*(dict(zip(keys, place, strict=True)) for place in places))
    assert [*hardware.distances] == ["node", "rdma.local_block_id", "rdma.network_block_id", "rdma.hpc_island_id"]
    assert table(hardware.topology({}))[0] == [0, 4, 6, 8]


@pytest.mark.parametrize("at", ["network.topology.kubernetes.io", "network.topology.nvidia.com"])
def test_older_labels_of_topograph_are_known(at):
    """Blocks lie below spines, and those in data centers."""
    outer = {f"{at}/datacenter": "d", f"{at}/spine": "s"}
    hardware = read_labels({f"{at}/block": "b0", **outer}, {f"{at}/block": "b1", **outer})
    assert [*hardware.distances] == ["node", "block", "spine", "datacenter"]
    assert table(hardware.topology({}))[0] == [0, 4]


def test_tiers_of_topograph_are_known_by_number():
    """The smallest is nearest to the node, and accelerators may be cut once more."""
    at, inside = "fabric.topograph.run/tier-", "accelerator.topograph.run/"
    labels = {f"{at}{tier}": "x" for tier in range(4)} | {f"{inside}domain": "d", f"{inside}sub-domain": "s"}
    hardware = read_labels(labels, labels)
    assert [*hardware.distances][1:] == ["sub-domain", "domain", "tier-0", "tier-1", "tier-2", "tier-3"]


def test_of_two_labels_for_a_level_one_counts():
    """As where Topograph has been upgraded."""
    both = {"network.topology.nvidia.com/tier-0": "a", "fabric.topograph.run/tier-0": "b"}
    assert [*read_labels(both, both).distances] == ["node", "tier-0"]


def test_nodes_of_aws_may_hang_below_the_third_or_the_fourth_layer():
    """Those below the third are there together, as are those below one of the fourth."""
    layers = [("t", "m", "a"), ("t", "m", "a"), ("t", "m", "a", "x"), ("t", "m", "a", "x")]
    at = "topology.k8s.aws/network-node-layer-"
    topology = read_labels(*({f"{at}{k}": name for k, name in enumerate(row, 1)} for row in layers)).topology({})
    assert topology.remarks == ()
    assert table(topology) == [[0, 2, 4, 4], [2, 0, 4, 4], [4, 4, 0, 2], [4, 4, 2, 0]]


def test_nodes_without_labels_are_all_as_far_apart():
    """There is nothing to tell them apart by."""
    items = [{"metadata": {"name": name}} for name in "abc"]
    assert table(read(json.dumps({"kind": "NodeList", "items": items}))) == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("gpu-1", "gpu-0"), r"topology/items/2/metadata/name: expected different names, got 'gpu-0' of 1 too"),
        (('"gpu-1"', "7"), r"topology/items/2/metadata/name: expected text, got 7"),
        (
            ('"kind": "Node", "metadata": {"name": "gpu-0"', '"kind": "Pod", "metadata": {"name": "gpu-0"'),
            r"items/1/kind",
        ),
        (('"lf2"', "2"), r"topology/items/4/metadata/labels/network.topology.nvidia.com/leaf: expected text, got 2"),
        (
            ('"labels": {"kubernetes.io/hostname": "control-0"}', '"labels": []'),
            r"items/0/metadata/labels: expected",
        ),
        (('"metadata": {"name": "control-0"', '"meta": {"name": "control-0"'), r"items/0/metadata: expected an object"),
    ],
)
def test_bad_nodes_are_named(change, reason):
    """Each by its place in the list."""
    text = EXAMPLE.replace(*change)
    assert text != EXAMPLE
    with pytest.raises(InputError, match=reason):
        read(text)


@pytest.mark.parametrize(
    ("text", "labels", "reason"),
    [
        (EXAMPLE, ["example.com/row"], r"labels: expected labels that nodes have, got 'example.com/row'"),
        (EXAMPLE, [], r"labels: expected 1 to 32 labels, got 0"),
        (EXAMPLE, ["a"] * 33, r"labels: expected 1 to 32 labels, got 33"),
        (EXAMPLE, ["example.com/rack"] * 2, r"labels: expected labels with different words behind the slash"),
        ('{"nodes": [], "edges": []}', ["example.com/rack"], r"labels: expected them with nodes of Kubernetes"),
        ('{"kind": "List", "items": []}', None, r"topology/items: expected 1 to 1048576 nodes, got 0"),
        ('{"kind": "List", "items": 3}', None, r"topology/items: expected a list, got 3"),
        (EXAMPLE, ["kubernetes.io/hostname", "example.com/rack"], r"topology/items: expected a node that has all of"),
    ],
)
def test_labels_that_do_not_fit_are_named(text, labels, reason):
    """Those that no node has, and files of something else."""
    with pytest.raises(InputError, match=reason):
        read(text, labels)


def test_labels_are_for_nodes_of_kubernetes():
    """A specification has none."""
    with pytest.raises(InputError, match=r"labels: expected them with nodes of Kubernetes, .* got 'torus:4'"):
        read_hardware("torus:4", labels=["a"])


@pytest.mark.slow
@cases(30, 2000)
@given(data=st.data())
def test_damaged_lists_are_read_or_refused(data):
    """Either there are nodes, or an error names the field."""
    with suppress(InputError):
        assert read(data.draw(damaged(EXAMPLE))).size
