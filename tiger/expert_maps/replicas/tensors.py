"""The three tensors of deepseek-ai/EPLB, and its call: a drop-in that balances better."""

import sys
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from tiger.expert_maps.replicas.loads import ExpertLoads, count_replicas
from tiger.model.arrays import FloatArray, IntArray


class Tensors(NamedTuple):
    """Hold the expert of each slot, the slots of each expert, and the number of replicas of each expert.

    [layers, slots], [layers, experts, most replicas] with -1 after the slots of experts that have fewer, and
    [layers, experts].
    """

    phy2log: IntArray
    log2phy: IntArray
    logcnt: IntArray


def rebalance_experts(weight: ArrayLike, num_replicas: int, num_groups: int, num_nodes: int, num_gpus: int) -> Tensors:
    """Return where the replicas of experts go, as `rebalance_experts` of EPLB does: (phy2log, log2phy, logcnt).

    `weight` is [layers, experts], an array or a tensor of torch; arrays of int64 are returned for both. No GPU holds
    two replicas of an expert. `tiger.expert_maps.replicas.balance` has bounds and other rules. Raises InputError.
    """
    from tiger.expert_maps.replicas.balance import balance_and_prove  # which loads scipy, as reading a map does not

    # ExpertLoads checks what it is given.
    loads = ExpertLoads(cast(FloatArray, _take_array(weight)), num_replicas, num_groups, num_nodes, num_gpus)
    return make_tensors(balance_and_prove(loads).phy2log, loads.experts)


def _take_array(weight: ArrayLike) -> ArrayLike:
    """Return loads with those of a tensor of torch as an array, from whatever device and type it has."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(weight, torch.Tensor):
        return np.asarray(weight.detach().cpu().double().numpy())
    return weight


def make_tensors(phy2log: IntArray, experts: int) -> Tensors:
    """Return the three tensors of a map, [layers, slots]; slots of an expert are in order."""
    layers, slots = phy2log.shape
    logcnt = count_replicas(phy2log, experts)
    order = np.argsort(phy2log, axis=1, kind="stable")
    owner = np.take_along_axis(phy2log, order, axis=1)
    first = np.cumsum(logcnt, axis=1) - logcnt
    rank = np.arange(slots)[None, :] - np.take_along_axis(first, owner, axis=1)
    log2phy = np.full((layers, experts, int(logcnt.max())), -1, np.int64)
    log2phy[np.arange(layers)[:, None], owner, rank] = order
    return Tensors(phy2log, log2phy, logcnt)
