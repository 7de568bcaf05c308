"""The load of a device by every segment of consecutive groups of a linear order."""

import numpy as np
from numpy.typing import ArrayLike

from tiger.model.arrays import BoolArray, FloatArray, IntArray, distinct
from tiger.placement.operators.terms import Terms
from tiger.training.costs.tolerances import MEMORY
from tiger.training.hardware.cluster import NO_LINK


def segments(terms: Terms, position: IntArray, devices: IntArray) -> FloatArray:
    """Return the load of every one of `devices` with positions i .. j - 1 [devices, L + 1, L + 1].

    Infinite where they do not fit, are not allowed or none. `position[C]` is that of every group. What an operator
    sends takes the mean over all links, and so is exact where these are alike. O(devices L^2 + e log e).
    """
    size = int(position.max()) + 1
    charge, at = _charges(terms, position), position[terms.group_of]
    found = np.empty((len(devices), size + 1, size + 1))
    # Work and memory of positions i .. j - 1 are differences of prefix sums.
    for row, device in enumerate(devices):
        loads = _spans(at, terms.work[device], size) + terms.pays[device] * charge
        held = _spans(position, terms.memory, size)
        barred = _spans(position, ~terms.allowed[:, device], size)
        unfit = (held > terms.capacity[device] * (1 + MEMORY)) | (barred > 0) | np.tri(size + 1, dtype=np.bool_)
        found[row] = np.where(unfit, np.inf, loads)
    return found


def _spans(at: IntArray, values: ArrayLike, size: int) -> FloatArray:
    """Return the sum of the values at positions i .. j - 1 [L + 1, L + 1]."""
    sums = np.append(0.0, np.cumsum(np.bincount(at, np.asarray(values, np.float64), size)))
    return np.asarray(sums[None, :] - sums[:, None], np.float64)


def _charges(terms: Terms, position: IntArray) -> FloatArray:
    """Return what positions i .. j - 1 receive and send [L + 1, L + 1], as a sum over rectangles of (i, j - 1).

    A producer at p with readers at q_1 < q_2 < .. sends wherever i <= p <= j - 1, but where all readers are inside;
    and is received where its first reader of the run is q_r: q_(r-1) < i <= q_r <= j - 1, with p outside.
    """
    size, at = int(position.max()) + 1, position[terms.group_of]
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    u, q = np.divmod(distinct(producer * size + at[terms.consumer]), size)
    sent, steps = _mean_sent_s(terms), np.zeros((size + 1, size + 1))
    sender = distinct(u)
    p, last = at[sender], np.full(len(sender), size - 1)
    low, high = p.copy(), p.copy()
    row = np.searchsorted(sender, u)
    np.minimum.at(low, row, q)
    np.maximum.at(high, row, q)
    # Sent: rectangles in difference form, summed along both axes at the end (two-dimensional prefix sums).
    _add(steps, sent[sender], (0 * p, p, p, last))
    _add(steps, -sent[sender], (0 * p, low, high, last))
    # Received: once for each segment, by the first of the consumers in it.
    first = np.append(True, u[1:] != u[:-1])
    after = np.where(first, 0, np.append(0, q[:-1]) + 1)
    p, elsewhere = at[u], q != at[u]
    begin = np.where(p < q, np.maximum(after, p + 1), after)
    end = np.where(p < q, size - 1, p - 1)
    _add(steps, sent[u], (begin, q, q, end), elsewhere)
    charges = np.zeros((size + 1, size + 1))
    charges[:-1, 1:] = steps.cumsum(0).cumsum(1)[:-1, :-1]
    return charges


def _mean_sent_s(terms: Terms) -> FloatArray:
    """Return the mean seconds of what every operator sends over the links that there are [n]."""
    links = terms.link[terms.link != NO_LINK]
    share = np.bincount(links, minlength=len(terms.send)) / max(len(links), 1)
    return np.asarray(share @ terms.send, np.float64) if len(terms.send) else np.zeros(terms.operators)


def _add(steps: FloatArray, weight: FloatArray, edges: tuple[IntArray, ...], where: BoolArray | None = None) -> None:
    """Add weights, in difference form, to all (i, j) with i0 <= i <= i1 and j0 <= j <= j1, those not empty."""
    i0, i1, j0, j1 = edges
    some = (i0 <= i1) & (j0 <= j1) & (True if where is None else where)
    for i, j, sign in ((i0, j0, 1), (i1 + 1, j0, -1), (i0, j1 + 1, -1), (i1 + 1, j1 + 1, 1)):
        np.add.at(steps, (i[some], j[some]), sign * weight[some])
