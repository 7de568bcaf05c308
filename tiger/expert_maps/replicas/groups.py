"""Which groups of experts each node holds, and the pools that this makes of a layer."""

from collections.abc import Iterator
from itertools import combinations, islice, permutations

import numpy as np

from tiger.expert_maps.replicas.bounds import bound_load
from tiger.expert_maps.replicas.exchange import exchange
from tiger.expert_maps.replicas.loads import ExpertLoads
from tiger.expert_maps.replicas.packing import pack
from tiger.expert_maps.replicas.pools import Pools
from tiger.model.arrays import FloatArray, IntArray

# So many choices of the groups of nodes are all tried, such as the three of 4 groups on 2 nodes.
FEW = 3


def arrange_groups(loads: ExpertLoads) -> list[IntArray]:
    """Return choices of the groups of nodes, each [layers, nodes, groups of a node].

    Groups by load, each to the lightest node, as EPLB has them, the same after exchanges, and all where they are few.
    """
    pools = group_pools(loads)
    first = pack(pools, np.tile(np.arange(loads.groups), (loads.layers, 1)))
    every = list(islice(every_arrangement(loads), FEW + 1))
    if len(every) == 1:
        return [first]
    if len(every) <= FEW:
        return [first, *(np.repeat(one, loads.layers, axis=0) for one in every)]
    second = exchange(pools, first)
    return [first] if np.array_equal(first, second) else [first, second]


def group_pools(loads: ExpertLoads) -> Pools:
    """Return groups as if they were experts of one replica, and nodes as if they were GPUs of their mean speed."""
    weight = loads.weight.reshape(loads.layers, loads.groups, -1).sum(axis=2)
    speed = loads.speeds.reshape(1, loads.pools, -1).mean(axis=2)
    return Pools(weight, loads.pools, loads.groups // loads.pools, 1, speed)


def all_gpus(loads: ExpertLoads) -> Pools:
    """Return the layers as pools of all GPUs, whatever the groups."""
    return Pools(loads.weight, loads.num_gpus, loads.size, loads.copies_per_gpu, loads.speeds[None])


def bound_nodes(loads: ExpertLoads, reached: FloatArray) -> FloatArray:
    """Return a bound on the largest load of a GPU, [layers], from the load of the heaviest node."""
    gpus = loads.num_gpus // loads.pools
    return bound_load(group_pools(loads), reached * gpus) / gpus


def bound_heaviest(loads: ExpertLoads, reached: FloatArray) -> FloatArray:
    """Return a bound on the largest load of a GPU, [layers], from the node that holds the heaviest group.

    The k-th largest expert of each other group there is at least the smallest of the k-th largest. It is 0 where nodes
    are unlike, any of which may be that one.
    """
    if not loads.nodes_alike:
        return np.zeros(loads.layers)
    weight, rows = loads.weight.reshape(loads.layers, loads.groups, -1), np.arange(loads.layers)
    heaviest = weight.sum(axis=2).argmax(axis=1)
    others = np.sort(weight, axis=2)
    others[rows, heaviest] = np.inf
    held = [weight[rows, heaviest], *[others.min(axis=1)] * (loads.groups // loads.pools - 1)]
    gpus = loads.num_gpus // loads.pools
    pools = Pools(np.concatenate(held, axis=1), gpus, loads.size, loads.copies_per_gpu, loads.speeds[None, :gpus])
    return bound_load(pools, reached)


def list_experts(loads: ExpertLoads, arrangement: IntArray) -> IntArray:
    """Return the experts of each pool, [layers * nodes, experts of a node], in the order of its groups."""
    size = loads.experts // loads.groups
    experts = arrangement[..., None] * size + np.arange(size)
    return np.asarray(experts.reshape(len(arrangement) * loads.pools, -1))


def make_pools(loads: ExpertLoads, weight: FloatArray, experts: IntArray) -> Pools:
    """Return the pools of layers, `weight` [layers, experts], that hold given experts each."""
    held = np.repeat(weight, loads.pools, axis=0)
    if loads.room is not None:
        # There is one pool a layer, whose last expert is none.
        return Pools(weight[:, :-1], loads.num_gpus, loads.size, loads.copies_per_gpu, loads.speeds[None], loads.room)
    gpus = loads.num_gpus // loads.pools
    speed = np.tile(loads.speeds.reshape(loads.pools, gpus), (len(weight), 1))
    return Pools(np.take_along_axis(held, experts, axis=1), gpus, loads.size, loads.copies_per_gpu, speed)


def every_arrangement(loads: ExpertLoads) -> Iterator[IntArray]:
    """Yield the choices of the groups of nodes, [1, nodes, groups of a node].

    Of those that an exchange of nodes makes equal only one, where nodes are alike.
    """
    for parts in _divide(tuple(range(loads.groups)), loads.groups // loads.pools):
        for order in [parts] if loads.nodes_alike else permutations(parts):
            yield np.array([order], np.int64)


def _divide(groups: tuple[int, ...], size: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield the divisions of groups into sets of a size; the first group is in the first set."""
    if not groups:
        yield ()
        return
    for rest in combinations(groups[1:], size - 1):
        left = tuple(group for group in groups[1:] if group not in rest)
        yield from (((groups[0], *rest), *others) for others in _divide(left, size))
