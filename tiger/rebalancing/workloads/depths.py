"""Mixture of depths."""

from dataclasses import dataclass, field

import numpy as np

from tiger.model.options import about
from tiger.rebalancing.workloads.trajectory import Trajectory, WorkloadCourse


@dataclass(frozen=True, kw_only=True)
class MixtureOfDepths(WorkloadCourse):
    """Let every other layer see a share `capacity` of tokens, more or less by a lognormal factor of `jitter`.

    Source: Raposo et al., arXiv:2404.02258.
    """

    capacity: float = field(default=0.125, metadata=about("The share of tokens of every other layer.", ge=0, le=1))
    jitter: float = field(default=0.15, metadata=about("How much that varies.", ge=0, le=2))
    seed: int = field(default=0, metadata=about("The seed of factors.", ge=0, le=2**32 - 1))

    def trajectory(self, layers: int) -> Trajectory:
        """Return the factors of so many layers."""
        rng = np.random.default_rng(self.seed)
        seen = self.capacity * np.exp(rng.normal(0, self.jitter, (self.intervals, layers)))
        factors = np.where(np.arange(layers) % 2 == 0, 1.0, np.minimum(seen, 1.0))
        return Trajectory(factors, factors)
