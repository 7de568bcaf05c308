"""Neighbours of an order of devices: swaps, reversals, moves, and devices put in, left out or replaced."""

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.ranks.line_costs import UNUSED


def neighbours(order: IntArray, unused: IntArray, width: int) -> IntArray:
    """Return the orders one move away from `order[k]`, [N, width] with -1 behind the last device; O(k n width)."""
    spots = np.arange(len(order))
    low, high = np.triu_indices(len(order), 1)
    apart = high - low > 1
    kept = [
        order[_swap(spots, low, high)],
        order[_reverse(spots, low[apart], high[apart])],
        order[_move(spots, *np.nonzero(np.abs(spots[:, None] - spots) > 1))],
        _replace(order, unused),
    ]
    fewer = order[np.array([np.delete(spots, spot) for spot in spots], np.int64)] if len(order) > 1 else order[None][:0]
    more = _insert(order, unused) if len(order) < width else order[None][:0]
    return np.concatenate([_pad(rows, width) for rows in (*kept, fewer, more)])


def prefixes(orders: IntArray) -> IntArray:
    """Return every beginning of `orders[N, n]`, [N n, n] with -1 behind its last device."""
    width = orders.shape[1]
    kept = np.tri(width, dtype=bool)
    return np.where(kept[None], orders[:, None, :], UNUSED).reshape(-1, width)


def _swap(spots: IntArray, low: IntArray, high: IntArray) -> IntArray:
    """Return the spots with two of them exchanged, a row for each pair."""
    rows, orders = np.arange(len(low)), np.tile(spots, (len(low), 1))
    orders[rows, low], orders[rows, high] = high, low
    return orders


def _reverse(spots: IntArray, low: IntArray, high: IntArray) -> IntArray:
    """Return the spots with those from low to high reversed."""
    inside = (spots >= low[:, None]) & (spots <= high[:, None])
    return np.where(inside, (low + high)[:, None] - spots, spots)


def _move(spots: IntArray, source: IntArray, target: IntArray) -> IntArray:
    """Return the spots with the one at source taken out and put back at target."""
    up = (spots >= source[:, None]) & (spots < target[:, None])
    down = (spots > target[:, None]) & (spots <= source[:, None])
    orders = spots + up.astype(np.int64) - down.astype(np.int64)
    orders[np.arange(len(source)), target] = source
    return orders


def _replace(order: IntArray, unused: IntArray) -> IntArray:
    """Return the order with each device replaced by each that is not used."""
    spot, other = (part.ravel() for part in np.meshgrid(np.arange(len(order)), unused, indexing="ij"))
    orders = np.tile(order, (len(spot), 1))
    orders[np.arange(len(spot)), spot] = other
    return orders


def _insert(order: IntArray, unused: IntArray) -> IntArray:
    """Return the order with each device that is not used put in at each place."""
    rows = [np.insert(order, spot, other) for spot in range(len(order) + 1) for other in unused]
    return np.array(rows, np.int64).reshape(-1, len(order) + 1)


def _pad(rows: IntArray, width: int) -> IntArray:
    """Return rows filled up with -1."""
    filled = np.full((len(rows), width), UNUSED, np.int64)
    filled[:, : rows.shape[1]] = rows
    return filled
