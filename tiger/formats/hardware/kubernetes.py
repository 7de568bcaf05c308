"""Nodes of Kubernetes with labels that say where they are, as `kubectl get nodes -o json` prints them.

Sources of labels: Kubernetes, https://kubernetes.io/docs/reference/labels-annotations-taints/; topology-aware
scheduling on GKE, https://cloud.google.com/ai-hypercomputer/docs/workloads/schedule-gke-workloads-tas; RDMA networks on
OCI, https://github.com/oracle-quickstart/oci-hpc-oke; NVIDIA's Topograph, https://github.com/NVIDIA/topograph
(docs/reference/node-labels.md).
"""

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from tiger.errors import InputError
from tiger.formats.hardware.levels import LevelHardware, make_levels
from tiger.model.values import check_records
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

FIELD = "topology"
KINDS = ("List", "NodeList")
# Tiers of switches that Topograph may find; it has no limit, and networks have three or four.
TIERS = 8
_NVIDIA = ("network.topology.kubernetes.io", "network.topology.nvidia.com")
_AWS = "topology.k8s.aws/network-node-layer-"
# Outermost first; of those on clouds and of all versions of Topograph a cluster has a few.
USUAL = (
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "cloud.google.com/gce-topology-block",
    "cloud.google.com/gce-topology-subblock",
    "cloud.google.com/gce-topology-host",
    *(f"{_AWS}{layer}" for layer in range(1, 5)),
    "oci.oraclecloud.com/rdma.hpc_island_id",
    "oci.oraclecloud.com/rdma.network_block_id",
    "oci.oraclecloud.com/rdma.local_block_id",
    *(f"{at}/{name}" for name in ("datacenter", "core", "spine", "block", "leaf") for at in _NVIDIA),
    *(f"{at}/tier-{tier}" for tier in reversed(range(TIERS)) for at in (_NVIDIA[1], "fabric.topograph.run")),
    *(f"{at}/accelerator" for at in _NVIDIA),
    "accelerator.topograph.run/domain",
    "accelerator.topograph.run/sub-domain",
    "nvidia.com/gpu.clique",
)
# What a node without a label has in its place: on AWS, nodes of three layers hang below the third.
STAND_INS: Mapping[str, str] = {f"{_AWS}4": f"{_AWS}3"}
# More levels than networks have.
LABEL_LIMIT = 32
# Names in a remark; more are counted.
NAMED = 5


def is_list(document: object) -> TypeGuard[dict[str, object]]:
    """Return whether parsed JSON is a list of Kubernetes."""
    return isinstance(document, dict) and document.get("kind") in KINDS and "items" in document


def read_nodes(document: object, labels: Sequence[str] | None = None) -> LevelHardware:
    """Return the nodes of a list, in its order, in the groups that labels make, outermost first.

    Without labels, those of `USUAL` count that any node has, of two for one level the first. A level is called after
    the part of its label behind the slash, and nodes alone are `node`. A node without one of the labels is left out
    with a remark, as Kueue does it. Raises InputError of `topology` with a pointer, and of `labels` for one that no
    node has.
    """
    if not is_list(document):
        raise InputError("labels", "expected them with nodes of Kubernetes, of the kind List, got something else")
    items = check_records(f"{FIELD}/items", document["items"])
    if not 1 <= len(items) <= NODE_LIMIT:
        raise InputError(f"{FIELD}/items", f"expected 1 to {NODE_LIMIT} nodes, got {len(items)}")
    names, given = _read_names(items), [_read_labels(k, item) for k, item in enumerate(items)]
    chosen = _choose_labels(given, labels)
    for label, other in STAND_INS.items():
        for values in given:
            if label in chosen and other in values:
                values.setdefault(label, values[other])
    complete = [k for k, values in enumerate(given) if all(label in values for label in chosen)]
    if not complete:
        raise InputError(f"{FIELD}/items", f"expected a node that has all of {', '.join(chosen)}, got none")
    levels = [*(label.rpartition("/")[2] for label in chosen), "node"]
    groups = [[given[k][label] for k in complete] for label in chosen]
    return LevelHardware(
        names=tuple(names[k] for k in complete),
        levels=make_levels(levels, [*groups, [names[k] for k in complete]]),
        remarks=_remark([names[k] for k in sorted({*range(len(items))}.difference(complete))], chosen),
    )


def _read_names(items: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the name of every node, all different."""
    names, seen = list[str](), dict[str, int]()
    for k, item in enumerate(items):
        at = f"{FIELD}/items/{k}"
        kind = item.get("kind", "Node")
        if kind != "Node":
            raise InputError(f"{at}/kind", f"expected Node, got {describe(kind)}")
        name = _read_metadata(at, item).get("name")
        if not isinstance(name, str) or not name:
            raise InputError(f"{at}/metadata/name", f"expected text, got {describe(name)}")
        if name in seen:
            raise InputError(
                f"{at}/metadata/name", f"expected different names, got {describe(name)} of {seen[name]} too"
            )
        seen[name] = k
        names.append(name)
    return names


def _read_metadata(at: str, item: Mapping[str, object]) -> Mapping[str, object]:
    """Return the metadata of a node."""
    metadata = item.get("metadata")
    if not isinstance(metadata, dict):
        raise InputError(f"{at}/metadata", f"expected an object, got {describe(metadata)}")
    return metadata


def _read_labels(k: int, item: Mapping[str, object]) -> dict[str, str]:
    """Return the labels of a node."""
    at = f"{FIELD}/items/{k}"
    labels = _read_metadata(at, item).get("labels", {})
    if not isinstance(labels, dict):
        raise InputError(f"{at}/metadata/labels", f"expected an object, got {describe(labels)}")
    wrong = next((label for label, value in labels.items() if not isinstance(value, str)), None)
    if wrong is not None:
        raise InputError(f"{at}/metadata/labels/{wrong}", f"expected text, got {describe(labels[wrong])}")
    return dict(labels)


def _choose_labels(given: Sequence[Mapping[str, str]], labels: Sequence[str] | None) -> list[str]:
    """Return the labels that make levels, the names of which must differ."""
    known = set().union(*given)
    if labels is None:
        named = dict[str, str]()
        for label in filter(known.__contains__, USUAL):
            named.setdefault(label.rpartition("/")[2], label)
        return list(named.values())
    if not 1 <= len(labels) <= LABEL_LIMIT:
        raise InputError("labels", f"expected 1 to {LABEL_LIMIT} labels, got {len(labels)}")
    names = [label.rpartition("/")[2] for label in labels]
    for label, name in zip(labels, names, strict=True):
        if label not in known:
            raise InputError("labels", f"expected labels that nodes have, got {describe(label)}")
        if names.count(name) > 1 or name == "node":
            raise InputError("labels", f"expected labels with different words behind the slash, got {describe(label)}")
    return list(labels)


def _remark(missing: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
    """Return remarks on nodes that are left out."""
    if not missing:
        return ()
    named = ", ".join(missing[:NAMED]) + (f" and {len(missing) - NAMED} more" if len(missing) > NAMED else "")
    return (f"left out, as they lack a label out of {', '.join(labels)}: {named}",)
