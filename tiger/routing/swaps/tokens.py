"""Token swapping: circuit qubits that a few SWAPs have to bring back to given device qubits, others going anywhere."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.routing.coupling import Coupling, HopArray, IndexArray
from tiger.solvers.kernel import inner_kernel
from tiger.solvers.lehmer import RNG_FACTOR, RNG_MODULUS
from tiger.solvers.records import allocate_records

# More hops than any SWAP adds: all qubits are at their goals.
AT_GOALS = 1_000


class CouplingArrays(NamedTuple):
    """Hold a coupling map of N device qubits for kernels: `hops[N, N]` and `neighbours[N, d]`, padded by -1."""

    hops: HopArray
    neighbours: IndexArray


class TokenCounters:
    """Count the qubits that may be away from their goals, and say which stamp they have."""

    count: int
    stamp: int


class SwapStep:
    """Hold a step: device qubits p and q, and which gate of the front a BRIDGE between them is, -1 for none."""

    p: int
    q: int
    entry: int


class Tokens(NamedTuple):
    """Hold who is where: `place[N]` of circuit and spare qubits, `holds[N]` of device qubits, one inverse to the other.

    `goal[N]` is the device qubit that a qubit has to reach in the end, -1 where that does not matter. `listed[N]` are
    the qubits that may be away from their goals, `counters[0].count` of them, for which `stamps[N]` is
    `counters[0].stamp`. `rng_state[0]`, 1 to 2**31 - 2, is the state of the random numbers.
    """

    place: IndexArray
    holds: IndexArray
    goal: IndexArray
    listed: IndexArray
    stamps: IndexArray
    counters: Sequence[TokenCounters]
    rng_state: IntArray


def build_device(coupling: Coupling) -> CouplingArrays:
    """Return a coupling map for kernels, which take arrays that can be written to."""
    return CouplingArrays(coupling.hops.copy(), coupling.neighbours.copy())


def build_tokens(place: IndexArray) -> Tokens:
    """Return qubits at `place[N]` without goals."""
    holds = np.argsort(place).astype(np.int32)
    goal, listed, stamps = np.full_like(place, -1), np.empty_like(place), np.zeros_like(place)
    counters = allocate_records(TokenCounters)
    counters[0].stamp = 1
    return Tokens(place.copy(), holds, goal, listed, stamps, counters, np.ones(1, np.int64))


@inner_kernel
def draw_unit(rng_state: IntArray) -> float:
    """Return a random number in (0, 1), by Lehmer's generator."""
    rng_state[0] = rng_state[0] * RNG_FACTOR % RNG_MODULUS
    return float(rng_state[0] / RNG_MODULUS)


@inner_kernel
def exchange(tokens: Tokens, p: int, q: int) -> None:
    """Swap what device qubits p and q hold."""
    a, b = tokens.holds[p], tokens.holds[q]
    tokens.holds[p], tokens.holds[q] = b, a
    tokens.place[a], tokens.place[b] = q, p


@inner_kernel
def list_qubit(tokens: Tokens, qubit: int) -> None:
    """List a qubit, once."""
    if tokens.stamps[qubit] != tokens.counters[0].stamp:
        tokens.stamps[qubit] = tokens.counters[0].stamp
        tokens.listed[tokens.counters[0].count] = qubit
        tokens.counters[0].count += 1


@inner_kernel
def clear_list(tokens: Tokens) -> None:
    """List no qubit."""
    tokens.counters[0].count = 0
    tokens.counters[0].stamp += 1


@inner_kernel
def count_added_hops(device: CouplingArrays, tokens: Tokens, p: int, q: int) -> int:
    """Return by how many hops a SWAP of p and q brings qubits away from their goals, -2 to 2."""
    # A SWAP moves two tokens by a hop each: half the sum of distances bounds the SWAPs left from below.
    change = 0
    goal = tokens.goal[tokens.holds[p]]
    if goal >= 0:
        change += device.hops[q, goal] - device.hops[p, goal]
    goal = tokens.goal[tokens.holds[q]]
    if goal >= 0:
        change += device.hops[p, goal] - device.hops[q, goal]
    return change


@inner_kernel
def count_token_hops(device: CouplingArrays, tokens: Tokens) -> int:
    """Return the hops between the qubits listed and their goals; a SWAP takes off two at most."""
    hops = 0
    for k in range(tokens.counters[0].count):
        qubit = tokens.listed[k]
        if tokens.goal[qubit] >= 0:
            hops += device.hops[tokens.place[qubit], tokens.goal[qubit]]
    return hops


@inner_kernel
def choose_goal_swap(device: CouplingArrays, tokens: Tokens, choice: Sequence[SwapStep]) -> int:
    """Choose a SWAP that brings a listed qubit nearer to its goal and takes the others away least.

    Writes the SWAP to the choice; ties are broken at random. Returns its `count_added_hops`, AT_GOALS if all are at
    their goals. O(listed d).
    """
    best, ties = AT_GOALS, 0
    for k in range(tokens.counters[0].count):
        qubit = tokens.listed[k]
        p, goal = tokens.place[qubit], tokens.goal[qubit]
        if goal < 0 or p == goal:
            continue
        for q in device.neighbours[p]:
            if q < 0:
                break
            # Tokens move along shortest paths alone, as in the approximation of Miltzow et al. 2016 (arXiv:1602.05150).
            if device.hops[q, goal] >= device.hops[p, goal]:
                continue
            change = count_added_hops(device, tokens, p, q)
            # Each of k equal choices replaces the one before with chance 1 / k, so that all have the same.
            ties = ties + 1 if change == best else 1
            if change < best or (change == best and draw_unit(tokens.rng_state) * ties < 1.0):
                best = change
                choice[0].p, choice[0].q = p, q
    return best
