"""The plan whose layers are cut in proportion to memory, and the sequences that a plan has room for."""

import numpy as np

from tiger.placement.chain.memory_split import split_by_memory
from tiger.placement.search.problem import ChainProblem
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.costs.sums import state_bytes
from tiger.training.costs.tolerances import MEMORY
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.options import SEQUENCE_LIMIT


def plan_by_memory(problem: ChainProblem) -> Plan:
    """Return layers cut among accelerators in the order of the cluster, in proportion to their memory.

    Where they do not fit, a single CPU has as few of the first layers as let the others fit, as `-ngl` of llama.cpp.
    """
    params, cluster, layers = problem.params, problem.cluster, problem.layers
    evaluator = problem.evaluator.for_single_stages()
    count = cluster.size // (params.tensor * params.copies)
    grid = rank_order((count, params.copies, params.tensor))
    kinds = np.array(cluster.kinds)[grid[:, 0, 0]]
    cards = grid[kinds == "accelerator"] if (kinds == "accelerator").any() else grid
    room = cluster.memory_bytes[cards].min(axis=(1, 2)) * params.tensor
    split = split_by_memory(layers, room)
    plan = Plan(cuts=split.cuts, grid=cards[list(split.positions)])
    hosts = grid[kinds == "cpu"][:1] if len(cards) < len(grid) else grid[:0]
    for first in range(1, layers.size if len(hosts) else 1):
        if evaluator.excess_bytes(plan) == 0:
            break
        split = split_by_memory(layers, room, first)
        plan = Plan(cuts=(0, *split.cuts), grid=np.concatenate([hosts, cards[list(split.positions)]]))
    return plan


def count_sequences(layers: Layers, cluster: Cluster, plan: Plan) -> int | None:
    """Return how many sequences the devices of a plan have room for beside weights, None without a cache.

    The least over positions of what is left, over the bytes of a sequence in the cache of their layers.
    """
    if layers.served is None:
        return None
    tensor, begins = plan.grid.shape[2], np.array(plan.cuts[:-1])
    caches = np.add.reduceat(layers.served.cache_bytes, begins)
    weights = plan.sum_by_position(state_bytes(layers, plan.cuts) - caches)
    cache = plan.sum_by_position(caches)
    left = cluster.memory_bytes[plan.grid].min(axis=(1, 2)) * (1 + MEMORY) - weights / tensor
    each = cache / layers.served.sequences / tensor
    if (left < 0).any():
        return 0
    counts = np.floor(np.divide(left, each, out=np.full(len(each), np.inf), where=each > 0))
    return int(min(counts.min(), SEQUENCE_LIMIT))
