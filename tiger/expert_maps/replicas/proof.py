"""A proof that a layer's map is the best, by going through the arrangements of groups and what each node may hold."""

from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from tiger.expert_maps.replicas.bounds import rule_out
from tiger.expert_maps.replicas.descent import largest_time
from tiger.expert_maps.replicas.exact import LEAST, SLOTS, solve_exactly
from tiger.expert_maps.replicas.groups import every_arrangement, list_experts, make_pools
from tiger.expert_maps.replicas.loads import ExpertLoads
from tiger.expert_maps.replicas.search import search_pools
from tiger.model.arrays import IntArray

# More arrangements of groups than this are not gone through: 8 groups on 4 nodes have 105.
ARRANGEMENTS = 200


class ReplicaProof(NamedTuple):
    """Hold a better map of a layer, [slots], if there is one, its largest load, and whether that is proven least."""

    phy2log: IntArray | None
    largest: float
    proven: bool


def prove(loads: ExpertLoads, layer: int, reached: float, patterns: int) -> ReplicaProof:
    """Return the best map of a layer that is better than a load reached, and whether no other is better still.

    What a GPU may hold is listed up to so many `patterns`. Layers for which that is too few, and layers with many
    slots, are left open.
    """
    answer = ReplicaProof(None, reached, proven=False)
    if loads.num_replicas // loads.pools > SLOTS:
        return answer
    rows = slice(layer, layer + 1)
    one = replace(loads, weight=loads.weight[rows], room=None if loads.room is None else loads.room[rows])
    arrangements = list(islice(every_arrangement(loads), ARRANGEMENTS + 1))
    proven = len(arrangements) <= ARRANGEMENTS
    for arrangement in arrangements[:ARRANGEMENTS]:
        found = _solve_arrangement(one, arrangement, (answer.largest, patterns))
        proven &= found.proven
        if found.phy2log is not None:
            answer = found
    return answer._replace(proven=proven)


def _solve_arrangement(loads: ExpertLoads, arrangement: IntArray, aim: tuple[float, int]) -> ReplicaProof:
    """Return the best map of one layer below a load for an arrangement of groups, and whether that is settled."""
    reached, patterns = aim
    experts = list_experts(loads, arrangement)
    pools = make_pools(loads, loads.weight, experts)
    limit = np.full(len(experts), reached * (1 - LEAST))
    if rule_out(pools, limit).any():
        return ReplicaProof(None, reached, proven=True)
    slots, _ = search_pools(pools)
    proven = True
    for row in range(len(experts)):
        pool = pools.take(slice(row, row + 1))
        # Only the pool with the largest load decides, and one that can't go below the load reached settles it.
        solved = solve_exactly(pool, float(largest_time(pool.pad(), slots[row : row + 1])[0]), patterns)
        proven &= solved.proven
        if solved.slots is not None:
            slots[row] = solved.slots
        if solved.proven and largest_time(pool.pad(), slots[row : row + 1])[0] >= limit[row]:
            return ReplicaProof(None, reached, proven=True)
    largest = float(largest_time(pools.pad(), slots).max())
    better = largest < limit[0]
    named = np.take_along_axis(experts, slots.reshape(len(slots), -1), axis=1).ravel()
    return ReplicaProof(named, largest, proven) if better else ReplicaProof(None, reached, proven)
