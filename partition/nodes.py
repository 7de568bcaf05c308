"""The nodes that a block of tasks may use."""

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem


def nodes_near(problem: Problem, places: IntArray, tasks: IntArray, count: int) -> IntArray:
    """Return the nodes that `tasks` occupy in `places[n]` and the hosts closest to any of them, up to `count` in all.

    No node that a task occupies is left out, and the hosts are those closest by the way from a task's node to them.
    """
    # The nodes in use stay in, so that a block can return the mapping that it began with.
    own = np.unique(places[tasks])
    hosts = np.setdiff1d(problem.topology.hosts, own)
    more = max(count - len(own), 0)
    if more < len(hosts):
        distances = problem.metric.between(own[:, None], hosts[None, :]).min(axis=0)
        hosts = hosts[np.argsort(distances, kind="stable")[:more]]
    return np.sort(np.concatenate([own, hosts]))
