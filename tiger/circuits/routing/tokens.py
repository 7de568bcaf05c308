"""Token swapping: circuit qubits that a few SWAPs have to bring back to given device qubits, others going anywhere."""

from typing import NamedTuple

import numpy as np

from tiger.circuits.coupling import Coupling, HopArray, IndexArray
from tiger.model.arrays import IntArray
from tiger.solvers.kernel import kernel

NOWHERE = 1_000
PRIME = 2**31 - 1


class Device(NamedTuple):
    """Hold a coupling map of N device qubits for kernels: `hops[N, N]` and `neighbours[N, d]`, padded by -1."""

    hops: HopArray
    neighbours: IndexArray


class Tokens(NamedTuple):
    """Hold who is where: `place[N]` of circuit and spare qubits, `holds[N]` of device qubits, one inverse to the other.

    `goal[N]` is the device qubit that a qubit has to reach in the end, -1 where that does not matter. `roster[N]` lists
    the `marks[0]` qubits that may be away from their goals; `listed[N]` is `marks[1]` for those. `dice[0]`, 1 to
    2**31 - 2, is the state of the random numbers.
    """

    place: IndexArray
    holds: IndexArray
    goal: IndexArray
    roster: IndexArray
    listed: IndexArray
    marks: IndexArray
    dice: IntArray


def device_of(coupling: Coupling) -> Device:
    """Return a coupling map for kernels, which take arrays that can be written to."""
    return Device(coupling.hops.copy(), coupling.neighbours.copy())


def tokens_of(place: IndexArray) -> Tokens:
    """Return qubits at `place[N]` without goals."""
    holds = np.argsort(place).astype(np.int32)
    goal, roster, listed = np.full_like(place, -1), np.empty_like(place), np.zeros_like(place)
    return Tokens(place.copy(), holds, goal, roster, listed, np.array([0, 1], np.int32), np.ones(1, np.int64))


@kernel
def chance(dice: IntArray) -> float:
    """Return a random number in (0, 1), by Park and Miller's generator, doi:10.1145/63039.63042."""
    dice[0] = dice[0] * 48_271 % PRIME
    return float(dice[0] / PRIME)


@kernel
def exchange(tokens: Tokens, p: int, q: int) -> None:
    """Swap what device qubits p and q hold."""
    a, b = tokens.holds[p], tokens.holds[q]
    tokens.holds[p], tokens.holds[q] = b, a
    tokens.place[a], tokens.place[b] = q, p


@kernel
def enlist(tokens: Tokens, qubit: int) -> None:
    """Put a qubit on the roster, once."""
    if tokens.listed[qubit] != tokens.marks[1]:
        tokens.listed[qubit] = tokens.marks[1]
        tokens.roster[tokens.marks[0]] = qubit
        tokens.marks[0] += 1


@kernel
def clear_roster(tokens: Tokens) -> None:
    """Empty the roster."""
    tokens.marks[0] = 0
    tokens.marks[1] += 1


@kernel
def drift(device: Device, tokens: Tokens, p: int, q: int) -> int:
    """Return by how many hops a SWAP of p and q brings qubits away from their goals, -2 to 2."""
    change = 0
    goal = tokens.goal[tokens.holds[p]]
    if goal >= 0:
        change += device.hops[q, goal] - device.hops[p, goal]
    goal = tokens.goal[tokens.holds[q]]
    if goal >= 0:
        change += device.hops[p, goal] - device.hops[q, goal]
    return change


@kernel
def displacement(device: Device, tokens: Tokens) -> int:
    """Return the hops between the qubits of the roster and their goals; a SWAP takes off two at most."""
    away = 0
    for k in range(tokens.marks[0]):
        qubit = tokens.roster[k]
        if tokens.goal[qubit] >= 0:
            away += device.hops[tokens.place[qubit], tokens.goal[qubit]]
    return away


@kernel
def homeward(device: Device, tokens: Tokens, choice: IndexArray) -> int:
    """Choose a SWAP that brings a qubit of the roster nearer to its goal and drives the others off least.

    Writes the SWAP to `choice[:2]`; ties are broken at random. Returns its `drift`, NOWHERE if all are at their goals.
    O(roster d).
    """
    best, ties = NOWHERE, 0
    for k in range(tokens.marks[0]):
        qubit = tokens.roster[k]
        p, goal = tokens.place[qubit], tokens.goal[qubit]
        if goal < 0 or p == goal:
            continue
        for q in device.neighbours[p]:
            if q < 0:
                break
            if device.hops[q, goal] >= device.hops[p, goal]:
                continue
            change = drift(device, tokens, p, q)
            ties = ties + 1 if change == best else 1
            if change < best or (change == best and chance(tokens.dice) * ties < 1.0):
                best = change
                choice[0], choice[1] = p, q
    return best
