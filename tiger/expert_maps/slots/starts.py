"""Maps that the search starts from: each is made for one part of the objective, under the rules of all."""

import numpy as np

from tiger.expert_maps.replicas.balance import search_arrangement
from tiger.expert_maps.replicas.changes import align_layers, list_changes
from tiger.expert_maps.replicas.groups import list_experts
from tiger.expert_maps.replicas.loads import ExpertLoads
from tiger.expert_maps.replicas.moves import name_gpus
from tiger.expert_maps.slots.objective import SlotProblem, price_slots
from tiger.model.arrays import FloatArray, IntArray

# Rounds of naming devices anew, forth and back through the layers: few gain anything after the third.
ROUNDS = 4
# A round that gains a smaller part is the last.
GAIN = 1e-3


def order_slots(loads: ExpertLoads) -> IntArray:
    """Return the map [L, S] by numbers, as systems have it: experts in order, and then the first ones once more."""
    if loads.room is None:
        return np.tile(np.arange(loads.num_replicas) % loads.experts, (loads.layers, 1))
    real = loads.real
    return np.where(real, (np.cumsum(real, axis=1) - 1) % loads.blank, loads.blank)


def start_with_loads(problem: SlotProblem, fresh: IntArray) -> list[IntArray]:
    """Return balanced maps: changes of the map in use at a few prices of a move, else the `fresh` map.

    Links play no part but in the names of devices where nothing is in use.
    """
    loads, in_use = problem.loads, problem.in_use
    if in_use is None:
        return [rename_devices(problem, fresh)]
    if not problem.token:
        return [in_use, align_layers(loads, in_use, fresh)]
    apart = problem.receipts[~np.eye(loads.num_gpus, dtype=bool)]
    price = float(apart.mean()) / problem.token if apart.size else 0.0
    return list_changes(loads, in_use, fresh, price, problem.most_moves)


def rename_devices(problem: SlotProblem, slots: IntArray) -> IntArray:
    """Return a map with the devices of each layer, and its nodes, named so that links and moves cost less.

    Loads stay as they are. Linear assignments of single layers, the layers beside them as they are, forth and back.
    """
    loads = problem.loads
    found, value = slots.copy(), price_slots(problem, slots).total
    receipts = problem.prices
    for _ in range(ROUNDS if problem.has_links or receipts.any() else 0):
        trial = found.copy()
        for layer in [*range(loads.layers), *reversed(range(loads.layers - 1))]:
            costs = _cost_of_slots(problem, trial, layer, receipts[layer])
            # A device's costs of all that another one holds.
            order = name_gpus(
                costs.reshape(loads.num_gpus, loads.size, -1).sum(axis=1).T, loads.pools, loads.name_kinds(layer)
            )
            trial[layer] = trial[layer].reshape(loads.num_gpus, -1)[order].ravel()
        reached = price_slots(problem, trial).total
        if not reached < value:
            break
        gain, found, value = value - reached, trial, reached
        if gain < GAIN * value:
            break
    return found


def _cost_of_slots(problem: SlotProblem, slots: IntArray, layer: int, receipts: FloatArray) -> FloatArray:
    """Return what links and moves of each slot of a layer cost on each device, [S, G], the layers beside it as is."""
    loads = problem.loads
    here, links = slots[layer], np.zeros_like(receipts)
    number = np.bincount(here, minlength=loads.experts)
    if problem.has_links and layer:
        links += problem.counts[layer - 1].T @ _share_of_layer(loads, slots[layer - 1]) @ problem.hops
    if problem.has_links and layer < loads.layers - 1:
        links += problem.counts[layer] @ _share_of_layer(loads, slots[layer + 1]) @ problem.hops
    return np.asarray((receipts + links / number[:, None])[here])


def _share_of_layer(loads: ExpertLoads, row: IntArray) -> FloatArray:
    """Return which share of each expert's replicas is on each device in one layer, [E, G]."""
    held = np.zeros((loads.experts, loads.num_gpus))
    np.add.at(held, (row, np.arange(len(row)) // loads.size), 1.0)
    return np.asarray(held / held.sum(axis=1, keepdims=True))


def group_slots(problem: SlotProblem) -> SlotProblem:
    """Return the same for groups on nodes, as if they were experts on devices: loads of nodes, and links between them.

    A node's load is that of each of its devices at best, and a transition to another node costs what it takes more than
    one within a node.
    """
    loads = problem.loads
    size, gpus = loads.experts // loads.groups, loads.num_gpus // loads.pools
    weight = loads.weight.reshape(loads.layers, loads.groups, size).sum(axis=2)
    hops = problem.hops.reshape(loads.pools, gpus, loads.pools, gpus).mean(axis=(1, 3))
    farther = np.maximum(hops - np.diag(hops).mean(), 0.0) * (1 - np.eye(loads.pools))
    speed = loads.speeds.reshape(loads.pools, gpus).mean(axis=1)
    return SlotProblem(
        loads=ExpertLoads(weight, loads.groups, 1, 1, loads.pools, speed=speed),
        counts=problem.counts.reshape(-1, loads.groups, size, loads.groups, size).sum(axis=(2, 4)),
        token=problem.token / gpus,
        hops=farther,
        receipts=np.zeros_like(farther),
    )


def balance_groups(loads: ExpertLoads, groups: IntArray) -> IntArray:
    """Return a map that balances the loads of each node, with the groups [L, groups] of one node after another."""
    arrangement = groups.reshape(loads.layers, loads.pools, -1)
    return search_arrangement(loads, list_experts(loads, arrangement))[0]


def add_replicas(loads: ExpertLoads, place: IntArray) -> IntArray:
    """Return a map that has each expert where `place` [L, E] puts it, and replicas of the busiest in the other slots.

    The largest replica of a layer is divided again and again, onto the lightest device with room that lacks it. Slots
    that none of the busiest experts may fill are left to the next ones. O(S (E + G)) a layer.
    """
    return np.array([_fill_layer(loads, weight, row) for weight, row in zip(loads.weight, place, strict=True)])


def _fill_layer(loads: ExpertLoads, weight: FloatArray, row: IntArray) -> IntArray:
    """Return the experts of the slots of a layer, as `add_replicas` does."""
    held = np.zeros((loads.experts, loads.num_gpus), np.int64)
    held[np.arange(loads.experts), row] = 1
    for _ in range(loads.num_replicas - loads.experts):
        share = weight / held.sum(axis=1)
        load = share @ held
        roomy = held.sum(axis=0) < loads.size
        free = (held < loads.copies_per_gpu) & roomy
        expert = int(np.where(free.any(axis=1), share, -1.0).argmax())
        held[expert, np.where(free[expert], load / loads.speeds, np.inf).argmin()] += 1
    return np.repeat(np.tile(np.arange(loads.experts), loads.num_gpus), held.T.ravel())
