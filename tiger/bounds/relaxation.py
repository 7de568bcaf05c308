"""Relaxations that see what rearrangement does not: the spectra of traffic and distances, and pairs of placements.

Each takes off what its own arithmetic may err by. The relative error of what a window holds is left to the caller.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.rounding import UNIT
from tiger.model.seams import Stop
from tiger.model.window import Block, Window

# Shares of the row sums that are taken off the diagonal of the traffic: the mean bound of 12 QAPLIB instances is 0.8085
# of the best cost, with the middle one alone 0.8077, with nine shares 0.8088.
DIAGONALS = np.array([0.15, 0.4, 0.75])
# Steps of the dual ascent are overlong by this factor: 32 of them lift nug12 to 0.893 of the best cost, of 1.4 to 0.889
# and of 1 to 0.886.
RELAXED = 1.8
# The ascent over diagonals ends at steps of this size: at 1e-2 nug20 ends at 0.879 instead of 0.881, at 1e-5 at 0.881.
FINEST = 1e-3
# An ascent that gains less, relative to the cost that it heads for, stands still.
STANDSTILL = 1e-13
# Entries this many times as large as the whole assignment cost it digits, and are cut down to its value.
LARGE = 16.0
# LAPACK's eigenvalues of q x q matrices err by this many unit roundoffs times q, relative to a norm, and usually by
# less than one (Users' Guide, section 4.7).
SPECTRAL = 40.0
# No entry of a pair goes through more roundings than these in one iteration of the ascent.
PAIR_ROUNDINGS = 16


def count_window_slots(window: Window) -> IntArray:
    """Return slots[q], how many of the smallest tasks fit on each node of a window without groups."""
    count = np.full(window.shape[1], window.shape[0])
    for capacity in window.capacities:
        plain = bool((capacity.load == 1).all())
        fit = (
            capacity.room if plain else np.searchsorted(np.cumsum(np.sort(capacity.load)), capacity.room, side="right")
        )
        count = np.minimum(count, fit)
    return count


def expand_slots(window: Window) -> Window:
    """Return a window without groups as one whose single group goes one to one on the slots of the nodes."""
    if window.groups:
        return window
    slot = np.repeat(np.arange(window.shape[1]), count_window_slots(window))
    return replace(
        window,
        block=Block(tasks=window.block.tasks, nodes=window.block.nodes[slot]),
        linear=window.linear[:, slot],
        distance=window.distance[np.ix_(slot, slot)],
        groups=(np.arange(window.shape[0]),),
        capacities=(),
    )


def assignment(costs: FloatArray) -> tuple[float, IntArray]:
    """Return a lower bound on the linear assignment of all rows to columns, tight up to rounding, and an assignment.

    The bound is that of dual prices, so that it holds however well the assignment was solved. O(rows^2 columns) time.
    """
    columns = linear_sum_assignment(costs)[1]
    value = _value(costs, columns)
    if costs.min() >= 0.0 and value == 0.0:
        return value, columns
    if costs.min() >= 0.0 and costs.max() > LARGE * value:
        # No optimal assignment has an entry above its value.
        costs = np.minimum(costs, value)
        columns = linear_sum_assignment(costs)[1]
        if LARGE * _value(costs, columns) < value:
            return assignment(costs)
    v = _prices(costs, columns)
    u = (costs - v).min(axis=1)
    bound = math.fsum(np.concatenate([u, v]))
    return bound - UNIT * (math.fsum(np.abs(u)) + abs(bound)), columns


def _value(costs: FloatArray, columns: IntArray) -> float:
    """Return the value of an assignment."""
    return math.fsum(costs[np.arange(len(costs)), columns])


def _prices(costs: FloatArray, columns: IntArray) -> FloatArray:
    """Return v[c] <= 0, what paths of exchanges from an optimal assignment to each column save (Bellman-Ford)."""
    v, row_of = np.zeros(costs.shape[1]), np.full(costs.shape[1], -1)
    row_of[columns] = rows = np.arange(len(columns))
    extra = costs - costs[rows, columns][:, None]
    for _ in range(len(columns)):
        saved = (extra[rows] + v[columns[rows]][:, None]).min(axis=0)
        lower = saved < v
        v[lower] = saved[lower]
        rows = row_of[lower]
        rows = rows[rows >= 0]
        if not rows.size:
            break
    return v


@dataclass(frozen=True, slots=True)
class Projection:
    r"""Hold a one-to-one window for the projected eigenvalue bound: as many tasks as nodes, the added ones silent.

    With A the symmetric part of the traffic, B the symmetric distances with diagonal 0 and mappings written
    :math:`X = ee^T/q + VYV^T`, :math:`V^Te = 0`, the cost is a linear assignment and
    :math:`\langle V^TAV\,Y\,V^TBV, Y\rangle`, for orthogonal Y at least the eigenvalues in opposite orders multiplied.
    The diagonal of A costs nothing: a shift[q] is taken off it. `far[q - 1]` are the eigenvalues of B, largest first.

    Source: S. W. Hadley, F. Rendl, H. Wolkowicz, Math. Oper. Res. 17 (1992), doi:10.1287/moor.17.3.727.
    """

    traffic: FloatArray
    sums: FloatArray
    reach: FloatArray
    far: FloatArray
    linear: FloatArray
    constant: float

    def bound(self, near: FloatArray, shift: FloatArray) -> tuple[float, IntArray]:
        """Return the bound and the nodes of the assignment, given the eigenvalues of A less the shift, ascending."""
        nodes, edge = len(shift), self.sums - shift
        size, error = self.sums + np.abs(shift), SPECTRAL * nodes * UNIT
        costs = (1 - error) * self.linear + (
            np.outer(edge, self.reach) - error * np.outer(size, self.reach)
        ) * 2 / nodes
        linear, columns = assignment(costs)
        mean = float(edge.sum() * self.reach.sum()) / nodes**2
        lost = size.max() * np.abs(self.far).sum() + self.reach.max() * np.abs(near).sum()
        lost += size.sum() * self.reach.sum() / nodes**2 + abs(linear)
        return self.constant + float(near @ self.far) + linear - mean - float(error * lost), columns


def projection(window: Window) -> Projection:
    """Return the projection of a window with one group and symmetric distances; O(q^3)."""
    tasks, nodes = window.shape
    traffic, linear, distance = np.zeros((nodes, nodes)), np.zeros((nodes, nodes)), window.distance.copy()
    traffic[:tasks, :tasks] = window.traffic.toarray() / 2
    traffic += traffic.T
    linear[:tasks] = window.linear
    np.fill_diagonal(distance, 0.0)
    far = np.asarray(np.linalg.eigvalsh(_centre(distance))[-2::-1], np.float64)
    return Projection(traffic, traffic.sum(axis=1), distance.sum(axis=1), far, linear, window.constant)


def projected_bound(window: Window) -> float:
    """Return the projected bound, the best of three diagonals in the direction of the row sums; O(q^3)."""
    frame = projection(window)
    shifts = DIAGONALS[:, None] * frame.sums
    near = np.linalg.eigvalsh(_centre(frame.traffic - shifts[:, :, None] * np.eye(len(frame.sums))))[:, :-1]
    return max(frame.bound(*pair)[0] for pair in zip(near, shifts, strict=True))


def sharpen(window: Window, ceiling: float, iterations: int, stop: Stop = bool) -> float:
    """Return the projected bound after ascent over all diagonals, in which it is concave, to a mapping's cost at most.

    Polyak steps along supergradients, halved after each that fails; O(q^3) a step.
    """
    frame = projection(window)
    shift, step, best = DIAGONALS[1] * frame.sums, 1.0, -np.inf
    for _ in range(iterations):
        if stop():
            break
        # Eigenvectors give a supergradient of the sum of products of eigenvalues.
        near, vectors = np.linalg.eigh(_centre(frame.traffic - np.diag(shift)))
        value, columns = frame.bound(near[:-1], shift)
        if value > best:
            best, best_shift = value, shift
            slope = vectors[:, :-1] ** 2 @ frame.far + frame.reach[columns] * 2 / len(shift)
            slope -= frame.reach.sum() / len(shift) ** 2
        else:
            step /= 2
        # In units of its largest entry, whose square may leave the range of float64.
        steepest = float(np.abs(slope).max())
        if best >= ceiling or step < FINEST or not steepest:
            break
        way = slope / steepest
        shift = best_shift - step * (ceiling - best) / steepest / float(way @ way) * way
    return best


def _centre(matrices: FloatArray) -> FloatArray:
    """Return symmetric matrices[.., q, q] on vectors that sum to 0, the vector of ones with the largest eigenvalue."""
    means = matrices.mean(axis=-1)
    centred = matrices - means[..., :, None] - means[..., None, :] + means.mean(axis=-1)[..., None, None]
    top = np.abs(centred).sum(axis=-1).max(axis=-1) / matrices.shape[-1]
    return np.asarray(centred + top[..., None, None])


def ascend(window: Window, floor: float, ceiling: float, iterations: int, stop: Stop = bool) -> float:
    r"""Return a bound by dual ascent on pairs of placements in a window with groups, at most the cost of a mapping.

    Where task t lies at node p, the others cost at least what a linear assignment per group of
    :math:`c_{tpuq}` says; the costs that it leaves over are shared with :math:`c_{uqtp}`, what it finds is assigned
    again over all (t, p), and what that leaves over is spread on the assignments of the next iteration. The first
    gives the Gilmore-Lawler bound, many approach that of the level-1 reformulation linearization. O(k^2 q^2) memory
    and O(k^3 q^2) time an iteration. Steps are overlong by 1.8 where a group fills the nodes. The
    ascent ends early where at its pace it would stay below the floor or stand still.

    Source: P. Hahn, T. Grant, Oper. Res. 46 (1998), doi:10.1287/opre.46.6.912.
    """
    limit, (tasks, nodes) = ceiling - window.constant, window.shape
    costs = _pairs(window, limit)
    step = RELAXED if max(map(len, window.groups)) == nodes else 1.0
    base = best = error = 0.0
    for left in reversed(range(iterations)):
        if stop():
            break
        costs = (costs + costs.transpose(2, 3, 0, 1)) / 2
        least, size = np.zeros((tasks, nodes)), float(np.abs(costs).max())
        # Each placement's pairs are assigned by themselves; their duals move into the placement's own cost (Hahn and
        # Grant 1998, section 2).
        for group in window.groups:
            u, v = _duals(costs[:, :, group].reshape(-1, len(group), nodes))
            least += (u.sum(axis=1) + v.sum(axis=1)).reshape(tasks, nodes)
            costs[:, :, group] -= step * (u[:, :, None] + v[:, None, :]).reshape(tasks, nodes, len(group), nodes)
            size += float((np.abs(u).sum(axis=1) - v.sum(axis=1)).max()) / tasks
        # Placements are assigned, which raises the bound; what is left over goes back to the pairs.
        value = 0.0
        for group in window.groups:
            u, v = _duals(least[None, group])
            value += float(u.sum() + v.sum())
            least[group] -= u[0, :, None] + v[0]
        # A mapping has tasks^2 of the pairs, and what each iteration leaves of these went through fewer roundings.
        error += PAIR_ROUNDINGS * UNIT * tasks**2 * size
        gain = max(base + value - best, 0.0)
        best, base = best + gain, base + step * value
        if best >= limit or best + gain * left <= max(floor - window.constant, best + STANDSTILL * limit):
            break
        costs += step / tasks * least[:, :, None, None]
    return float(window.constant + best - error)


def _pairs(window: Window, limit: float) -> FloatArray:
    """Return costs[t, p, u, q] of pairs, half of their traffic each, t = u standing for t alone, none above `limit`."""
    volumes, distances = window.traffic.toarray(), window.distance
    costs = np.asarray(np.einsum("tu,pq->tpuq", volumes, distances) / 2, np.float64)
    costs += np.einsum("ut,qp->tpuq", volumes, distances) / 2
    np.minimum(costs, limit, out=costs)
    node = np.arange(window.shape[1])
    for group in window.groups:
        for task in group:
            costs[task, node[:, None], group, node[:, None]] = limit
    for task, row in enumerate(np.minimum(window.linear, limit)):
        costs[task, :, task] = limit
        costs[task, node, task, node] = row
    return costs


def _duals(costs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return u[b, r] and v[b, c] <= 0 of greatest sum with u + v <= costs[b, r, c], r <= c.

    From optimal assignments, v is what paths of exchanges save (Bellman-Ford); u fits whatever v is.
    """
    many, rows, columns = costs.shape
    v = np.zeros((many, columns))
    if rows > 1:
        chosen = np.array([linear_sum_assignment(matrix)[1] for matrix in costs])
        extra = costs - np.take_along_axis(costs, chosen[:, :, None], axis=2)
        for _ in range(rows):
            saved = np.minimum((extra + np.take_along_axis(v, chosen, axis=1)[:, :, None]).min(axis=1), 0.0)
            if (saved == v).all():
                break
            v = saved
    return np.asarray((costs - v[:, None, :]).min(axis=2)), v
