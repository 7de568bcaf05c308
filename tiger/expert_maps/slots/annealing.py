"""Compiled annealing of a map from slots to experts: exchanges of two slots, and slots given to other experts."""

from typing import NamedTuple

import numpy as np

from tiger.expert_maps.replicas.loads import count_replicas, gpu_times
from tiger.expert_maps.slots.objective import (
    SlotProblem,
    count_moves,
    count_on_devices,
    price_slots,
)
from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel

# Of so many proposals one gives a slot to another expert, where some expert has two: the others exchange two slots.
REPLACE = 4
# What sums of costs may be wrong by, relative to all of them.
ROUNDING = 1e-10
# More moves than any map has.
ANY = 2**62


class SlotState(NamedTuple):
    """Hold a map `slots[L, S]`, the `best[L, S]` so far, and what the changes of both are computed from.

    `held[L, E, G]` are replicas of experts on devices, `number[L, E]` all of them, and `load[L, G]` the prices of
    loads, out of the prices `weight[L, E]` of experts and how much `longer[G]` a device takes, with the largest in
    `top[L]`. `costs[L, G, E]` is what the links of an expert cost with all replicas on a device, of
    `forward[L - 1, E, E]` transitions, `backward` their transposes. `receipts[L, E, G]` are prices of moves and
    `moved[L, E, G]` is 1 where one counts. `total[4]` has the present cost and the least, relative to the start, by how
    much a cost has to be less, and which part of a largest load may be an error of rounding: where speeds differ, it is
    not added up as that of its device. `limits[5]` are slots of a device, replicas of an expert on one, slots of a
    node, moves, of which the present map has `moves[1]`, and the expert that stands where a device has no slot.
    `change[G]` is scratch.
    """

    slots: IntArray
    best: IntArray
    held: IntArray
    number: IntArray
    weight: FloatArray
    load: FloatArray
    longer: FloatArray
    top: FloatArray
    costs: FloatArray
    forward: FloatArray
    backward: FloatArray
    hops: FloatArray
    receipts: FloatArray
    moved: IntArray
    total: FloatArray
    limits: IntArray
    moves: IntArray
    change: FloatArray


