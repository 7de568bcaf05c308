"""The published balancer of deepseek-ai/EPLB, written anew from its description: the peer of expert loads.

Groups go to nodes, largest first, each to the lightest node with room. Within a node one expert after another, always
the one with the largest replica, gets a further replica; replicas then go to GPUs as groups went to nodes. Where the
number of groups is no multiple of that of nodes, one node has them all. Sums are of float64, where
EPLB's are of float32.
"""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray


def rebalance(weight: FloatArray, replicas: int, groups: int, nodes: int, gpus: int) -> IntArray:
    """Return the expert of each slot, [layers, replicas], for loads [layers, experts]."""
    if groups % nodes:
        groups, nodes = 1, 1
    return np.array([_rebalance_layer(row, (replicas, groups, nodes, gpus)) for row in weight])


def _rebalance_layer(weight: FloatArray, sizes: tuple[int, int, int, int]) -> list[int]:
    """Return the expert of each slot of a layer."""
    replicas, groups, nodes, gpus = sizes
    members = np.arange(len(weight)).reshape(groups, -1)
    slots: list[int] = []
    for held in pack(weight[members].sum(axis=1), nodes):
        experts = members[held].ravel()
        owners, share = replicate(weight[experts], replicas // nodes)
        for items in pack(share, gpus // nodes):
            slots += experts[owners[items]].tolist()
    return slots


def replicate(weight: FloatArray, slots: int) -> tuple[IntArray, FloatArray]:
    """Return the expert of each replica and its load: one each, then one more for whose replicas are largest."""
    owners, counts = list(range(len(weight))), np.ones(len(weight))
    while len(owners) < slots:
        owners.append(int((weight / counts).argmax()))
        counts[owners[-1]] += 1
    return np.array(owners), (weight / counts)[owners]


def pack(load: FloatArray, packs: int) -> list[list[int]]:
    """Return the items of each pack, as many in each: largest first, each to the lightest pack with room."""
    if len(load) == packs:
        return [[k] for k in range(packs)]
    held: list[list[int]] = [[] for _ in range(packs)]
    sums = np.zeros(packs)
    for item in np.argsort(-load, kind="stable").tolist():
        chosen = int(np.where([len(items) < len(load) // packs for items in held], sums, np.inf).argmin())
        held[chosen].append(item)
        sums[chosen] += load[item]
    return held
