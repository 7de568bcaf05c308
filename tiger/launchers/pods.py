"""JSON patches of pods, one for the pod of every rank, before it is scheduled.

Sources: RFC 6902; Kueue, Topology Aware Scheduling, https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/,
which gives the pod of index k of a group the k-th place of its assignment; Volcano, which makes the index of a pod the
end of its name and, before it exists, its variable VC_TASK_INDEX: pkg/controllers/job of
https://github.com/volcano-sh/volcano. Kubernetes takes a node selector while a pod has scheduling gates.
"""

import json

from tiger.errors import InputError
from tiger.launchers.order import FIELD, RankOrder, check_hosts
from tiger.model.wording import LOCALHOST

Operation = dict[str, object]


def write_kueue(order: RankOrder) -> str:
    """Return the index in its pod group that brings the pod of every rank to its host.

    It is the position of the rank's slot, host by host, in the order in which launchers fill them.
    """
    index = {rank: position for position, rank in enumerate(order.launched)}
    path = "/metadata/labels/kueue.x-k8s.io~1pod-group-pod-index"
    return _write(order, [[{"op": "add", "path": path, "value": str(index[r])}] for r in range(len(order.bindings))])


def write_volcano(order: RankOrder) -> str:
    """Return the selector of the host of every rank, for the pod that has had the rank as its index from the start."""
    path = "/spec/nodeSelector"
    return _write(
        order, [[{"op": "add", "path": path, "value": {"kubernetes.io/hostname": at.host}}] for at in order.bindings]
    )


def _write(order: RankOrder, patches: list[list[Operation]]) -> str:
    """Return a list of objects with rank, host and patch, one a line; raise InputError for a machine without a name."""
    check_nodes(order)
    rows = [
        json.dumps({"rank": rank, "host": binding.host, "patch": patch})
        for rank, (binding, patch) in enumerate(zip(order.bindings, patches, strict=True))
    ]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def check_nodes(order: RankOrder) -> None:
    """Raise InputError of `emit` for hosts that are no nodes of Kubernetes, among them a machine without a name."""
    check_hosts(order)
    if LOCALHOST in order.counts:
        raise InputError(FIELD, f"expected the names of nodes of Kubernetes, got {LOCALHOST!r}, a machine without one")


def describe_kueue(_: RankOrder) -> str:
    """Return the command that takes a patch."""
    return "for every entry: kubectl patch pod POD_OF_RANK --type=json --patch PATCH"


def describe_volcano(_: RankOrder) -> str:
    """Return the command that takes a patch."""
    return "for every entry, while pods are gated: kubectl patch pod JOB-TASK-RANK --type=json --patch PATCH"