def start_annealing(problem: SlotProblem, slots: IntArray) -> SlotState:
    """Return the state of a map."""
    loads = problem.loads
    held = count_on_devices(loads, slots)
    load = gpu_times(loads, slots) * problem.token
    moved = np.zeros_like(held) if problem.in_use is None else (count_on_devices(loads, problem.in_use) == 0) + 0
    most = ANY if problem.most_moves is None else problem.most_moves
    return SlotState(
        slots=slots.copy(),
        best=slots.copy(),
        held=held,
        number=count_replicas(slots, loads.experts),
        weight=loads.weight * problem.token,
        load=load,
        longer=1.0 / loads.speeds,
        top=load.max(axis=1),
        costs=link_costs(problem, held),
        forward=np.ascontiguousarray(problem.counts),
        backward=np.ascontiguousarray(problem.counts.transpose(0, 2, 1)),
        hops=problem.hops,
        receipts=problem.prices,
        moved=moved,
        total=np.array(
            [0.0, 0.0, ROUNDING * price_slots(problem, slots).total, 0.0 if loads.speed is None else ROUNDING]
        ),
        limits=np.array([loads.size, loads.copies_per_gpu, loads.num_replicas // loads.pools, most, loads.blank]),
        moves=np.array([count_moves(problem, slots)]),
        change=np.zeros(loads.num_gpus),
    )


def link_costs(problem: SlotProblem, held: IntArray) -> FloatArray:
    """Return what the transitions of each expert cost with all its replicas on one device, [L, G, E].

    `held` are the replicas on devices, [L, E, G].
    """
    layers, experts, devices = held.shape
    costs = np.zeros((layers, devices, experts))
    share = held / held.sum(axis=2)[:, :, None]
    for layer, counts in enumerate(problem.counts):
        costs[layer] += (counts @ share[layer + 1] @ problem.hops).T
        costs[layer + 1] += (counts.T @ share[layer] @ problem.hops).T
    return costs


@kernel
def anneal_slots(state: SlotState, temperature: float, proposals: int, seed: int) -> None:
    """Propose random changes of one layer at a temperature under Metropolis' rule, and keep the best map.

    Both slots are of one node. A change of the costs takes O(1), or O(G) where the largest load changes or replicas
    do; one that is accepted changes the costs of the layers beside it, O(E G).
    """
    np.random.seed(seed)
    layers, slots = state.slots.shape
    node, replicas = state.limits[2], slots > state.number.shape[1]
    for _ in range(proposals):
        layer, a = np.random.randint(layers), np.random.randint(slots)
        b = a // node * node + np.random.randint(node)
        if replicas and np.random.randint(REPLACE) == 0:
            taken = _replace(state, layer, a, state.slots[layer, b], temperature)
        else:
            taken = _exchange(state, layer, a, b, temperature)
        # Rounding must not count as a gain, or the best map is copied in vain.
        if taken and state.total[0] < state.total[1] - state.total[2]:
            state.total[1] = state.total[0]
            for k in range(layers):
                for s in range(slots):
                    state.best[k, s] = state.slots[k, s]


@inner_kernel
def _exchange(state: SlotState, layer: int, a: int, b: int, temperature: float) -> bool:
    """Exchange the experts of two slots of a layer under Metropolis' rule, and return whether that was done."""
    size, copies = state.limits[0], state.limits[1]
    e, f, p, q = state.slots[layer, a], state.slots[layer, b], a // size, b // size
    held, number, load = state.held[layer], state.number[layer], state.load[layer]
    if p == q or e == f or held[e, q] >= copies or held[f, p] >= copies:
        return False
    if e == state.limits[4] or f == state.limits[4]:
        return False
    receipts, moved = state.receipts[layer], state.moved[layer]
    # A device receives an expert with the first of its replicas there, and is spared that without the last one.
    e_come, e_gone, f_come, f_gone = held[e, q] == 0, held[e, p] == 1, held[f, p] == 0, held[f, q] == 1
    moves = moved[e, q] * e_come - moved[e, p] * e_gone + moved[f, p] * f_come - moved[f, q] * f_gone
    if moves > 0 and state.moves[0] + moves > state.limits[3]:
        return False
    own, part = state.costs[layer], 1.0 / number[e]
    other = 1.0 / number[f]
    heavier = state.weight[layer, f] * other - state.weight[layer, e] * part
    to_p, to_q = heavier * state.longer[p], -heavier * state.longer[q]
    below = state.top[layer] * (1.0 - state.total[3])
    top = _find_top(load, state.top[layer], below, (p, q), (to_p, to_q))
    change = top - state.top[layer] + receipts[e, q] * e_come - receipts[e, p] * e_gone
    change += receipts[f, p] * f_come - receipts[f, q] * f_gone
    change += (own[q, e] - own[p, e]) * part + (own[p, f] - own[q, f]) * other
    if change > 0 and np.random.random() >= np.exp(-change / temperature):
        return False
    state.slots[layer, a], state.slots[layer, b] = f, e
    held[e, p] -= 1
    held[e, q] += 1
    held[f, q] -= 1
    held[f, p] += 1
    load[p] += to_p
    load[q] += to_q
    state.top[layer] = top
    state.moves[0] += moves
    state.total[0] += change
    if len(state.forward):
        state.change[:] = 0.0
        state.change[p], state.change[q] = -part, part
        _move_flow(state, layer, e)
        state.change[p], state.change[q] = other, -other
        _move_flow(state, layer, f)
    return True


@inner_kernel
def _find_top(load: FloatArray, top: float, below: float, pair: tuple[int, int], heavier: tuple[float, float]) -> float:
    """Return the largest load of a layer after those of two devices have changed; those `below` are not the largest."""
    p, q = pair
    most = max(load[p] + heavier[0], load[q] + heavier[1])
    if most >= top or (load[p] < below and load[q] < below):
        return float(max(most, top))
    for g in range(len(load)):
        if g not in (p, q):
            most = max(most, load[g])
    return float(most)


@inner_kernel
def _replace(state: SlotState, layer: int, a: int, f: int, temperature: float) -> bool:
    """Give a slot to expert f under Metropolis' rule, and return whether that was done.

    The other replicas of the expert that loses it carry more, those of f less, on whatever devices they are.
    """
    size, copies = state.limits[0], state.limits[1]
    e, p = state.slots[layer, a], a // size
    held, number, load = state.held[layer], state.number[layer], state.load[layer]
    if e == f or number[e] < 2 or held[f, p] >= copies or e == state.limits[4] or f == state.limits[4]:
        return False
    come_first, gone_last = held[f, p] == 0, held[e, p] == 1
    moves = state.moved[layer, f, p] * come_first - state.moved[layer, e, p] * gone_last
    if moves > 0 and state.moves[0] + moves > state.limits[3]:
        return False
    own, lost, won, top = state.costs[layer], 0.0, 0.0, 0.0
    more = state.weight[layer, e] / (number[e] - 1) - state.weight[layer, e] / number[e]
    less = state.weight[layer, f] / number[f] - state.weight[layer, f] / (number[f] + 1)
    gone, come = state.weight[layer, e] / (number[e] - 1), state.weight[layer, f] / (number[f] + 1)
    longer = state.longer
    for g in range(len(load)):
        lost += own[g, e] * held[e, g]
        won += own[g, f] * held[f, g]
        here = (come - gone) * longer[g] if g == p else 0.0
        top = max(top, load[g] + held[e, g] * more * longer[g] - held[f, g] * less * longer[g] + here)
    receipts = state.receipts[layer]
    change = top - state.top[layer] + receipts[f, p] * come_first - receipts[e, p] * gone_last
    change += (lost - own[p, e]) / (number[e] - 1) - lost / number[e]
    change += (won + own[p, f]) / (number[f] + 1) - won / number[f]
    if change > 0 and np.random.random() >= np.exp(-change / temperature):
        return False
    for g in range(len(load)):
        load[g] += (held[e, g] * more - held[f, g] * less + (come - gone if g == p else 0.0)) * longer[g]
    state.top[layer] = top
    state.moves[0] += moves
    state.total[0] += change
    state.slots[layer, a] = f
    _change_number(state, layer, e, p, -1)
    _change_number(state, layer, f, p, 1)
    return True


@inner_kernel
def _change_number(state: SlotState, layer: int, expert: int, device: int, step: int) -> None:
    """Give an expert one replica more on a device, or one less, and change the costs beside it."""
    held, number = state.held[layer, expert], state.number[layer]
    for g in range(len(held)):
        state.change[g] = -held[g] / number[expert]
    held[device] += step
    number[expert] += step
    for g in range(len(held)):
        state.change[g] += held[g] / number[expert]
    if len(state.forward):
        _move_flow(state, layer, expert)


@inner_kernel
def _move_flow(state: SlotState, layer: int, expert: int) -> None:
    """Change the costs of the layers beside an expert of whose replicas the share `change[G]` comes to each device."""
    layers, devices, experts = state.costs.shape
    for g in range(devices):
        farther = 0.0
        for h in range(devices):
            if state.change[h] != 0.0:
                farther += state.change[h] * state.hops[h, g]
        # Most devices are as far from the one as from the other.
        if farther == 0.0:
            continue
        if layer > 0:
            for k in range(experts):
                state.costs[layer - 1, g, k] += state.backward[layer - 1, expert, k] * farther
        if layer < layers - 1:
            for k in range(experts):
                state.costs[layer + 1, g, k] += state.forward[layer, expert, k] * farther
