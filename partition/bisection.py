"""A start by co-bisection: halve the hardware, cut the tasks to the same sizes at least traffic, and so on below.

Which half of the tasks goes to which half of the nodes follows from what lies outside (terminal propagation): tasks
that have their region already attract those they exchange traffic with.

Sources: F. Pellegrini, J. Roman, doi:10.1007/3-540-61142-8_588 (dual recursive bipartitioning); B. W. Kernighan,
S. Lin, doi:10.1002/j.1538-7305.1970.tb01770.x; A. E. Dunlop, B. W. Kernighan, doi:10.1109/TCAD.1985.1270101.
"""

from collections import deque
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import reverse_cuthill_mckee

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.metrics import GridMetric, Metric, TreeMetric
from tiger.model.seams import Stop
from tiger.model.window import Window

# Passes over a cut, and swaps of a pass that may bring nothing before it ends.
PASSES, PATIENCE = 6, 50
# Tasks up to which an eigenvector of the Laplacian, O(tasks^3), orders them.
SPECTRAL = 256
# How much farther from even than possible a cut of nodes may be, as a share of all seats, where these are far apart.
UNEVEN = 0.15


class Field(NamedTuple):
    """Hold what the cuts depend on: `flow[k, k]` and `away[q, q]`, both symmetric, `own[k, q]`, and `seats[q]`."""

    flow: FloatArray
    away: FloatArray
    own: FloatArray
    seats: IntArray


def bisect_window(window: Window, metric: Metric, seed: int, stop: Stop) -> IntArray | None:
    """Return local nodes of a window's tasks, no more on a node than it has seats, or None once `stop` says so.

    Other limits are not looked at. The window needs as many seats as tasks. O(k^2 + k q) memory and O(k^2 log q) time;
    deterministic for a seed.
    """
    rng, field = np.random.default_rng(seed), _field(window)
    tasks = window.shape[0]
    local = np.zeros(tasks, np.int64)
    reach = np.tile(field.away.mean(axis=0), (tasks, 1))
    regions = deque([(np.arange(tasks), _compact(field, tasks))])
    while regions:
        if stop():
            return None
        inside, area = regions.popleft()
        local[inside] = area[0]
        if len(inside) and len(area) > 1:
            halves = _halve(window, metric, area, field, rng)
            left = _share(len(inside), *(int(field.seats[half].sum()) for half in halves))
            first = _cut(field, reach, inside, halves, left)
            for part, half in ((inside[first], halves[0]), (inside[~first], halves[1])):
                reach[part] = field.away[half].mean(axis=0)
                regions.append((part, half))
    return local


def _field(window: Window) -> Field:
    """Return the arrays of a window."""
    flow = window.traffic.toarray()
    allowed = window.allowed
    most = np.where(allowed, window.linear, 0.0).max(initial=0.0) + flow.sum() * window.distance.max(initial=0.0)
    rooms = [capacity.room for capacity in window.capacities if capacity.name == "slots"]
    return Field(
        flow=flow + flow.T,
        away=(window.distance + window.distance.T) / 2,
        own=np.where(allowed, window.linear, most + 1.0),
        seats=np.minimum(rooms[0], len(flow)) if rooms else np.ones(window.shape[1], np.int64),
    )


def _compact(field: Field, tasks: int) -> IntArray:
    """Return nodes close to each other with seats enough for the tasks: those nearest to the most central one."""
    nearest = np.argsort(field.away[field.away.sum(axis=1).argmin()], kind="stable")
    return np.sort(nearest[: int(np.searchsorted(np.cumsum(field.seats[nearest]), tasks)) + 1])


def _share(tasks: int, left: int, right: int) -> int:
    """Return how many of the tasks go to the first half, by its share of the seats."""
    return min(max(round(tasks * left / (left + right)), tasks - right), left)


