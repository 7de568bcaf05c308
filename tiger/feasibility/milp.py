"""Mixed-integer programs, solved by HiGHS, whose answers hold in spite of its tolerances: loads have few digits."""

import time
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from tiger.model.arrays import FloatArray, IntArray

# HiGHS keeps rows to 1e-6: loads of up to this many units leave that far below half a unit.
LARGEST = 10_000
# No limit: more nodes of branch and bound than HiGHS visits in any time limit here.
NODES = 1 << 30


def limits(load: IntArray, bins: IntArray, room: IntArray, size: int) -> Iterator[list[LinearConstraint]]:
    """Yield what keeps the first variables v of `size`, of load[v, d] in bins[v], within room[b, d].

    Loads too long for the tolerance that a program is solved to are rounded: first to the safe side, where what fits
    fits indeed, then to the generous one, where nothing fits if nothing does. Others come once, as they are.
    """
    largest = load.max(axis=0, initial=1)
    unit = np.maximum(np.gcd.reduce(load, axis=0), 1)
    rough = largest > LARGEST * unit
    unit = np.where(rough, -(-largest // LARGEST), unit)
    columns = np.arange(len(load))
    for need in (-(-load // unit), load // unit)[: 1 + bool(rough.any())]:
        weights, have = need.astype(float), (room // unit).astype(float)
        yield [
            LinearConstraint(sp.csr_array((weight, (bins, columns)), shape=(len(room), size)), -np.inf, most)
            for weight, most in zip(weights.T, have.T, strict=True)
        ]


def sum_matrix(row: IntArray, column: IntArray, size: int, rows: int) -> sp.csr_array:
    """Return the matrix over `size` variables whose row r of `rows` adds up those listed for it."""
    return sp.csr_array((np.ones(len(row)), (row, column)), shape=(rows, size))


def solve(
    rows: list[LinearConstraint],
    high: IntArray,
    until_s: float,
    nodes: int = NODES,
    price: FloatArray | None = None,
) -> tuple[FloatArray | None, bool]:
    """Return whole numbers from 0 to `high` that meet the rows, or None and whether there are none.

    With prices of one of each they cost the least; None then also where time is up before that is proved.
    """
    left = until_s - time.monotonic()
    if left <= 0:
        return None, False
    whole, bounds = np.ones(len(high)), Bounds(0, high)
    options = {"time_limit": left, "node_limit": nodes}
    aim = np.zeros(len(high)) if price is None else price
    found = milp(aim, integrality=whole, bounds=bounds, constraints=rows, options=options)
    if price is not None and found.status != 0:
        return None, found.status == 2
    return found.x, found.status == 2
