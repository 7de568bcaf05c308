"""JSON patches of pods, one for the pod of every rank, before it is scheduled.

Sources: RFC 6902; Kueue, Topology Aware Scheduling, https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/,
which gives the pod of index k of a group the k-th place of its assignment; Volcano, whose pods have their index in the
annotation `volcano.sh/task-index`, https://volcano.sh/en/docs/. Kubernetes takes a node selector while a pod has
scheduling gates.
"""

import json

from tiger.launchers.order import RankOrder, check_hosts

Operation = dict[str, object]


def write_kueue(order: RankOrder) -> str:
    """Return the index in its pod group that brings the pod of every rank to its host.

    It is the position of the rank's slot, host by host, in the order of the topology.
    """
    index = {rank: position for position, rank in enumerate(order.launched)}
    labels = [{"kueue.x-k8s.io/pod-group-pod-index": str(index[rank])} for rank in range(len(order.seats))]
    return _write(order, [[_add("labels", label)] for label in labels])


def write_volcano(order: RankOrder) -> str:
    """Return the task index of the pod of every rank, and the selector of its host."""
    patches = []
    for rank, seat in enumerate(order.seats):
        selector: Operation = {
            "op": "add",
            "path": "/spec/nodeSelector",
            "value": {"kubernetes.io/hostname": seat.host},
        }
        patches.append([_add("annotations", {"volcano.sh/task-index": str(rank)}), selector])
    return _write(order, patches)


def _add(part: str, entry: dict[str, str]) -> Operation:
    """Return the operation that adds an entry to the labels or the annotations of a pod."""
    [(name, value)] = entry.items()
    return {"op": "add", "path": f"/metadata/{part}/{name.replace('~', '~0').replace('/', '~1')}", "value": value}


def _write(order: RankOrder, patches: list[list[Operation]]) -> str:
    """Return a list of objects with rank, host and patch, one a line."""
    check_hosts(order)
    rows = [
        json.dumps({"rank": rank, "host": seat.host, "patch": patch})
        for rank, (seat, patch) in enumerate(zip(order.seats, patches, strict=True))
    ]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def describe_pods(_: RankOrder) -> str:
    """Return the command that takes a patch."""
    return "for every entry: kubectl patch pod POD_OF_RANK --type=json --patch PATCH"
