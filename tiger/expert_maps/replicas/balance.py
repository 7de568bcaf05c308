"""A map from slots to experts that balances the loads of GPUs, with a bound on how far from the best it can be."""

from dataclasses import dataclass

import numpy as np

from tiger.expert_maps.replicas.bounds import bound_load
from tiger.expert_maps.replicas.groups import (
    all_gpus,
    arrange_groups,
    bound_heaviest,
    bound_nodes,
    list_experts,
    make_pools,
)
from tiger.expert_maps.replicas.loads import ExpertLoads, gpu_times
from tiger.expert_maps.replicas.proof import prove
from tiger.expert_maps.replicas.search import search_pools
from tiger.model.arrays import BoolArray, FloatArray, IntArray, lock
from tiger.training.costs.tolerances import MET

# Patterns of a proof, and slots of all layers together up to which one is tried: enough for the example of EPLB, and
# none for a model in service.
PROOF, SMALL = 2_000, 32


@dataclass(frozen=True, slots=True)
class Balance:
    """Hold a map from slots to experts, `phy2log` [layers, slots], and what its loads are.

    `largest` is the largest load of a GPU, over its speed, in each layer, `bound` what no map under the same rule goes
    below, and `optimal` says where they meet or all other maps were ruled out.
    """

    phy2log: IntArray
    largest: FloatArray
    bound: FloatArray
    optimal: BoolArray

    @property
    def gap(self) -> float:
        """Return by which part the sum of the largest loads may be above the least possible."""
        total = float(self.largest.sum())
        return (total - float(self.bound.sum())) / total if total else 0.0


def balance(loads: ExpertLoads, patterns: int = 0) -> Balance:
    """Return a map with small largest loads; a proof of each layer may list so many `patterns`.

    Replicas so that the largest is least, then largest first onto the lightest GPU, then exchanges; other numbers of
    replicas where the bound is far. Few choices of the groups of nodes are compared, unless a proof goes through all.
    O(slots * GPUs) a layer and O(slots * slots of a GPU) an exchange.
    """
    phy2log, largest = np.zeros((loads.layers, loads.num_replicas), np.int64), np.full(loads.layers, np.inf)
    bound = np.zeros(loads.layers)
    arrangements = arrange_groups(loads)
    for arrangement in arrangements:
        found, pool_bound = search_arrangement(loads, list_experts(loads, arrangement))
        load = gpu_times(loads, found).max(axis=1)
        better = load < largest
        phy2log[better], largest[better] = found[better], load[better]
        # Where groups have one arrangement, what holds for its pools holds for all maps.
        bound = pool_bound if _is_only(loads) else bound
    if loads.pools > 1:
        bounds = bound, bound_nodes(loads, largest), bound_heaviest(loads, largest), _bound_free(loads, largest)
        bound = np.max(bounds, axis=0)
    proven = largest <= bound * (1 + MET)
    for layer in np.flatnonzero(~proven).tolist() if patterns else []:
        answer = prove(loads, layer, float(largest[layer]), patterns)
        proven[layer] = answer.proven
        if answer.phy2log is not None:
            phy2log[layer], largest[layer] = answer.phy2log, answer.largest
    bound = np.where(proven, largest, np.minimum(bound, largest))
    return Balance(lock(phy2log), lock(largest), lock(bound), lock(proven))


def balance_and_prove(loads: ExpertLoads) -> Balance:
    """Return a map with small largest loads, with a proof where slots are few."""
    return balance(loads, PROOF if loads.layers * loads.num_replicas <= SMALL else 0)


def search_arrangement(loads: ExpertLoads, experts: IntArray) -> tuple[IntArray, FloatArray]:
    """Return a map for pools of given experts, and the largest of the bounds of a layer's pools."""
    slots, bound = search_pools(make_pools(loads, loads.weight, experts))
    named = np.take_along_axis(experts, slots.reshape(len(slots), -1), axis=1)
    return named.reshape(loads.layers, -1), bound.reshape(loads.layers, -1).max(axis=1)


def _is_only(loads: ExpertLoads) -> bool:
    """Return whether there is one arrangement of groups, but for names of nodes that are alike."""
    return loads.pools == 1 or (loads.pools == loads.groups and loads.nodes_alike)


def _bound_free(loads: ExpertLoads, reached: FloatArray) -> FloatArray:
    """Return a bound that holds wherever groups go."""
    return bound_load(all_gpus(loads), reached)
