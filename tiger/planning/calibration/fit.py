r"""Factors by least squares, between what was measured and what is likely before anything is.

With the logarithms :math:`x` of the factors, of runs r that took :math:`t_r` and are predicted to take :math:`p_r(x)`,

.. math:: \min_x \sum_r \left(\frac{\ln p_r(x) - \ln t_r}{\sigma}\right)^2 + \sum_k \left(\frac{x_k}{\tau}\right)^2

is the most likely x where errors of predictions are log-normal with :math:`\sigma`, and factors are so around 1 with
:math:`\tau`: what no run tells stays at 1. :math:`(J^\top J)^{-1}` of all these residuals is then the covariance of x.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.planning.calibration.predict import PlannedRun
from tiger.training.timings.costs import FACTOR_LIMIT, NAMES, Factors

# By how much predictions of one setting of software scatter once their mean is right: 2 % over the ten runs of PTD-P's
# table 1 and 5 % over the eleven of NeMo (`benchmarks/plans_published.py`); the larger counts.
NOISE = 0.05
# Assumed, as nobody has measured such factors: two of three are within 1.5 of 1. One that runs tell is moved by them.
SPREAD = log(1.5)
# Digits of factors beyond which none of this tells anything.
TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Hold the logarithms of factors `logs[5]` that are most likely by r runs.

    `residuals[r + 5]` are those of the runs, then those of the prior, and `jacobian[r + 5, 5]` their slopes.
    """

    logs: FloatArray
    residuals: FloatArray
    jacobian: FloatArray

    @property
    def factors(self) -> Factors:
        """Return the factors."""
        return _factors_of(self.logs)

    @property
    def deviation(self) -> FloatArray:
        """Return the standard deviations [5] of the logarithms by what the runs tell."""
        # The rows of the prior make it regular.
        return np.asarray(np.sqrt(np.diag(np.linalg.inv(self.jacobian.T @ self.jacobian))))

    @property
    def evidence(self) -> FloatArray:
        """Return how much of the variance that each logarithm had before is told by the runs, from 0 to 1."""
        return np.clip(1 - (self.deviation / SPREAD) ** 2, 0.0, 1.0)

    def leave_out(self, run: int) -> Factors:
        """Return the factors without a run, by one step of Gauss and Newton: logarithms are nearly linear in these."""
        others = np.delete(self.jacobian, run, axis=0)
        slope = self.jacobian[run] * self.residuals[run]
        return _factors_of(self.logs + np.linalg.solve(others.T @ others, slope))


def fit_factors(runs: Sequence[PlannedRun]) -> Fit:
    """Return the most likely factors of some runs; the same runs give the same factors."""
    from scipy.optimize import least_squares

    measured = np.log([each.run.seconds for each in runs])

    def residuals(logs: FloatArray) -> FloatArray:
        factors = _factors_of(logs)
        predicted = np.log([each.predict_s(factors) for each in runs])
        return np.concatenate([(predicted - measured) / NOISE, logs / SPREAD])

    limit = log(FACTOR_LIMIT)
    start = np.zeros(len(NAMES))
    found = least_squares(residuals, start, bounds=(-limit, limit), ftol=TOLERANCE, xtol=TOLERANCE)
    return Fit(logs=found.x, residuals=found.fun, jacobian=found.jac)


def _factors_of(logs: FloatArray) -> Factors:
    """Return the factors of their logarithms, within what a file of them may state."""
    logs = np.clip(logs, -log(FACTOR_LIMIT), log(FACTOR_LIMIT))
    return Factors(**dict(zip(NAMES, np.exp(logs).tolist(), strict=True)))
