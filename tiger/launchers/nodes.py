"""What is said of nodes of Kubernetes, so that schedulers bring the pods of a job to them.

Sources: JobSet, https://jobset.sigs.k8s.io/docs/concepts/, whose controller selects nodes by a label with the name of a
child job where the JobSet has the annotations `alpha.jobset.sigs.k8s.io/exclusive-topology` and
`alpha.jobset.sigs.k8s.io/node-selector`, https://kubernetes.io/docs/reference/labels-annotations-taints/; Volcano,
Network Topology Aware Scheduling, https://volcano.sh/en/docs/network_topology_aware_scheduling/, where a job keeps to
one HyperNode.
"""

import json
from itertools import chain

from tiger.errors import InputError
from tiger.launchers.order import FIELD, RankOrder
from tiger.launchers.pods import check_nodes
from tiger.launchers.shares import check_equal

LABEL = "alpha.jobset.sigs.k8s.io/namespaced-job"
# Stands for the names of namespace, JobSet and replicated job, which the order does not know.
JOB = "NAMESPACE_JOBSET-WORKERS"
HYPERNODE = (
    "apiVersion: topology.volcano.sh/v1alpha1",
    "kind: HyperNode",
    "metadata:",
    "  name: tiger-ranks",
    "spec:",
    "  tier: 1",
    "  members:",
)


def write_jobset(order: RankOrder) -> str:
    """Return the patch of the node of every child job, which has the ranks from its index times their number on.

    Raises InputError of `emit` where ranks of a host are not consecutive, or hosts have different numbers of them.
    """
    check_nodes(order)
    check_equal(order, "JobSet")
    if len(order.runs) != len(order.counts):
        what = "expected consecutive ranks on every host for JobSet, as those of a child job are"
        raise InputError(FIELD, f"{what}, got {len(order.runs)} runs of ranks on {len(order.counts)} hosts")
    path = f"/metadata/labels/{LABEL.replace('/', '~1')}"
    rows = [
        json.dumps({"host": host, "patch": [{"op": "add", "path": path, "value": f"{JOB}-{index}"}]})
        for index, (host, _) in enumerate(order.runs)
    ]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def write_hypernode(order: RankOrder) -> str:
    """Return a HyperNode of the lowest tier with the hosts of a job, by their lowest ranks."""
    check_nodes(order)
    hosts = dict.fromkeys(binding.host for binding in order.bindings)
    # Names stand in quotes, since one of digits alone would be a number.
    members = [
        ["    - type: Node", "      selector:", "        exactMatch:", f'          name: "{host}"'] for host in hosts
    ]
    return "\n".join([*HYPERNODE, *chain.from_iterable(members), ""])


def describe_jobset(order: RankOrder) -> str:
    """Return the command that takes a patch, and the sizes of the replicated job."""
    jobs, ranks = len(order.counts), len(order.bindings)
    sizes = f"replicas: {jobs} and parallelism: {ranks // jobs} in the replicated job"
    return f"for every entry, with {JOB} replaced: kubectl patch node HOST --type=json --patch PATCH; {sizes}"


def describe_hypernode(_: RankOrder) -> str:
    """Return the command that takes the object, and what the job says."""
    job = (
        "networkTopology: {mode: hard, highestTierAllowed: 1} in the job; --emit volcano brings its pods to their hosts"
    )
    return f"kubectl apply --filename=FILE; {job}"
