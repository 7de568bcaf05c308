"""The cuts of a linear order with the smallest largest load, by dynamic programming over prefixes and devices used.

Source: D. Narayanan et al., SOSP 2019, doi:10.1145/3341301.3359646, section 3.1, for devices of several types.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seeds import derive
from tiger.placement.operators.device_types import label_devices
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.segments import segments
from tiger.solvers.kernel import kernel

# Limits of the table: numbers of devices used of each type, positions of the order, and loads of segments (0.5 GB).
STATES, WIDEST, CELLS = 600, 1024, 1 << 26


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedPlacement:
    """Hold the device of every group `place[C]`, and the `devices` that hold a stage in the order of the stages."""

    place: IntArray
    devices: tuple[int, ...]


def cut(terms: Terms, position: IntArray, seed: int) -> OrderedPlacement | None:
    """Return the line of stages along `position[C]` with the smallest largest load, or None where nothing fits.

    ExactResult for this order where all links are alike, up to 1,024 positions and as long as devices are of few types:
    otherwise the devices are tried in one order, drawn by seed, and neighbouring positions stay together.
    O(T L^2) for T steps between numbers of devices used of every type; memory for 67 million loads at most.
    """
    label, size = label_devices(terms), int(position.max()) + 1
    first = np.unique(label, return_index=True)[1]
    position = position * min(size, WIDEST, max(int((CELLS / len(first)) ** 0.5), 1)) // size
    steps, rows = _steps(label, seed)
    costs = segments(terms, position, first)
    runs = _runs(costs, steps, len(rows))
    if runs is None:
        return None
    free = {device_type: np.flatnonzero(label == device_type).tolist() for device_type in range(len(first))}
    devices = tuple(free[device_type].pop(0) for _, _, device_type in runs)
    stage = np.searchsorted([end for _, end, _ in runs], position, side="right")
    return OrderedPlacement(place=np.array(devices, np.int64)[stage], devices=devices)


def _steps(label: IntArray, seed: int) -> tuple[IntArray, list[tuple[int, ...]]]:
    """Return the steps (state, next state, device type) in an order in which they can be taken, and the states."""
    count = np.bincount(label)
    if np.prod(count + 1.0) > STATES:
        order = np.random.default_rng(derive(seed)).permutation(label)
        spots = np.arange(len(order))
        return np.stack([spots, spots + 1, order], axis=1), [(int(spot),) for spot in range(len(order) + 1)]
    states = list(itertools.product(*(range(most + 1) for most in count.tolist())))
    number = {state: row for row, state in enumerate(states)}
    steps = [
        (number[state], number[following], device_type)
        for state in states
        for device_type in range(len(count))
        if (following := (*state[:device_type], state[device_type] + 1, *state[device_type + 1 :])) in number
    ]
    return np.array(steps, np.int64), states


def _runs(costs: FloatArray, steps: IntArray, states: int) -> list[tuple[int, int, int]] | None:
    """Return the runs (begin, end, device type) of the line, in order, or None."""
    last = costs.shape[1] - 1
    least = np.full((states, last + 1), np.inf)
    least[0, 0] = 0.0
    begin, by = np.zeros(least.shape, np.int64), np.full(least.shape, -1, np.int64)
    _solve(costs, steps, least, begin, by)
    state, end = int(least[:, last].argmin()), last
    if least[state, last] == np.inf:
        return None
    runs = []
    while by[state, end] >= 0:
        step, start = steps[by[state, end]], int(begin[state, end])
        if start < end:
            runs.append((start, end, int(step[2])))
        state, end = int(step[0]), start
    return runs[::-1]


@kernel
def _solve(costs: FloatArray, steps: IntArray, least: FloatArray, begin: IntArray, by: IntArray) -> None:
    """Fill in the smallest largest load `least` of positions 0 .. j - 1, the run it ends with, and the last step.

    A step may also leave its device unused.
    """
    for s in range(len(steps)):
        # One more device of a type takes positions i .. j - 1 behind those of the state, or none.
        state, after, device_type = steps[s]
        for i in range(least.shape[1]):
            before = least[state, i]
            if before < least[after, i]:
                least[after, i], begin[after, i], by[after, i] = before, i, s
            for j in range(i + 1, least.shape[1]):
                # Bellman's step for a largest load: the maximum of the prefix and of the last segment.
                load = max(before, costs[device_type, i, j])
                if load < least[after, j]:
                    least[after, j], begin[after, j], by[after, j] = load, i, s