def _halve(
    window: Window, metric: Metric, area: IntArray, field: Field, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return an area cut in two across its length, where neighbours in that order are farthest apart."""
    nodes = window.block.nodes[area]
    if isinstance(metric, GridMetric):
        places = np.stack(np.unravel_index(nodes, metric.dims))
        extent = np.array([len(np.unique(axis)) for axis in places]) + rng.random(len(places)) / 2
        order = np.lexsort((*np.delete(places, extent.argmax(), axis=0), places[extent.argmax()]))
    elif isinstance(metric, TreeMetric):
        order = np.argsort(nodes)
    else:
        end = field.away[area[rng.integers(len(area))], area].argmax()
        other = field.away[area[end], area].argmax()
        order = np.argsort(field.away[area[end], area] - field.away[area[other], area], kind="stable")
    line = area[order]
    filled = np.cumsum(field.seats[line])[:-1] / field.seats[line].sum()
    off = np.abs(filled - 0.5)
    near = off <= off.min() + UNEVEN
    step = np.where(near, field.away[line[:-1], line[1:]], -1.0)
    cut = int(np.lexsort((off, -step))[0]) + 1
    return line[:cut], line[cut:]


def _cut(field: Field, reach: FloatArray, inside: IntArray, halves: tuple[IntArray, IntArray], count: int) -> BoolArray:
    """Return which of the tasks inside, `count` of them, go to the first half."""
    flow = field.flow[np.ix_(inside, inside)]
    means = [reach[:, half].mean(axis=1) for half in halves]
    # Terminal propagation (Dunlop and Kernighan 1985): traffic with tasks outside pulls to the half closer to them.
    outer = field.flow[inside]
    outer[:, inside] = 0.0
    pull = outer @ (means[1] - means[0])
    pull += field.own[inside][:, halves[1]].mean(axis=1) - field.own[inside][:, halves[0]].mean(axis=1)
    within = (field.away[np.ix_(halves[0], halves[0])].mean() + field.away[np.ix_(halves[1], halves[1])].mean()) / 2
    apart = max(float(field.away[np.ix_(*halves)].mean()) - float(within), 1e-9)
    # Each order of the tasks, cut at the count and refined; the best of the three is kept.
    best, least = np.zeros(len(inside), bool), np.inf
    for line in _lines(flow, pull):
        first = np.zeros(len(inside), bool)
        first[line[:count]] = True
        first = _refine(flow * apart, pull, first)
        value = pull[~first].sum() + apart * flow[np.ix_(first, ~first)].sum()
        if value < least - 1e-12 * abs(value):
            best, least = first, value
    return best


def _lines(flow: FloatArray, pull: FloatArray) -> list[IntArray]:
    """Return orders of the tasks to cut: by the pull, and both ways along the second eigenvector of the Laplacian.

    Where there are many tasks a banded order takes the place of the eigenvector.
    """
    lines = [np.argsort(-pull, kind="stable")]
    if len(flow) > SPECTRAL:
        banded = reverse_cuthill_mckee(sp.csr_array(flow), symmetric_mode=True).astype(np.int64)
        lines += [banded, banded[::-1]]
    elif len(flow) > 2:
        vector = eigh(np.diag(flow.sum(axis=1)) - flow, subset_by_index=[1, 1])[1][:, 0]
        # Rounded, as the sign of an eigenvector and the order of its equal entries depend on the library.
        vector = np.round(vector * np.sign(vector[np.abs(vector).argmax()]), 9)
        lines += [np.argsort(vector, kind="stable"), np.argsort(-vector, kind="stable")]
    return lines


def _refine(flow: FloatArray, pull: FloatArray, first: BoolArray) -> BoolArray:
    """Return a cut of the same sizes and at most the same cost, by passes of swaps of which the best prefix is kept."""
    for _ in range(PASSES):
        side, kept, total, last = first.copy(), first, 0.0, 0
        lowest = -1e-9 * float(np.abs(pull).sum() + flow.sum())
        # Kernighan and Lin 1970: `flip` is what moving a task alone would cost; a swap costs both and twice their edge.
        sign = np.where(side, 1.0, -1.0)
        flip = sign * (flow @ sign + pull)
        open_ = np.ones(len(side), bool)
        for step in range(min(int(side.sum()), int((~side).sum()))):
            # The task that costs least to move, then its best partner: O(k) a swap instead of all pairs.
            a = int(np.where(open_ & side, flip, np.inf).argmin())
            pair = np.where(open_ & ~side, flip + 2 * flow[a], np.inf)
            b = int(pair.argmin())
            total += float(flip[a] + pair[b])
            open_[[a, b]] = False
            flip += 2 * np.where(side, -1.0, 1.0) * (flow[a] - flow[b])
            side[a], side[b] = False, True
            if total < lowest:
                lowest, kept, last = total, side.copy(), step
            elif step - last > PATIENCE:
                break
        if kept is first:
            break
        first = kept
    return first
