"""Mixture of experts whose loads are skewed."""

from dataclasses import dataclass, field

import numpy as np

from tiger.model.options import about
from tiger.rebalancing.workloads.trajectory import Trajectory, WorkloadCourse

# How much of a layer's skew stays from interval to interval.
KEPT = 0.9


@dataclass(frozen=True, kw_only=True)
class ExpertSkew(WorkloadCourse):
    """Let every layer wait for its busiest expert, whose load is above the mean by a skew that drifts.

    `share` of a layer's time are its experts, which take 1 + the skew: a gamma variate of shape 2 and mean `skew` for
    each layer, a tenth of which is drawn anew in an interval, and another of mean 0.3 `skew` that is drawn every time.
    """

    share: float = field(default=0.6, metadata=about("The share of time that experts take.", ge=0, le=1))
    skew: float = field(default=0.4, metadata=about("The mean load of the busiest expert above 1.", ge=0, le=10))
    seed: int = field(default=0, metadata=about("The seed of loads.", ge=0, le=2**32 - 1))

    def trajectory(self, layers: int) -> Trajectory:
        """Return the factors of so many layers."""
        rng = np.random.default_rng(self.seed)
        skew, rows = rng.gamma(2, self.skew / 2, layers), []
        for _ in range(self.intervals):
            skew = KEPT * skew + (1 - KEPT) * rng.gamma(2, self.skew / 2, layers)
            rows.append(1 - self.share + self.share * (1 + skew + 0.3 * rng.gamma(2, self.skew / 2, layers)))
        return Trajectory(np.array(rows), np.array(rows))
