"""The largest load if work could be divided at will: a lower bound by Lagrangian duality and cutting planes."""

import numpy as np
from scipy.optimize import linprog

from tiger.model.arrays import FloatArray
from tiger.placement.operators.bounds.device_costs import DeviceTypeCosts

# Cutting planes added, and the relative gap to the optimum at which they end, that of the solver.
ROUNDS = 40
CLOSE = 1e-7


def balance_s(costs: DeviceTypeCosts) -> float:
    r"""Return the least largest load of groups that may be divided and send nothing.

    .. math:: \max_{y \ge 0,\, \sum_g n_g y_g = 1} \sum_c \min_{g \text{ allowed}} y_g w_{g c}

    Any y gives a bound; the best is approached by cutting planes (J. E. Kelley, J. SIAM 8, 1960,
    doi:10.1137/0108053). Infinite where a group may go nowhere. O(g C) a round.
    """
    if not costs.allowed.any(axis=0).all():
        return np.inf
    price, best, planes = np.full(costs.size, 1 / costs.count.sum()), 0.0, np.empty((0, costs.size))
    for _ in range(ROUNDS):
        # Each price gives a plane, a subgradient of the concave dual function; the next price maximises all planes.
        plane = _plane(costs, price)
        best = max(best, float(plane @ price))
        if costs.size == 1:
            break
        planes = np.vstack([planes, plane])
        price, most = _maximise_lowest(planes, costs.count.astype(np.float64))
        if most <= best * (1 + CLOSE):
            break
    return best


def _plane(costs: DeviceTypeCosts, price: FloatArray) -> FloatArray:
    """Return the work that each device type gets where every group goes where its price is least [g]."""
    priced = np.where(costs.allowed, costs.work * price[:, None], np.inf)
    cheapest = priced.argmin(axis=0)
    columns = np.arange(len(cheapest))
    return np.bincount(cheapest, costs.work[cheapest, columns], costs.size).astype(np.float64)


def _maximise_lowest(planes: FloatArray, count: FloatArray) -> tuple[FloatArray, float]:
    """Return the prices that maximise the lowest of the planes, and its height there."""
    unit = float(planes.max(initial=0.0)) or 1.0
    solution = linprog(
        np.append(np.zeros(len(count)), -1.0),
        A_ub=np.hstack([-planes / unit, np.ones((len(planes), 1))]),
        b_ub=np.zeros(len(planes)),
        A_eq=np.append(count, 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * len(count) + [(None, None)],
    )
    if solution.x is None:
        # Amounts too far apart for the solver: the bound by the planes so far stands.
        return np.ones(len(count)) / count.sum(), 0.0
    prices: FloatArray = np.maximum(solution.x[:-1], 0.0)
    return prices / (prices @ count), float(solution.x[-1]) * unit
