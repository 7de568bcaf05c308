r"""Distances split into a mean, what each node adds to it as a source and as a target, and a rest as small as can be.

As every task has one node, only the rest couples tasks: :math:`d_{pq} = g + r_p + s_q + e_{pq}` turns the traffic c
between tasks i and j into a constant :math:`c g`, linear costs :math:`c r_p` and :math:`c s_q`, and couplers
:math:`c e_{pq}` around zero. Two tasks of one group never share a node, so their split leaves the diagonal out.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, entries_of
from tiger.model.window import Window


class CentredWindow(NamedTuple):
    """Hold a window's constant and `linear[k, q]` with the separable part of the traffic moved into them.

    `rest[q, q]` are the distances left within a group and between groups, `spread[k]` the standard deviation over the
    nodes of what a task costs when the others lie anywhere.
    """

    constant: float
    linear: FloatArray
    rest: tuple[FloatArray, FloatArray]
    spread: FloatArray


def centre(window: Window) -> CentredWindow:
    """Split the distances of a window; O(edges + q^2 + k q)."""
    tasks = window.shape[0]
    edges = entries_of(window.traffic)
    group_of = window.group_of
    together = (group_of[edges.row] == group_of[edges.col]) & (group_of[edges.row] >= 0)
    back = np.asarray(window.traffic.T.tocsr()[edges.row, edges.col]).ravel()
    constant, linear, variance = window.constant, window.linear.copy(), np.zeros(tasks)
    allowed = window.allowed
    # Squares are taken of shares of the largest numbers, as those of large numbers overflow.
    most, far = float(edges.data.max(initial=0.0)) or 1.0, float(np.abs(window.distance).max(initial=0.0)) or 1.0
    unit = max(most * far, float(np.abs(np.where(allowed, linear, 0.0)).max(initial=0.0)))
    rests = []
    for mask, diagonal in ((together, False), (~together, True)):
        mean, source, target, rest = _split(window.distance, diagonal=diagonal)
        i, j, volume = edges.row[mask], edges.col[mask], edges.data[mask]
        constant += mean * float(volume.sum())
        linear += np.outer(np.bincount(i, volume, tasks), source) + np.outer(np.bincount(j, volume, tasks), target)
        part, share = volume / most, rest / far * (most * far / unit)
        power, mutual = float((share * share).mean()), float((share * share.T).mean())
        variance += (np.bincount(i, part**2, tasks) + np.bincount(j, part**2, tasks)) * power
        variance += 2 * np.bincount(i, part * (back[mask] / most), tasks) * mutual
        rests.append(rest)
    count = np.maximum(allowed.sum(axis=1), 1)
    centre = np.where(allowed, linear, 0.0).sum(axis=1) / count
    variance += (np.where(allowed, (linear - centre[:, None]) / unit, 0.0) ** 2).sum(axis=1) / count
    return CentredWindow(constant, linear, (rests[0], rests[1]), np.sqrt(variance) * unit)


def _split(distance: FloatArray, *, diagonal: bool) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Return mean, source[q], target[q] and rest[q, q], by least squares over all pairs or those off the diagonal."""
    size = len(distance)
    off = np.ones((size, size), bool) if diagonal else ~np.eye(size, dtype=bool)
    mean = float(distance[off].mean()) if off.any() else 0.0
    excess = np.where(off, distance - mean, 0.0)
    source, target = excess.sum(axis=1), excess.sum(axis=0)
    if diagonal:
        source, target = source / size, target / size
    elif size > 2:
        # Normal equations of the fit without the diagonal: each row and column lacks one entry.
        others = size - 1
        both = others * others - 1
        source, target = (others * source + target) / both, (others * target + source) / both
    else:
        source, target = source / 2, target / 2
    return mean, source, target, np.where(off, excess - source[:, None] - target[None, :], 0.0)
