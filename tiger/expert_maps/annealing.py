"""Compiled annealing of a placement of experts, by exchanges of two experts of one layer."""

from typing import NamedTuple

import numpy as np

from tiger.expert_maps.costs import ExpertProblem, device_costs
from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel


class ExpertState(NamedTuple):
    """Hold a placement `place[L, E]`, the best `best[L, E]` so far, and `costs[L, G, E]` of each expert on each device.

    `forward[L - 1, E, E]` are the counts and `backward` their transposes, so that both are read along rows, and
    `hops[G, G]` the weights. `total[2]` has the present cost and the least, both relative to the start.
    """

    place: IntArray
    best: IntArray
    costs: FloatArray
    forward: FloatArray
    backward: FloatArray
    hops: FloatArray
    total: FloatArray


def start_annealing(problem: ExpertProblem, place: IntArray) -> ExpertState:
    """Return the state of a placement."""
    return ExpertState(
        place=place.copy(),
        best=place.copy(),
        costs=np.array([device_costs(problem, place, layer).T for layer in range(problem.layers)]),
        forward=np.ascontiguousarray(problem.counts),
        backward=np.ascontiguousarray(problem.counts.transpose(0, 2, 1)),
        hops=problem.hops,
        total=np.zeros(2),
    )


@kernel
def anneal_experts(state: ExpertState, temperature: float, proposals: int, seed: int) -> None:
    """Exchange random pairs of experts at a temperature under Metropolis' rule, and keep the best placement.

    The experts of a layer send nothing to each other, so that the change of an exchange is four entries of the costs;
    one that is accepted changes those of the layers beside it, O(E G).
    """
    np.random.seed(seed)
    place, total = state.place, state.total
    layers, experts = place.shape
    for _ in range(proposals):
        layer, a, b = np.random.randint(layers), np.random.randint(experts), np.random.randint(experts)
        p, q = place[layer, a], place[layer, b]
        if p == q:
            continue
        own = state.costs[layer]
        change = own[q, a] - own[p, a] + own[p, b] - own[q, b]
        if change > 0 and np.random.random() >= np.exp(-change / temperature):
            continue
        place[layer, a], place[layer, b] = q, p
        total[0] += change
        if layer > 0:
            _move_flow(state, layer - 1, state.backward[layer - 1, a], state.backward[layer - 1, b], p, q)
        if layer < layers - 1:
            _move_flow(state, layer + 1, state.forward[layer, a], state.forward[layer, b], p, q)
        # Rounding must not count as a gain, or the best placement is copied in vain.
        if total[0] < total[1] - 1e-9:
            total[1] = total[0]
            for k in range(layers):
                for e in range(experts):
                    state.best[k, e] = place[k, e]


@inner_kernel
def _move_flow(state: ExpertState, layer: int, of_a: FloatArray, of_b: FloatArray, p: int, q: int) -> None:
    """Change the costs of a layer for experts beside it, of which a has gone from device p to q, and b from q to p."""
    for g in range(len(state.hops)):
        farther = state.hops[q, g] - state.hops[p, g]
        # Most devices are as far from the one as from the other.
        if farther != 0:
            for e in range(len(of_a)):
                state.costs[layer, g, e] += (of_a[e] - of_b[e]) * farther
